// SPDX-License-Identifier: Apache-2.0
// Checks whether an existing buffer serves parties that join later.
#include <algorithm>

#include "base/text/format_error.h"
#include "halyard/attribute_blob.h"
#include "reconcile/attributes/key_table.h"
#include "reconcile/attributes/stored_lists.h"
#include "reconcile/merge/choose_memory.h"

namespace halyard {
namespace {

constexpr std::string_view buffer_name = "(buffer)";

using Lists = std::span<const AttributeList* const>;

/// The existing buffer as a party. All its values were legal when they were set.
class BufferAsParty {
 public:
  BufferAsParty(const ReconciledState& state, Heap heap)
      : state_(state), list_(std::string(buffer_name)) {
    set(Key::heaps, 0, bit(heap));
    set(Key::size_min, 0, std::max<std::uint64_t>(state.draft.size, 1));
    set(Key::count_max, 0, state.draft.count);
    set_memory();
    if (state.draft.has_tensor) set_tensor();
    if (state.draft.has_image) set_image();
  }
  const AttributeList& get() const { return list_; }

 private:
  void set(Key key, std::size_t index, std::uint64_t low, std::uint64_t high = 0) {
    static_cast<void>(list_.set(key, {low, high}, index, {}));
  }
  void copy(Key key) {
    for (std::size_t k = 0; k < key_info(key)->count; ++k)
      if (const MergedValue& value = state_.merged.at(key, k); value.is_set)
        set(key, k, value.value.low, value.value.high);
  }
  void set_memory();
  void set_tensor();
  void set_image();

  const ReconciledState& state_;
  AttributeList list_;
};

void BufferAsParty::set_memory() {
  for (const Key key : {Key::kind, Key::domains, Key::is_protected, Key::pad_clobber,
                        Key::addr_pinned, Key::array_stride, Key::array_capacity,
                        Key::pyramid_levels, Key::pyramid_scale, Key::raw_size})
    copy(key);
  std::uint64_t cpu = 0;
  for (std::size_t p = 0; p < state_.merged.party_count; ++p)
    cpu |= state_.merged.parties[p].cpu;
  set(Key::cpu, 0, cpu);
  set(Key::policy, 0, static_cast<std::uint64_t>(state_.draft.policy), 1);
  // Only padding that a party asked for is a rule: a writer may have overwritten other padding.
  if (state_.merged[Key::pad_fill].is_set) copy(Key::pad_fill);
}

void BufferAsParty::set_tensor() {
  static_cast<void>(list_.accept(state_.candidate.tensor));
  copy(Key::dtype);
  copy(Key::shape);
  copy(Key::cpad);
  set(Key::row_exact, 0, state_.draft.tensor.stride_h);
}

void BufferAsParty::set_image() {
  static_cast<void>(list_.accept(state_.candidate.image));
  copy(Key::width);
  copy(Key::height);
  copy(Key::width_mult);
  copy(Key::height_mult);
  copy(Key::scan);
  copy(Key::color);
  if (state_.draft.has_tensor) return;  // its rows are those of the image
  for (std::size_t p = 0; p < std::min(state_.draft.plane_count, max_planes); ++p)
    set(Key::pitch_exact, p, state_.draft.planes[p].pitch);
}

/// A difference between the existing buffer and the one that would serve all.
struct Difference {
  std::vector<Key> keys;  ///< keys that may be the cause
  std::string_view what;
  std::uint64_t is = 0, needed = 0;
};

class Comparison {
 public:
  Comparison(const Draft& is, const Draft& needed) : is_(is), needed_(needed) {}
  std::vector<Difference> run();

