// SPDX-License-Identifier: Apache-2.0
// The free lists and reference counts are private memory. Only the records of slots and the
// tenants' bytes are shared.
#include "ipc/pool/arena.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/text/format_error.h"
#include "ipc/pool/loans.h"

namespace halyard::ipc {
namespace {

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
  HALYARD_RETURN_IF_ERROR(check(config));
  HALYARD_TRY(OwnMemory control,
              create_own_memory(name + " state", arena_state_bytes(config.slots)));
  OwnMemoryOptions options = config.memory;
  options.reserved_bytes = 0;
  HALYARD_TRY(OwnMemory memory, create_own_memory(name, config.max_bytes, options));
  std::byte* const begin = control.mapped.bytes().data();
  auto* const header = new (begin) ArenaHeader;
  header->slots = config.slots;
  header->slot_alignment = config.slot_alignment;
  header->max_bytes = config.max_bytes;
  header->arena_id = config.arena_id;
  header->pool_id = config.pool_id;
  header->index = config.index;
  for (std::uint32_t i = 0; i < config.slots; ++i) {
    auto* const record = new (begin + sizeof(ArenaHeader) + i * sizeof(SlotRecord)) SlotRecord;
    record->generation.store(config.first_generation, std::memory_order_relaxed);
  }
  return std::unique_ptr<Arena>(new Arena(config, std::move(control), std::move(memory)));
}

Arena::Arena(const Config& config, OwnMemory control, OwnMemory memory)
    : config_(config),
      control_(std::move(control)),
      memory_(std::move(memory)),
      slots_(std::make_unique<Slot[]>(config.slots)),
      extents_(config.slot_alignment, config.slots) {
  free_slots_.reserve(config.slots);
  lent_.reserve(config.slots);
  if (config.scrubs) dirty_.reserve(config.slots);
  for (std::uint32_t slot = config.slots; slot-- > 0;)
    free_slots_.push_back(slot);
}

Arena::~Arena() = default;

[[gnu::hot]] SlotRecord& Arena::record(std::uint32_t slot) const noexcept {
  return slot_records(control_.mapped.bytes())[slot];
}

[[gnu::hot]] std::uint64_t Arena::generation(std::uint32_t slot) const noexcept {
  return record(slot).generation.load(std::memory_order_acquire);
}

[[gnu::hot]] Arena::Lease Arena::lease(std::uint32_t slot) const noexcept {
  return {slot, generation(slot), record(slot).offset.load(std::memory_order_relaxed),
          slots_[slot].bytes};
}

// Whether the request fits into what all parts of the pool use together. This part stores its own
// use before it reads that of the others: if two parts allocate at once, at least one sees the
// other.
[[gnu::hot]] bool Arena::fits_with_neighbours(std::uint64_t bytes,
                                              std::uint64_t& others) const noexcept {
  others = 0;
  if (neighbours_.empty()) return true;
  const std::uint64_t slots = config_.slots - free_slots_.size() + 1;
  header().slots_used.store(slots, std::memory_order_relaxed);
  header().bytes_used.store(bytes_used() + bytes, std::memory_order_relaxed);
  SharedWord::fence(std::memory_order_seq_cst);
  std::uint64_t all_slots = slots;
  for (const ArenaHeader* neighbour : neighbours_) {
    // The limits keep values from other processes from making the sums overflow.
    all_slots += std::min<std::uint64_t>(neighbour->slots_used.load(std::memory_order_relaxed),
                                         config_.slots);
    others += std::min(neighbour->bytes_used.load(std::memory_order_relaxed), config_.max_bytes);
  }
  return all_slots <= config_.slots && bytes_used() + bytes + others <= config_.max_bytes;
}

[[gnu::hot]] void Arena::tell_use() noexcept {
  header().slots_used.store(config_.slots - free_slots_.size(), std::memory_order_relaxed);
  header().bytes_used.store(bytes_used(), std::memory_order_relaxed);
}

[[gnu::hot]] Result<Arena::Lease> Arena::allocate(std::size_t bytes) {
  if (!is_of_this_process())
    return fail(Errc::unsupported, "pool: belongs to the process that forked this one");
  const std::lock_guard lock(mutex_);
  collect_some();
  if (free_slots_.empty()) collect();
  std::uint64_t others = 0;
  bool has_slot = !free_slots_.empty();
  if (has_slot && !fits_with_neighbours(bytes, others)) {
    collect();
    has_slot = !free_slots_.empty() && fits_with_neighbours(bytes, others);
  }
  auto extent = has_slot ? take(bytes) : Result<Extents::Extent>(no_slot(bytes, others));
  if (!extent) {
    tell_use();
    SharedWord& failed = header().failed_allocations;
    failed.store(failed.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return std::move(extent).error();
  }
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  slots_[slot].extent = extent->id;
  slots_[slot].bytes = memory_.mapped.bytes().subspan(extent->offset, bytes);
  slots_[slot].references.store(1, std::memory_order_relaxed);
  SlotRecord& told = record(slot);
  told.offset.store(extent->offset, std::memory_order_relaxed);
  told.bytes.store(bytes, std::memory_order_relaxed);
  told.wants_notice.store(0, std::memory_order_relaxed);
  tell_use();
  if (bytes_used() > peak_bytes_used_) {
    peak_bytes_used_ = bytes_used();
    header().peak_bytes_used.store(peak_bytes_used_, std::memory_order_relaxed);
  }
  return Lease{slot, open_slot(told.generation), extent->offset, slots_[slot].bytes};
}

Error Arena::no_slot(std::uint64_t bytes, std::uint64_t others) const {
  if (others + bytes_used() + bytes > config_.max_bytes) {
    return fail(Errc::exhausted, "pool: its memory is used up",
                "{} bytes wanted; {} of {} are used, {} of them by other processes", bytes,
                bytes_used() + others, config_.max_bytes, others);
  }
  return fail(Errc::exhausted, "pool: no slot is free",
              "of {} slots, {} are used here; {} of these are held only by other processes",
              config_.slots, config_.slots - free_slots_.size(), lent_.size());
}

[[gnu::hot]] Result<Extents::Extent> Arena::take(std::uint64_t bytes) {
  if (auto extent = extents_.take(bytes)) return *extent;
  collect();
  while (scrub_one()) {
  }
  if (auto extent = extents_.take(bytes)) return *extent;
  HALYARD_RETURN_IF_ERROR(grow(bytes));
  if (auto extent = extents_.take(bytes)) return *extent;
  return no_memory_for(bytes);
}

Error Arena::no_memory_for(std::uint64_t bytes) {
  const bool is_in_pieces = bytes <= config_.max_bytes - bytes_used();
  return fail(Errc::exhausted,
              is_in_pieces ? "pool: its free memory is fragmented, every piece is too small"
                           : "pool: its memory is used up",
              "{} bytes wanted; {} of {} are used, the largest free piece has {}", bytes,
              bytes_used(), config_.max_bytes, extents_.largest_free_bytes());
}

// Reserves as much as is reserved already, at least the first size, at most what the limit leaves.
Status Arena::grow(std::uint64_t bytes) {
  const std::uint64_t total = extents_.total_bytes();
  const std::uint64_t left =
      (config_.max_bytes - total) / config_.slot_alignment * config_.slot_alignment;
  // Free memory at the end is not subtracted; that matters only near the limit.
  const std::uint64_t wanted = std::max({bytes, total, config_.first_bytes});
  const std::uint64_t size = std::min((wanted + page - 1) / page * page, left);
  if (size == 0) return {};
  HALYARD_RETURN_IF_ERROR(extend_own_memory(memory_, total, size, config_.memory));
  extents_.grow(size);
  header().bytes_reserved.store(extents_.total_bytes(), std::memory_order_relaxed);
  return {};
}

[[gnu::hot]] void Arena::retain(std::uint32_t slot) noexcept {
  if (is_of_this_process()) slots_[slot].references.fetch_add(1, std::memory_order_relaxed);
}

[[gnu::hot]] bool Arena::try_retain(std::uint32_t slot, std::uint64_t generation) noexcept {
  if (!is_of_this_process()) return false;
  const std::lock_guard lock(mutex_);
  if (!is_open(generation) || this->generation(slot) != generation) return false;
  // A slot without references here is in the list of lent slots.
  if (slots_[slot].references.fetch_add(1, std::memory_order_relaxed) == 0) std::erase(lent_, slot);
  return true;
}

[[gnu::hot]] void Arena::release(std::uint32_t slot) noexcept {
  if (!is_of_this_process()) return;
  std::atomic<std::uint32_t>& references = slots_[slot].references;
  std::uint32_t seen = references.load(std::memory_order_relaxed);
  while (seen > 1) {
    if (references.compare_exchange_weak(seen, seen - 1, std::memory_order_acq_rel)) return;
  }
  // The last reference is removed under the lock: try_retain() either sees it or comes too late.
  bool is_dirt_new = false;
  bool is_room_wanted = false;
  {
    const std::lock_guard lock(mutex_);
    if (references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    if (!try_free(slot)) {
      lent_.push_back(slot);
      return;
    }
    is_dirt_new = !dirty_.empty() && !std::exchange(dirt_is_told_, true);
    is_room_wanted = is_waited_for();
  }
  if (is_dirt_new && on_dirty_) on_dirty_();
  if (is_room_wanted && on_room_) on_room_();
}

// The reference is added before the generation is compared: with a reference the tenant cannot
// leave.
[[gnu::hot]] bool Arena::retain_tenant(std::uint32_t slot, std::uint64_t generation) noexcept {
  if (!is_of_this_process()) return false;
  std::atomic<std::uint32_t>& references = slots_[slot].references;
  std::uint32_t seen = references.load(std::memory_order_relaxed);
  do {
    if (seen == 0) return false;
  } while (!references.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire));
  if (this->generation(slot) == generation) return true;
  release(slot);
  return false;
}

bool Arena::release_tenant(std::uint32_t slot, std::uint64_t generation) noexcept {
  if (!is_of_this_process() || this->generation(slot) != generation) return false;
  if (references(slot) == 0) return false;
  release(slot);
  return true;
}

[[gnu::hot]] bool Arena::is_waited_for() const noexcept {
  // A process that waits for room either sees what was freed, or is seen here.
  if (!neighbours_.empty()) SharedWord::fence(std::memory_order_seq_cst);
  return header().wants_room.load(std::memory_order_relaxed) == 1 ||
         std::any_of(neighbours_.begin(), neighbours_.end(), [](const ArenaHeader* neighbour) {
           return neighbour->wants_room.load(std::memory_order_relaxed) == 1;
         });
}

void Arena::collect_lent() noexcept {
  {
    const std::lock_guard lock(mutex_);
    const std::size_t before = lent_.size();
    collect();
    if (lent_.size() == before || !is_waited_for()) return;
  }
  if (on_room_) on_room_();
}

[[gnu::hot]] bool Arena::is_borrowed(std::uint32_t slot, std::uint64_t generation) const noexcept {
  return std::any_of(borrowers_.begin(), borrowers_.end(), [&](const Borrower& borrower) {
    return borrower.words[slot].load(std::memory_order_seq_cst) == generation;
  });
}

[[gnu::hot]] bool Arena::try_free(std::uint32_t slot) noexcept {
  SharedWord& word = record(slot).generation;
  bool is_free = true;
  if (borrowers_.empty()) {
    // A process does not borrow before this part has added it as a borrower, which takes the lock.
    word.store(word.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  } else {
    is_free =
        close_slot(word, [&](std::uint64_t generation) { return is_borrowed(slot, generation); });
  }
  if (!is_free) return false;
  if (config_.scrubs) {
    // A slot that is partly scrubbed stays the last.
    dirty_.insert(dirty_.end() - (scrubbed_bytes_ > 0 ? 1 : 0), slot);
    return true;
  }
  set_free(slot);
  return true;
}

[[gnu::hot]] void Arena::set_free(std::uint32_t slot) noexcept {
  extents_.give(slots_[slot].extent);
  free_slots_.push_back(slot);
  tell_use();
}

void Arena::set_wants_room(std::uint64_t wants) noexcept {
  header().wants_room.store(wants, std::memory_order_relaxed);
  SharedWord::fence(std::memory_order_seq_cst);
}

void Arena::set_wants_notice(std::uint32_t slot) noexcept {
  record(slot).wants_notice.store(1, std::memory_order_relaxed);
}

void Arena::add_neighbour(const ArenaHeader* header) {
  const std::lock_guard lock(mutex_);
  neighbours_.push_back(header);
}

void Arena::remove_neighbour(const ArenaHeader* header) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase(neighbours_, header);
}

// Looks at two slots, since at most one is lent between two calls. Slots that come back are thus
// used again before memory that is cold or not reserved yet.
[[gnu::hot]] void Arena::collect_some() noexcept {
  for (int tries = 0; tries < 2 && !lent_.empty(); ++tries) {
    next_lent_ = next_lent_ + 1 < lent_.size() ? next_lent_ + 1 : 0;
    std::swap(lent_[next_lent_], lent_.back());
    if (try_free(lent_.back())) lent_.pop_back();
  }
}

// Frees the slots that borrowers have given back.
void Arena::collect() noexcept {
  std::erase_if(lent_, [this](std::uint32_t slot) { return try_free(slot); });
  // If no slot is free, scrubs one at once.
  if (free_slots_.empty()) scrub_one();
}

bool Arena::add_borrower(const SharedWord* words, std::uint64_t token) {
  const std::lock_guard lock(mutex_);
  SharedWord* const tokens = header().borrowers;
  SharedWord* const end = tokens + ArenaHeader::max_borrowers;
  SharedWord* const free = std::find_if(tokens, end, [](const SharedWord& word) {
    return word.load(std::memory_order_relaxed) == 0;
  });
  if (free == end) return false;
  borrowers_.push_back({words, static_cast<std::uint32_t>(free - tokens)});
  free->store(token, std::memory_order_release);
  return true;
}

void Arena::remove_borrower(const SharedWord* words) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase_if(borrowers_, [&](const Borrower& borrower) {
    if (borrower.words != words) return false;
    header().borrowers[borrower.place].store(0, std::memory_order_release);
    return true;
  });
}

Arena::Stats Arena::stats() {
  const std::lock_guard lock(mutex_);
  collect();
  Stats stats;
  while (scrub_one()) {
  }
  stats.slots_used = config_.slots - static_cast<std::uint32_t>(free_slots_.size());
  stats.slots_borrowed = static_cast<std::uint32_t>(lent_.size());
  stats.bytes_reserved = extents_.total_bytes();
  stats.bytes_used = stats.bytes_reserved - extents_.free_bytes();
  stats.peak_bytes_used = peak_bytes_used_;
  stats.failed_allocations = header().failed_allocations.load(std::memory_order_relaxed);
  stats.largest_free = extents_.largest_free_bytes();
  for (std::uint32_t slot = 0; slot < config_.slots; ++slot) {
    const std::uint64_t now = generation(slot);
    if (!is_open(now)) continue;
    stats.references += references(slot);
    stats.references += static_cast<std::uint64_t>(
        std::count_if(borrowers_.begin(), borrowers_.end(), [&](const Borrower& borrower) {
          return borrower.words[slot].load(std::memory_order_relaxed) == now;
        }));
  }
  return stats;
}

}  // namespace halyard::ipc
