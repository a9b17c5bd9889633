// SPDX-License-Identifier: Apache-2.0
// Topic: sends messages between any processes of this machine, by name. Frames are not copied: the
// message contains a descriptor of a few hundred bytes, whatever the size of the frame.
#pragma once

#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "halyard/export.h"
#include "halyard/message_members.h"
#include "halyard/pool.h"
#include "halyard/received.h"
#include "halyard/result.h"
#include "halyard/tensor.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// What happens to a message if a subscriber has not read the oldest of `depth` messages yet.
enum class Overflow : std::uint8_t {
  drop_oldest = 0,  ///< the subscriber loses the oldest one, and gets the count of lost messages
  drop_newest = 1,  ///< send() refuses the message
  block = 2,        ///< send() waits up to block_timeout, then refuses the message
};
std::string_view to_string(Overflow overflow) noexcept;

enum class TopicRole : std::uint8_t { publisher = 1, subscriber = 2, both = 3 };

/// Parameters of a topic. If others have made the topic, members that are set must be equal to its
/// values; members that are not set take its values. A new topic uses the defaults for these.
struct TopicConfig {
  std::optional<std::uint32_t> depth = {};    ///< messages kept per publisher, 1..4096; 16
  std::optional<Overflow> overflow = {};      ///< drop_oldest
  std::optional<std::uint32_t> history = {};  ///< messages that a late subscriber gets, 0..depth; 0
  std::optional<std::uint32_t> max_endpoints = {};  ///< publishers, and subscribers, 1..1024; 64
  /// Limits of the topic's one pool, which alloc_tensor() and messages of bytes use.
  std::optional<TensorPoolConfig> pool = {};
  // The members below are this endpoint's own choice.
  TopicRole role = TopicRole::both;
  bool latest_only = false;   ///< recv() returns the newest message and skips older ones
  bool receives_own = false;  ///< this endpoint receives what it sends
  std::chrono::nanoseconds block_timeout = std::chrono::seconds(1);
  /// Frames in DMA-BUFs that subscribers may have unread or in use; send() copies further ones into
  /// the topic's pool, so that a stopped subscriber leaves a camera buffers. Unset: no limit.
  std::optional<std::uint32_t> max_shared_frames = {};
};

/// Counts of one endpoint, and the parameters of its topic.
struct TopicStats {
  std::uint32_t depth = 0;
  std::uint32_t history = 0;
  std::uint32_t max_endpoints = 0;
  Overflow overflow = Overflow::drop_oldest;
  std::uint32_t publishers = 0;   ///< other endpoints, in all processes
  std::uint32_t subscribers = 0;  ///< other endpoints, in all processes
  std::uint64_t sent = 0;
  std::uint64_t refused = 0;  ///< messages that send() refused because of the overflow rule
  std::uint64_t received = 0;
  std::uint64_t lost = 0;    ///< messages that this endpoint missed: too late, or corrupt
  std::uint64_t copied = 0;  ///< frames that were in no pool and were copied into the topic's pool
  std::uint64_t copied_bytes = 0;
  std::uint64_t buffers = 0;  ///< DMA-BUFs whose descriptors this endpoint received, each once
  std::uint64_t corrupt = 0;  ///< lost messages whose content was invalid
  /// Error of the last message that was lost for another reason than the overflow rule; code ok:
  /// none.
  Error last_error;
};

/// The type of a topic's messages. It is compared when an endpoint joins.
struct MessageType {
  std::string name;
  std::uint64_t layout_hash = 0;
  std::uint32_t inline_bytes = 0;  ///< bytes of each message beside its frame
  bool has_frame = false;
  /// Hash of the types of the struct's members, see message_members.h. Compared if both sides know
  /// it; 0: this side does not know it.
  std::uint64_t members_hash = 0;

  /// The type of a plain struct: its name, sizeof and alignof, as other languages know it.
  static MessageType plain(std::string_view name, std::size_t size, std::size_t alignment);
  /// The type of messages that a serializer writes and reads.
  static MessageType serialized(std::string_view name);
};

/// A plain struct is identified by its name as the compiler writes it, its size and its members'
/// types (message_members.h). For several compilers define: static constexpr char message_name[].
///
/// Makes messages of a type that is not plain bytes. Specialize it with
///   static constexpr std::string_view name;              ///< same in all programs
///   static std::size_t size(const T&);                   ///< bytes that write() writes
///   static void write(const T&, std::span<std::byte>);
///   static Result<T> read(std::span<const std::byte>);   ///< of bytes that may be hostile
/// The bytes lie in a slot of the topic's pool.
template <class T>
struct MessageSerializer;

