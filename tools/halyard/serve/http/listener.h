// SPDX-License-Identifier: Apache-2.0
// Listener: the address that the server listens on, and its socket.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "halyard/fd.h"
#include "halyard/result.h"

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

class Listener {
 public:
  /// Errors: busy (the port is in use), permission (a port below 1024), not_found (no interface has
  /// the address), os.
  static Result<Listener> open(const ListenAddress& address);
  int fd() const noexcept { return socket_.get(); }
  std::uint16_t port() const noexcept { return port_; }
  /// The next waiting connection, non-blocking; empty if none waits. `peer` gets its address
  /// without the port. `is_short` is set if the system has no descriptor or memory left for it.
  Fd accept(std::string& peer, bool& is_short) const;

 private:
  Listener(Fd socket, std::uint16_t port) : socket_(std::move(socket)), port_(port) {}
  Fd socket_;
  std::uint16_t port_ = 0;
};

}  // namespace halyard::tool
