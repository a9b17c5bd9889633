// SPDX-License-Identifier: Apache-2.0
// Divides parties into the fewest groups that agree on a buffer each, with copies between the
// buffers.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/text/format_error.h"
#include "halyard/buffer_plan.h"
#include "reconcile/merge/merge.h"

namespace halyard {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view content_name = "(content)";
constexpr std::size_t max_exact = 12;
constexpr Key content_keys[] = {Key::kind,           Key::dtype,          Key::shape,
                                Key::width,          Key::height,         Key::raw_size,
                                Key::array_stride,   Key::array_capacity, Key::pyramid_levels,
                                Key::pyramid_scale,  Key::shape_required, Key::width_required,
                                Key::height_required};

bool is_content(Key key) {
  return std::ranges::find(content_keys, key) != std::end(content_keys);
}

using Names = std::vector<std::string>;

/// All parties by name, and the content that they describe together.
class Planner {
 public:
  Planner(std::span<const EngineParty> parties, const ReconcileOptions& options)
      : options_(options) {
    options_.allow_drop = false;
    for (const EngineParty& each : parties)
      by_name_[each.list.party()].push_back(each);
    for (const auto& [name, lists] : by_name_)
      names_.push_back(name);
    collect_formats();
  }
  /// Errors: unsupported (the parties contradict each other).
  Status collect_content(Conflict* conflict);
  Result<Reconciled> agree(const Names& names, Conflict* conflict) const;
  Result<std::vector<Names>> split(Conflict* conflict) const;
  const Names& names() const { return names_; }

 private:
  void collect_formats();
  std::vector<Names> split_exactly() const;
  std::vector<Names> split_greedily() const;

  ReconcileOptions options_;
  std::map<std::string, std::vector<EngineParty>> by_name_;
  Names names_;
  AttributeList content_{std::string(content_name)};
  std::set<LayoutTag> formats_;
};

void Planner::collect_formats() {
  for (const auto& [name, lists] : by_name_)
    for (const EngineParty& party : lists)
      for (const Alternative& each : party.list.alternatives())
        if (each.tag.family == LayoutTag::Family::image) formats_.insert(each.tag);
}

Status Planner::collect_content(Conflict* conflict) {
  std::vector<AttributeList> lists;
  Merged merged;
  for (const auto& [name, parties] : by_name_)
    for (const EngineParty& party : parties)
      for (const Attribute& each : party.list.attributes())
        if (is_content(each.key)) {
          merge(merged, Fact{static_cast<std::uint16_t>(slot_of(each.key, each.index)), 0,
                             each.value, nullptr, nullptr});
          // One list per statement: a party may set a key twice, in two lists.
          lists.emplace_back(name);
          HALYARD_RETURN_IF_ERROR(lists.back().set(each.key, each.value, each.index, each.source));
        }
  for (std::size_t slot = 0; slot < slot_count; ++slot) {
    const MergedValue& value = merged.values[slot];
    const SlotKey key = key_of(slot);
    if (!value.is_set) continue;
    if (value.contradicts) {
      const auto all = reconcile(lists, options_, conflict);
      return all ? fail(Errc::unsupported, "the parties disagree") : all.error();
    }
    HALYARD_RETURN_IF_ERROR(content_.set(key.info->key, value.value, key.index, {}));
  }
  return {};
}

Result<Reconciled> Planner::agree(const Names& names, Conflict* conflict) const {
  std::vector<EngineParty> parties;
  bool names_format = false, names_content = true;
  for (const std::string& name : names)
    for (const EngineParty& each : by_name_.at(name)) {
      parties.push_back(each);
      names_format |= std::ranges::any_of(each.list.alternatives(), [](const Alternative& one) {
        return one.tag.family == LayoutTag::Family::image;
      });
    }
  if (names.size() == names_.size()) names_content = false;
  if (names_content) {
    AttributeList content = content_;
    if (!names_format)
      for (const LayoutTag& each : formats_)
        HALYARD_RETURN_IF_ERROR(content.accept(each));
    parties.push_back({std::move(content), nullptr});
  }
  return reconcile_engines(parties, options_, conflict);
}

std::vector<Names> Planner::split_exactly() const {
  const std::size_t count = names_.size();
  const std::size_t sets = std::size_t{1} << count;
  const auto members = [&](std::size_t set) {
    Names out;
    for (std::size_t k = 0; k < count; ++k)
      if ((set >> k & 1) != 0) out.push_back(names_[k]);
    return out;
  };
  // A set of parties agrees only if each subset without one of them does, since more requests never
  // help.
  std::vector<bool> agrees(sets, false);
  agrees[0] = true;
  for (std::size_t set = 1; set < sets; ++set) {
    bool may_agree = true;
    for (std::size_t k = 0; k < count; ++k)
      may_agree = may_agree && ((set >> k & 1) == 0 || agrees[set & ~(std::size_t{1} << k)]);
    agrees[set] = may_agree && agree(members(set), nullptr).has_value();
  }
  // The fewest groups for each set, and the group of its first party. Among equal choices the part
  // with the largest number wins, so that the choice depends on nothing else.
  std::vector<std::size_t> fewest(sets, count + 1), group(sets, 0);
  fewest[0] = 0;
  for (std::size_t set = 1; set < sets; ++set) {
    const std::size_t first = set & (~set + 1);
    for (std::size_t part = set; part != 0; part = (part - 1) & set)
      if ((part & first) != 0 && agrees[part] && fewest[set & ~part] + 1 < fewest[set]) {
        fewest[set] = fewest[set & ~part] + 1;
        group[set] = part;
      }
  }
  std::vector<Names> groups;
  for (std::size_t left = sets - 1; left != 0; left &= ~group[left])
    groups.push_back(members(group[left]));
  return groups;
}

std::vector<Names> Planner::split_greedily() const {
  std::vector<Names> groups;
  for (const std::string& name : names_) {
    const auto takes = [&](Names& group) {
      group.push_back(name);
      if (agree(group, nullptr)) return true;
      group.pop_back();
      return false;
    };
    if (std::ranges::none_of(groups, takes)) groups.push_back({name});
  }
  return groups;
}

Result<std::vector<Names>> Planner::split(Conflict* conflict) const {
  if (agree(names_, nullptr)) return std::vector<Names>{names_};
  for (const std::string& name : names_)
    HALYARD_RETURN_IF_ERROR(agree({name}, conflict));
  return names_.size() <= max_exact ? split_exactly() : split_greedily();
}

/// Ranks a party by its statements, its own or its engine's: 3 fixes a row stride or writes into
/// padding; 2 writes; 1 holds buffers; 0 none of these.
int rank_of_writer(const Reconciled& buffer, const std::string& name) {
  const auto has_key = [&](Key key) {
    for (std::size_t k = 0; k < key_info(key)->count; ++k)
      for (const Statement& each : buffer.explain(key, k))
        if (each.party == name) return true;
    return false;
  };
  if (has_key(Key::pitch_exact) || has_key(Key::row_exact) || has_key(Key::pad_clobber)) return 3;
  for (const PartyView& each : buffer.views())
    if (each.party == name && each.permission == Permission::read_write) return 2;
  return has_key(Key::camp) ? 1 : 0;
}

std::size_t group_of_writer(const std::vector<PlanGroup>& groups) {
  std::size_t found = 0;
  int best = -1;
  std::string best_name;
  for (std::size_t k = 0; k < groups.size(); ++k)
    for (const std::string& name : groups[k].parties) {
      const int rank = rank_of_writer(groups[k].buffer, name);
      if (rank < best || (rank == best && name > best_name)) continue;
      found = k;
      best = rank;
      best_name = name;
    }
  return found;
}

ordered_json to_json_value(const BufferPlan& plan) {
  ordered_json out{{"ok", true}, {"groups", ordered_json::array()}};
  for (const PlanGroup& each : plan.groups)
    out["groups"].push_back({{"parties", each.parties},
                             {"outputs", ordered_json::parse(each.buffer.to_json())["outputs"]}});
  out["copies"] = ordered_json::array();
  for (const PlanCopy& each : plan.copies)
    out["copies"].push_back({{"from", each.from},
                             {"to", each.to},
                             {"bytes", each.bytes},
                             {"conflicts", ordered_json::parse(each.why.to_json())["conflicts"]}});
  return out;
}

}  // namespace

