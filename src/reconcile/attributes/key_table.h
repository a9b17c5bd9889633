// SPDX-License-Identifier: Apache-2.0
// The table of keys as this layer uses it. Each value of a key has a slot.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "halyard/attributes.h"

namespace halyard {

inline constexpr std::size_t max_axes = 8;
inline constexpr std::size_t max_planes = 3;
inline constexpr std::uint64_t max_multiple = std::uint64_t{1} << 31;
inline constexpr std::uint64_t max_size = (std::uint64_t{1} << 63) - 1;

/// Number of slots of all keys. Slots are numbered in the order of the table.
inline constexpr std::size_t slot_count = 89;

/// The first slot of each key, by its number: 32 numbers for each of the four groups.
extern const std::array<std::uint8_t, 128> first_slots;
/// First slot of a key, plus `index`. The key must exist.
inline std::size_t slot_of(Key key, std::size_t index = 0) noexcept {
  const unsigned id = static_cast<unsigned>(key) & 0x7FFFU;
  return first_slots[(((id >> 8) - 1) * 32 + (id & 0xFFU) - 1) % first_slots.size()] + index;
}
/// Like slot_of() above, for a row of the table.
std::size_t slot_of(const KeyInfo& info, std::size_t index) noexcept;
/// The key of a slot, and the index of its value.
struct SlotKey {
  const KeyInfo* info;
  std::size_t index;
};
SlotKey key_of(std::size_t slot) noexcept;

/// What merging needs to know of a slot for each fact.
struct SlotRule {
  Key key;
  MergeRule rule;
};
extern const std::array<SlotRule, slot_count> slot_rules;

/// A name of an enumerator, and its value.
struct NamedValue {
  std::string_view name;
  std::uint64_t value;
};
/// The names of a key's values; empty for numbers.
std::span<const NamedValue> names_of(Key key) noexcept;
/// All bits that a set may have.
std::uint64_t all_bits(Key key) noexcept;

/// The value of Key::engines that follows from a list's engine of this name. Lives as long as the
/// program.
const Attribute& engine_attribute(std::string_view engine) noexcept;

}  // namespace halyard
