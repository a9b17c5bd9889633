// SPDX-License-Identifier: Apache-2.0
// Names of processes, and the parcels that they send to each other.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/local.h"
#include "halyard/fd.h"

namespace halyard::ipc {

/// A random number that names one process and is never used again.
struct NodeId {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend auto operator<=>(const NodeId&, const NodeId&) = default;
};
/// Converts to 32 hexadecimal digits, and back.
std::string to_string(const NodeId& id);
std::optional<NodeId> node_id_from(std::string_view text) noexcept;

/// The content of a request or an answer: bytes, and descriptors of memory.
struct HALYARD_LOCAL Parcel {
  std::vector<std::byte> bytes;
  std::vector<Fd> fds;

  template <class T>
  static Parcel of(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto bytes = std::as_bytes(std::span(&value, 1));
    return {{bytes.begin(), bytes.end()}, {}};
  }
  /// The bytes as one `T`. Empty if their number is not sizeof(T).
  template <class T>
  std::optional<T> as() const noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    if (bytes.size() != sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }
};

}  // namespace halyard::ipc
