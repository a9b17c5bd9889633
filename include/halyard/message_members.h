// SPDX-License-Identifier: Apache-2.0
// Computes a number from the types of a plain struct's members. With it two programs detect that
// their structs have the same name and size but different members.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace halyard {
namespace detail {

inline constexpr std::size_t max_members = 24;
inline constexpr std::size_t max_initializers = 4096;

/// Converts to every type that a member of T may have.
template <class T>
struct AnyMember {
  template <class U>
  requires(!std::is_base_of_v<U, T>) constexpr operator U() const noexcept;
};
/// Converts only to base classes of T.
template <class T>
struct AnyBase {
  template <class U>
  requires(std::is_base_of_v<U, T> && !std::is_same_v<U, T>) constexpr operator U() const noexcept;
};
template <class T, std::size_t>
using AnyMemberAt = AnyMember<T>;

template <class T, std::size_t... I>
consteval bool takes(std::index_sequence<I...>) {
  return requires {
    T{AnyMemberAt<T, I>{}...};
  };
}
/// Whether T can be initialized with `count` initializers in braces.
template <class T, std::size_t count>
inline constexpr bool takes_initializers = takes<T>(std::make_index_sequence<count>{});

template <class T, std::size_t... I, std::size_t... R>
consteval bool takes_braced(std::index_sequence<I...>, std::index_sequence<R...>) {
  return requires {
    T{AnyMemberAt<T, I>{}..., {AnyMember<T>{}}, AnyMemberAt<T, R>{}...};
  };
}
/// The same with the initializer at `place` in its own braces, and `rest` initializers after it.
template <class T, std::size_t place, std::size_t rest>
inline constexpr bool takes_braces_at = takes_braced<T>(std::make_index_sequence<place>{},
                                                        std::make_index_sequence<rest>{});

/// Max number of initializers, by binary search: `low` are accepted, `high` are not.
template <class T, std::size_t low, std::size_t high>
consteval std::size_t count_initializers() {
  if constexpr (high - low <= 1) {
    return low;
  } else {
    constexpr std::size_t middle = low + (high - low) / 2;
    if constexpr (takes_initializers<T, middle>) {
      return count_initializers<T, middle, high>();
    } else {
      return count_initializers<T, low, middle>();
    }
  }
}
/// Max number of initializers after one in braces at `place`.
template <class T, std::size_t place, std::size_t low, std::size_t high>
consteval std::size_t count_behind_braces() {
  if constexpr (high - low <= 1) {
    return low;
  } else {
    constexpr std::size_t middle = low + (high - low) / 2;
    if constexpr (takes_braces_at<T, place, middle>) {
      return count_behind_braces<T, place, middle, high>();
    } else {
      return count_behind_braces<T, place, low, middle>();
    }
  }
}
/// Counts members. An array takes as many initializers as it has elements, unless they are in
/// braces.
template <class T, std::size_t place, std::size_t total>
consteval std::size_t count_members() {
  if constexpr (place >= total) {
    return 0;
  } else if constexpr (takes_braces_at<T, place, 0>) {
    constexpr std::size_t rest = count_behind_braces<T, place, 0, total - place>();
    return 1 + count_members<T, total - rest, total>();
  } else {
    return 1 + count_members<T, place + 1, total>();
  }
}

/// Number of members of T; 0: none, or the number cannot be found.
template <class T>
consteval std::size_t member_count() {
  if constexpr (!std::is_class_v<T> || !std::is_aggregate_v<T> || std::is_empty_v<T>) {
    return 0;
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    return 0;  // structured bindings would use the tuple protocol
  } else if constexpr (!takes_initializers<T, 0> || requires { T{AnyBase<T>{}}; }) {
    return 0;
  } else {
    // The smallest member is a bit field of one bit.
    constexpr std::size_t limit = std::min(sizeof(T) * 8, max_initializers) + 1;
    constexpr std::size_t total = count_initializers<T, 0, limit>();
    if constexpr (total == max_initializers) {
      return 0;
    } else {
      constexpr std::size_t count = count_members<T, 0, total>();
      return count <= max_members ? count : 0;
    }
  }
}

template <class... M>
struct Types {};
template <class... M>
constexpr Types<M...> types_of(const M&...) {
  return {};
}
/// A table with one case for each count. A compile error here means that T has an anonymous union:
/// declare message_members in T.
template <std::size_t count, class T>
constexpr auto member_types(const T& value) {
  if constexpr (count == 1) {
    const auto& [a] = value;
    return types_of(a);
  } else if constexpr (count == 2) {
    const auto& [a, b] = value;
    return types_of(a, b);
  } else if constexpr (count == 3) {
    const auto& [a, b, c] = value;
    return types_of(a, b, c);
  } else if constexpr (count == 4) {
    const auto& [a, b, c, d] = value;
    return types_of(a, b, c, d);
  } else if constexpr (count == 5) {
    const auto& [a, b, c, d, e] = value;
    return types_of(a, b, c, d, e);
  } else if constexpr (count == 6) {
    const auto& [a, b, c, d, e, f] = value;
    return types_of(a, b, c, d, e, f);
  } else if constexpr (count == 7) {
    const auto& [a, b, c, d, e, f, g] = value;
    return types_of(a, b, c, d, e, f, g);
  } else if constexpr (count == 8) {
    const auto& [a, b, c, d, e, f, g, h] = value;
    return types_of(a, b, c, d, e, f, g, h);
  } else if constexpr (count == 9) {
    const auto& [a, b, c, d, e, f, g, h, i] = value;
    return types_of(a, b, c, d, e, f, g, h, i);
  } else if constexpr (count == 10) {
    const auto& [a, b, c, d, e, f, g, h, i, j] = value;
    return types_of(a, b, c, d, e, f, g, h, i, j);
  } else if constexpr (count == 11) {
    const auto& [a, b, c, d, e, f, g, h, i, j, k] = value;
    return types_of(a, b, c, d, e, f, g, h, i, j, k);
  } else if constexpr (count == 12) {
    const auto& [a, b, c, d, e, f, g, h, i, j, k, l] = value;
    return types_of(a, b, c, d, e, f, g, h, i, j, k, l);
  } else if constexpr (count == 13) {
    const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = value;
    return types_of(a, b, c, d, e, f, g, h, i, j, k, l, m);
  } else if constexpr (count == 14) {
    const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = value;
    return types_of(a, b, c, d, e, f, g, h, i, j, k, l, m, n);
  } else if constexpr (count == 15) {
    const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = value;
    return types_of(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o);
  } else if constexpr (count == 16) {
    const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = value;
    return types_of(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
  } else if constexpr (count == 17) {
    const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q] = value;
    return types_of(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q);
  } else if constexpr (count == 18) {
    const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r] = value;
    return types_of(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r);
  } else if constexpr (count == 19) {
    const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s] = value;
    return types_of(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s);
  } else if constexpr (count == 20) {
    const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t] = value;
    return types_of(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t);
  } else if constexpr (count == 21) {
    const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u] = value;
    return types_of(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u);
  } else if constexpr (count == 22) {
    const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v] = value;
    return types_of(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v);
  } else if constexpr (count == 23) {
    const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w] = value;
    return types_of(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w);
  } else if constexpr (count == 24) {
    const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x] = value;
    return types_of(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x);
  }
}

