// SPDX-License-Identifier: Apache-2.0
// Topics in C: sending.
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "capi/error.h"
#include "capi/ipc/topics.h"

namespace halyard::capi {
namespace {

// The text in a field of a struct. It ends at a zero byte or fills the field.
template <std::size_t size>
std::string_view text_in(const char (&field)[size]) noexcept {
  return {field, ::strnlen(field, size)};
}

/// The endpoint of a topic of this kind. Errors: invalid_argument (NULL, another kind).
Result<TopicEndpoint*> endpoint_for(const hal_topic* topic, MessageKind kind) {
  HALYARD_TRY(TopicEndpoint* const endpoint, endpoint_of(topic));
  if (topic->type == kind) return endpoint;
  return make_error(Errc::invalid_argument, "topic: is of another type", endpoint->type().name);
}

template <class T>
Result<int> send_framed(TopicEndpoint& endpoint, const T& message) {
  const auto metadata = MessageFrame<T>::metadata(message);
  return done(
      endpoint.send(std::as_bytes(std::span(&metadata, 1)), &MessageFrame<T>::tensor(message)));
}

template <class T>
Status set_header(T& message, const hal_sensor_header* header) {
  if (header == nullptr) return {};
  HALYARD_RETURN_IF_ERROR(aligned(header, "header"));
  message.set_timestamp_ns(header->timestamp_ns);
  return message.set_frame_id(text_in(header->frame_id));
}

Result<int> send_tensor(const hal_topic* topic, const hal_tensor* handle) {
  HALYARD_TRY(TopicEndpoint* const endpoint, endpoint_for(topic, MessageKind::tensor));
  HALYARD_TRY(const Tensor* const tensor, tensor_of(handle));
  return send_framed(*endpoint, *tensor);
}

Result<Image> image_from(const Tensor& tensor, int encoding) {
  if (encoding == -1) return Image::wrap(tensor);
  HALYARD_TRY(
      const ImageEncoding wanted,
      enumerator<ImageEncoding>(encoding, "encoding: must be a value of hal_image_encoding"));
  return Image::wrap(tensor, wanted);
}

Result<int> send_image(const hal_topic* topic, const hal_tensor* handle,
                       const hal_sensor_header* header, int encoding) {
  HALYARD_TRY(TopicEndpoint* const endpoint, endpoint_for(topic, MessageKind::image));
  HALYARD_TRY(const Tensor* const tensor, tensor_of(handle));
  HALYARD_TRY(Image image, image_from(*tensor, encoding));
  HALYARD_RETURN_IF_ERROR(set_header(image, header));
  return send_framed(*endpoint, image);
}

struct DepthLimits {
  float scale;
  float min;
  float max;
};

Result<int> send_depth_image(const hal_topic* topic, const hal_tensor* handle,
                             const hal_sensor_header* header, const DepthLimits& limits) {
  HALYARD_TRY(TopicEndpoint* const endpoint, endpoint_for(topic, MessageKind::depth_image));
  HALYARD_TRY(const Tensor* const tensor, tensor_of(handle));
  HALYARD_TRY(DepthImage image, DepthImage::wrap(*tensor));
  HALYARD_RETURN_IF_ERROR(image.set_depth_scale(limits.scale));
  HALYARD_RETURN_IF_ERROR(image.set_depth_range(limits.min, limits.max));
  HALYARD_RETURN_IF_ERROR(set_header(image, header));
  return send_framed(*endpoint, image);
}

struct Fields {
  std::array<PointField, max_point_fields> fields;
  std::size_t count = 0;
};

Result<Fields> fields_from(const hal_point_field* fields, std::size_t count) {
  Fields made;
  if (fields == nullptr && count == 0) return made;
  HALYARD_RETURN_IF_ERROR(pointer_to(fields, "fields"));
  if (count < 1 || count > max_point_fields)
    return make_error(Errc::invalid_argument, "field_count: must be 1..16", std::to_string(count));
  for (; made.count < count; ++made.count) {
    const hal_point_field& field = fields[made.count];
    HALYARD_TRY(made.fields[made.count],
                PointField::create(text_in(field.name), field.offset,
                                   static_cast<PointDatatype>(field.datatype), field.count));
  }
  return made;
}

Result<int> send_point_cloud(const hal_topic* topic, const hal_tensor* handle,
                             const hal_sensor_header* header, const Fields& fields, bool is_dense) {
  HALYARD_TRY(TopicEndpoint* const endpoint, endpoint_for(topic, MessageKind::point_cloud));
  HALYARD_TRY(const Tensor* const tensor, tensor_of(handle));
  HALYARD_TRY(PointCloud cloud,
              PointCloud::wrap(*tensor, std::span(fields.fields).first(fields.count)));
  cloud.set_is_dense(is_dense);
  HALYARD_RETURN_IF_ERROR(set_header(cloud, header));
  return send_framed(*endpoint, cloud);
}

// The bytes are in the topic's pool; the message carries their count.
Result<int> send_bytes(TopicEndpoint& endpoint, std::span<const std::byte> bytes) {
  HALYARD_TRY(const auto pool, endpoint.pool());
  HALYARD_TRY(const auto frame, pool->alloc({std::max<std::size_t>(bytes.size(), 1)}, DType::u8));
  HALYARD_TRY(const auto room, frame.data_slice_mut());
  if (!bytes.empty()) std::memcpy(room.data(), bytes.data(), bytes.size());
  const std::uint64_t size = bytes.size();
  return done(endpoint.send(std::as_bytes(std::span(&size, 1)), &frame));
}

Result<int> send(const hal_topic* topic, const void* data, std::size_t size) {
  HALYARD_TRY(TopicEndpoint* const endpoint, endpoint_of(topic));
  if (data == nullptr && size > 0) return null_argument("data: is NULL");
  const std::span bytes(static_cast<const std::byte*>(data), size);
  if (topic->type == MessageKind::bytes) return send_bytes(*endpoint, bytes);
  HALYARD_RETURN_IF_ERROR(check_plain(*topic, size));
  return done(endpoint->send(bytes, nullptr));
}

}  // namespace
}  // namespace halyard::capi

using namespace halyard;
using capi::guarded;

int hal_topic_send(const hal_topic* topic, const void* data, size_t size) {
  return guarded<int>(-1, [&] { return capi::send(topic, data, size); });
}

int hal_topic_send_tensor(const hal_topic* topic, const hal_tensor* tensor) {
  return guarded<int>(-1, [&] { return capi::send_tensor(topic, tensor); });
}

int hal_topic_send_image(const hal_topic* topic, const hal_tensor* tensor,
                         const hal_sensor_header* header, int encoding) {
  return guarded<int>(-1, [&] { return capi::send_image(topic, tensor, header, encoding); });
}

int hal_topic_send_depth_image(const hal_topic* topic, const hal_tensor* tensor,
                               const hal_sensor_header* header, float depth_scale, float min_depth,
                               float max_depth) {
  return guarded<int>(-1, [&] {
    return capi::send_depth_image(topic, tensor, header, {depth_scale, min_depth, max_depth});
  });
}

int hal_topic_send_point_cloud(const hal_topic* topic, const hal_tensor* tensor,
                               const hal_sensor_header* header, const hal_point_field* fields,
                               size_t field_count, bool is_dense) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_TRY(const capi::Fields table, capi::fields_from(fields, field_count));
    return capi::send_point_cloud(topic, tensor, header, table, is_dense);
  });
}
