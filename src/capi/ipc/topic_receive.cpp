// SPDX-License-Identifier: Apache-2.0
// Topics in C: receiving, and waiting for messages.
#include <chrono>
#include <string>
#include <utility>

#include "capi/error.h"
#include "capi/ipc/topics.h"

namespace halyard::capi {
namespace {

// Receives the next frame whose metadata `fill` accepts. Refused messages count as lost.
template <class Metadata, class F>
bool next_frame(TopicEndpoint& endpoint, std::uint64_t& lost, F&& fill) {
  for (;;) {
    Metadata metadata{};
    Tensor frame;
    const auto incoming = endpoint.recv(std::as_writable_bytes(std::span(&metadata, 1)), &frame);
    lost += incoming.lost;
    if (!incoming.has_message) return false;
    const Status filled = fill(std::move(frame), metadata);
    if (filled) return true;
    endpoint.count_malformed(filled.error());
    ++lost;
  }
}

template <class T>
bool next_framed(TopicEndpoint& endpoint, hal_message& message, std::uint64_t& lost) {
  using Metadata = typename MessageFrame<T>::Metadata;
  return next_frame<Metadata>(
      endpoint, lost, [&message](Tensor frame, const Metadata& metadata) -> Status {
        HALYARD_TRY(const T made, MessageFrame<T>::make(std::move(frame), metadata));
        message.frame.emplace();
        message.frame->tensor = MessageFrame<T>::tensor(made);
        if constexpr (!std::is_same_v<T, Tensor>)
          message.metadata = MessageFrame<T>::metadata(made);
        return {};
      });
}

// The bytes are not copied: the map keeps them.
bool next_bytes(TopicEndpoint& endpoint, hal_message& message, std::uint64_t& lost) {
  return next_frame<std::uint64_t>(
      endpoint, lost, [&message](const Tensor& frame, std::uint64_t size) -> Status {
        HALYARD_TRY(TensorMap map, frame.map(Access::read));
        HALYARD_TRY(const auto bytes, map.flat<const std::uint8_t>());
        if (size > bytes.size())
          return make_error(Errc::malformed, "message: its frame must hold all its bytes",
                            std::to_string(bytes.size()) + " of " + std::to_string(size));
        message.data = std::as_bytes(bytes.first(size));
        message.map = std::move(map);
        return {};
      });
}

bool next_plain(TopicEndpoint& endpoint, std::span<std::byte> bytes, std::uint64_t& lost) {
  const auto incoming = endpoint.recv(bytes, nullptr);
  lost += incoming.lost;
  return incoming.has_message;
}

bool next_message(const hal_topic& topic, hal_message& message, std::uint64_t& lost) {
  TopicEndpoint& endpoint = *topic.endpoint;
  switch (topic.type) {
    case MessageKind::tensor:
      return next_framed<Tensor>(endpoint, message, lost);
    case MessageKind::image:
      return next_framed<Image>(endpoint, message, lost);
    case MessageKind::depth_image:
      return next_framed<DepthImage>(endpoint, message, lost);
    case MessageKind::point_cloud:
      return next_framed<PointCloud>(endpoint, message, lost);
    case MessageKind::bytes:
      return next_bytes(endpoint, message, lost);
    case MessageKind::plain:
      break;
  }
  message.plain.resize(endpoint.type().inline_bytes);
  message.data = message.plain;
  return next_plain(endpoint, message.plain, lost);
}

// Calls `next`, and again when something arrives before the timeout.
template <class F>
bool within(std::int64_t timeout_ns, TopicEndpoint& endpoint, const std::uint64_t& lost, F&& next) {
  if (next()) return true;
  if (lost > 0 || timeout_ns == 0) return false;
  return endpoint.wait_for(std::chrono::nanoseconds(timeout_ns)) && next();
}

Result<int> receive(const hal_topic* topic, std::int64_t timeout_ns, hal_message** out,
                    std::uint64_t* out_lost) {
  HALYARD_TRY(TopicEndpoint* const endpoint, endpoint_of(topic));
  HALYARD_RETURN_IF_ERROR(pointer_to(out, "out"));
  HALYARD_RETURN_IF_ERROR(aligned(out_lost, "out_lost"));
  *out = nullptr;
  auto message = std::make_unique<hal_message>();
  std::uint64_t lost = 0;
  const bool is_there =
      within(timeout_ns, *endpoint, lost, [&] { return next_message(*topic, *message, lost); });
  store(out_lost, lost);
  if (!is_there) return 0;
  *out = message.release();
  return 1;
}

Result<int> receive_plain(const hal_topic* topic, std::int64_t timeout_ns, void* data,
                          std::size_t size, std::uint64_t* out_lost) {
  HALYARD_TRY(TopicEndpoint* const endpoint, endpoint_of(topic));
  if (data == nullptr) return null_argument("data: is NULL");
  HALYARD_RETURN_IF_ERROR(aligned(out_lost, "out_lost"));
  HALYARD_RETURN_IF_ERROR(check_plain(*topic, size));
  std::uint64_t lost = 0;
  const std::span bytes(static_cast<std::byte*>(data), size);
  const bool is_there =
      within(timeout_ns, *endpoint, lost, [&] { return next_plain(*endpoint, bytes, lost); });
  store(out_lost, lost);
  return is_there ? 1 : 0;
}

}  // namespace
}  // namespace halyard::capi

using namespace halyard;
using capi::guarded;
using capi::is_valid;

int hal_topic_recv(const hal_topic* topic, int64_t timeout_ns, hal_message** out,
                   uint64_t* out_lost) {
  return guarded<int>(-1, [&] { return capi::receive(topic, timeout_ns, out, out_lost); });
}

int hal_topic_recv_struct(const hal_topic* topic, int64_t timeout_ns, void* data, size_t size,
                          uint64_t* out_lost) {
  return guarded<int>(-1,
                      [&] { return capi::receive_plain(topic, timeout_ns, data, size, out_lost); });
}

bool hal_topic_has_message(const hal_topic* topic) {
  return is_valid(topic) &&
         guarded<bool>(false, [&]() -> Result<bool> { return topic->endpoint->has_message(); });
}

int hal_topic_wait(const hal_topic* topic, int64_t timeout_ns) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_TRY(TopicEndpoint* const endpoint, capi::endpoint_of(topic));
    return endpoint->wait_for(std::chrono::nanoseconds(timeout_ns)) ? 1 : 0;
  });
}

int hal_topic_fd(const hal_topic* topic) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_TRY(TopicEndpoint* const endpoint, capi::endpoint_of(topic));
    return endpoint->fd();
  });
}
