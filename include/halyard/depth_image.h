// SPDX-License-Identifier: Apache-2.0
// DepthImage: distances along the camera's axis as a message, f32 metres or u16 millimetres.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>

#include "halyard/export.h"
#include "halyard/format.h"
#include "halyard/image_message.h"
#include "halyard/point_cloud.h"
#include "halyard/result.h"
#include "halyard/sensor_message.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

class TensorPool;

/// What travels beside the tensor of a depth image. Plain bytes, little endian.
struct DepthImageMetadata {
  SensorHeader header;
  std::uint32_t width = 0;   ///< pixels, 1..65535
  std::uint32_t height = 0;  ///< rows, 1..65535
  float depth_scale = 1;     ///< millimetres of one unit of u16; f32 is in metres whatever it says
  float min_depth = 0;       ///< metres; what is nearer is no measurement
  float max_depth = std::numeric_limits<float>::infinity();  ///< metres; what is farther is none
  std::uint32_t reserved = 0;
  std::uint64_t step = 0;  ///< bytes between rows
};
static_assert(sizeof(DepthImageMetadata) == 72 && alignof(DepthImageMetadata) == 8);
static_assert(offsetof(DepthImageMetadata, width) == 40 &&
              offsetof(DepthImageMetadata, height) == 44);
static_assert(offsetof(DepthImageMetadata, depth_scale) == 48 &&
              offsetof(DepthImageMetadata, min_depth) == 52 &&
              offsetof(DepthImageMetadata, max_depth) == 56);
static_assert(offsetof(DepthImageMetadata, step) == 64);

/// Pinhole camera without distortion, in pixels; (cx, cy) is where the axis meets the image, and
/// (0, 0) the centre of the first pixel, as in sensor_msgs/CameraInfo.
struct CameraIntrinsics {
  double fx = 0;
  double fy = 0;
  double cx = 0;
  double cy = 0;
};

/// Of the valid pixels, in metres. All zero when there is none.
struct DepthStatistics {
  float min = 0;
  float max = 0;
  double mean = 0;
  std::uint64_t count = 0;
};

/// A depth is valid when it is finite, above 0, and within [min_depth, max_depth]. What is not
/// valid is no measurement: 0 in u16, NaN in f32 (REP 118). tensor() has the shape [H, W]. A `pool`
/// that is null stands for the default pool; memory that a pool gives holds any bytes. Errors of
/// all makers: those of default_pool() and TensorPool::alloc().
class DepthImage : public SensorMessage<DepthImageMetadata> {
 public:
  using Pool = std::shared_ptr<TensorPool>;

  /// `dtype`: f32 metres or u16 millimetres. Errors: invalid_argument (another dtype, a side
  /// outside 1..65535).
  static Result<DepthImage> create(std::size_t width, std::size_t height, DType dtype,
                                   const Pool& pool = nullptr);
  static Result<DepthImage> meters(std::size_t width, std::size_t height,
                                   const Pool& pool = nullptr);
  static Result<DepthImage> millimeters(std::size_t width, std::size_t height,
                                        const Pool& pool = nullptr);
  /// A tensor as a message, without a copy: [H, W], [H, W, 1] or a grey image, f32 or u16; rows
  /// may lie apart. Errors: invalid_argument (another dtype, shape or stride), unsupported (an
  /// image that is not linear).
  static Result<DepthImage> wrap(const Tensor& tensor);
  /// A received message. Takes any bytes. Errors: malformed (a field that no depth image has),
  /// corrupt (rows leave the tensor; the tensor is neither f32 nor u16).
  static Result<DepthImage> from_parts(const Tensor& tensor, const DepthImageMetadata& metadata);
  /// The same with the stride of the tensor instead of the metadata's step, where it is
  /// [height, width]: topics copy what lies in no pool, without gaps.
  static Result<DepthImage> from_frame(const Tensor& tensor, const DepthImageMetadata& metadata);

  std::size_t width() const noexcept { return metadata_.width; }
  std::size_t height() const noexcept { return metadata_.height; }
  std::size_t step() const noexcept { return metadata_.step; }
  bool is_meters() const noexcept { return dtype() == DType::f32; }
  bool is_millimeters() const noexcept { return dtype() == DType::u16; }
  float depth_scale() const noexcept { return metadata_.depth_scale; }
  float min_depth() const noexcept { return metadata_.min_depth; }
  float max_depth() const noexcept { return metadata_.max_depth; }
  /// Millimetres of one unit of u16. Errors: invalid_argument (not finite, not above 0).
  Status set_depth_scale(float millimeters);
  /// Metres. Errors: invalid_argument (NaN, below 0, min above max; max may be infinite).
  Status set_depth_range(float min_depth, float max_depth);

  /// Metres, as stored: what is no measurement stays 0 or NaN. Maps anew each time: for many pixels
  /// use tensor().map(). Errors: invalid_argument (outside the image), those of data().
  Result<float> get_depth(std::size_t x, std::size_t y) const;
  /// Rounds to the nearest unit, halves up. 0 and, in f32, NaN say that there is no measurement.
  /// Errors: invalid_argument (outside the image; below 0, not finite, outside [min_depth,
  /// max_depth] or beyond 65535 units), permission, those of data().
  Status set_depth(std::size_t x, std::size_t y, float meters);
  /// The stored unit of u16. Errors: invalid_argument (outside the image, an f32 image), those of
  /// data().
  Result<std::uint16_t> get_depth_u16(std::size_t x, std::size_t y) const;
  /// Over the valid pixels, the same bits on every processor. Errors: those of Tensor::map().
  Result<DepthStatistics> depth_statistics() const;

  /// A copy in f32 metres or in u16 units of depth_scale(), rounded as set_depth() does. What is
  /// not valid, and what is beyond 65535 units, becomes no measurement.
  Result<DepthImage> to_meters(const Pool& pool = nullptr) const;
  Result<DepthImage> to_millimeters(const Pool& pool = nullptr) const;

  /// f32 points x y z in metres, x right, y down, z forward: x = (column - cx) z / fx. Organised,
  /// height x width, with NaN for what is not valid. Errors: invalid_argument (fx or fy not above
  /// 0, a number that is not finite).
  Result<PointCloud> deproject(const CameraIntrinsics& intrinsics,
                               const Pool& pool = nullptr) const;
  /// The same without what is not valid: one row of points.
  Result<PointCloud> deproject_valid(const CameraIntrinsics& intrinsics,
                                     const Pool& pool = nullptr) const;

  /// The image as sensor_msgs has it, "32FC1" or "16UC1", sharing the bytes.
  Result<Image> as_image() const;

 private:
  using SensorMessage::SensorMessage;
  static Result<DepthImage> assemble(const Tensor& tensor, const DepthImageMetadata& metadata);
  Status check_pixel(std::size_t x, std::size_t y) const;
  Result<DepthImage> empty_copy(DType dtype, const Pool& pool) const;
};

template <>
struct MessageFrame<DepthImage> : SensorFrame<DepthImage, DepthImageMetadata> {
  static constexpr std::string_view name = "halyard.DepthImage";
};

}  // namespace halyard
HALYARD_EXPORTS_END
