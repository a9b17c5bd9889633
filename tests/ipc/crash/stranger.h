// SPDX-License-Identifier: Apache-2.0
// Stranger: speaks the protocol of node.cpp by hand, so that it can say what no honest process
// does. docs/shared-memory.md has the offsets.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/system/socket_message.h"
#include "ipc/node/node.h"
#include "support/descriptors.h"

namespace halyard::ipc::testing {

using test::open_descriptors;

struct PacketHead {
  std::uint32_t magic = 0x31444E48;
  std::uint16_t version = 1;
  std::uint16_t kind = 1;
  std::uint64_t number = 1;
  NodeId from;
  std::uint32_t request = 0;
  std::uint32_t code = 0;
  std::uint32_t key_bytes = 0;
  std::uint32_t body_bytes = 0;
};
static_assert(sizeof(PacketHead) == 48);
enum : std::uint16_t { request_kind = 1, answer_kind, failure_kind, end_kind, notice_kind };

struct Packet {
  PacketHead head;
  std::vector<std::byte> body;
  std::vector<Fd> fds;
};

class Stranger {
 public:
  /// What it does with those who ask it.
  enum class Manner { refuses, is_silent, floods_answers, floods_other_numbers };

  explicit Stranger(Manner manner = Manner::refuses) : manner_(manner) {
    EXPECT_EQ(::getrandom(&id_, sizeof(id_), 0), ssize_t{sizeof(id_)});
    path_ = folder() + "/" + to_string(id_);
    listener_ = Fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const sockaddr_un address = address_of(path_);
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
              0);
    EXPECT_EQ(::listen(listener_.get(), 100), 0);
    thread_ = std::thread([this] { serve(); });
  }
  ~Stranger() {
    stops_ = true;
    thread_.join();
    ::unlink(path_.c_str());
  }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;

  static sockaddr_un address_of(const std::string& path) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    return address;
  }
  const NodeId& id() const { return id_; }
  static std::string folder() { return Registry::open()->nodes(); }

  static Fd connect(const NodeId& to) {
    Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const sockaddr_un address = address_of(folder() + "/" + to_string(to));
    while (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) !=
           0) {
      if (errno != EAGAIN) return {};
      ::usleep(100);
    }
    return socket;
  }
  /// The bytes of a request, right in all but what the caller changes.
  std::vector<std::byte> packet(const std::string& key, std::uint32_t request,
                                std::span<const std::byte> body) const {
    PacketHead head;
    head.from = id_;
    head.request = request;
    return packet(head, key, body);
  }
  static std::vector<std::byte> packet(PacketHead head, const std::string& key,
                                       std::span<const std::byte> body) {
    head.key_bytes = static_cast<std::uint32_t>(key.size());
    head.body_bytes = static_cast<std::uint32_t>(body.size());
    std::vector<std::byte> bytes(sizeof(head) + key.size() + body.size());
    std::memcpy(bytes.data(), &head, sizeof(head));
    std::memcpy(bytes.data() + sizeof(head), key.data(), key.size());
    if (!body.empty())
      std::memcpy(bytes.data() + sizeof(head) + key.size(), body.data(), body.size());
    return bytes;
  }
  static bool send(const Fd& socket, std::span<const std::byte> bytes,
                   std::span<const int> fds = {}) {
    return send_all(socket.get(), bytes, fds, Deadline(std::chrono::seconds(5))).has_value();
  }
  /// None: the connection has ended, or nothing came in time.
  static std::optional<Packet> receive(
      const Fd& socket, std::chrono::milliseconds timeout = std::chrono::seconds(10)) {
    std::vector<std::byte> bytes(16384);
    auto got = receive_some(socket.get(), bytes, Deadline(timeout));
    if (!got || got->bytes < sizeof(PacketHead)) return std::nullopt;
    Packet packet;
    std::memcpy(&packet.head, bytes.data(), sizeof(packet.head));
    packet.body.assign(bytes.begin() + sizeof(PacketHead),
                       bytes.begin() + static_cast<std::ptrdiff_t>(got->bytes));
    for (std::size_t i = 0; i < got->fds.count; ++i)
      packet.fds.push_back(std::move(got->fds.fds[i]));
    return packet;
  }
  /// Sends, and takes all answers to it. None: it lost its connection.
  std::optional<std::vector<Packet>> ask(const Fd& socket, std::span<const std::byte> bytes,
                                         std::span<const int> fds = {}) const {
    if (!send(socket, bytes, fds)) return std::nullopt;
    std::vector<Packet> answers;
    for (;;) {
      auto packet = receive(socket);
      if (!packet) return std::nullopt;
      const bool is_end = packet->head.kind == end_kind;
      answers.push_back(*std::move(packet));
      if (is_end) return answers;
    }
  }
  template <class T>
  std::optional<std::vector<Packet>> ask(const Fd& socket, const std::string& key,
                                         std::uint32_t request, const T& body,
                                         std::span<const int> fds = {}) const {
    return ask(socket, packet(key, request, std::as_bytes(std::span(&body, 1))), fds);
  }
  std::uint64_t asked() const { return asked_; }

 private:
  void serve() {
    std::vector<Fd> sockets;
    while (!stops_) {
      std::vector<pollfd> polls{{listener_.get(), POLLIN, 0}};
      for (const Fd& socket : sockets)
        polls.push_back({socket.get(), POLLIN, 0});
      ::poll(polls.data(), polls.size(), 5);
      if (polls[0].revents != 0) {
        Fd fresh(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (fresh) sockets.push_back(std::move(fresh));
      }
      for (std::size_t i = polls.size(); i-- > 1;) {
        if (polls[i].revents == 0) continue;
        const auto request = receive(sockets[i - 1], std::chrono::milliseconds(0));
        if (!request) {
          sockets.erase(sockets.begin() + static_cast<std::ptrdiff_t>(i) - 1);
        } else if (request->head.kind == request_kind) {
          ++asked_;
          answer(sockets[i - 1], *request);
        }
      }
    }
  }
  void answer(const Fd& socket, const Packet& request) const {
    PacketHead head = request.head;
    head.from = id_;
    head.kind = end_kind;
    head.code = static_cast<std::uint32_t>(Errc::not_found);
    if (manner_ == Manner::refuses) send(socket, packet(head, "", {}));
    if (manner_ == Manner::refuses || manner_ == Manner::is_silent) return;
    head.kind = answer_kind;
    head.code = 0;
    if (manner_ == Manner::floods_other_numbers) head.number += 1000;
    const std::vector<std::byte> junk(16000);
    const auto bytes = packet(head, "", junk);
    while (!stops_ && send_all(socket.get(), bytes, {}, Deadline(std::chrono::seconds(1)))) {
    }
  }

  Manner manner_;
  NodeId id_;
  std::string path_;
  Fd listener_;
  std::atomic<bool> stops_{false};
  std::atomic<std::uint64_t> asked_{0};
  std::thread thread_;
};

}  // namespace halyard::ipc::testing