std::string BufferPlan::to_json() const {
  return to_json_value(*this).dump();
}

std::string BufferPlan::to_text() const {
  std::string out;
  for (std::size_t k = 0; k < groups.size(); ++k) {
    std::string names;
    for (const std::string& each : groups[k].parties)
      names += (names.empty() ? "" : ", ") + each;
    out += fmt::format("buffer {}: {}\n  {}\n", k, names, groups[k].buffer.to_text());
  }
  for (const PlanCopy& each : copies)
    out += fmt::format("copy {} bytes from buffer {} to buffer {}, because\n{}", each.bytes,
                       each.from, each.to, each.why.to_text());
  return out;
}

Result<BufferPlan> plan_buffers(std::span<const EngineParty> parties,
                                const ReconcileOptions& options, Conflict* conflict) {
  if (parties.empty()) return fail(Errc::invalid_argument, "parties: at least one list is needed");
  Planner planner(parties, options);
  constexpr std::size_t max_planned = max_parties - 1;  // one more list describes the content
  if (planner.names().size() > max_planned)
    return fail(Errc::exhausted, "parties: at most 63 may take part", "{}", planner.names().size());
  HALYARD_RETURN_IF_ERROR(planner.collect_content(conflict));
  HALYARD_TRY(const std::vector<Names> split, planner.split(conflict));
  BufferPlan plan;
  for (const Names& names : split) {
    HALYARD_TRY(Reconciled buffer, planner.agree(names, conflict));
    plan.groups.push_back({names, std::move(buffer)});
  }
  const std::size_t from = group_of_writer(plan.groups);
  for (std::size_t to = 0; to < plan.groups.size(); ++to) {
    if (to == from) continue;
    PlanCopy copy{from, to, plan.groups[to].buffer.size_bytes(), {}};
    Names both = plan.groups[from].parties;
    both.insert(both.end(), plan.groups[to].parties.begin(), plan.groups[to].parties.end());
    std::ranges::sort(both);
    static_cast<void>(planner.agree(both, &copy.why).has_value());
    plan.copies.push_back(std::move(copy));
  }
  return plan;
}

Result<BufferPlan> plan_buffers(std::span<const AttributeList> lists,
                                const ReconcileOptions& options, Conflict* conflict) {
  std::vector<EngineParty> parties;
  for (const AttributeList& each : lists)
    parties.push_back({each, nullptr});
  return plan_buffers(parties, options, conflict);
}

}  // namespace halyard
