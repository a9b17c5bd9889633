// SPDX-License-Identifier: Apache-2.0
// Problem: the lists of all parties as facts, in an order that does not depend on the order of the
// lists.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "halyard/reconcile.h"
#include "reconcile/merge/draft.h"
#include "reconcile/merge/merge.h"
#include "reconcile/merge/rounds.h"

namespace halyard {

struct PartyInfo {
  std::string_view name;
  std::string_view engine;
  std::uint32_t process = 0;
  std::optional<int> optional_priority;
};

/// An engine's answer to a candidate, and its party.
struct CandidateFacts {
  const EngineAnswer* answer;
  std::uint16_t party;
};

struct Problem {
  std::vector<const AttributeList*> lists;  ///< sorted by party, without duplicates
  std::vector<std::uint16_t> party_of_list;
  std::vector<PartyInfo> parties;  ///< sorted by name
  std::vector<Fact> common;        ///< facts of all candidates, by party
  std::vector<CandidateFacts> answers;
  Merged merged;  ///< the common facts, merged
  bool has_tensor = false, has_image = false;

  /// Calls `each` for the facts that hold for one candidate only. Tags are facts too.
  template <class Each>
  void each_alternative_fact(const Candidate& candidate, const Each& each) const;
  /// All facts that hold for a candidate.
  std::vector<Fact> facts(const Candidate& candidate) const;
};

/// Errors: those of reconcile(), except disagreement. `without`: parties that are left out,
/// together with the answers of their engines.
Result<Problem> make_problem(std::span<const AttributeList* const> lists,
                             std::span<const EngineAnswer> answers,
                             std::span<const std::string_view> without);

/// The layouts that every list accepts, the cheapest first.
std::vector<Candidate> candidates(const Problem& problem);

/// How a list accepts a tag: by the alternative of that tag or by the wildcard; null if it has
/// neither. `accepts` is false if the list has only other alternatives of the tag's family.
struct Acceptance {
  bool accepts = true;
  const Alternative* alternative = nullptr;
};
Acceptance acceptance(const AttributeList& list, const LayoutTag& tag);

/// Whether parties name tags of the family, but no tag is accepted by all lists.
bool lacks_common_tag(const Problem& problem, LayoutTag::Family family);

/// The report of parties that have no layout of a family in common.
ConflictItem no_common_layout(const Problem& problem, LayoutTag::Family family);

inline Fact to_fact(const Attribute& attribute, const AttributeList* list, std::uint16_t party) {
  return {static_cast<std::uint16_t>(slot_of(attribute.key, attribute.index)), party,
          attribute.value, &attribute, list};
}

template <class Each>
void Problem::each_alternative_fact(const Candidate& candidate, const Each& each) const {
  for (std::size_t k = 0; k < lists.size(); ++k)
    for (const LayoutTag& tag : {candidate.tensor, candidate.image}) {
      if (tag.family == LayoutTag::Family::wildcard) continue;
      const Alternative* const found = acceptance(*lists[k], tag).alternative;
      if (found == nullptr) continue;
      for (const Attribute& attribute : found->attributes)
        each(to_fact(attribute, lists[k], party_of_list[k]));
      const Key key = tag.family == LayoutTag::Family::image ? Key::format : Key::layout;
      if (found->tag == tag)
        each(Fact{
            static_cast<std::uint16_t>(slot_of(key)), party_of_list[k], {1, 0}, nullptr, lists[k]});
    }
  for (const CandidateFacts& said : answers) {
    if (!same_tags(said.answer->candidate, candidate)) continue;
    for (const Attribute& attribute : said.answer->attributes)
      each(to_fact(attribute, nullptr, said.party));
  }
}

}  // namespace halyard
