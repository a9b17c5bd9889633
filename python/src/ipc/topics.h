// SPDX-License-Identifier: Apache-2.0
// An endpoint of a topic, as Python holds it.
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

/// The Python type of an endpoint's messages.
enum class MessageKind : std::uint8_t {
  tensor,
  image,
  point_cloud,
  depth_image,
  bytes,  ///< also those of a serializer
  plain,  ///< bytes of one size
};

/// An endpoint and whether it is still open. Waiting threads and wait sets hold it too.
struct Endpoint {
  std::shared_ptr<TopicEndpoint> topic;
  std::string name;
  MessageKind kind = MessageKind::tensor;
  pid_t process = ::getpid();
  std::atomic<bool> is_closed{false};
  bool blocks = false;  ///< its overflow rule is block
  std::chrono::nanoseconds block_timeout{};
  std::atomic<std::uint64_t> lost{0};           ///< as receive calls have reported
  std::atomic<std::uint64_t> refused_early{0};  ///< attempts of one wait that count as refused

  Endpoint() = default;
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;
  /// Leaving a topic contacts its peers: call it with the interpreter released.
  ~Endpoint();
  /// Raises if it is closed, or belongs to another process.
  void check() const;
};

/// Python's _Endpoint.
struct PyEndpoint {
  std::shared_ptr<Endpoint> endpoint;
};

/// The open endpoint of this process; raises otherwise.
std::shared_ptr<Endpoint> open_endpoint(const PyEndpoint& self);

/// The message of `bytes` and `frame`. Errors: those of reading bytes that may be malformed.
Result<nb::object> message_object(MessageKind kind, std::span<const std::byte> bytes,
                                  Tensor&& frame);
/// Sends `message`: calls `send` with its inline bytes and its frame (null: none). No Python object
/// changes meanwhile. Raises TypeError naming "message".
using SendParts = std::function<void(std::span<const std::byte> bytes, const Tensor* frame)>;
void send_object(Endpoint& endpoint, nb::handle message, const SendParts& send);

}  // namespace halyard::python