/// Makes messages of a tensor and plain bytes, for example Image. Specialize it with
///   static constexpr std::string_view name;
///   using Metadata = ...;                                ///< trivially copyable
///   static const Tensor& tensor(const T&);
///   static Metadata metadata(const T&);
///   static Result<T> make(Tensor, const Metadata&);      ///< the metadata may be hostile
template <class T>
struct MessageFrame;

template <>
struct MessageFrame<Tensor> {
  static constexpr std::string_view name = "halyard.Tensor";
  struct Metadata {
    std::uint64_t none = 0;
  };
  static const Tensor& tensor(const Tensor& tensor) { return tensor; }
  static Metadata metadata(const Tensor&) { return {}; }
  static Result<Tensor> make(Tensor tensor, const Metadata&) { return tensor; }
};

/// A message of bytes that are sent unchanged.
template <>
struct MessageSerializer<std::vector<std::byte>> {
  static constexpr std::string_view name = "halyard.Bytes";
  static std::size_t size(const std::vector<std::byte>& bytes) { return bytes.size(); }
  static void write(const std::vector<std::byte>& bytes, std::span<std::byte> into) {
    if (!bytes.empty()) std::memcpy(into.data(), bytes.data(), bytes.size());
  }
  static Result<std::vector<std::byte>> read(std::span<const std::byte> bytes) {
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  }
};

/// An endpoint of a topic for messages of any type; Topic<T> uses it. Thread-safe: any number of
/// threads may send and receive; each message is returned to one of the threads that receive on one
/// endpoint. A child of fork() cannot use it and must create its own endpoints.
class TopicEndpoint {
 public:
  /// If `type` is nullopt, the endpoint takes the type of an existing topic, for tools. Errors:
  /// invalid_argument (a name or a limit), exists (the topic has another type or other limits: the
  /// message has those wanted and those found), exhausted (max_endpoints have joined), not_found,
  /// timeout (a process of the topic does not answer), permission, os.
  static Result<std::unique_ptr<TopicEndpoint>> create(std::string_view name,
                                                       const std::optional<MessageType>& type,
                                                       const TopicConfig& config = {});
  ~TopicEndpoint();
  TopicEndpoint(const TopicEndpoint&) = delete;
  TopicEndpoint& operator=(const TopicEndpoint&) = delete;

  const std::string& name() const noexcept;
  const MessageType& type() const noexcept;

  /// Sends `inline_bytes`, exactly as many as the type has, and `frame`, null for a type without a
  /// frame. Never waits, with two exceptions: if overflow is block; and, once for each new memory
  /// of this process, up to 500 ms for a subscriber that is stopped. A tensor in a pool's memory is
  /// not copied, and becomes read-only. A tensor in DMA-BUFs is not copied either: each subscriber
  /// receives their descriptors once. The topic holds these buffers until no subscriber has the
  /// frame, then releases them on any thread; a Recycler of shared kinds reuses them only after
  /// that. Nobody may write them before. Any other tensor is copied into the topic's pool. Errors:
  /// invalid_argument, exhausted (drop_newest: refused; the pool has no room for a copy), timeout
  /// (block), unsupported (not a publisher; several scales of quantization; a child of fork()).
  Status send(std::span<const std::byte> inline_bytes, const Tensor* frame);
  /// As above, but waits up to `timeout` if overflow is block.
  Status send_for(std::span<const std::byte> inline_bytes, const Tensor* frame,
                  std::chrono::nanoseconds timeout);

  struct Incoming {
    bool has_message = false;
    std::uint64_t lost = 0;  ///< since the last call
  };
  /// Receives the next message: writes its inline bytes to `inline_bytes` and its frame to `frame`,
  /// which is null for a type without a frame. Never waits.
  Incoming recv(std::span<std::byte> inline_bytes, Tensor* frame);
  /// Whether recv() would return a message.
  bool has_message();
  /// Waits until there is a message. Returns false if none came in time. A negative timeout: waits
  /// for ever.
  bool wait_for(std::chrono::nanoseconds timeout);
  /// A descriptor for poll(), epoll and event loops, owned by the endpoint. It is readable when
  /// there may be messages. Call recv() until it returns none; this resets the descriptor. After
  /// the first fd(), each send() to this endpoint costs a system call if the endpoint was waiting.
  int fd();

