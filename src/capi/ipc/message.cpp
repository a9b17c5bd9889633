// SPDX-License-Identifier: Apache-2.0
// Received messages in C, and the metadata of sensors.
#include "halyard/c/message.h"

#include <bit>
#include <utility>

#include "capi/error.h"
#include "capi/ipc/topics.h"

namespace halyard::capi {
namespace {

// Metadata is copied between C and C++ without conversion, so both need the same layout.
#define HALYARD_SAME_PLACE(c, cpp, field) static_assert(offsetof(c, field) == offsetof(cpp, field))
static_assert(sizeof(hal_sensor_header) == sizeof(SensorHeader));
HALYARD_SAME_PLACE(hal_sensor_header, SensorHeader, frame_id);

static_assert(sizeof(hal_image_plane) == sizeof(ImagePlaneLayout));
HALYARD_SAME_PLACE(hal_image_plane, ImagePlaneLayout, stride_bytes);
static_assert(sizeof(hal_image_metadata) == sizeof(ImageMetadata));
HALYARD_SAME_PLACE(hal_image_metadata, ImageMetadata, width);
HALYARD_SAME_PLACE(hal_image_metadata, ImageMetadata, height);
HALYARD_SAME_PLACE(hal_image_metadata, ImageMetadata, encoding);
HALYARD_SAME_PLACE(hal_image_metadata, ImageMetadata, plane_count);
HALYARD_SAME_PLACE(hal_image_metadata, ImageMetadata, colorimetry);
HALYARD_SAME_PLACE(hal_image_metadata, ImageMetadata, planes);
HALYARD_SAME_PLACE(hal_image_metadata, ImageMetadata, plane_stride_bytes);
static_assert(offsetof(Colorimetry, transfer) == 1 && offsetof(Colorimetry, encoding) == 2 &&
              offsetof(Colorimetry, range) == 3);

static_assert(sizeof(hal_depth_image_metadata) == sizeof(DepthImageMetadata));
HALYARD_SAME_PLACE(hal_depth_image_metadata, DepthImageMetadata, width);
HALYARD_SAME_PLACE(hal_depth_image_metadata, DepthImageMetadata, height);
HALYARD_SAME_PLACE(hal_depth_image_metadata, DepthImageMetadata, depth_scale);
HALYARD_SAME_PLACE(hal_depth_image_metadata, DepthImageMetadata, min_depth);
HALYARD_SAME_PLACE(hal_depth_image_metadata, DepthImageMetadata, max_depth);
HALYARD_SAME_PLACE(hal_depth_image_metadata, DepthImageMetadata, step);

static_assert(sizeof(hal_point_field) == sizeof(PointField));
HALYARD_SAME_PLACE(hal_point_field, PointField, offset);
HALYARD_SAME_PLACE(hal_point_field, PointField, count);
HALYARD_SAME_PLACE(hal_point_field, PointField, datatype);
static_assert(sizeof(hal_point_cloud_metadata) == sizeof(PointCloudMetadata));
HALYARD_SAME_PLACE(hal_point_cloud_metadata, PointCloudMetadata, height);
HALYARD_SAME_PLACE(hal_point_cloud_metadata, PointCloudMetadata, width);
HALYARD_SAME_PLACE(hal_point_cloud_metadata, PointCloudMetadata, point_step);
HALYARD_SAME_PLACE(hal_point_cloud_metadata, PointCloudMetadata, field_count);
HALYARD_SAME_PLACE(hal_point_cloud_metadata, PointCloudMetadata, row_step);
HALYARD_SAME_PLACE(hal_point_cloud_metadata, PointCloudMetadata, is_dense);
HALYARD_SAME_PLACE(hal_point_cloud_metadata, PointCloudMetadata, fields);
#undef HALYARD_SAME_PLACE

template <class Metadata, class Out>
Result<int> metadata_of(const hal_message* handle, Out* out) {
  HALYARD_TRY(const hal_message* const message, checked(handle, "message"));
  HALYARD_RETURN_IF_ERROR(pointer_to(out, "out"));
  const auto* const metadata = std::get_if<Metadata>(&message->metadata);
  if (metadata == nullptr) return make_error(Errc::invalid_argument, "message: is of another type");
  *out = std::bit_cast<Out>(*metadata);
  return 0;
}

Result<int> header_of(const hal_message* handle, hal_sensor_header* out) {
  HALYARD_TRY(const hal_message* const message, checked(handle, "message"));
  HALYARD_RETURN_IF_ERROR(pointer_to(out, "out"));
  return std::visit(
      [out]<class Metadata>(const Metadata& metadata) -> Result<int> {
        if constexpr (std::is_same_v<Metadata, std::monostate>) {
          return make_error(Errc::invalid_argument, "message: has no header");
        } else {
          *out = std::bit_cast<hal_sensor_header>(metadata.header);
          return 0;
        }
      },
      message->metadata);
}

Result<hal_tensor*> clone_tensor(const hal_message* handle) {
  HALYARD_TRY(const hal_message* const message, checked(handle, "message"));
  if (!message->frame) return make_error(Errc::invalid_argument, "message: has no tensor");
  return new hal_tensor{.tensor = message->frame->tensor};
}

}  // namespace
}  // namespace halyard::capi

using namespace halyard;
using capi::guarded;
using capi::is_valid;

const char* hal_image_encoding_name(hal_image_encoding encoding) {
  if (!capi::has_enumerator<ImageEncoding>(encoding)) return "unknown";
  // Names are literals, which end with a zero byte.
  return to_string(static_cast<ImageEncoding>(encoding)).data();
}

void hal_message_free(hal_message* message) {
  if (is_valid(message)) delete message;
}

const hal_tensor* hal_message_tensor(const hal_message* message) {
  return is_valid(message) && message->frame ? &*message->frame : nullptr;
}

hal_tensor* hal_message_clone_tensor(const hal_message* message) {
  return guarded<hal_tensor*>(nullptr, [&] { return capi::clone_tensor(message); });
}

const void* hal_message_data(const hal_message* message, size_t* out_size) {
  const bool has_data = is_valid(message) && message->data;
  capi::store(out_size, has_data ? message->data->size() : 0);
  return has_data ? message->data->data() : nullptr;
}

int hal_message_header(const hal_message* message, hal_sensor_header* out) {
  return guarded<int>(-1, [&] { return capi::header_of(message, out); });
}

int hal_message_image(const hal_message* message, hal_image_metadata* out) {
  return guarded<int>(-1, [&] { return capi::metadata_of<ImageMetadata>(message, out); });
}

int hal_message_depth_image(const hal_message* message, hal_depth_image_metadata* out) {
  return guarded<int>(-1, [&] { return capi::metadata_of<DepthImageMetadata>(message, out); });
}

int hal_message_point_cloud(const hal_message* message, hal_point_cloud_metadata* out) {
  return guarded<int>(-1, [&] { return capi::metadata_of<PointCloudMetadata>(message, out); });
}
