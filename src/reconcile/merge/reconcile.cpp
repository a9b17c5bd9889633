// SPDX-License-Identifier: Apache-2.0
// Finds the best candidate, reports conflicts, and leaves optional parties out.
#include "halyard/reconcile.h"

#include <algorithm>

#include "base/text/format_error.h"
#include "reconcile/merge/choose_memory.h"
#include "reconcile/merge/conflict.h"
#include "reconcile/merge/problem.h"
#include "reconcile/merge/reconcile.h"
#include "reconcile/merge/result.h"
#include "reconcile/merge/rounds.h"

namespace halyard {

namespace {

constexpr std::string_view engines_key = "g.engines";

/// The best candidate so far, solved.
struct Best {
  Candidate candidate;
  Merged merged;
  Draft draft;
  bool is_found = false;
};

Best find_best(const Problem& problem, std::span<const Candidate> all,
               const MachineTraits& machine) {
  Best best;
  std::vector<Failure> failures;
  for (const Candidate& candidate : all) {
    if (best.is_found && candidate.cost > best.candidate.cost) break;
    Merged merged = problem.merged;
    problem.each_alternative_fact(candidate, [&](const Fact& fact) { merge(merged, fact); });
    Draft draft;
    failures.clear();
    if (!solve(merged, candidate, machine, draft, failures)) continue;
    if (best.is_found && draft.alloc_size >= best.draft.alloc_size) continue;
    best = {candidate, merged, draft, true};
  }
  return best;
}

/// Adds items. Equal items of several layouts become one item without a layout. Refusals are equal
/// only if their sources are.
void add_items(Conflict& conflict, std::vector<ConflictItem> items, std::size_t candidates) {
  for (ConflictItem& item : items) {
    const auto same = [&](const ConflictItem& other) {
      return other.key == item.key && other.computed == item.computed &&
             std::ranges::equal(
                 other.parties, item.parties, [](const Statement& a, const Statement& b) {
                   const bool is_refusal = a.key == engines_key;
                   return a.party == b.party && a.key == b.key && a.value == b.value &&
                          (!is_refusal || a.source == b.source);
                 });
    };
    const auto known = std::ranges::find_if(conflict.items, same);
    if (known != conflict.items.end()) {
      known->tag.clear();
    } else {
      if (candidates == 1 && item.tag == "NCHW") item.tag.clear();
      conflict.items.push_back(std::move(item));
    }
  }
}

Conflict report(const Problem& problem, std::span<const Candidate> all,
                const MachineTraits& machine) {
  Conflict conflict;
  if (all.empty()) {
    for (const auto family : {LayoutTag::Family::tensor, LayoutTag::Family::image}) {
      const bool is_held =
          family == LayoutTag::Family::image ? problem.has_image : problem.has_tensor;
      if (is_held && lacks_common_tag(problem, family))
        conflict.items.push_back(no_common_layout(problem, family));
    }
    return conflict;
  }
  std::vector<std::vector<ConflictItem>> found;
  for (const Candidate& each : all)
    found.push_back(find_conflicts(problem, each, machine));
  std::ranges::stable_sort(found, {}, [](const auto& items) { return items.size(); });
  for (auto& items : found)
    add_items(conflict, std::move(items), all.size());
  return conflict;
}

using NameViews = std::vector<std::string_view>;

/// The statements of the parties that take part.
std::vector<Statement> present(const Refusal& refusal, const NameViews& without) {
  std::vector<Statement> out;
  std::ranges::copy_if(refusal.statements, std::back_inserter(out), [&](const Statement& each) {
    return std::ranges::find(without, each.party) == without.end();
  });
  return out;
}

/// The candidates that no engine of a participating party refuses.
std::vector<Candidate> candidates_left(const Problem& problem, std::span<const Refusal> refusals,
                                       const NameViews& without) {
  std::vector<Candidate> all = candidates(problem);
  std::erase_if(all, [&](const Candidate& each) {
    return std::ranges::any_of(refusals, [&](const Refusal& refusal) {
      return same_tags(each, refusal.candidate) && !present(refusal, without).empty();
    });
  });
  return all;
}

void add_refusals(Conflict& conflict, std::span<const Refusal> refusals, const NameViews& without) {
  for (const Refusal& each : refusals) {
    ConflictItem item;
    item.key = engines_key;
    item.rule = each.rule;
    item.tag = tag_text(each.candidate);
    item.parties = present(each, without);
    item.hint = "let the party be optional, or copy for it";
    if (!item.parties.empty()) add_items(conflict, {std::move(item)}, refusals.size());
  }
}

Error disagreement(Conflict found, Conflict* conflict) {
  auto error = fail(Errc::unsupported, "the parties disagree", "{}", found.to_text());
  if (conflict != nullptr) *conflict = std::move(found);
  return error;
}

/// Among the optional parties in the conflict: the one with the lowest priority; of several, the
/// first by name.
const PartyInfo* party_to_drop(const Problem& problem, const Conflict& conflict) {
  const PartyInfo* found = nullptr;
  for (const PartyInfo& party : problem.parties) {
    const bool is_in_the_way = std::ranges::any_of(conflict.items, [&](const ConflictItem& item) {
      return std::ranges::any_of(item.parties,
                                 [&](const Statement& s) { return s.party == party.name; });
    });
    if (!party.optional_priority || !is_in_the_way) continue;
    if (found == nullptr || *party.optional_priority < *found->optional_priority) found = &party;
  }
  return found;
}

}  // namespace

Result<Reconciled> reconcile(std::span<const AttributeList* const> lists,
                             const ReconcileOptions& options, Conflict* conflict) {
  return reconcile_after(lists, options, {}, conflict);
}

Error refused_by_engines(std::span<const Refusal> refusals, Conflict* conflict) {
  Conflict found;
  add_refusals(found, refusals, {});
  return disagreement(std::move(found), conflict);
}

Result<Reconciled> reconcile_after(std::span<const AttributeList* const> lists,
                                   const ReconcileOptions& options, const EngineRounds& before,
                                   Conflict* conflict) {
  const MachineTraits machine{options.can_anchor};
  std::vector<DroppedParty> dropped = before.absent;
  NameViews without;
  for (const DroppedParty& each : before.absent)
    without.push_back(each.party);
  while (true) {
    HALYARD_TRY(const Problem problem, make_problem(lists, before.answers, without));
    const std::vector<Candidate> all = candidates_left(problem, before.refusals, without);
    const Best best = find_best(problem, all, machine);
    if (best.is_found)
      return make_reconciled(problem, best.candidate, problem.facts(best.candidate), best.merged,
                             best.draft, machine, std::move(dropped));
    Conflict found = report(problem, all, machine);
    add_refusals(found, before.refusals, without);
    const PartyInfo* const party = options.allow_drop ? party_to_drop(problem, found) : nullptr;
    if (party == nullptr) return disagreement(std::move(found), conflict);
    without.push_back(party->name);
    dropped.push_back({std::string(party->name), std::move(found)});
  }
}

Result<Reconciled> reconcile(std::span<const AttributeList> lists, const ReconcileOptions& options,
                             Conflict* conflict) {
  std::vector<const AttributeList*> pointers;
  for (const AttributeList& each : lists)
    pointers.push_back(&each);
  return reconcile(std::span<const AttributeList* const>(pointers), options, conflict);
}

}  // namespace halyard
