// SPDX-License-Identifier: Apache-2.0
// Addresses are numeric: no name is looked up, so that starting never waits for a name server.
#include "serve/http/listen_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <charconv>

namespace halyard::tool {
namespace {

bool is_numeric(const std::string& address) {
  in6_addr six{};
  in_addr four{};
  return ::inet_pton(AF_INET, address.c_str(), &four) == 1 ||
         ::inet_pton(AF_INET6, address.c_str(), &six) == 1;
}

}  // namespace

bool ListenAddress::is_loopback() const noexcept {
  return address.starts_with("127.") || address == "::1";
}

std::string ListenAddress::text() const {
  const bool is_six = address.find(':') != std::string::npos;
  return is_six ? fmt::format("[{}]:{}", address, port) : fmt::format("{}:{}", address, port);
}

std::optional<ListenAddress> parse_listen(std::string_view text) {
  ListenAddress out;
  std::string_view host = text, port;
  if (text.starts_with("[")) {
    const auto end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    host = text.substr(1, end - 1);
    port = text.substr(end + 1);
    if (!port.empty() && port[0] != ':') return std::nullopt;
  } else if (const auto colon = text.find(':'); colon == text.rfind(':')) {
    host = text.substr(0, colon);
    if (colon != std::string_view::npos) port = text.substr(colon);
  }
  if (!port.empty()) {
    port.remove_prefix(1);
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), out.port);
    if (error != std::errc{} || end != port.data() + port.size()) return std::nullopt;
  }
  if (host == "*") out.address = "0.0.0.0";
  if (host != "*" && host != "localhost" && !host.empty()) out.address = host;
  if (text.empty() || !is_numeric(out.address)) return std::nullopt;
  return out;
}

}  // namespace halyard::tool
