// SPDX-License-Identifier: Apache-2.0
// Converts depth images to metres, to units, and to points.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/text/format_error.h"
#include "halyard/depth_image.h"
#include "ipc/message/depth_units.h"
#include "ipc/message/point_fields.h"

namespace halyard {
namespace {

constexpr float no_depth = std::numeric_limits<float>::quiet_NaN();

void row_to_units(const float* from, std::size_t count, const ipc::DepthUnits&,
                  const ipc::DepthRule& rule, std::uint16_t* to) noexcept {
  ipc::depths_to_units(from, count, rule, to);
}
void row_to_units(const std::uint16_t* from, std::size_t count, const ipc::DepthUnits& units,
                  const ipc::DepthRule&, std::uint16_t* to) noexcept {
  for (std::size_t x = 0; x < count; ++x)
    to[x] = units.is_valid(units.meters(from[x])) ? from[x] : std::uint16_t{0};
}

// Calls row(y, address of its first number) for all rows, with their element type.
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

// Computes points, row by row.
class Rays {
 public:
  Rays(const CameraIntrinsics& camera, const DepthImageMetadata& m)
      : camera_(camera), rule_(ipc::DepthUnits(m).rule()), x_(m.width), meters_(m.width) {
    for (std::size_t column = 0; column < x_.size(); ++column)
      x_[column] = (static_cast<double>(column) - camera.cx) / camera.fx;
  }
  template <class T>
  void read_row(std::size_t row, const T* depths) noexcept {
    y_ = (static_cast<double>(row) - camera_.cy) / camera_.fy;
    ipc::depths_to_meters(depths, meters_.size(), rule_, meters_.data());
  }
  /// NaN in all coordinates if the depth is not valid.
  std::array<float, 3> point(std::size_t column) const noexcept {
    const auto z = static_cast<double>(meters_[column]);
    return {static_cast<float>(x_[column] * z), static_cast<float>(y_ * z), meters_[column]};
  }

 private:
  CameraIntrinsics camera_;
  ipc::DepthRule rule_;
  std::vector<double> x_;  // x of the ray through a column, per metre along the axis
  double y_ = 0;           // y of the rays through the row, likewise
  std::vector<float> meters_;
};

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
  const ipc::DepthRule rule = ipc::DepthUnits(metadata_).rule();
  HALYARD_RETURN_IF_ERROR(for_each_row(tensor_, [&](std::size_t y, const auto* from) {
    ipc::depths_to_meters(from, width(), rule, to.row(y).data_handle());
  }));
  return result;
}

Result<DepthImage> DepthImage::to_millimeters(const Pool& pool) const {
  HALYARD_TRY(DepthImage result, empty_copy(DType::u16, pool));
  HALYARD_TRY(const TensorMap map, result.tensor().map(Access::write));
  HALYARD_TRY(const auto to, (map.view<std::uint16_t, 2>()));
  const ipc::DepthUnits units(metadata_);
  const ipc::DepthRule rule = units.rule();
  HALYARD_RETURN_IF_ERROR(for_each_row(tensor_, [&](std::size_t y, const auto* from) {
    row_to_units(from, width(), units, rule, to.row(y).data_handle());
  }));
  return result;
}

Result<PointCloud> DepthImage::deproject(const CameraIntrinsics& intrinsics,
                                         const Pool& pool) const {
  HALYARD_RETURN_IF_ERROR(check_intrinsics(intrinsics));
  HALYARD_TRY(const auto fields, ipc::default_fields(3, DType::f32));
  HALYARD_TRY(PointCloud cloud,
              PointCloud::create_fields(width(), height(), std::span(fields).first(3), 0, pool));
  HALYARD_TRY(const std::span<std::byte> bytes, cloud.data_mut());
  auto* point = reinterpret_cast<std::array<float, 3>*>(bytes.data());
  Rays rays(intrinsics, metadata_);
  bool is_dense = true;
  HALYARD_RETURN_IF_ERROR(for_each_row(tensor_, [&](std::size_t y, const auto* from) {
    rays.read_row(y, from);
    for (std::size_t x = 0; x < width(); ++x, ++point) {
      *point = rays.point(x);  // all NaN where the depth is NaN
      is_dense = is_dense && !std::isnan((*point)[2]);
    }
  }));
  cloud.set_is_dense(is_dense);
  cloud.set_timestamp_ns(timestamp_ns());
  HALYARD_RETURN_IF_ERROR(cloud.set_frame_id(frame_id()));
  return cloud;
}

Result<PointCloud> DepthImage::deproject_valid(const CameraIntrinsics& intrinsics,
                                               const Pool& pool) const {
  HALYARD_RETURN_IF_ERROR(check_intrinsics(intrinsics));
  HALYARD_TRY(const DepthStatistics statistics, depth_statistics());
  HALYARD_TRY(PointCloud cloud, PointCloud::xyz(statistics.count, pool));
  HALYARD_TRY(const std::span<std::byte> bytes, cloud.data_mut());
  auto* const points = reinterpret_cast<std::array<float, 3>*>(bytes.data());
  Rays rays(intrinsics, metadata_);
  std::size_t taken = 0;
  HALYARD_RETURN_IF_ERROR(for_each_row(tensor_, [&](std::size_t y, const auto* from) {
    rays.read_row(y, from);
    for (std::size_t x = 0; x < width() && taken < statistics.count; ++x) {
      points[taken] = rays.point(x);
      taken += std::isnan(points[taken][2]) ? 0 : 1;
    }
  }));
  // Fewer than counted only if another process writes the depths meanwhile.
  cloud.set_is_dense(taken == statistics.count);
  std::fill(points + taken, points + statistics.count, std::array{no_depth, no_depth, no_depth});
  cloud.set_timestamp_ns(timestamp_ns());
  HALYARD_RETURN_IF_ERROR(cloud.set_frame_id(frame_id()));
  return cloud;
}

}  // namespace halyard
