// SPDX-License-Identifier: Apache-2.0
// An endpoint of a topic as Python holds it.
#pragma once

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "halyard/topic.h"
#include "ipc/pools.h"

namespace halyard::python {

/// What the messages of an endpoint are in Python.
enum class MessageKind : std::uint8_t {
  tensor,
  image,
  point_cloud,
  depth_image,
  bytes,  ///< of a serializer, too
  plain,  ///< bytes of one size
};

/// An endpoint and whether it is open still. Threads that wait and sets that watch hold it too.
struct Endpoint {
  std::shared_ptr<TopicEndpoint> topic;
  std::string name;
  MessageKind kind = MessageKind::tensor;
  pid_t process = ::getpid();
  std::atomic<bool> is_closed{false};
  bool blocks = false;  ///< its overflow rule is block
  std::chrono::nanoseconds block_timeout{};
  std::atomic<std::uint64_t> lost{0};           ///< that receiving has been told of
  std::atomic<std::uint64_t> refused_early{0};  ///< parts of one wait that counted as refused

  Endpoint() = default;
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;
  /// To leave a topic asks its peers: without the interpreter.
  ~Endpoint();
  /// Raises where it is closed, or another process's.
  void check() const;
};

/// Python's _Endpoint.
struct PyEndpoint {
  std::shared_ptr<Endpoint> endpoint;
};

/// The open endpoint of this process; raises otherwise.
std::shared_ptr<Endpoint> open_endpoint(const PyEndpoint& self);

/// The message that `bytes` and `frame` are. Errors: those of reading what may be nonsense.
Result<nb::object> message_object(MessageKind kind, std::span<const std::byte> bytes,
                                  Tensor&& frame);
/// Sends what `message` is; `send` is called with its inline bytes and its frame (null: none), and
/// nothing of Python changes meanwhile. Raises TypeError naming "message".
using SendParts = std::function<void(std::span<const std::byte> bytes, const Tensor* frame)>;
void send_object(Endpoint& endpoint, nb::handle message, const SendParts& send);

}  // namespace halyard::python
