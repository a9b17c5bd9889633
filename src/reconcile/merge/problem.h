// SPDX-License-Identifier: Apache-2.0
// Problem: the lists of all parties as facts, in an order that does not depend on theirs.
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

/// What an engine said of a candidate.
struct CandidateFacts {
  const EngineAnswer* answer;
  std::uint16_t party;
};

struct Problem {
  std::vector<const AttributeList*> lists;  ///< by party; no two are the same
  std::vector<std::uint16_t> party_of_list;
  std::vector<PartyInfo> parties;  ///< by name
  std::vector<Fact> common;        ///< by party
  std::vector<CandidateFacts> answers;
  Merged merged;  ///< of the common ones
  bool has_tensor = false, has_image = false;

  /// Those that hold for a candidate alone; tags are facts too.
  template <class Each>
  void each_alternative_fact(const Candidate& candidate, const Each& each) const;
  /// All that hold for a candidate.
  std::vector<Fact> facts(const Candidate& candidate) const;
};

/// Errors: those of reconcile(), disagreement aside. `without`: parties that are left out, with the
/// answers of their engines.
Result<Problem> make_problem(std::span<const AttributeList* const> lists,
                             std::span<const EngineAnswer> answers,
                             std::span<const std::string_view> without);

/// The arrangements that every list accepts, the cheapest first.
std::vector<Candidate> candidates(const Problem& problem);

/// What a list says for a tag: its alternative, or the wildcard; null: nothing. `accepts` false:
/// the list has others of the family.
struct Acceptance {
  bool accepts = true;
  const Alternative* alternative = nullptr;
};
Acceptance acceptance(const AttributeList& list, const LayoutTag& tag);

/// Whether some list of the family accepts nothing that all others do.
bool lacks_common_tag(const Problem& problem, LayoutTag::Family family);

/// The item of parties that have no arrangement of a family in common.
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
