// SPDX-License-Identifier: Apache-2.0
// Chooses which memory a buffer comes from, how it is kept coherent, and how many buffers there
// are.
#include <algorithm>
#include <array>

#include "reconcile/attributes/amount.h"
#include "reconcile/layout/lay_out.h"
#include "reconcile/layout/settle_extents.h"
#include "reconcile/merge/choose_memory.h"
#include "reconcile/merge/draft.h"
#include "reconcile/merge/memory_order.h"

namespace halyard {

namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t max_count = 0xFFFFFFFF;

constexpr std::uint64_t private_heaps = bit(Heap::heap) | bit(Heap::pbo);
constexpr std::uint64_t uncached_heaps = bit(Heap::dmabuf_uncached);
constexpr std::uint64_t protected_heaps = bit(Heap::dmabuf_protected);
constexpr std::uint64_t contiguous_heaps = bit(Heap::dmabuf_cma) | protected_heaps;
/// Heaps of DMA-BUFs that the CPU caches.
constexpr std::uint64_t cached_dma_heaps =
    bit(Heap::udmabuf) | bit(Heap::dmabuf_system) | bit(Heap::dmabuf_cma) | bit(Heap::v4l2_mmap);
constexpr auto by_address_only = static_cast<std::uint64_t>(Attach::address_only);

class MemoryChoice {
 public:
  MemoryChoice(const Merged& merged, const Candidate& candidate, const MachineTraits& machine,
               Draft& draft, std::vector<Failure>& failures)
      : merged_(merged),
        candidate_(candidate),
        machine_(machine),
        draft_(draft),
        failures_(failures) {
    for (std::size_t p = 0; p < merged.party_count; ++p) {
      const PartyValues& party = merged.parties[p];
      has_cpu_ |= party.cpu != 0;
      has_device_ |= party.attach != static_cast<std::uint64_t>(Attach::cpu);
      has_address_only_ |= party.attach == by_address_only;
    }
  }
  void run() {
    check_content();
    filter_heaps();
    choose_policy();
    choose_domain();
    choose_size();
    choose_count();
  }

 private:
  void check_content();
  void filter_heaps();
  void choose_policy();
  void choose_domain();
  void choose_size();
  void choose_count();
  void fail(Check check, Key key, std::uint64_t value = 0, std::uint64_t limit = 0) {
    failures_.push_back({check, static_cast<std::uint16_t>(slot_of(key)), value, limit, 0});
  }
  bool is_strict(CpuPolicy policy) const {
    const MergedValue& found = merged_[Key::policy];
    return found.is_set && found.value.high == static_cast<std::uint64_t>(policy) + 1;
  }

