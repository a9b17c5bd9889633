// SPDX-License-Identifier: Apache-2.0
// Messages in C: the contents of topics, and the metadata of images, depth images and point clouds.
// All of it is ours.
//
// The metadata structs are plain bytes, little endian, the same in every process and language.
// hal_topic_recv() checks what other processes sent before it returns a message: sizes, offsets and
// enumerators in the metadata fit the tensor.
#pragma once

#include "halyard/c/base.h"

HAL_BEGIN

// The type of a topic's messages.
enum hal_message_type HAL_ENUM_INT {
  HAL_MESSAGE_TENSOR = 0,
  HAL_MESSAGE_IMAGE = 1,
  HAL_MESSAGE_DEPTH_IMAGE = 2,
  HAL_MESSAGE_POINT_CLOUD = 3,
  HAL_MESSAGE_BYTES = 4,  // any number of bytes
};
typedef enum hal_message_type hal_message_type;

// Time and coordinate frame of a measurement: the first bytes of metadata. The text can be
// initialised in place: struct hal_sensor_header header = {now_ns, "camera_left"};
struct hal_sensor_header {
  uint64_t timestamp_ns;  ///< of the measurement, by the sender's clock
  char frame_id[32];      ///< coordinate frame: UTF-8, at most 31 bytes, then zeros
};
typedef struct hal_sensor_header hal_sensor_header;

// The samples of an image.
enum hal_image_encoding HAL_ENUM_INT {
  HAL_IMAGE_ENCODING_MONO8 = 0,
  HAL_IMAGE_ENCODING_MONO16 = 1,
  HAL_IMAGE_ENCODING_RGB8 = 2,
  HAL_IMAGE_ENCODING_BGR8 = 3,
  HAL_IMAGE_ENCODING_RGBA8 = 4,
  HAL_IMAGE_ENCODING_BGRA8 = 5,
  HAL_IMAGE_ENCODING_YUV422 = 6,   // U Y V Y
  HAL_IMAGE_ENCODING_MONO32F = 7,  // "32FC1"
  HAL_IMAGE_ENCODING_RGB32F = 8,   // "32FC3"
  HAL_IMAGE_ENCODING_BAYER_RGGB8 = 9,
  HAL_IMAGE_ENCODING_DEPTH16 = 10,  // "16UC1"
  HAL_IMAGE_ENCODING_BAYER_BGGR8 = 11,
  HAL_IMAGE_ENCODING_BAYER_GBRG8 = 12,
  HAL_IMAGE_ENCODING_BAYER_GRBG8 = 13,
  HAL_IMAGE_ENCODING_YUV422_YUY2 = 14,  // Y U Y V
  HAL_IMAGE_ENCODING_NV12 = 15,
  HAL_IMAGE_ENCODING_NV21 = 16,
  HAL_IMAGE_ENCODING_NV24 = 17,
  HAL_IMAGE_ENCODING_NV16 = 18,
  HAL_IMAGE_ENCODING_I420 = 19,
  HAL_IMAGE_ENCODING_PLANAR_RGB8 = 20,
  HAL_IMAGE_ENCODING_PLANAR_RGBA8 = 21,
  HAL_IMAGE_ENCODING_RGB16 = 22,
  HAL_IMAGE_ENCODING_BGR16 = 23,
  HAL_IMAGE_ENCODING_RGBA16 = 24,
  HAL_IMAGE_ENCODING_BGRA16 = 25,
  HAL_IMAGE_ENCODING_BAYER_RGGB16 = 26,
  HAL_IMAGE_ENCODING_BAYER_BGGR16 = 27,
  HAL_IMAGE_ENCODING_BAYER_GBRG16 = 28,
  HAL_IMAGE_ENCODING_BAYER_GRBG16 = 29,
  HAL_IMAGE_ENCODING_YVYU = 30,
  HAL_IMAGE_ENCODING_VYUY = 31,
};
typedef enum hal_image_encoding hal_image_encoding;

/// The name in sensor_msgs/image_encodings if it has the encoding: "rgb8", "32FC1"; "unknown" for a
/// value that is not an enumerator.
const char* hal_image_encoding_name(hal_image_encoding encoding);

struct hal_image_plane {
  int64_t offset_bytes;   ///< from the tensor's first byte; may be negative
  uint64_t stride_bytes;  ///< between rows
};
typedef struct hal_image_plane hal_image_plane;