 private:
  void check(std::vector<Key> keys, std::string_view what, std::uint64_t is, std::uint64_t needed) {
    if (is != needed) found_.push_back({std::move(keys), what, is, needed});
  }
  const Draft& is_;
  const Draft& needed_;
  std::vector<Difference> found_;
};

std::vector<Difference> Comparison::run() {
  const TensorDraft& t = is_.tensor;
  const TensorDraft& u = needed_.tensor;
  check({Key::cpad}, "channels stored", t.channels, u.channels);
  check({Key::offset_align}, "the tensor's offset", t.offset, u.offset);
  check({Key::row_align, Key::row_min, Key::px_integral}, "row stride", t.stride_h, u.stride_h);
  check({Key::surf_align, Key::rows_mult, Key::cpad}, "stride between channels", t.stride_c,
        u.stride_c);
  check({Key::batch_align, Key::surf_align, Key::rows_mult}, "stride between batch elements",
        t.stride_n, u.stride_n);
  for (std::size_t p = 0; p < std::min(is_.plane_count, needed_.plane_count); ++p) {
    check({Key::pitch_align, Key::chroma_derived}, "a plane's row stride", is_.planes[p].pitch,
          needed_.planes[p].pitch);
    check({Key::plane_align, Key::height_mult}, "a plane's offset", is_.planes[p].offset,
          needed_.planes[p].offset);
    check({Key::height_mult}, "a plane's size", is_.planes[p].size, needed_.planes[p].size);
  }
  if (needed_.count > is_.count)
    check({Key::camp, Key::slack, Key::shared_slack, Key::count_min}, "count of buffers", is_.count,
          needed_.count);
  if (needed_.alloc_size > is_.alloc_size)
    check({Key::size_align, Key::tail_slack, Key::size_min}, "allocated bytes", is_.alloc_size,
          needed_.alloc_size);
  if (is_.base_align % std::max<std::uint64_t>(needed_.base_align, 1) != 0)
    check({Key::base_align, Key::offset_align}, "base alignment", is_.base_align,
          needed_.base_align);
  return std::move(found_);
}

ConflictItem difference_item(const Difference& difference, Lists lists) {
  ConflictItem item;
  item.key = std::string(to_string(difference.keys.front()));
  item.rule = "the buffer exists and cannot change";
  item.parties.push_back({std::string(buffer_name),
                          0,
                          {},
                          item.key,
                          fmt::format("{} {}", difference.what, difference.is),
                          "set",
                          {}});
  for (const AttributeList* list : lists)
    for (const Attribute& each : list->attributes())
      if (std::ranges::find(difference.keys, each.key) != difference.keys.end())
        item.parties.push_back({list->party(), list->process(), list->engine(),
                                std::string(to_string(each.key)), to_string(each.key, each.value),
                                "set", each.source});
  item.computed =
      fmt::format("{} is {}, {} is needed", difference.what, difference.is, difference.needed);
  if (difference.is < difference.needed) item.nearest = {difference.needed};
  item.hint = "copy for the party, or negotiate again with it from the beginning";
  return item;
}

/// The engine of a proxy, which reserves buffers for parties that join later.
constexpr std::string_view proxy_engine = "peer.proxy";

AttributeList without_places(const AttributeList& proxy) {
  AttributeList list(proxy.party());
  list.set_engine(proxy.engine());
  list.set_process(proxy.process());
  for (const Attribute& each : proxy.attributes())
    if (each.key != Key::camp && each.key != Key::slack)
      static_cast<void>(list.set(each.key, each.value, each.index, {}));
  for (const Alternative& each : proxy.alternatives())
    static_cast<void>(list.accept(each.tag, each.cost));
  return list;
}

/// Reconciles all parties, including the late ones. Only the verdict of reconcile() matters here.
Result<Reconciled> with_late(const ReconciledState& state, Lists late) {
  std::vector<AttributeList> all = stored_lists(state, nullptr);
  for (AttributeList& each : all)
    if (each.engine() == proxy_engine) each = without_places(each);
  for (const LayoutTag& tag : {state.candidate.tensor, state.candidate.image}) {
    // Fixes the layout of the existing buffer, unless no party named one.
    const bool is_there = tag.family != LayoutTag::Family::wildcard;
    if (is_there && !all.empty() && all.front().alternatives().empty())
      static_cast<void>(all.front().accept(tag));
  }
  std::vector<const AttributeList*> lists;
  for (const AttributeList& each : all)
    lists.push_back(&each);
  lists.insert(lists.end(), late.begin(), late.end());
  ReconcileOptions options;
  options.can_anchor = state.machine.can_anchor;
  return reconcile(lists, options);
}

void take_places(const ReconciledState& state, Merged& merged) {
  for (std::size_t p = 0; p < state.parties.size(); ++p)
    if (state.parties[p].engine == proxy_engine)
      merged.parties[p].camp = merged.parties[p].slack = 0;
}

/// The buffer that would serve all. Merges the facts of late parties into the merged result, so
/// nothing is merged twice.
Result<Draft> draft_for_all(const ReconciledState& state, Lists late) {
  Merged merged = state.merged;
  std::vector<std::string_view> names;
  for (const StoredParty& each : state.parties)
    names.push_back(each.name);
  for (const AttributeList* list : late) {
    const auto known = std::ranges::find(names, list->party());
    const auto party = static_cast<std::uint16_t>(known - names.begin());
    if (known == names.end()) {
      names.push_back(list->party());
      if (names.size() > max_parties)
        return fail(Errc::exhausted, "parties: at most 64 may take part", "{}", names.size());
      merged.party_count = names.size();
      take_places(state, merged);
    }
    for (const Attribute& each : list->attributes())
      merge(merged, to_fact(each, list, party));
    for (const LayoutTag& tag : {state.candidate.tensor, state.candidate.image}) {
      if (tag.family == LayoutTag::Family::wildcard) continue;
      const Alternative* const found = acceptance(*list, tag).alternative;
      for (const Attribute& each : found != nullptr ? found->attributes : std::vector<Attribute>())
        merge(merged, to_fact(each, list, party));
    }
  }
  Draft draft;
  std::vector<Failure> failures;
  if (solve(merged, state.candidate, state.machine, draft, failures)) return draft;
  const auto all = with_late(state, late);
  return all ? fail(Errc::unsupported, "the buffer does not serve the late parties") : all.error();
}

Error disagreement(Conflict found, Conflict* conflict) {
  auto error =
      fail(Errc::unsupported, "the buffer does not serve the late parties", "{}", found.to_text());
  if (conflict != nullptr) *conflict = std::move(found);
  return error;
}

}  // namespace

Result<Reconciled> attach_parties(const Reconciled& result, Heap heap, Lists lists,
                                  Conflict* conflict) {
  const ReconciledState& state = ReconciledState::of(result);
  for (const AttributeList* each : lists)
    if (each == nullptr) return fail(Errc::invalid_argument, "lists: none may be null");
  for (const AttributeList* each : lists)
    if (std::ranges::find(state.parties, each->party(), &StoredParty::name) != state.parties.end())
      return fail(Errc::exists, "party: must not take part already", "{}", each->party());
  HALYARD_RETURN_IF_ERROR(validate(result, heap, lists, conflict));
  return with_late(state, lists);
}

Status validate(const Reconciled& result, Heap heap, Lists lists, Conflict* conflict) {
  const ReconciledState& state = ReconciledState::of(result);
  for (const AttributeList* each : lists) {
    if (each == nullptr) return fail(Errc::invalid_argument, "lists: none may be null");
  }
  const BufferAsParty buffer(state, heap);
  std::vector<const AttributeList*> with_buffer(lists.begin(), lists.end());
  with_buffer.push_back(&buffer.get());
  Conflict found;
  const auto together = reconcile(with_buffer, {}, &found);
  if (!together && !found.items.empty()) return disagreement(std::move(found), conflict);
  if (!together) return together.error();
  HALYARD_TRY(const Draft needed, draft_for_all(state, lists));
  const auto differences = Comparison(state.draft, needed).run();
  for (const Difference& each : differences)
    found.items.push_back(difference_item(each, lists));
  if (!found.items.empty()) return disagreement(std::move(found), conflict);
  return {};
}

}  // namespace halyard
