// SPDX-License-Identifier: Apache-2.0
// Makes a result from its draft, and reads its values.
#include <algorithm>
#include <bit>
#include <tuple>

#include "base/text/format_error.h"
#include "reconcile/merge/choose_memory.h"
#include "reconcile/merge/conflict.h"
#include "reconcile/merge/result.h"
#include "reconcile/merge/state.h"

namespace halyard {

namespace {

/// Extents and strides in the order of memory, outermost first.
class LayoutBuilder {
 public:
  explicit LayoutBuilder(DType dtype) { layout_.dtype = dtype; }
  void add(std::uint64_t extent, std::uint64_t stride) {
    layout_.shape[layout_.rank] = extent;
    layout_.stride_bytes[layout_.rank] = static_cast<std::ptrdiff_t>(stride);
    ++layout_.rank;
  }
  const Layout& get() const { return layout_; }

 private:
  Layout layout_;
};

/// The number of axes that parties named: up to the outermost one with an extent.
std::size_t named_axes(const Merged& merged) {
  std::size_t axes = 1;
  for (std::size_t k = 0; k < max_axes; ++k)
    if (merged.at(Key::shape, k).is_set) axes = k + 1;
  return axes;
}

/// The axes of NCHW that parties named: fewer than four, or with batch axes in front. If the image
/// determines the channels, they are an axis too.
void add_plain_axes(LayoutBuilder& out, const TensorDraft& t, const Merged& merged) {
  const std::uint64_t strides[] = {t.stride_w, t.stride_h, t.stride_c, t.stride_n};
  const std::uint64_t extents[] = {t.w, t.h, t.c};
  const std::size_t axes = std::max<std::size_t>(named_axes(merged), t.c > 1 ? 3 : 1);
  std::array<std::uint64_t, max_axes> stride{};
  for (std::size_t k = 0; k < axes; ++k)
    stride[k] = k < 4 ? strides[k] : stride[k - 1] * merged.number(Key::shape, k - 1, 1);
  for (std::size_t k = axes; k-- > 0;)
    out.add(k < 3 ? extents[k] : merged.number(Key::shape, k, 1), stride[k]);
}

Layout to_layout(const Draft& draft, const Merged& merged) {
  if (!draft.has_tensor) return {};
  const TensorDraft& t = draft.tensor;
  LayoutBuilder out(static_cast<DType>(merged.number(Key::dtype, 0)));
  if (t.order == AxisOrder::nchw) {
    add_plain_axes(out, t, merged);
    return out.get();
  }
  out.add(t.n, t.stride_n);
  if (t.order == AxisOrder::nc_hwx) out.add(t.blocks, t.stride_c);
  out.add(t.h, t.stride_h);
  out.add(t.w, t.stride_w);
  if (t.order == AxisOrder::nc_hwx) {
    out.add(t.x, t.element);
  } else {
    out.add(t.c, t.stride_c);
  }
  return out.get();
}

std::vector<PlaneLayout> to_planes(const Draft& draft) {
  std::vector<PlaneLayout> planes;
  for (std::size_t p = 0; p < draft.plane_count; ++p) {
    const PlaneDraft& from = draft.planes[p];
    planes.push_back({from.offset, from.pitch, from.rows, from.size, from.layer_stride});
  }
  return planes;
}

void store_parties(ReconciledState& state, const Problem& problem) {
  for (std::size_t p = 0; p < problem.parties.size(); ++p) {
    const PartyInfo& party = problem.parties[p];
    state.parties.push_back({std::string(party.name), std::string(party.engine), party.process});
    const PartyValues& values = state.merged.parties[p];
    state.views.push_back({std::string(party.name), static_cast<CpuAccess>(values.cpu),
                           static_cast<Permission>(values.perm)});
  }
}

std::string_view source_of(const Fact& fact) {
  return fact.said != nullptr ? std::string_view(fact.said->source) : std::string_view();
}

// Most values of a party come from few places: a text that repeats is stored once.
ReconciledState::Source store_source(ReconciledState& state, std::string_view source) {
  const auto size = static_cast<std::uint32_t>(source.size());
  if (!state.sources.empty() && state.source_of(state.sources.size() - 1) == source)
    return state.sources.back();
  const auto begin = static_cast<std::uint32_t>(state.source_text.size());
  state.source_text += source;
  return {begin, size};
}

constexpr auto goes_before = [](const Fact& a, const Fact& b) {
  if (a.party != b.party) return a.party < b.party;
  if (a.slot != b.slot) return a.slot < b.slot;
  return std::tuple(a.value.low, a.value.high, source_of(a)) <
         std::tuple(b.value.low, b.value.high, source_of(b));
};

// Facts from a blob are sorted already, except for those of their layouts at the end.
void sort_facts(std::vector<Fact>& facts) {
  const auto end = std::is_sorted_until(facts.begin(), facts.end(), goes_before);
  std::sort(end, facts.end(), goes_before);
  std::inplace_merge(facts.begin(), end, facts.end(), goes_before);
}

void store_facts(ReconciledState& state, std::vector<Fact> facts) {
  // The candidate holds the tag itself; the fact only marks it.
  for (Fact& each : facts)
    if (each.said == nullptr) each.value.high = 1;
  sort_facts(facts);
  state.sources.reserve(facts.size());
  for (Fact& each : facts) {
    state.sources.push_back(store_source(state, source_of(each)));
    each.said = nullptr;
    each.list = nullptr;
  }
  state.facts = std::move(facts);
}

}  // namespace

Reconciled make_reconciled(const Problem& problem, const Candidate& candidate,
                           std::vector<Fact> facts, const Merged& merged, const Draft& draft,
                           const MachineTraits& machine, std::vector<DroppedParty> dropped) {
  auto state = std::make_shared<ReconciledState>();
  state->merged = merged;
  state->candidate = candidate;
  state->draft = draft;
  state->layout = to_layout(draft, merged);
  state->planes = to_planes(draft);
  for (const Heap each : heap_order(draft.order))
    if ((draft.heaps & bit(each)) != 0) state->heaps.push_back(each);
  store_parties(*state, problem);
  store_facts(*state, std::move(facts));
  state->dropped = std::move(dropped);
  state->machine = machine;
  return ReconciledState::wrap(std::move(state));
}

bool Reconciled::has_tensor() const noexcept {
  return state_->draft.has_tensor;
}
bool Reconciled::has_image() const noexcept {
  return state_->draft.has_image;
}
const LayoutTag& Reconciled::tensor_tag() const noexcept {
  return state_->candidate.tensor;
}
const LayoutTag& Reconciled::image_tag() const noexcept {
  return state_->candidate.image;
}
const Layout& Reconciled::layout() const noexcept {
  return state_->layout;
}
std::size_t Reconciled::tensor_offset_bytes() const noexcept {
  return state_->draft.tensor.offset;
}
std::size_t Reconciled::width() const noexcept {
  return has_image() ? state_->merged.number(Key::width, 0) : 0;
}
std::size_t Reconciled::height() const noexcept {
  return has_image() ? state_->merged.number(Key::height, 0) : 0;
}
std::span<const PlaneLayout> Reconciled::planes() const noexcept {
  return state_->planes;
}
std::uint64_t Reconciled::size_bytes() const noexcept {
  return state_->draft.size;
}
std::uint64_t Reconciled::allocated_bytes() const noexcept {
  return state_->draft.alloc_size;
}
std::uint64_t Reconciled::base_align_bytes() const noexcept {
  return state_->draft.base_align;
}
Heap Reconciled::heap() const noexcept {
  return state_->draft.heap;
}
std::span<const Heap> Reconciled::heaps() const noexcept {
  return state_->heaps;
}
std::uint32_t Reconciled::count() const noexcept {
  return static_cast<std::uint32_t>(state_->draft.count);
}
Coherency Reconciled::coherency() const noexcept {
  return state_->draft.domain;
}
CpuPolicy Reconciled::policy() const noexcept {
  return state_->draft.policy;
}
bool Reconciled::is_policy_emulated() const noexcept {
  return state_->draft.policy_is_emulated;
}
bool Reconciled::needs_sync() const noexcept {
  return state_->draft.needs_sync;
}
bool Reconciled::needs_anchor() const noexcept {
  return state_->draft.anchor == Anchor::held;
}
PadFill Reconciled::pad_fill() const noexcept {
  return static_cast<PadFill>(state_->merged.number(Key::pad_fill, 0));
}
std::uint8_t Reconciled::pad_value() const noexcept {
  const MergedValue& pad = state_->merged[Key::pad_fill];
  return pad_fill() == PadFill::value ? static_cast<std::uint8_t>(pad.value.high) : 0;
}
std::span<const PartyView> Reconciled::views() const noexcept {
  return state_->views;
}
std::span<const DroppedParty> Reconciled::dropped() const noexcept {
  return state_->dropped;
}

Result<FrameLayout> Reconciled::frame_layout() const {
  if (std::ranges::find(heaps(), Heap::memfd) == heaps().end())
    return fail(Errc::unsupported, "g.heaps: pools need memfd, which not all parties reach");
  FrameLayout frame;
  frame.size_bytes = allocated_bytes();
  const std::uint64_t align = base_align_bytes();
  if (!std::has_single_bit(align) || align > 4096)
    return fail(Errc::unsupported, "g.base_align: pools align by powers of two up to 4096", "{}",
                align);
  frame.align_bytes = static_cast<std::uint32_t>(std::max<std::uint64_t>(align, 64));
  if (pad_fill() != PadFill::anything) frame.fill = pad_value();
  frame.tensor = layout();
  frame.tensor_offset_bytes = tensor_offset_bytes();
  if (has_image()) {
    frame.width = static_cast<std::uint32_t>(width());
    frame.height = static_cast<std::uint32_t>(height());
    frame.format = image_tag().format;
    frame.modifier = image_tag().modifier;
  }
  for (const PlaneLayout& each : planes()) {
    if (frame.plane_count == frame.planes.size()) break;
    frame.planes[frame.plane_count++] = {each.offset_bytes, each.stride_bytes,
                                         each.plane_stride_bytes};
  }
  return frame;
}

std::optional<AttributeValue> Reconciled::value(Key key, std::size_t index) const noexcept {
  const KeyInfo* const info = key_info(key);
  if (info == nullptr || index >= info->count || info->type == ValueType::layout)
    return std::nullopt;
  const MergedValue& found = state_->merged.at(key, index);
  if (!found.is_set) return std::nullopt;
  AttributeValue value = found.value;
  if (info->rule == MergeRule::order) value.high = value.high != 0 ? 1 : 0;
  if (info->rule == MergeRule::sum) {
    value.low = 0;
    for (const PartyValues& each : state_->merged.parties)
      value.low += key == Key::camp ? each.camp : each.slack;
  }
  return value;
}

std::vector<Statement> Reconciled::explain(Key key, std::size_t index) const {
  const KeyInfo* const info = key_info(key);
  if (info == nullptr || index >= info->count) return {};
  const std::size_t slot = slot_of(key, index);
  std::vector<Statement> out;
  for (const std::size_t k : witnesses(state_->facts, slot)) {
    const Fact& fact = state_->facts[k];
    const StoredParty& party = state_->parties[fact.party];
    Statement one{party.name,
                  party.process,
                  party.engine,
                  slot_name(slot),
                  {},
                  "set",
                  std::string(state_->source_of(k))};
    if (info->type == ValueType::layout) {
      one.origin = "layout";
      one.value = to_string(key == Key::format ? image_tag() : tensor_tag());
    } else {
      one.value = to_string(key, fact.value);
    }
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace halyard