struct hal_image_metadata {
  hal_sensor_header header;
  uint32_t width;       ///< pixels, 1..65535
  uint32_t height;      ///< rows, 1..65535
  uint8_t encoding;     ///< hal_image_encoding
  uint8_t plane_count;  ///< planes in use: 1 packed and planar, 2 NV12 and similar, 3 I420
  /// Numbers of hal_colorimetry: space, transfer, encoding, range.
  uint8_t colorimetry[4];
  uint8_t reserved[2];
  hal_image_plane planes[3];    ///< zeros where unused
  uint64_t plane_stride_bytes;  ///< between the colour planes of planar RGB(A), else 0
};
typedef struct hal_image_metadata hal_image_metadata;

// A depth is valid if it is finite, above 0, and from min_depth to max_depth. Other values mean
// that there is no measurement: 0 in u16, NaN in f32.
struct hal_depth_image_metadata {
  hal_sensor_header header;
  uint32_t width;     ///< pixels, 1..65535
  uint32_t height;    ///< rows, 1..65535
  float depth_scale;  ///< millimetres per unit of u16; ignored for f32, which is in metres
  float min_depth;    ///< metres
  float max_depth;    ///< metres; may be infinite
  uint32_t reserved;
  uint64_t step;  ///< bytes between rows
};
typedef struct hal_depth_image_metadata hal_depth_image_metadata;

// Number type of a field; values of sensor_msgs/PointField.
enum hal_point_datatype HAL_ENUM_INT {
  HAL_POINT_INT8 = 1,
  HAL_POINT_UINT8 = 2,
  HAL_POINT_INT16 = 3,
  HAL_POINT_UINT16 = 4,
  HAL_POINT_INT32 = 5,
  HAL_POINT_UINT32 = 6,
  HAL_POINT_FLOAT32 = 7,
  HAL_POINT_FLOAT64 = 8,
};
typedef enum hal_point_datatype hal_point_datatype;

// One field of every point: struct hal_point_field x = {"x", 0, 1, HAL_POINT_FLOAT32, {0}};
struct hal_point_field {
  char name[16];     ///< UTF-8, 1..15 bytes, then zeros
  uint32_t offset;   ///< bytes from the start of a point
  uint32_t count;    ///< numbers in the field, mostly 1
  uint8_t datatype;  ///< hal_point_datatype
  uint8_t reserved[3];
};
typedef struct hal_point_field hal_point_field;

struct hal_point_cloud_metadata {
  hal_sensor_header header;
  uint32_t height;       ///< rows of an organised cloud, else 1
  uint32_t width;        ///< points in a row
  uint32_t point_step;   ///< bytes from one point to the next
  uint32_t field_count;  ///< 1..16
  uint64_t row_step;     ///< bytes from one row to the next
  uint8_t is_dense;      ///< 1: no point has a NaN or an infinity
  uint8_t reserved[7];
  hal_point_field fields[16];  ///< zeros where unused
};
typedef struct hal_point_cloud_metadata hal_point_cloud_metadata;

// ---- Messages from hal_topic_recv(). Functions take them as const: threads may share one.

typedef struct hal_message hal_message;

/// Releases the message. Other handles to its tensor, and its maps, stay valid.
void hal_message_free(hal_message* message);
/// The tensor of a message, read-only, valid until the message is freed; NULL for NULL, for bytes
/// and for plain structs.
const hal_tensor* hal_message_tensor(const hal_message* message);
/// A new handle to the same tensor, owned by the caller; it may outlive the message. errno: EINVAL
/// (NULL, a message without a tensor), ENOMEM.
hal_tensor* hal_message_clone_tensor(const hal_message* message);
/// The bytes of a message of bytes, or the plain struct, valid until the message is freed. Bytes
/// are in the sender's memory, aligned to 64: a sender that breaks the rules may change them while
/// they are read. `out_size` may be NULL. NULL and 0 for NULL and for messages with a tensor.
const void* hal_message_data(const hal_message* message, size_t* out_size);
/// Time and coordinate frame. errno: EINVAL (NULL; not an image, depth image or point cloud).
int hal_message_header(const hal_message* message, hal_sensor_header* out);
/// The metadata of the tensor. errno: EINVAL (NULL, a message of another type).
int hal_message_image(const hal_message* message, hal_image_metadata* out);
int hal_message_depth_image(const hal_message* message, hal_depth_image_metadata* out);
int hal_message_point_cloud(const hal_message* message, hal_point_cloud_metadata* out);

HAL_END
