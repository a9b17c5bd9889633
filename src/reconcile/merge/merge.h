// SPDX-License-Identifier: Apache-2.0
// Facts: the values that all parties stated, one after the other. Merging: what follows from a set
// of facts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "halyard/attributes.h"
#include "reconcile/attributes/key_table.h"

namespace halyard {

inline constexpr std::size_t max_parties = 64;

/// One value that one party stated for one key.
struct Fact {
  std::uint16_t slot = 0;
  std::uint16_t party = 0;
  AttributeValue value;
  const Attribute* said = nullptr;      ///< null: the tag of a layout that the party accepts
  const AttributeList* list = nullptr;  ///< null in a result
};

struct MergedValue {
  AttributeValue value;
  bool is_set = false;
  bool contradicts = false;  ///< no value serves all; `value` is one of them
};

/// The values of a party that do not become one value for all.
struct PartyValues {
  std::uint64_t cpu = 0;
  std::uint64_t perm = 0;
  std::uint64_t attach = 1;
  std::uint64_t domains = 15;
  std::uint64_t camp = 0;
  std::uint64_t slack = 0;
  bool is_pinned = false;
  bool limits_count = false;
};

/// The join of some facts. Does not depend on their order, nor on how often each is merged.
struct Merged {
  std::array<MergedValue, slot_count> values{};
  std::array<PartyValues, max_parties> parties{};
  std::size_t party_count = 0;

  const MergedValue& operator[](Key key) const noexcept { return values[slot_of(key)]; }
  const MergedValue& at(Key key, std::size_t index) const noexcept {
    return values[slot_of(key, index)];
  }
  std::uint64_t number(Key key, std::uint64_t fallback) const noexcept {
    return number(key, 0, fallback);
  }
  std::uint64_t number(Key key, std::size_t index, std::uint64_t fallback) const noexcept {
    const MergedValue& found = at(key, index);
    return found.is_set ? found.value.low : fallback;
  }
  bool flag(Key key) const noexcept { return number(key, 0) != 0; }
};

void merge(Merged& into, const Fact& fact) noexcept;

/// The least common multiple; 0 if it is above 2^31.
std::uint64_t common_multiple(std::uint64_t a, std::uint64_t b) noexcept;

/// The facts that determine the merged value of a slot, as indices: without one of them the value
/// would differ. Names all facts that state the same.
std::vector<std::size_t> witnesses(std::span<const Fact> facts, std::size_t slot);

}  // namespace halyard