constexpr std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15;
  return hash ^ (hash >> 32U);
}
template <class M>
struct IsStdArray : std::false_type {};
template <class M, std::size_t count>
struct IsStdArray<std::array<M, count>> : std::true_type {};

template <class M>
consteval std::uint64_t type_hash(std::uint64_t hash);

template <class... M>
consteval std::uint64_t types_hash(Types<M...>) {
  std::uint64_t hash = sizeof...(M);
  ((hash = type_hash<M>(hash)), ...);
  return hash;
}

}  // namespace detail

template <class T>
concept HasMessageMembers = requires {
  std::uint64_t{T::message_members};
};

/// A hash of the types and the order of T's members; names do not count. 0: the members cannot be
/// found, because T has a base class, private members or a constructor, more than 24 members, or
/// 4096 or more initializers (array elements count each). A struct may declare its own value:
/// static constexpr std::uint64_t message_members = ...;
template <class T>
consteval std::uint64_t members_hash() {
  if constexpr (HasMessageMembers<T>) {
    return T::message_members;
  } else if constexpr (constexpr std::size_t count = detail::member_count<T>(); count == 0) {
    return 0;
  } else {
    using Types = decltype(detail::member_types<count>(std::declval<const T&>()));
    return detail::types_hash(Types{});
  }
}

template <class M>
consteval std::uint64_t detail::type_hash(std::uint64_t hash) {
  static_assert(!std::is_pointer_v<M> && !std::is_member_pointer_v<M>,
                "a message has a pointer: an address means nothing to another process");
  if constexpr (std::is_array_v<M>) {
    return mixed(type_hash<std::remove_extent_t<M>>(mixed(hash, 'a')), std::extent_v<M>);
  } else if constexpr (IsStdArray<M>::value) {
    using Elements = typename M::value_type[std::tuple_size_v<M>];
    return type_hash<Elements>(hash);
  } else if constexpr (std::is_enum_v<M>) {
    return type_hash<std::underlying_type_t<M>>(hash);
  } else if constexpr (std::is_same_v<M, bool>) {
    return mixed(mixed(hash, 'b'), sizeof(M));
  } else if constexpr (std::is_same_v<M, char>) {
    return mixed(hash, 'c');  // its signedness depends on the platform
  } else if constexpr (std::is_floating_point_v<M>) {
    return mixed(mixed(hash, 'f'), sizeof(M));
  } else if constexpr (std::is_integral_v<M>) {
    return mixed(mixed(hash, std::is_signed_v<M> ? 'i' : 'u'), sizeof(M));
  } else {
    return mixed(mixed(mixed(hash, 's'), sizeof(M) * 256 + alignof(M)), members_hash<M>());
  }
}

}  // namespace halyard
