// SPDX-License-Identifier: Apache-2.0
// Messages of topics as Python objects, both ways.
#include <cstring>
#include <string>
#include <utility>

#include "args.h"
#include "halyard/depth_image.h"
#include "halyard/image_message.h"
#include "halyard/point_cloud.h"
#include "ipc/topics.h"

namespace halyard::python {
namespace {

Error wrong_size(std::size_t bytes, std::size_t wanted) {
  return make_error(Errc::malformed, "message: must have the size of its type",
                    std::to_string(bytes) + " bytes, not " + std::to_string(wanted));
}

template <class T>
Result<nb::object> framed_object(std::span<const std::byte> bytes, const Tensor& frame) {
  typename MessageFrame<T>::Metadata metadata;
  if (bytes.size() != sizeof metadata) return wrong_size(bytes.size(), sizeof metadata);
  std::memcpy(static_cast<void*>(&metadata), bytes.data(), sizeof metadata);
  HALYARD_TRY(T message, MessageFrame<T>::make(Tensor(frame), metadata));
  return nb::cast(std::move(message));
}

nb::object bytes_result(std::span<const std::byte> bytes) {
  return nb::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

Result<nb::object> counted_bytes(std::span<const std::byte> count, const Tensor& frame) {
  std::uint64_t size = 0;
  if (count.size() != sizeof size) return wrong_size(count.size(), sizeof size);
  std::memcpy(&size, count.data(), sizeof size);
  HALYARD_TRY(const auto map, frame.map_unclaimed(Access::read));
  HALYARD_TRY(const auto bytes, map.template flat<const std::uint8_t>());
  if (size > bytes.size())
    return make_error(Errc::malformed, "message: its frame must hold all its bytes",
                      std::to_string(bytes.size()) + " of " + std::to_string(size));
  return bytes_result(std::as_bytes(bytes.first(size)));
}

template <class T>
void send_framed(nb::handle object, const char* wanted, const SendParts& send) {
  const T* given = nullptr;
  if (!nb::try_cast(object, given) || given == nullptr) raise_wrong_type("message", wanted, object);
  const T message = *given;
  const auto metadata = MessageFrame<T>::metadata(message);
  send(std::as_bytes(std::span(&metadata, 1)), &MessageFrame<T>::tensor(message));
}

void send_bytes(Endpoint& endpoint, nb::handle object, const SendParts& send) {
  const BytesArg given(object, "message");
  const std::uint64_t size = given.bytes().size();
  const TensorHandle frame = take(released([&]() -> Result<TensorHandle> {
    HALYARD_TRY(const auto pool, endpoint.topic->pool());
    HALYARD_TRY(auto made, pool->alloc({std::max<std::size_t>(size, 1)}, DType::u8));
    HALYARD_TRY(const auto to, made.data_slice_mut());
    if (size > 0) std::memcpy(to.data(), given.bytes().data(), size);
    return made;
  }));
  send(std::as_bytes(std::span(&size, 1)), &frame);
}

}  // namespace

Result<nb::object> message_object(MessageKind kind, std::span<const std::byte> bytes,
                                  Tensor&& frame) {
  switch (kind) {
    case MessageKind::tensor:
      return handle_result(std::move(frame));
    case MessageKind::image:
      return framed_object<Image>(bytes, frame);
    case MessageKind::point_cloud:
      return framed_object<PointCloud>(bytes, frame);
    case MessageKind::depth_image:
      return framed_object<DepthImage>(bytes, frame);
    case MessageKind::bytes:
      return counted_bytes(bytes, frame);
    case MessageKind::plain:
      break;
  }
  return bytes_result(bytes);
}

void send_object(Endpoint& endpoint, nb::handle message, const SendParts& send) {
  switch (endpoint.kind) {
    case MessageKind::tensor: {
      const MessageFrame<Tensor>::Metadata none;
      const Tensor frame = tensor_to_read(message, "message");
      return send(std::as_bytes(std::span(&none, 1)), &frame);
    }
    case MessageKind::image:
      return send_framed<Image>(message, "an Image", send);
    case MessageKind::point_cloud:
      return send_framed<PointCloud>(message, "a PointCloud", send);
    case MessageKind::depth_image:
      return send_framed<DepthImage>(message, "a DepthImage", send);
    case MessageKind::bytes:
      return send_bytes(endpoint, message, send);
    case MessageKind::plain: {
      const BytesArg given(message, "message");
      return send(given.bytes(), nullptr);
    }
  }
}

}  // namespace halyard::python
