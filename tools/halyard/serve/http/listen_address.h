// SPDX-License-Identifier: Apache-2.0
// ListenAddress: where the server listens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace halyard::tool {

struct ListenAddress {
  std::string address = "127.0.0.1";  ///< numeric, IPv4 or IPv6 without brackets
  std::uint16_t port = 8080;          ///< 0: one that is free

  /// Only programs of this machine reach it: 127.0.0.0/8 or ::1.
  bool is_loopback() const noexcept;
  /// "127.0.0.1:8080", "[::1]:8080".
  std::string text() const;
};

/// "ADDR", "ADDR:PORT", ":PORT" (of loopback), "[IPv6]:PORT", "localhost", "*" (all IPv4
/// addresses). Nullopt: another text.
std::optional<ListenAddress> parse_listen(std::string_view text);

}  // namespace halyard::tool
