// SPDX-License-Identifier: Apache-2.0
// Finds minimal sets of facts that fail, by removing facts while the rest still fails.
#include "reconcile/merge/conflict.h"

#include <algorithm>
#include <tuple>

#include "base/text/format_error.h"
#include "reconcile/merge/choose_memory.h"
#include "reconcile/merge/describe.h"

namespace halyard {

namespace {

/// The facts of one candidate, some of them switched off.
class FactSet {
 public:
  FactSet(const Problem& problem, const Candidate& candidate, const MachineTraits& machine)
      : candidate_(candidate), machine_(machine), facts_(problem.facts(candidate)) {
    std::ranges::stable_sort(facts_, {}, [](const Fact& f) {
      const std::string_view source = f.said != nullptr ? f.said->source : std::string_view();
      return std::tuple(f.party, f.slot, f.value.low, f.value.high, source);
    });
    is_on_.assign(facts_.size(), true);
  }
  const std::vector<Fact>& facts() const { return facts_; }

  /// The failures that remain with the facts that are on and in `also`.
  std::vector<Failure> failures(const std::vector<bool>& also) const {
    Merged merged;
    for (std::size_t k = 0; k < facts_.size(); ++k)
      if (is_on_[k] && also[k]) merge(merged, facts_[k]);
    Draft draft;
    std::vector<Failure> found;
    solve(merged, candidate_, machine_, draft, found);
    return found;
  }
  std::vector<Failure> failures() const { return failures(is_on_); }

  /// The facts that are on.
  std::vector<bool> all() const { return is_on_; }
  void switch_off(const std::vector<bool>& some) {
    for (std::size_t k = 0; k < some.size(); ++k)
      if (some[k]) is_on_[k] = false;
  }

 private:
  Candidate candidate_;
  MachineTraits machine_;
  std::vector<Fact> facts_;
  std::vector<bool> is_on_;
};

/// Removes facts from `chosen` as long as the rest still fails: many at a time, then fewer, at last
/// single ones. In the end no fact can be removed.
template <class StillFails>
void reduce(std::vector<bool>& chosen, bool is_backwards, const StillFails& still_fails) {
  std::vector<std::size_t> left;
  for (std::size_t k = 0; k < chosen.size(); ++k)
    if (chosen[k]) left.push_back(k);
  if (is_backwards) std::ranges::reverse(left);
  const auto set_run = [&](std::size_t begin, std::size_t count, bool on) {
    for (std::size_t k = begin; k < begin + count; ++k)
      chosen[left[k]] = on;
  };
  for (std::size_t run = std::max<std::size_t>(left.size() / 2, 1);; run = (run + 1) / 2) {
    for (std::size_t begin = 0; begin < left.size(); begin += run) {
      const std::size_t count = std::min(run, left.size() - begin);
      set_run(begin, count, false);
      if (!still_fails(chosen)) set_run(begin, count, true);
    }
    std::erase_if(left, [&](std::size_t k) { return !chosen[k]; });
    if (run == 1) return;
  }
}

/// A minimal set that fails. The search first keeps the kind of `failure`, then any failure.
std::vector<bool> min_failing(const FactSet& set, const Failure& failure, bool is_backwards) {
  std::vector<bool> chosen = set.all();
  reduce(chosen, is_backwards, [&](const std::vector<bool>& some) {
    return std::ranges::any_of(set.failures(some),
                               [&](const Failure& each) { return same_kind(each, failure); });
  });
  reduce(chosen, is_backwards,
         [&](const std::vector<bool>& some) { return !set.failures(some).empty(); });
  return chosen;
}

/// The smaller one of two minimal sets. There may be several, with more or fewer keys.
std::vector<bool> smallest_failing(const FactSet& set, const Failure& failure) {
  const auto one = min_failing(set, failure, false), other = min_failing(set, failure, true);
  return std::ranges::count(other, true) < std::ranges::count(one, true) ? other : one;
}

/// The failure with the numbers that result from all statements: the size with all axes, strides
/// that are legal for all parties. The numbers of the minimal set alone would describe a smaller
/// buffer.
Failure with_all(Failure minimum, const std::vector<Failure>& all) {
  const auto same =
      std::ranges::find_if(all, [&](const Failure& f) { return same_kind(f, minimum); });
  if (same == all.end()) return minimum;
  if (minimum.check == Check::size_max && same->value < max_size)
    minimum.value = std::max(minimum.value, same->value);
  if (minimum.check == Check::row_exact && same->value == minimum.value) {
    minimum.needed = same->needed;
    minimum.below = same->below;
  }
  return minimum;
}

/// `all`: the failures with the statements of all parties.
ConflictItem problem_item(const Problem& problem, const FactSet& set, const Candidate& candidate,
                          const std::vector<bool>& chosen, const std::vector<Failure>& all) {
  const std::vector<Failure> failures = set.failures(chosen);
  ConflictItem item;
  item.key = slot_name(failures.front().slot);
  item.tag = tag_text(candidate);
  for (std::size_t k = 0; k < chosen.size(); ++k)
    if (chosen[k]) item.parties.push_back(to_statement(problem, set.facts()[k], candidate));
  describe_failure(with_all(failures.front(), all), candidate, item);
  return item;
}

}  // namespace

std::string tag_text(const Candidate& candidate) {
  std::string out;
  for (const LayoutTag& tag : {candidate.tensor, candidate.image})
    if (tag.family != LayoutTag::Family::wildcard)
      out += (out.empty() ? "" : ", ") + to_string(tag);
  return out;
}

std::string slot_name(std::size_t slot) {
  const SlotKey key = key_of(slot);
  if (key.info->count == 1) return std::string(key.info->name);
  if (key.info->count == max_axes) {
    constexpr std::string_view axes[] = {"W", "H", "C", "N"};
    if (key.index < std::size(axes)) return fmt::format("{}[{}]", key.info->name, axes[key.index]);
  }
  return fmt::format("{}[{}]", key.info->name, key.index);
}

Statement to_statement(const Problem& problem, const Fact& fact, const Candidate& candidate) {
  const PartyInfo& party = problem.parties[fact.party];
  const SlotKey key = key_of(fact.slot);
  Statement out{std::string(party.name),
                party.process,
                std::string(party.engine),
                slot_name(fact.slot),
                {},
                "set",
                {}};
  if (fact.said != nullptr) {
    out.value = to_string(key.info->key, fact.value);
    out.source = fact.said->source;
  } else {
    out.value = to_string(key.info->key == Key::format ? candidate.image : candidate.tensor);
    out.origin = "layout";
  }
  return out;
}

std::vector<ConflictItem> find_conflicts(const Problem& problem, const Candidate& candidate,
                                         const MachineTraits& machine) {
  FactSet set(problem, candidate, machine);
  std::vector<ConflictItem> items;
  const std::vector<Failure> all = set.failures();
  for (auto failures = all; !failures.empty(); failures = set.failures()) {
    const std::vector<bool> chosen = smallest_failing(set, failures.front());
    items.push_back(problem_item(problem, set, candidate, chosen, all));
    // No statement of a party is left in it, so it would be found again and again.
    if (std::ranges::none_of(chosen, [](bool is_chosen) { return is_chosen; })) break;
    set.switch_off(chosen);
  }
  return items;
}

}  // namespace halyard
