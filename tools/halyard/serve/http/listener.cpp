// SPDX-License-Identifier: Apache-2.0
// Addresses are numeric: no name is looked up, so that starting never waits for a name server.
#include "serve/http/listener.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace halyard::tool {
namespace {

/// Any kind of socket address, as the system's calls take it.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  sockaddr* get() noexcept { return reinterpret_cast<sockaddr*>(&storage); }
};

std::optional<SocketAddress> to_socket(const ListenAddress& from) {
  SocketAddress out;
  sockaddr_in four{};
  sockaddr_in6 six{};
  if (::inet_pton(AF_INET, from.address.c_str(), &four.sin_addr) == 1) {
    four.sin_family = AF_INET;
    four.sin_port = htons(from.port);
    std::memcpy(&out.storage, &four, sizeof(four));
    out.size = sizeof(four);
  } else if (::inet_pton(AF_INET6, from.address.c_str(), &six.sin6_addr) == 1) {
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(from.port);
    std::memcpy(&out.storage, &six, sizeof(six));
    out.size = sizeof(six);
  } else {
    return std::nullopt;
  }
  return out;
}

std::string peer_text(const sockaddr_storage& from) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (from.ss_family == AF_INET6) {
    sockaddr_in6 six{};
    std::memcpy(&six, &from, sizeof(six));
    ::inet_ntop(AF_INET6, &six.sin6_addr, text.data(), text.size());
  } else {
    sockaddr_in four{};
    std::memcpy(&four, &from, sizeof(four));
    ::inet_ntop(AF_INET, &four.sin_addr, text.data(), text.size());
  }
  return text.data();
}

std::uint16_t port_of(int socket) {
  SocketAddress own;
  own.size = sizeof(own.storage);
  if (::getsockname(socket, own.get(), &own.size) != 0) return 0;
  sockaddr_in four{};  // the port is at the same place in both kinds
  std::memcpy(&four, &own.storage, sizeof(four));
  return ntohs(four.sin_port);
}

Error listen_error(const ListenAddress& address) {
  const int number = errno;
  const std::string where = address.text();
  if (number == EADDRINUSE)
    return make_error(Errc::busy, "another program listens on this port; give another one", where);
  if (number == EACCES)
    return make_error(Errc::permission, "ports below 1024 need a privilege", where);
  if (number == EADDRNOTAVAIL)
    return make_error(Errc::not_found, "no interface of this machine has this address", where);
  return make_error(Errc::os, "the socket cannot listen", where, number);
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
  if (text.empty() || !to_socket(out)) return std::nullopt;
  return out;
}

Result<Listener> Listener::open(const ListenAddress& address) {
  auto where = to_socket(address);
  if (!where)
    return make_error(Errc::invalid_argument, "the address is not numeric", address.address);
  Fd socket(::socket(where->storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return make_error(Errc::os, "there is no socket", {}, errno);
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (::bind(socket.get(), where->get(), where->size) != 0 || ::listen(socket.get(), 128) != 0)
    return listen_error(address);
  const std::uint16_t port = port_of(socket.get());
  return Listener(std::move(socket), port);
}

Fd Listener::accept(std::string& peer, bool& is_short) const {
  SocketAddress from;
  from.size = sizeof(from.storage);
  Fd out(::accept4(socket_.get(), from.get(), &from.size, SOCK_NONBLOCK | SOCK_CLOEXEC));
  is_short = !out && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM);
  if (!out) return out;
  peer = peer_text(from.storage);
  const int on = 1, unsent_bytes = 128 * 1024, idle_s = 30;
  ::setsockopt(out.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  // Frames wait here, where a newer one can replace them, and not in the kernel's buffer.
  ::setsockopt(out.get(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent_bytes, sizeof(unsent_bytes));
  ::setsockopt(out.get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
  ::setsockopt(out.get(), IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
  return out;
}

}  // namespace halyard::tool
