// SPDX-License-Identifier: Apache-2.0
// Depth images as metres, as units, and as points.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/format_error.h"
#include "halyard/depth_image.h"
#include "ipc/depth_units.h"
#include "ipc/point_fields.h"

namespace halyard {
namespace {

constexpr float no_depth = std::numeric_limits<float>::quiet_NaN();

// Metres of a stored number; NaN: no measurement.
float valid_meters(float stored, const ipc::DepthUnits& units) noexcept {
  return units.is_valid(stored) ? stored : no_depth;
}
float valid_meters(std::uint16_t stored, const ipc::DepthUnits& units) noexcept {
  return valid_meters(units.meters(stored), units);
}

template <class T>
void row_to_meters(const T* from, std::size_t count, const ipc::DepthUnits& units,
                   float* to) noexcept {
  for (std::size_t x = 0; x < count; ++x)
    to[x] = valid_meters(from[x], units);
}

void row_to_units(const float* from, std::size_t count, const ipc::DepthUnits& units,
                  std::uint16_t* to) noexcept {
  for (std::size_t x = 0; x < count; ++x) {
    const bool is_valid = units.is_valid(from[x]);
    const double whole = units.units(is_valid ? from[x] : 0);
    to[x] = static_cast<std::uint16_t>(static_cast<std::int32_t>(whole <= 65535 ? whole : 0));
  }
}

void row_to_units(const std::uint16_t* from, std::size_t count, const ipc::DepthUnits& units,
                  std::uint16_t* to) noexcept {
  for (std::size_t x = 0; x < count; ++x)
    to[x] = units.is_valid(units.meters(from[x])) ? from[x] : std::uint16_t{0};
}

// Calls row(y, address of its first number) for all rows, as the type that they have.
template <class Row>
Status for_each_row(const Tensor& tensor, const Row& row) {
  HALYARD_TRY(const TensorMap map, tensor.map(Access::read));
  const std::size_t rows = tensor.shape().front();
  if (tensor.dtype() == DType::f32) {
    HALYARD_TRY(const auto view, (map.view<const float, 2>()));
    for (std::size_t y = 0; y < rows; ++y)
      row(y, view.row(y).data_handle());
    return {};
  }
  HALYARD_TRY(const auto view, (map.view<const std::uint16_t, 2>()));
  for (std::size_t y = 0; y < rows; ++y)
    row(y, view.row(y).data_handle());
  return {};
}

Status check_intrinsics(const CameraIntrinsics& camera) {
  const bool is_finite = std::isfinite(camera.fx) && std::isfinite(camera.fy) &&
                         std::isfinite(camera.cx) && std::isfinite(camera.cy);
  if (is_finite && camera.fx > 0 && camera.fy > 0) return {};
  return fail(Errc::invalid_argument, "intrinsics: must be finite, fx and fy above 0",
              "fx {}, fy {}, cx {}, cy {}", camera.fx, camera.fy, camera.cx, camera.cy);
}

// The ray through a pixel, per metre along the axis.
class Rays {
 public:
  Rays(const CameraIntrinsics& camera, std::size_t width) : camera_(camera), x_(width) {
    for (std::size_t column = 0; column < width; ++column)
      x_[column] = (static_cast<double>(column) - camera.cx) / camera.fx;
  }
  double x(std::size_t column) const noexcept { return x_[column]; }
  double y(std::size_t row) const noexcept {
    return (static_cast<double>(row) - camera_.cy) / camera_.fy;
  }