  /// For the decoder of a message type: counts a message that recv() returned as lost.
  void count_malformed(const Error& error);

  /// The topic's pool, made at the first call. Errors: those of TensorPool::create().
  Result<std::shared_ptr<TensorPool>> pool();
  TopicStats stats();

  struct State;

 private:
  explicit TopicEndpoint(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

namespace detail {

template <class T>
concept FramedMessage = requires {
  typename MessageFrame<T>::Metadata;
};
template <class T>
concept SerializedMessage = requires {
  MessageSerializer<T>::name;
};
template <class T>
concept NamedMessage = requires {
  std::string_view(T::message_name);
};

/// The name of a type as this compiler writes it.
template <class T>
constexpr std::string_view type_name() {
  const std::string_view text = __PRETTY_FUNCTION__;
  const std::size_t begin = text.find("T = ") + 4;
  return text.substr(begin, text.find_first_of(";]", begin) - begin);
}
/// FNV-1a, 64 bits.
constexpr std::uint64_t hash_of(std::string_view text, std::uint64_t hash = 0xcbf29ce484222325) {
  for (const char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}
template <class T>
MessageType message_type() {
  if constexpr (FramedMessage<T>) {
    using Metadata = typename MessageFrame<T>::Metadata;
    static_assert(std::is_trivially_copyable_v<Metadata>);
    return {std::string(MessageFrame<T>::name), hash_of("frame") + sizeof(Metadata),
            sizeof(Metadata), true, halyard::members_hash<Metadata>()};
  } else if constexpr (SerializedMessage<T>) {
    return MessageType::serialized(MessageSerializer<T>::name);
  } else {
    static_assert(std::is_trivially_copyable_v<T>,
                  "a message is plain bytes, or has a MessageSerializer or a MessageFrame");
    static_assert(!std::is_pointer_v<T>, "an address means nothing to another process");
    std::string_view name = type_name<T>();
    if constexpr (NamedMessage<T>) name = T::message_name;
    MessageType type = MessageType::plain(name, sizeof(T), alignof(T));
    type.members_hash = halyard::members_hash<T>();
    return type;
  }
}

}  // namespace detail

/// An endpoint for messages of one type: plain structs, Tensor, Image, PointCloud, DepthImage, and
/// types that have a MessageSerializer. Every endpoint sends and receives. Messages of one
/// publisher arrive in order; depth, overflow and history belong to the topic. Thread-safe, see
/// TopicEndpoint.
template <class T>
class Topic {
 public:
  /// Errors: those of TopicEndpoint::create().
  static Result<Topic> create(std::string_view name, const TopicConfig& config = {}) {
    HALYARD_TRY(auto endpoint, TopicEndpoint::create(name, detail::message_type<T>(), config));
    return Topic(std::move(endpoint));
  }

  /// Errors: those of TopicEndpoint::send().
  Status send(const T& message) {
    return with_parts(message, [&](std::span<const std::byte> bytes, const Tensor* frame) {
      return endpoint_->send(bytes, frame);
    });
  }
  Status send_for(const T& message, std::chrono::nanoseconds timeout) {
    return with_parts(message, [&](std::span<const std::byte> bytes, const Tensor* frame) {
      return endpoint_->send_for(bytes, frame, timeout);
    });
  }

  /// Returns the next message if there is one. Malformed messages count as lost.
  Received<T> recv() {
    if constexpr (std::is_same_v<T, Tensor>) {
      return receive_tensor<Tensor>();
    } else if constexpr (detail::FramedMessage<T>) {
      typename MessageFrame<T>::Metadata metadata;
      return receive(std::as_writable_bytes(std::span(&metadata, 1)), [&](Tensor& frame) {
        return MessageFrame<T>::make(std::move(frame), metadata);
      });
    } else if constexpr (detail::SerializedMessage<T>) {
      std::uint64_t size = 0;
      const auto inline_bytes = std::as_writable_bytes(std::span(&size, 1));
      return receive(inline_bytes, [&](const Tensor& frame) -> Result<T> {
        HALYARD_TRY(const auto map, frame.map(Access::read));
        HALYARD_TRY(const auto bytes, map.template flat<const std::uint8_t>());
        if (size > bytes.size())
          return make_error(Errc::malformed, "message: its frame must hold all its bytes");
        return MessageSerializer<T>::read(std::as_bytes(bytes.first(size)));
      });
    } else {
      std::array<std::byte, sizeof(T)> bytes;
      const TopicEndpoint::Incoming incoming = endpoint_->recv(bytes, nullptr);
      if (!incoming.has_message) return {std::nullopt, incoming.lost};
      return {std::bit_cast<T>(bytes), incoming.lost};
    }
  }
  /// Waits for the next message, up to `timeout`; negative: for ever.
  Received<T> recv_for(std::chrono::nanoseconds timeout) {
    Received<T> got = recv();
    if (got.is_empty() && endpoint_->wait_for(timeout)) got = recv();
    return got;
  }
  bool has_message() { return endpoint_->has_message(); }
  bool wait_for(std::chrono::nanoseconds timeout) { return endpoint_->wait_for(timeout); }
  int fd() { return endpoint_->fd(); }

  /// Allocates a tensor in the topic's pool, to fill and send. Errors: those of
  /// TensorPool::alloc().
  Result<TensorHandle> alloc_tensor(std::span<const std::size_t> shape, DType dtype,
                                    Device device = Device::cpu()) {
    HALYARD_TRY(const auto pool, endpoint_->pool());
    return pool->alloc(shape, dtype, device);
  }
  Result<TensorHandle> alloc_tensor(std::initializer_list<std::size_t> shape, DType dtype,
                                    Device device = Device::cpu()) {
    return alloc_tensor(std::span<const std::size_t>(shape.begin(), shape.size()), dtype, device);
  }
  /// As send() and recv(), for handles of a TensorPool. A frame in DMA-BUFs has no handle and
  /// counts as lost; recv() returns it.
  Status send_handle(const TensorHandle& handle) requires std::is_same_v<T, Tensor> {
    return send(handle);
  }
  Received<TensorHandle> recv_handle() requires std::is_same_v<T, Tensor> {
    Received<TensorHandle> got = receive_tensor<TensorHandle>();
    if (got && !TensorHandle::is_handle(*got)) {
      got.message_.reset();
      ++got.lost_;
    }
    return got;
  }

  Result<std::shared_ptr<TensorPool>> pool() { return endpoint_->pool(); }
  const std::string& name() const noexcept { return endpoint_->name(); }
  TopicStats stats() { return endpoint_->stats(); }
  TopicEndpoint& endpoint() noexcept { return *endpoint_; }

 private:
  explicit Topic(std::unique_ptr<TopicEndpoint> endpoint) : endpoint_(std::move(endpoint)) {}

  template <class Send>
  Status with_parts(const T& message, const Send& send) {
    if constexpr (detail::FramedMessage<T>) {
      const auto metadata = MessageFrame<T>::metadata(message);
      return send(std::as_bytes(std::span(&metadata, 1)), &MessageFrame<T>::tensor(message));
    } else if constexpr (detail::SerializedMessage<T>) {
      const std::uint64_t size = MessageSerializer<T>::size(message);
      const std::size_t room = size > 0 ? size : 1;
      HALYARD_TRY(const auto handle, alloc_tensor({room}, DType::u8));
      HALYARD_TRY(const auto bytes, handle.data_slice_mut());
      MessageSerializer<T>::write(message, bytes.first(size));
      return send(std::as_bytes(std::span(&size, 1)), &handle);
    } else {
      return send(std::as_bytes(std::span(&message, 1)), nullptr);
    }
  }
  /// Receives in place, because a tensor is several hundred bytes to move.
  template <class Frame>
  Received<Frame> receive_tensor() {
    MessageFrame<Tensor>::Metadata none;
    Received<Frame> got;
    const TopicEndpoint::Incoming incoming =
        endpoint_->recv(std::as_writable_bytes(std::span(&none, 1)), &got.message_.emplace());
    if (!incoming.has_message) got.message_.reset();
    got.lost_ = incoming.lost;
    return got;
  }
  template <class Make>
  Received<T> receive(std::span<std::byte> bytes, const Make& make) {
    Received<T> got;
    for (;;) {
      Tensor frame;
      const TopicEndpoint::Incoming incoming = endpoint_->recv(bytes, &frame);
      got.lost_ += incoming.lost;
      if (!incoming.has_message) return got;
      auto message = make(frame);
      if (message) {
        got.message_.emplace(*std::move(message));
        return got;
      }
      endpoint_->count_malformed(message.error());
      ++got.lost_;
    }
  }
  std::unique_ptr<TopicEndpoint> endpoint_;
};

}  // namespace halyard
HALYARD_EXPORTS_END
