// SPDX-License-Identifier: Apache-2.0
// Collects the facts of all parties, checks them, and lists the candidates.
#include "reconcile/merge/problem.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <tuple>

#include "base/text/format_error.h"
#include "base/text/utf8.h"
#include "reconcile/layout/lay_out.h"
#include "reconcile/layout/settle_extents.h"

namespace halyard {

namespace {

constexpr std::size_t max_party_name = 255;

bool same_attributes(std::span<const Attribute> a, std::span<const Attribute> b) {
  return a.size() == b.size() && std::ranges::all_of(a, [&](const Attribute& one) {
           return std::ranges::any_of(b, [&](const Attribute& other) {
             return one.key == other.key && one.index == other.index && one.value == other.value;
           });
         });
}

bool same_list(const AttributeList& a, const AttributeList& b) {
  return a.party() == b.party() && a.alternatives().size() == b.alternatives().size() &&
         same_attributes(a.attributes(), b.attributes()) &&
         std::ranges::all_of(a.alternatives(), [&](const Alternative& one) {
           return std::ranges::any_of(b.alternatives(), [&](const Alternative& other) {
             return one.tag == other.tag && one.cost == other.cost &&
                    same_attributes(one.attributes, other.attributes);
           });
         });
}

/// A party states once that its engine uses the buffer, however many lists it has.
void add_engine(Problem& problem, const AttributeList& list, std::uint16_t party) {
  const Fact fact = to_fact(engine_attribute(list.engine()), &list, party);
  const bool is_known = std::ranges::any_of(problem.common, [&](const Fact& other) {
    return other.party == party && other.slot == fact.slot && other.value == fact.value;
  });
  if (!is_known) problem.common.push_back(fact);
}

/// `is_known`: an equal list has been added already.
void add_party(Problem& problem, const AttributeList& list, bool is_known) {
  if (problem.parties.empty() || problem.parties.back().name != list.party()) {
    problem.parties.push_back(
        {list.party(), list.engine(), list.process(), list.optional_priority()});
  } else {
    PartyInfo& party = problem.parties.back();
    party.engine = std::max<std::string_view>(party.engine, list.engine());
    party.process = std::max(party.process, list.process());
    // A party is optional only if all its lists are.
    if (!list.optional_priority()) party.optional_priority.reset();
    if (party.optional_priority)
      party.optional_priority = std::max(*party.optional_priority, *list.optional_priority());
  }
  const auto party = static_cast<std::uint16_t>(problem.parties.size() - 1);
  if (!list.engine().empty()) add_engine(problem, list, party);
  if (is_known) return;
  problem.lists.push_back(&list);
  problem.party_of_list.push_back(party);
  for (const Attribute& each : list.attributes())
    problem.common.push_back(to_fact(each, &list, party));
}

/// Adds the answers of parties that take part, each once.
void add_answers(Problem& problem, std::span<const EngineAnswer> answers) {
  for (const EngineAnswer& each : answers) {
    const auto party = std::ranges::find(problem.parties, each.party, &PartyInfo::name);
    if (party == problem.parties.end()) continue;
    const bool is_known = std::ranges::any_of(problem.answers, [&](const CandidateFacts& other) {
      return other.answer->party == each.party &&
             same_tags(other.answer->candidate, each.candidate) &&
             same_attributes(other.answer->attributes, each.attributes);
    });
    if (is_known) continue;
    problem.answers.push_back({&each, static_cast<std::uint16_t>(party - problem.parties.begin())});
  }
}

/// Errors: invalid_argument (a party's name; a null list).
Status check_names(std::span<const AttributeList* const> lists) {
  for (const AttributeList* each : lists) {
    if (each == nullptr) return fail(Errc::invalid_argument, "lists: none may be null");
    if (each->party().empty() || each->party().size() > max_party_name)
      return fail(Errc::invalid_argument, "a party's name has 1 to 255 bytes", "{}",
                  each->party().size());
    if (std::ranges::any_of(each->party(), [](unsigned char c) { return c < ' ' || c == 127; }))
      return fail(Errc::invalid_argument, "a party's name has no control characters");
    if (!is_utf8(each->party())) return fail(Errc::invalid_argument, "a party's name is UTF-8");
  }
  return {};
}

/// The order of axes if no party names one. It depends on the image.
LayoutTag default_order(bool has_image, const LayoutTag& image) {
  const bool is_planar = has_image && info(image.format).kind == FormatKind::planar;
  return LayoutTag::tensor(has_image && !is_planar ? AxisOrder::nhwc : AxisOrder::nchw);
}

/// All tags of a family that a party names and all lists accept.
std::vector<LayoutTag> common_tags(const Problem& problem, LayoutTag::Family family) {
  std::vector<LayoutTag> tags;
  for (const AttributeList* list : problem.lists)
    for (const Alternative& each : list->alternatives())
      if (each.tag.family == family) tags.push_back(each.tag);
  std::ranges::sort(tags);
  tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
  std::erase_if(tags, [&](const LayoutTag& tag) {
    return !std::ranges::all_of(
        problem.lists, [&](const AttributeList* list) { return acceptance(*list, tag).accepts; });
  });
  return tags;
}

std::uint64_t cost_of(const Problem& problem, const LayoutTag& tag) {
  std::uint64_t cost = 0;
  for (const AttributeList* list : problem.lists)
    if (const Alternative* each = acceptance(*list, tag).alternative) cost += each->cost;
  return cost;
}

bool names_tags(const Problem& problem, LayoutTag::Family family) {
  return std::ranges::any_of(problem.lists, [&](const AttributeList* list) {
    return std::ranges::any_of(list->alternatives(),
                               [&](const Alternative& each) { return each.tag.family == family; });
  });
}

/// Two keys: the value of the first must not exceed that of the second in the lists of one party.
struct Limits {
  Key needed, allowed;
};
constexpr Limits limits_of_parties[] = {
    {Key::size_min, Key::size_max},    {Key::count_min, Key::count_max},
    {Key::row_min, Key::row_max},      {Key::row_exact, Key::row_max},
    {Key::row_min, Key::row_exact},    {Key::pitch_exact, Key::pitch_max},
    {Key::raw_size, Key::size_max},    {Key::shape, Key::max_axis},
    {Key::width_required, Key::width}, {Key::height_required, Key::height},
    {Key::shape_required, Key::shape},
};

/// For each slot, the largest and the smallest value in all lists of a party.
class Wants {
 public:
  explicit Wants(std::span<const AttributeList* const> lists) {
    for (const AttributeList* list : lists)
      for (const Attribute& each : list->attributes())
        add(each);
  }
  /// Null if no list sets the key.
  const Attribute* maximum(Key key, std::size_t index = 0) const {
    return max_[slot_of(key, index)];
  }
  const Attribute* minimum(Key key, std::size_t index = 0) const {
    return min_[slot_of(key, index)];
  }
  /// The number that is compared: the upper end of a range, else the value.
  static std::uint64_t end_of(const Attribute& each) {
    const MergeRule rule = slot_rules[slot_of(each.key)].rule;
    const bool has_ends = rule == MergeRule::hull || rule == MergeRule::range;
    return has_ends ? each.value.high : each.value.low;
  }

