// SPDX-License-Identifier: Apache-2.0
// Servers of the loopback device, for sources behind network addresses.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <map>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "capture/media.h"
#include "halyard/fd.h"

namespace halyard::test {

/// A socket of the loopback device with a port of its own; it listens only after listen().
class Listener {
 public:
  Listener() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (::bind(fd_.get(), any, length) != 0 || ::getsockname(fd_.get(), any, &length) != 0)
      std::abort();
    port_ = ntohs(address.sin_port);
  }
  void listen() const {
    if (::listen(fd_.get(), 8) != 0) std::abort();
  }
  Fd accept() const { return Fd(::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC)); }
  void shut_down() const { ::shutdown(fd_.get(), SHUT_RDWR); }
  int port() const { return port_; }

 private:
  Fd fd_;
  int port_ = 0;
};

/// Sends all of it, or as much as the peer takes before it leaves.
inline void send_text(int peer, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t sent = ::send(peer, text.data() + at, text.size() - at, MSG_NOSIGNAL);
    if (sent <= 0) return;
    at += static_cast<std::size_t>(sent);
  }
}

/// An HTTP/1.1 server on a port of the loopback device: one request a connection, whole answers or
/// ranges, one connection after the other.
class Server {
 public:
  struct Page {
    std::string kind;
    std::string body;
    bool stalls = false;   ///< half of the body, then nothing more
    bool is_live = false;  ///< without a length, and not from the middle
  };

  explicit Server(std::map<std::string, Page> pages) : pages_(std::move(pages)) {
    listener_.listen();
    thread_ = std::thread([this] { serve(); });
  }
  ~Server() {
    is_over_ = true;
    listener_.shut_down();
    thread_.join();
  }
  std::string address(const std::string& page) const {
    return "http://127.0.0.1:" + std::to_string(port()) + page;
  }
  int port() const { return listener_.port(); }
  int requests() const { return requests_; }

 private:
  void serve() {
    std::vector<Fd> stalled;
    while (!is_over_) {
      Fd peer = listener_.accept();
      if (!peer) continue;
      if (answer(peer.get())) stalled.push_back(std::move(peer));
    }
  }

  // True: the peer shall wait.
  bool answer(int peer) {
    std::string request;
    std::array<char, 4096> part{};
    while (request.find("\r\n\r\n") == std::string::npos) {
      const ssize_t got = ::recv(peer, part.data(), part.size(), 0);
      if (got <= 0) return false;
      request.append(part.data(), static_cast<std::size_t>(got));
    }
    const std::string path = request.substr(4, request.find(' ', 4) - 4);
    ++requests_;
    const auto page = pages_.find(path);
    if (page == pages_.end()) {
      const int code = path == "/secret.mkv" ? 403 : 404;
      send_text(peer, "HTTP/1.1 " + std::to_string(code) + " No\r\nContent-Length: 0\r\n\r\n");
      return false;
    }
    const std::string& body = page->second.body;
    if (page->second.is_live) {
      send_text(peer, "HTTP/1.1 200 OK\r\nContent-Type: " + page->second.kind +
                          "\r\nConnection: close\r\n\r\n" + body);
      return false;
    }
    std::size_t from = 0;
    if (const auto range = request.find("Range: bytes="); range != std::string::npos)
      from = std::min(std::stoul(request.substr(range + 13)), body.size());
    std::string head = from == 0 ? "HTTP/1.1 200 OK\r\n" : "HTTP/1.1 206 Partial Content\r\n";
    head += "Content-Type: " + page->second.kind +
            "\r\nAccept-Ranges: bytes\r\nContent-Length: " + std::to_string(body.size() - from) +
            "\r\n";
    if (from != 0)
      head += "Content-Range: bytes " + std::to_string(from) + "-" +
              std::to_string(body.size() - 1) + "/" + std::to_string(body.size()) + "\r\n";
    head += "Connection: close\r\n\r\n";
    send_text(peer, head + body.substr(from, page->second.stalls ? body.size() / 2 : body.size()));
    return page->second.stalls;
  }

  std::map<std::string, Page> pages_;
  Listener listener_;
  std::atomic<int> requests_ = 0;
  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The body of a multipart/x-mixed-replace answer with the boundary "frame".
inline std::string multipart_of(int first, int count) {
  std::string body;
  for (int i = first; i < first + count; ++i) {
    const std::string jpeg = text_of(jpeg_of(i));
    body +=
        "--frame\r\nContent-Type: image/jpeg\r\nContent-Length: " + std::to_string(jpeg.size()) +
        "\r\n\r\n" + jpeg + "\r\n";
  }
  return body;
}

constexpr const char* multipart_kind = "multipart/x-mixed-replace; boundary=frame";

}  // namespace halyard::test
