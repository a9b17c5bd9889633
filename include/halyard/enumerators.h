// SPDX-License-Identifier: Apache-2.0
// The enumerators of an enumeration with their names, as the compiler knows them: nobody writes the
// list a second time.
//
//   for (const auto& [name, fit] : halyard::enumerators<halyard::Fit>) ...  // "stretch", ...
//   const auto filter = halyard::enumerator_from<halyard::Filter>("lanczos3");
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

namespace halyard {

/// An enumerator and its name in the source, without its scope. A zero byte follows the name.
template <class E>
struct Enumerator {
  std::string_view name;
  E value{};
};

namespace detail {

// What the compiler calls the values: "halyard::Fit::cover, (halyard::Fit)9, ..." for all at once,
// because a function for each would take it longer.
template <class E, E... values>
consteval auto text_of_values() {
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.rfind("values = ") + 10);
  return text.substr(0, text.find_last_of("}>"));
}
template <class E, std::size_t... values>
consteval std::string_view text_of_numbers(std::index_sequence<values...>) {
  return text_of_values<E, static_cast<E>(values)...>();
}

struct EnumeratorCounts {
  std::size_t enumerators = 0;
  std::size_t bytes = 0;
};
template <class E, class Take>
consteval void for_each_enumerator(Take take) {
  std::string_view text = text_of_numbers<E>(std::make_index_sequence<64>());
  for (std::size_t value = 0; value < 64; ++value) {
    std::string_view name = text.substr(0, text.find(','));
    text.remove_prefix(value < 63 ? name.size() + 2 : 0);
    name.remove_prefix(name.find_last_of(":)") + 1);
    if (name.front() < '0' || name.front() > '9') take(static_cast<E>(value), name);
  }
}
template <class E>
consteval EnumeratorCounts count_enumerators() {
  EnumeratorCounts counts;
  for_each_enumerator<E>([&](E, std::string_view name) {
    ++counts.enumerators;
    counts.bytes += name.size() + 1;
  });
  return counts;
}

template <class E>
consteval auto make_enumerator_names() {
  std::array<char, count_enumerators<E>().bytes> out{};
  std::size_t at = 0;
  for_each_enumerator<E>([&](E, std::string_view name) {
    for (const char letter : name)
      out[at++] = letter;
    ++at;
  });
  return out;
}
template <class E>
inline constexpr auto enumerator_names = make_enumerator_names<E>();

template <class E>
consteval auto list_enumerators() {
  std::array<Enumerator<E>, count_enumerators<E>().enumerators> out{};
  std::size_t size = 0;
  const char* at = enumerator_names<E>.data();
  for_each_enumerator<E>([&](E value, std::string_view name) {
    out[size++] = {{at, name.size()}, value};
    at += name.size() + 1;
  });
  return out;
}

}  // namespace detail

/// The enumerators of E with values 0..63, in the order of their values.
template <class E>
inline constexpr auto enumerators = detail::list_enumerators<E>();

/// The name of an enumerator; `otherwise` for other values.
template <class E>
constexpr std::string_view enumerator_name(E value, std::string_view otherwise = {}) noexcept {
  for (const Enumerator<E>& each : enumerators<E>)
    if (each.value == value) return each.name;
  return otherwise;
}

/// The enumerator of that name; letter case counts.
template <class E>
constexpr std::optional<E> enumerator_from(std::string_view name) noexcept {
  for (const Enumerator<E>& each : enumerators<E>)
    if (each.name == name) return each.value;
  return std::nullopt;
}

}  // namespace halyard