  const Merged& merged_;
  const Candidate& candidate_;
  const MachineTraits& machine_;
  Draft& draft_;
  std::vector<Failure>& failures_;
  bool has_cpu_ = false, has_device_ = false, has_address_only_ = false;
};

void MemoryChoice::check_content() {
  if (merged_.flag(Key::is_protected) && has_cpu_) fail(Check::is_protected, Key::is_protected);
  const bool needs_padding = merged_.number(Key::pad_fill, 0) != 0;
  if (needs_padding && merged_.flag(Key::pad_clobber)) fail(Check::padding, Key::pad_fill);
  const bool is_tiled = draft_.has_image && !is_linear(candidate_.image.modifier);
  if (is_tiled && has_cpu_ && merged_[Key::format].is_set) fail(Check::modifier, Key::format);
}

void MemoryChoice::filter_heaps() {
  std::uint64_t heaps = merged_.number(Key::heaps, all_bits(Key::heaps));
  if (merged_.flag(Key::contig) || merged_.number(Key::addr_bits, 64) <= 32)
    heaps &= contiguous_heaps;
  if (merged_.flag(Key::exported)) heaps &= ~private_heaps;
  const std::uint64_t domains = merged_.number(Key::domains, all_bits(Key::domains));
  const bool is_uncached_alone = (domains & ~static_cast<std::uint64_t>(Coherency::no_cpu)) ==
                                 static_cast<std::uint64_t>(Coherency::uncached);
  if ((is_strict(CpuPolicy::uncached) || is_uncached_alone) && has_cpu_) heaps &= uncached_heaps;
  // Memory for protected content serves nothing else.
  heaps &= merged_.flag(Key::is_protected) ? protected_heaps : ~protected_heaps;
  if (heaps == 0) fail(Check::heaps, Key::heaps);
  if (has_address_only_ && has_cpu_ && !machine_.can_anchor && heaps != 0) {
    heaps &= ~cached_dma_heaps;
    if (heaps == 0) fail(Check::anchor, Key::attach);
  }
  draft_.heaps = heaps;
  const auto wished = static_cast<CpuPolicy>(merged_.number(Key::policy, 0));
  // If only CPUs use the buffer and any memory serves, cached memory is as good.
  const bool is_choice = has_device_ || merged_[Key::heaps].is_set;
  draft_.order = {has_device_, wished == CpuPolicy::uncached && has_cpu_ && is_choice};
  draft_.heap = best_heap(heaps, draft_.order);
  const bool is_cached_dma = (bit(draft_.heap) & cached_dma_heaps) != 0;
  draft_.anchor = has_address_only_ && has_cpu_ && is_cached_dma ? Anchor::held : Anchor::none;
}

void MemoryChoice::choose_policy() {
  const auto wished = static_cast<CpuPolicy>(merged_.number(Key::policy, 0));
  draft_.policy = wished;
  // A party that uses the CPU needs a mapping, whatever the others do.
  const bool is_open = wished == CpuPolicy::automatic || wished == CpuPolicy::unmapped;
  if (is_open) draft_.policy = has_cpu_ ? CpuPolicy::cached : CpuPolicy::unmapped;
  if (has_cpu_ && is_strict(CpuPolicy::unmapped)) fail(Check::unmapped, Key::policy);
  const bool is_uncached = draft_.heap == Heap::dmabuf_uncached;
  if (wished == CpuPolicy::uncached && !is_uncached) {
    draft_.policy = CpuPolicy::cached;
    draft_.policy_is_emulated = true;
  }
  if (is_uncached && draft_.policy == CpuPolicy::cached) draft_.policy = CpuPolicy::uncached;
}

void MemoryChoice::choose_domain() {
  std::uint64_t domains = merged_.number(Key::domains, all_bits(Key::domains));
  if (has_cpu_) domains &= ~static_cast<std::uint64_t>(Coherency::no_cpu);
  if (domains == 0) fail(Check::domains, Key::domains);
  constexpr Coherency cheapest_first[] = {Coherency::hardware, Coherency::cpu_sync,
                                          Coherency::uncached, Coherency::no_cpu};
  for (const Coherency each : cheapest_first)
    if ((domains & static_cast<std::uint64_t>(each)) != 0) {
      draft_.domain = each;
      break;
    }
  const auto is_coherent = [](const PartyValues& party) {
    return party.attach == static_cast<std::uint64_t>(Attach::cpu) ||
           party.domains == static_cast<std::uint64_t>(Coherency::hardware);
  };
  const std::span parties(merged_.parties.data(), merged_.party_count);
  draft_.needs_sync =
      draft_.policy == CpuPolicy::cached && has_cpu_ && !std::ranges::all_of(parties, is_coherent);
  if (draft_.needs_sync && draft_.domain == Coherency::hardware &&
      (domains & static_cast<std::uint64_t>(Coherency::cpu_sync)) != 0)
    draft_.domain = Coherency::cpu_sync;
}

void MemoryChoice::choose_size() {
  const std::uint64_t limit = merged_.number(Key::size_max, max_size);
  if (draft_.size > limit) fail(Check::size_max, Key::size_max, draft_.size, limit);
  const bool has_pages = (bit(draft_.heap) & private_heaps) == 0;
  const std::uint64_t unit =
      common_multiple(merged_.number(Key::size_align, 1), has_pages ? page : 1);
  const Amount size = round_up(Amount(draft_.size) + Amount(merged_.number(Key::tail_slack, 0)),
                               std::max<std::uint64_t>(unit, 1));
  if (unit == 0 || size.overflows() || size.value() > max_size)
    fail(Check::overflow, Key::size_align, draft_.size, max_size);
  draft_.alloc_size = size.value();
  std::uint64_t align = has_pages ? page : 64;
  for (const std::uint64_t each :
       {merged_.number(Key::base_align, 1), merged_.number(Key::offset_align, 1),
        draft_.has_tensor ? draft_.tensor.element : 1}) {
    align = common_multiple(align, each);
    if (align == 0) break;
  }
  if (align == 0) fail(Check::overflow, Key::base_align, 0, std::uint64_t{1} << 31);
  draft_.base_align = align;
}

void MemoryChoice::choose_count() {
  Amount count = merged_.number(Key::shared_slack, 0);
  bool is_pinned = false;
  for (std::size_t p = 0; p < merged_.party_count; ++p) {
    const PartyValues& party = merged_.parties[p];
    count = count + Amount(party.camp) + Amount(party.slack);
    is_pinned |= party.is_pinned && !party.limits_count;
  }
  const std::uint64_t needed =
      std::max({count.value(), merged_.number(Key::count_min, 1), std::uint64_t{1}});
  const std::uint64_t limit = merged_.number(Key::count_max, max_count);
  if (needed > limit) fail(Check::count_max, Key::count_max, needed, limit);
  if (is_pinned && needed > 1) fail(Check::pinned, Key::addr_pinned, needed, 1);
  draft_.count = needed;
}

/// Arrays and pyramids (of images) cannot share a buffer with other kinds. Raw joins all.
bool may_share_buffer(std::uint64_t kinds) {
  const auto has = [&](BufferKind kind) { return (kinds & static_cast<std::uint64_t>(kind)) != 0; };
  const bool is_array = has(BufferKind::array), is_pyramid = has(BufferKind::pyramid);
  if (is_array && (is_pyramid || has(BufferKind::image) || has(BufferKind::tensor))) return false;
  return !is_pyramid || !has(BufferKind::tensor);
}

}  // namespace