 private:
  CameraIntrinsics camera_;
  std::vector<double> x_;
};

std::array<float, 3> point_of(double ray_x, double ray_y, float meters) noexcept {
  const auto z = static_cast<double>(meters);
  return {static_cast<float>(ray_x * z), static_cast<float>(ray_y * z), meters};
}

}  // namespace

Result<DepthImage> DepthImage::empty_copy(DType dtype, const Pool& pool) const {
  HALYARD_TRY(DepthImage copy, create(width(), height(), dtype, pool));
  const std::uint64_t step = copy.metadata_.step;
  copy.metadata_ = metadata_;
  copy.metadata_.step = step;
  return copy;
}

Result<DepthImage> DepthImage::to_meters(const Pool& pool) const {
  HALYARD_TRY(DepthImage result, empty_copy(DType::f32, pool));
  HALYARD_TRY(const TensorMap map, result.tensor().map(Access::write));
  HALYARD_TRY(const auto to, (map.view<float, 2>()));
  const ipc::DepthUnits units(metadata_);
  HALYARD_CHECK(for_each_row(tensor_, [&](std::size_t y, const auto* from) {
    row_to_meters(from, width(), units, to.row(y).data_handle());
  }));
  return result;
}

Result<DepthImage> DepthImage::to_millimeters(const Pool& pool) const {
  HALYARD_TRY(DepthImage result, empty_copy(DType::u16, pool));
  HALYARD_TRY(const TensorMap map, result.tensor().map(Access::write));
  HALYARD_TRY(const auto to, (map.view<std::uint16_t, 2>()));
  const ipc::DepthUnits units(metadata_);
  HALYARD_CHECK(for_each_row(tensor_, [&](std::size_t y, const auto* from) {
    row_to_units(from, width(), units, to.row(y).data_handle());
  }));
  return result;
}

Result<PointCloud> DepthImage::deproject(const CameraIntrinsics& intrinsics,
                                         const Pool& pool) const {
  HALYARD_CHECK(check_intrinsics(intrinsics));
  HALYARD_TRY(const auto fields, ipc::default_fields(3, DType::f32));
  HALYARD_TRY(PointCloud cloud,
              PointCloud::create_fields(width(), height(), std::span(fields).first(3), 0, pool));
  HALYARD_TRY(const std::span<std::byte> bytes, cloud.data_mut());
  auto* const points = reinterpret_cast<std::array<float, 3>*>(bytes.data());
  const ipc::DepthUnits units(metadata_);
  const Rays rays(intrinsics, width());
  std::size_t valid = 0;
  HALYARD_CHECK(for_each_row(tensor_, [&](std::size_t y, const auto* from) {
    const double ray_y = rays.y(y);
    for (std::size_t x = 0; x < width(); ++x) {
      const float z = valid_meters(from[x], units);
      points[y * width() + x] =
          std::isnan(z) ? std::array{no_depth, no_depth, no_depth} : point_of(rays.x(x), ray_y, z);
      valid += std::isnan(z) ? 0 : 1;
    }
  }));
  cloud.set_is_dense(valid == width() * height());
  cloud.set_timestamp_ns(timestamp_ns());
  HALYARD_CHECK(cloud.set_frame_id(frame_id()));
  return cloud;
}

Result<PointCloud> DepthImage::deproject_valid(const CameraIntrinsics& intrinsics,
                                               const Pool& pool) const {
  HALYARD_CHECK(check_intrinsics(intrinsics));
  HALYARD_TRY(const DepthStatistics statistics, depth_statistics());
  HALYARD_TRY(PointCloud cloud, PointCloud::xyz(statistics.count, pool));
  HALYARD_TRY(const std::span<std::byte> bytes, cloud.data_mut());
  auto* const points = reinterpret_cast<std::array<float, 3>*>(bytes.data());
  const ipc::DepthUnits units(metadata_);
  const Rays rays(intrinsics, width());
  std::size_t taken = 0;
  HALYARD_CHECK(for_each_row(tensor_, [&](std::size_t y, const auto* from) {
    const double ray_y = rays.y(y);
    for (std::size_t x = 0; x < width() && taken < statistics.count; ++x) {
      const float z = valid_meters(from[x], units);
      if (!std::isnan(z)) points[taken++] = point_of(rays.x(x), ray_y, z);
    }
  }));
  // Fewer only where another process writes the depths meanwhile.
  cloud.set_is_dense(taken == statistics.count);
  std::fill(points + taken, points + statistics.count, std::array{no_depth, no_depth, no_depth});
  cloud.set_timestamp_ns(timestamp_ns());
  HALYARD_CHECK(cloud.set_frame_id(frame_id()));
  return cloud;
}

}  // namespace halyard
