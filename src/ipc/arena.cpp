// SPDX-License-Identifier: Apache-2.0
// Free lists and counts are private memory; shared are the generations of slots, and the bytes.
#include "ipc/arena.h"

#include <algorithm>
#include <bit>

#include "base/format_error.h"
#include "ipc/loans.h"

namespace halyard::ipc {
namespace {

constexpr std::uint32_t max_slots = 1U << 20U;
constexpr std::uint64_t page = 4096;

Status check(const Arena::Config& config) {
  if (config.slots == 0 || config.slots > max_slots)
    return fail(Errc::invalid_argument, "max_slots: must be 1..1048576", "{}", config.slots);
  if (config.slot_alignment < 64 || config.slot_alignment > page ||
      !std::has_single_bit(config.slot_alignment))
    return fail(Errc::invalid_argument, "slot_alignment: must be a power of two, 64..4096", "{}",
                config.slot_alignment);
  if (config.max_bytes < config.slot_alignment || config.max_bytes > PTRDIFF_MAX - page)
    return fail(Errc::invalid_argument, "pool_size: must hold one slot, and be below 2^63", "{}",
                config.max_bytes);
  return {};
}

}  // namespace

Result<std::unique_ptr<Arena>> Arena::create(const std::string& name, const Config& config) {
  HALYARD_CHECK(check(config));
  const std::size_t bytes = sizeof(ArenaHeader) + std::size_t{config.slots} * sizeof(SharedWord);
  HALYARD_TRY(OwnMemory control, create_own_memory(name + " state", bytes));
  ArenaHeader header;
  header.slots = config.slots;
  header.slot_alignment = config.slot_alignment;
  header.max_bytes = config.max_bytes;
  std::byte* const begin = control.mapped.bytes().data();
  new (begin) ArenaHeader(header);
  for (std::uint32_t i = 0; i < config.slots; ++i)
    new (begin + sizeof(ArenaHeader) + i * sizeof(SharedWord)) SharedWord;
  return std::unique_ptr<Arena>(new Arena(name, config, std::move(control)));
}

Arena::Arena(std::string name, const Config& config, OwnMemory control)
    : name_(std::move(name)),
      config_(config),
      control_(std::move(control)),
      slots_(std::make_unique<Slot[]>(config.slots)),
      extents_(config.slot_alignment, config.slots) {
  free_slots_.reserve(config.slots);
  lent_.reserve(config.slots);
  for (std::uint32_t slot = config.slots; slot-- > 0;)
    free_slots_.push_back(slot);
}

Arena::~Arena() = default;

SharedWord& Arena::word(std::uint32_t slot) const noexcept {
  return slot_words(control_.mapped.bytes())[slot];
}

std::uint64_t Arena::generation(std::uint32_t slot) const noexcept {
  return word(slot).load(std::memory_order_acquire);
}

Result<Arena::Lease> Arena::allocate(std::size_t bytes) {
  if (!is_of_this_process())
    return fail(Errc::unsupported, "pool: belongs to the process that forked this one");
  const std::lock_guard lock(mutex_);
  if (free_slots_.empty()) collect();
  if (free_slots_.empty()) {
    return fail(Errc::exhausted, "pool: no slot is free", "{} slots, {} of them held by others",
                config_.slots, lent_.size());
  }
  HALYARD_TRY(const Extents::Extent extent, take(bytes));
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  slots_[slot].extent = extent.id;
  slots_[slot].references.store(1, std::memory_order_relaxed);
  peak_bytes_used_ = std::max(peak_bytes_used_, extents_.total_bytes() - extents_.free_bytes());
  const auto whole = segments_[extent.segment].mapped.bytes();
  return Lease{slot, extent.segment, open_slot(word(slot)), extent.offset,
               whole.subspan(extent.offset, bytes)};
}

Result<Extents::Extent> Arena::take(std::uint64_t bytes) {
  if (auto extent = extents_.take(bytes)) return *extent;
  collect();
  if (auto extent = extents_.take(bytes)) return *extent;
  HALYARD_CHECK(grow(bytes));
  if (auto extent = extents_.take(bytes)) return *extent;
  return no_memory_for(bytes);
}

Error Arena::no_memory_for(std::uint64_t bytes) const {
  const bool is_in_pieces =
      bytes <= config_.max_bytes - (extents_.total_bytes() - extents_.free_bytes());
  return fail(Errc::exhausted,
              is_in_pieces ? "pool: its free memory is in pieces that are too small"
                           : "pool: its memory is used up",
              "{} bytes wanted; {} of {} are used, the largest free piece has {}", bytes,
              extents_.total_bytes() - extents_.free_bytes(), config_.max_bytes,
              extents_.largest_free_bytes());
}

// As much again as there is, and no more than the limit leaves.
Status Arena::grow(std::uint64_t bytes) {
  const std::uint64_t total = extents_.total_bytes();
  const std::uint64_t left =
      (config_.max_bytes - total) / config_.slot_alignment * config_.slot_alignment;
  if (left < std::max<std::uint64_t>(bytes, 1)) return {};
  const std::uint64_t wanted = std::max({bytes, total, config_.first_segment_bytes});
  const std::uint64_t size = std::min((wanted + page - 1) / page * page, left);
  HALYARD_TRY(OwnMemory memory, create_own_memory(name_, size, config_.memory));
  segments_.push_back(std::move(memory));
  extents_.add_segment(size);
  return {};
}

void Arena::retain(std::uint32_t slot) noexcept {
  if (is_of_this_process()) slots_[slot].references.fetch_add(1, std::memory_order_relaxed);
}

bool Arena::try_retain(std::uint32_t slot, std::uint64_t generation) noexcept {
  if (!is_of_this_process()) return false;
  const std::lock_guard lock(mutex_);
  if (!is_open(generation) || this->generation(slot) != generation) return false;
  // Without a reference it is lent.
  if (slots_[slot].references.fetch_add(1, std::memory_order_relaxed) == 0) std::erase(lent_, slot);
  return true;
}

void Arena::release(std::uint32_t slot) noexcept {
  if (!is_of_this_process()) return;
  std::atomic<std::uint32_t>& references = slots_[slot].references;
  std::uint32_t seen = references.load(std::memory_order_relaxed);
  while (seen > 1) {
    if (references.compare_exchange_weak(seen, seen - 1, std::memory_order_acq_rel)) return;
  }
  // The last one goes under the lock, so that try_retain() sees it or comes too late.
  const std::lock_guard lock(mutex_);
  if (references.fetch_sub(1, std::memory_order_acq_rel) == 1 && !try_free(slot))
    lent_.push_back(slot);
}

bool Arena::is_borrowed(std::uint32_t slot, std::uint64_t generation) const noexcept {
  return std::any_of(borrowers_.begin(), borrowers_.end(), [&](const SharedWord* words) {
    return words[slot].load(std::memory_order_seq_cst) == generation;
  });
}

bool Arena::try_free(std::uint32_t slot) noexcept {
  const bool is_free = close_slot(
      word(slot), [&](std::uint64_t generation) { return is_borrowed(slot, generation); });
  if (!is_free) return false;
  extents_.give(slots_[slot].extent);
  free_slots_.push_back(slot);
  return true;
}

// Frees what others have given back.
void Arena::collect() noexcept {
  std::erase_if(lent_, [this](std::uint32_t slot) { return try_free(slot); });
}

void Arena::add_borrower(const SharedWord* words) {
  const std::lock_guard lock(mutex_);
  borrowers_.push_back(words);
}

void Arena::remove_borrower(const SharedWord* words) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase(borrowers_, words);
}

Arena::Stats Arena::stats() {
  const std::lock_guard lock(mutex_);
  collect();
  Stats stats;
  stats.slots_used = config_.slots - static_cast<std::uint32_t>(free_slots_.size());
  stats.slots_borrowed = static_cast<std::uint32_t>(lent_.size());
  stats.bytes_reserved = extents_.total_bytes();
  stats.bytes_used = stats.bytes_reserved - extents_.free_bytes();
  stats.peak_bytes_used = peak_bytes_used_;
  stats.largest_free = extents_.largest_free_bytes();
  return stats;
}

std::size_t Arena::segments() const {
  const std::lock_guard lock(mutex_);
  return segments_.size();
}

const OwnMemory& Arena::segment(std::size_t index) const {
  const std::lock_guard lock(mutex_);
  return segments_[index];
}

}  // namespace halyard::ipc