std::span<const Heap> heap_order(MemoryOrder order) noexcept {
  using Heaps = std::array<Heap, heap_count>;
  static constexpr Heaps for_cpus = {Heap::heap,          Heap::memfd,      Heap::udmabuf,
                                     Heap::dmabuf_system, Heap::dmabuf_cma, Heap::dmabuf_uncached,
                                     Heap::v4l2_mmap,     Heap::pbo,        Heap::dmabuf_protected};
  static constexpr Heaps for_devices = {
      Heap::dmabuf_system, Heap::dmabuf_cma, Heap::udmabuf, Heap::dmabuf_uncached, Heap::v4l2_mmap,
      Heap::memfd,         Heap::pbo,        Heap::heap,    Heap::dmabuf_protected};
  constexpr auto uncached_first = [](Heaps heaps) {
    const auto found = std::find(heaps.begin(), heaps.end(), Heap::dmabuf_uncached);
    std::copy_backward(heaps.begin(), found, found + 1);
    heaps.front() = Heap::dmabuf_uncached;
    return heaps;
  };
  static constexpr Heaps uncached_for_cpus = uncached_first(for_cpus);
  static constexpr Heaps uncached_for_devices = uncached_first(for_devices);
  if (order.prefers_uncached) return order.prefers_dma ? uncached_for_devices : uncached_for_cpus;
  return order.prefers_dma ? for_devices : for_cpus;
}

Heap best_heap(std::uint64_t heaps, MemoryOrder order) noexcept {
  for (const Heap each : heap_order(order))
    if ((heaps & bit(each)) != 0) return each;
  return Heap::heap;
}

void choose_memory(const Merged& merged, const Candidate& candidate, const MachineTraits& machine,
                   Draft& draft, std::vector<Failure>& failures) {
  MemoryChoice(merged, candidate, machine, draft, failures).run();
}

bool solve(Merged& merged, const Candidate& candidate, const MachineTraits& machine, Draft& draft,
           std::vector<Failure>& failures) {
  draft = {};
  const std::size_t before = failures.size();
  for (std::size_t slot = 0; slot < slot_count; ++slot)
    if (merged.values[slot].contradicts)
      failures.push_back({Check::merged, static_cast<std::uint16_t>(slot)});
  settle_extents(merged, failures);
  // Failures that follow from contradicting numbers are not reported.
  const std::size_t first_extent = slot_of(Key::dtype);
  const bool has_extents =
      std::none_of(failures.begin() + static_cast<std::ptrdiff_t>(before), failures.end(),
                   [&](const Failure& each) { return each.slot >= first_extent; });
  draft.kinds = kinds_of(merged);
  if (has_extents) lay_out(merged, candidate, draft, failures);
  if (!may_share_buffer(draft.kinds))
    failures.push_back({Check::kinds, static_cast<std::uint16_t>(slot_of(Key::kind))});
  choose_memory(merged, candidate, machine, draft, failures);
  return failures.size() == before;
}

}  // namespace halyard
