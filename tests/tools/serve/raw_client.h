// SPDX-License-Identifier: Apache-2.0
// A client of the server under test that sends any bytes, and a reply that it reads.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "halyard/fd.h"

namespace halyard::test {

/// Waits ten seconds at most for bytes.
class RawClient {
 public:
  /// `receive_bytes`: size of the socket's buffer; 0: the system's choice.
  explicit RawClient(std::uint16_t port, int receive_bytes = 0)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval patience{10, 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (receive_bytes != 0)
      ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof(receive_bytes));
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(port);
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    is_connected_ =
        ::connect(socket_.get(), reinterpret_cast<sockaddr*>(&where), sizeof(where)) == 0;
  }

  bool is_connected() const { return is_connected_; }
  /// False if the server has closed the connection.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto put = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (put <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(put));
    }
    return true;
  }
  void get(std::string_view path) {
    send("GET " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  /// What came up to and with `mark`, or all that came before the end.
  std::string read_to(std::string_view mark) {
    std::size_t searched = 0;
    while (true) {
      if (const auto at = received_.find(mark, searched); at != std::string::npos) {
        std::string out = received_.substr(0, at + mark.size());
        received_.erase(0, out.size());
        return out;
      }
      searched = received_.size() - std::min(received_.size(), mark.size());
      if (!receive()) return std::exchange(received_, {});
    }
  }
  /// A reply with a Content-Length: its head, and its body in `body`.
  std::string read_reply(std::string& body) {
    const std::string head = read_to("\r\n\r\n");
    const std::string_view key = "Content-Length: ";
    const auto at = head.find(key);
    const std::size_t size = at == std::string::npos ? 0 : std::stoul(head.substr(at + key.size()));
    while (received_.size() < size && receive()) {
    }
    body = received_.substr(0, size);
    received_.erase(0, body.size());
    return head;
  }
  int read_status() {
    std::string body;
    const std::string head = read_reply(body);
    return head.size() > 12 ? std::stoi(head.substr(9, 3)) : 0;
  }
  /// True if the server closes the connection.
  bool is_closed() {
    while (receive()) {
    }
    return is_ended_;
  }
  void close() { socket_.reset(); }

 private:
  bool receive() {
    char bytes[65536];
    const auto got = ::recv(socket_.get(), bytes, sizeof(bytes), 0);
    is_ended_ = got == 0 || (got < 0 && errno == ECONNRESET);
    if (got <= 0) return false;
    received_.append(bytes, static_cast<std::size_t>(got));
    return true;
  }
  Fd socket_;
  bool is_connected_ = false;
  bool is_ended_ = false;
  std::string received_;
};

}  // namespace halyard::test