 private:
  void add(const Attribute& each) {
    const std::size_t slot = slot_of(each.key, each.index);
    if (max_[slot] == nullptr || end_of(each) > end_of(*max_[slot])) max_[slot] = &each;
    if (min_[slot] == nullptr || end_of(each) < end_of(*min_[slot])) min_[slot] = &each;
  }
  std::array<const Attribute*, slot_count> max_{}, min_{};
};

Error contradiction(const AttributeList& list, const Attribute& one, const Attribute& other) {
  return fail(Errc::invalid_argument, "a party contradicts itself", "\"{}\": {} = {}, {} = {}",
              list.party(), to_string(one.key), to_string(one.key, one.value), to_string(other.key),
              to_string(other.key, other.value));
}

/// Checks the statements of one party against each other. All lists are of that party.
Status check_party(std::span<const AttributeList* const> lists) {
  const Wants said(lists);
  const AttributeList& list = *lists.front();
  for (const Limits& each : limits_of_parties)
    for (std::size_t k = 0; k < key_info(each.needed)->count; ++k) {
      const Attribute *needed = said.maximum(each.needed, k),
                      *allowed = said.minimum(each.allowed, k);
      if (needed != nullptr && allowed != nullptr &&
          Wants::end_of(*needed) > Wants::end_of(*allowed))
        return contradiction(list, *needed, *allowed);
    }
  const Attribute* const access = said.maximum(Key::cpu);
  if (access == nullptr || access->value.low == 0) return {};
  const Attribute* const guarded = said.maximum(Key::is_protected);
  if (guarded != nullptr && guarded->value.low != 0) return contradiction(list, *access, *guarded);
  constexpr AttributeValue strict{static_cast<std::uint64_t>(CpuPolicy::unmapped), 1};
  const Attribute* const policy = said.minimum(Key::policy);
  if (policy != nullptr && policy->value == strict) return contradiction(list, *access, *policy);
  return {};
}

Status check_contradictions(std::span<const AttributeList* const> by_party) {
  for (std::size_t begin = 0, end = 0; begin < by_party.size(); begin = end) {
    while (end < by_party.size() && by_party[end]->party() == by_party[begin]->party())
      ++end;
    HALYARD_RETURN_IF_ERROR(check_party(by_party.subspan(begin, end - begin)));
  }
  return {};
}

Status check_complete(const Problem& problem, const Merged& merged) {
  const std::uint64_t kinds = kinds_of(merged);
  const auto missing = [](Key key) {
    return fail(Errc::invalid_argument, "no party sets a key that the buffer needs", "{}: {}",
                to_string(key), key_info(key)->text);
  };
  if (kinds == 0)
    return fail(Errc::invalid_argument, "no party states what the buffer holds",
                "one of t.shape, i.w and i.h, r.size, array.stride, pyr.levels, g.kind");
  if (problem.has_tensor) {
    if (!merged[Key::dtype].is_set) return missing(Key::dtype);
    if (!merged[Key::shape].is_set) return missing(Key::shape);
  }
  if (problem.has_image) {
    if (!merged[Key::width].is_set) return missing(Key::width);
    if (!merged[Key::height].is_set) return missing(Key::height);
    if (!names_tags(problem, LayoutTag::Family::image)) return missing(Key::format);
  }
  if ((kinds & static_cast<std::uint64_t>(BufferKind::array)) != 0) {
    if (!merged[Key::array_stride].is_set) return missing(Key::array_stride);
    if (!merged[Key::array_capacity].is_set) return missing(Key::array_capacity);
  }
  for (std::size_t slot = 0; slot < slot_count; ++slot) {
    const MergedValue& value = merged.values[slot];
    if (value.is_set && !value.contradicts && key_of(slot).info->rule == MergeRule::range &&
        value.value.low != value.value.high)
      return fail(Errc::invalid_argument, "the parties leave an extent open", "{}: {}",
                  key_of(slot).info->name, to_string(key_of(slot).info->key, value.value));
  }
  return {};
}

}  // namespace

Acceptance acceptance(const AttributeList& list, const LayoutTag& tag) {
  bool has_family = false;
  const Alternative* wildcard = nullptr;
  for (const Alternative& each : list.alternatives()) {
    if (each.tag == tag) return {true, &each};
    has_family |= each.tag.family == tag.family;
    if (each.tag.family == LayoutTag::Family::wildcard) wildcard = &each;
  }
  return {!has_family || wildcard != nullptr, wildcard};
}

Result<Problem> make_problem(std::span<const AttributeList* const> lists,
                             std::span<const EngineAnswer> answers,
                             std::span<const std::string_view> without) {
  HALYARD_RETURN_IF_ERROR(check_names(lists));
  Problem problem;
  std::vector<const AttributeList*> sorted;
  for (const AttributeList* each : lists)
    if (std::ranges::find(without, each->party()) == without.end()) sorted.push_back(each);
  if (sorted.empty()) return fail(Errc::invalid_argument, "parties: at least one list is needed");
  std::ranges::stable_sort(
      sorted, {}, [](const AttributeList* list) -> const std::string& { return list->party(); });
  HALYARD_RETURN_IF_ERROR(check_contradictions(sorted));
  for (const AttributeList* each : sorted) {
    const bool is_known = std::ranges::any_of(problem.lists, [&](const AttributeList* other) {
      return other == each || same_list(*other, *each);
    });
    add_party(problem, *each, is_known);
    if (problem.parties.size() > max_parties)
      return fail(Errc::exhausted, "at most 64 parties share a buffer");
  }
  add_answers(problem, answers);
  for (const Fact& each : problem.common)
    merge(problem.merged, each);
  problem.merged.party_count = problem.parties.size();
  Merged settled = problem.merged;  // by the common facts; the others depend on the layout
  std::vector<Failure> conflicts;   // reported later
  settle_extents(settled, conflicts);
  const std::uint64_t kinds = kinds_of(settled);
  constexpr auto images = static_cast<std::uint64_t>(BufferKind::image) |
                          static_cast<std::uint64_t>(BufferKind::pyramid);
  problem.has_tensor = (kinds & static_cast<std::uint64_t>(BufferKind::tensor)) != 0;
  problem.has_image = (kinds & images) != 0;
  HALYARD_RETURN_IF_ERROR(check_complete(problem, settled));
  return problem;
}

std::vector<Candidate> candidates(const Problem& problem) {
  std::vector<LayoutTag> images{LayoutTag::any()}, tensors{LayoutTag::any()};
  if (problem.has_image) images = common_tags(problem, LayoutTag::Family::image);
  const bool names_orders = names_tags(problem, LayoutTag::Family::tensor);
  if (problem.has_tensor && names_orders) tensors = common_tags(problem, LayoutTag::Family::tensor);
  std::vector<Candidate> found;
  for (const LayoutTag& image : images) {
    if (problem.has_tensor && !names_orders) tensors = {default_order(problem.has_image, image)};
    for (const LayoutTag& tensor : tensors) {
      std::uint64_t cost = 0;
      if (problem.has_image) cost += cost_of(problem, image);
      if (problem.has_tensor) cost += cost_of(problem, tensor);
      found.push_back({tensor, image, cost});
    }
  }
  std::ranges::sort(found, {}, [](const Candidate& each) {
    return std::tuple(each.cost, each.tensor, each.image);
  });
  return found;
}

std::vector<Fact> Problem::facts(const Candidate& candidate) const {
  std::vector<Fact> out;
  std::size_t count = common.size();
  each_alternative_fact(candidate, [&](const Fact&) { ++count; });
  out.reserve(count);
  out.assign(common.begin(), common.end());
  each_alternative_fact(candidate, [&](const Fact& fact) { out.push_back(fact); });
  return out;
}

bool lacks_common_tag(const Problem& problem, LayoutTag::Family family) {
  return names_tags(problem, family) && common_tags(problem, family).empty();
}

namespace {

/// Lists that have no tag of the family in common. Without any one of them, the others have one.
std::vector<const AttributeList*> disjoint_lists(const Problem& problem, LayoutTag::Family family) {
  const auto is_restricting = [&](const AttributeList* list) {
    const auto all = list->alternatives();
    return std::ranges::any_of(all, [&](const Alternative& a) { return a.tag.family == family; }) &&
           std::ranges::none_of(all, [](const Alternative& a) {
             return a.tag.family == LayoutTag::Family::wildcard;
           });
  };
  Problem left;
  std::ranges::copy_if(problem.lists, std::back_inserter(left.lists), is_restricting);
  for (std::size_t k = 0; k < left.lists.size();) {
    Problem fewer;
    for (std::size_t other = 0; other < left.lists.size(); ++other)
      if (other != k) fewer.lists.push_back(left.lists[other]);
    if (lacks_common_tag(fewer, family)) {
      left.lists = fewer.lists;
    } else {
      ++k;
    }
  }
  return left.lists;
}

}  // namespace

ConflictItem no_common_layout(const Problem& problem, LayoutTag::Family family) {
  const bool is_image = family == LayoutTag::Family::image;
  ConflictItem item;
  item.key = is_image ? "i.format" : "t.layout";
  item.rule = is_image ? "there must be a format and modifier that all accept"
                       : "there must be a layout that all accept";
  item.hint = "let one of them accept a layout of the other's, or convert between two buffers";
  for (const AttributeList* list : disjoint_lists(problem, family)) {
    std::vector<std::string> tags;
    for (const Alternative& each : list->alternatives())
      if (each.tag.family == family) tags.push_back(to_string(each.tag));
    std::ranges::sort(tags);
    item.parties.push_back({list->party(),
                            list->process(),
                            list->engine(),
                            item.key,
                            fmt::format("{{{}}}", fmt::join(tags, ", ")),
                            "layout",
                            {}});
  }
  return item;
}

}  // namespace halyard
