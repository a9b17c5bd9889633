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

// The name of `value`; empty where E has none. The compiler's text of this function holds
// "value = halyard::Fit::cover", and where there is no such enumerator "value = (halyard::Fit)9".
template <class E, E value>
consteval std::string_view find_enumerator_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find("value = ") + 8);
  text = text.substr(0, text.find_first_of(";]"));
  text.remove_prefix(text.find_last_of(":)") + 1);
  return text.front() >= '0' && text.front() <= '9' ? std::string_view() : text;
}

template <class E, E value>
inline constexpr auto enumerator_text = [] {
  constexpr std::string_view text = find_enumerator_name<E, value>();
  std::array<char, text.size() + 1> out{};
  for (std::size_t i = 0; i < text.size(); ++i)
    out[i] = text[i];
  return out;
}();

template <class E, E value>
consteval std::string_view name_of_enumerator() {
  const auto& text = enumerator_text<E, value>;
  return {text.data(), text.size() - 1};
}

template <class E, std::size_t... values>
consteval auto list_enumerators(std::index_sequence<values...>) {
  constexpr std::array<Enumerator<E>, sizeof...(values)> all = {
      {{name_of_enumerator<E, static_cast<E>(values)>(), static_cast<E>(values)}...}};
  constexpr std::size_t count = (std::size_t{0} + ... + (all[values].name.empty() ? 0U : 1U));
  std::array<Enumerator<E>, count> found{};
  std::size_t size = 0;
  for (const Enumerator<E>& each : all)
    if (!each.name.empty()) found[size++] = each;
  return found;
}

}  // namespace detail

/// The enumerators of E with values 0..63, in the order of their values.
template <class E>
inline constexpr auto enumerators = detail::list_enumerators<E>(std::make_index_sequence<64>());

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
