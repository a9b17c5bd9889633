// SPDX-License-Identifier: Apache-2.0
// DepthImage: a message of distances along the camera's axis, in f32 metres or u16 millimetres.
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

/// Metadata that is sent with the tensor of a depth image. Plain bytes, little endian.
struct DepthImageMetadata {
  SensorHeader header;
  std::uint32_t width = 0;   ///< pixels, 1..65535
  std::uint32_t height = 0;  ///< rows, 1..65535
  float depth_scale = 1;     ///< millimetres per unit of u16; ignored for f32, which is in metres
  float min_depth = 0;       ///< metres; nearer pixels are not valid
  float max_depth = std::numeric_limits<float>::infinity();  ///< metres; farther pixels are not
                                                             ///< valid
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

/// Pinhole camera without distortion, in pixels; (cx, cy) is the intersection of the axis with the
/// image, and (0, 0) is the centre of the first pixel, as in sensor_msgs/CameraInfo.
struct CameraIntrinsics {
  double fx = 0;
  double fy = 0;
  double cx = 0;
  double cy = 0;
};

/// Statistics of the valid pixels, in metres. All zero if there are none.
struct DepthStatistics {
  float min = 0;
  float max = 0;
  double mean = 0;
  std::uint64_t count = 0;
};

/// A depth is valid if it is finite, above 0, and within [min_depth, max_depth]. "No measurement"
/// is 0 in u16 and NaN in f32 (REP 118). tensor() has the shape [H, W]. `pool` null: the default
/// pool. Memory from a pool is not initialised. Errors of all functions that create an image: those
/// of default_pool() and TensorPool::alloc().
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
  /// Wraps a tensor as a message, without a copy: [H, W], [H, W, 1] or a grey image, f32 or u16;
  /// rows may have padding. Errors: invalid_argument (another dtype, shape or stride), unsupported
  /// (an image that is not linear).
  static Result<DepthImage> wrap(const Tensor& tensor);
  /// Makes an image of a received message. The bytes may be hostile. Errors: malformed (a field
  /// with an illegal value), corrupt (rows extend beyond the tensor; the tensor is neither f32 nor
  /// u16).
  static Result<DepthImage> from_parts(const Tensor& tensor, const DepthImageMetadata& metadata);
  /// The same, but if the tensor is [height, width], its stride replaces the metadata's step:
  /// topics copy tensors that are not in a pool, and remove the gaps.
  static Result<DepthImage> from_frame(const Tensor& tensor, const DepthImageMetadata& metadata);

  std::size_t width() const noexcept { return metadata_.width; }
  std::size_t height() const noexcept { return metadata_.height; }
  std::size_t step() const noexcept { return metadata_.step; }
  bool is_meters() const noexcept { return dtype() == DType::f32; }
  bool is_millimeters() const noexcept { return dtype() == DType::u16; }
  float depth_scale() const noexcept { return metadata_.depth_scale; }
  float min_depth() const noexcept { return metadata_.min_depth; }
  float max_depth() const noexcept { return metadata_.max_depth; }
  /// Sets the millimetres per unit of u16. Errors: invalid_argument (not finite, not above 0).
  Status set_depth_scale(float millimeters);
  /// Sets the valid range in metres. Errors: invalid_argument (NaN, below 0, min above max; max may
  /// be infinite).
  Status set_depth_range(float min_depth, float max_depth);

  /// Returns the stored depth in metres; "no measurement" stays 0 or NaN. Each call maps the
  /// tensor: for many pixels use tensor().map(). Errors: invalid_argument (outside the image),
  /// those of data().
  Result<float> get_depth(std::size_t x, std::size_t y) const;
  /// Stores a depth; in u16 rounded to the nearest unit, halves up. 0 and, in f32, NaN store "no
  /// measurement". Errors: invalid_argument (outside the image; below 0, not finite, outside
  /// [min_depth, max_depth] or beyond 65535 units), permission, those of data().
  Status set_depth(std::size_t x, std::size_t y, float meters);
  /// Returns the stored u16 value. Errors: invalid_argument (outside the image, an f32 image),
  /// those of data().
  Result<std::uint16_t> get_depth_u16(std::size_t x, std::size_t y) const;
  /// Statistics of the valid pixels, bit-identical on every processor. Errors: those of
  /// Tensor::map().
  Result<DepthStatistics> depth_statistics() const;

  /// Copies into f32 metres or into u16 units of depth_scale(), rounded as in set_depth(). Pixels
  /// that are not valid or above 65535 units become "no measurement".
  Result<DepthImage> to_meters(const Pool& pool = nullptr) const;
  Result<DepthImage> to_millimeters(const Pool& pool = nullptr) const;

  /// Returns f32 points x y z in metres, x right, y down, z forward: x = (column - cx) z / fx. The
  /// cloud is organised, height x width, with NaN for pixels that are not valid. Errors:
  /// invalid_argument (fx or fy not above 0, a number that is not finite).
  Result<PointCloud> deproject(const CameraIntrinsics& intrinsics,
                               const Pool& pool = nullptr) const;
  /// The same without the pixels that are not valid: one row of points.
  Result<PointCloud> deproject_valid(const CameraIntrinsics& intrinsics,
                                     const Pool& pool = nullptr) const;

  /// The same bytes as an Image of encoding "32FC1" or "16UC1", as in sensor_msgs.
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
