// SPDX-License-Identifier: Apache-2.0
// Coordinates of point clouds: extraction, and transformation by a matrix.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/text/format_error.h"
#include "halyard/point_cloud.h"
#include "ipc/message/point_fields.h"

namespace halyard {
namespace {

// The place and type of a coordinate in a point.
struct Coordinate {
  std::size_t offset = 0;
  bool is_double = false;
};
using Coordinates = std::array<Coordinate, 3>;

Result<Coordinates> coordinates_of(const PointCloud& cloud) {
  constexpr std::array<const char*, 3> names = {"x", "y", "z"};
  Coordinates coordinates;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const PointField* const field = cloud.find_field(names[axis]);
    if (field == nullptr ||
        (field->datatype != PointDatatype::float32 && field->datatype != PointDatatype::float64)) {
      return fail(Errc::invalid_argument, "cloud: needs x, y and z as f32 or f64",
                  "{} is missing or of another type", names[axis]);
    }
    coordinates[axis] = {field->offset, field->datatype == PointDatatype::float64};
  }
  return coordinates;
}

// Loads from any alignment.
template <class T>
T load(const std::byte* at) noexcept {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

double read(const std::byte* point, Coordinate c) noexcept {
  return c.is_double ? load<double>(point + c.offset)
                     : static_cast<double>(load<float>(point + c.offset));
}

void write(std::byte* point, Coordinate c, double value) noexcept {
  if (c.is_double) {
    std::memcpy(point + c.offset, &value, sizeof value);
    return;
  }
  const auto single = static_cast<float>(value);
  std::memcpy(point + c.offset, &single, sizeof single);
}

bool are_packed_floats(const Coordinates& c) noexcept {
  return !c[0].is_double && !c[1].is_double && !c[2].is_double &&
         c[1].offset == c[0].offset + sizeof(float) && c[2].offset == c[1].offset + sizeof(float);
}

Status check_matrix(const std::array<double, 16>& m) {
  if (!std::all_of(m.begin(), m.end(), [](double e) { return std::isfinite(e); }))
    return fail(Errc::invalid_argument, "matrix: elements must be finite");
  if (m[12] != 0 || m[13] != 0 || m[14] != 0 || m[15] != 1) {
    return fail(Errc::invalid_argument, "matrix: the last row must be 0 0 0 1", "{} {} {} {}",
                m[12], m[13], m[14], m[15]);
  }
  return {};
}

void move_point(std::byte* point, const Coordinates& c, const std::array<double, 16>& m) noexcept {
  const double x = read(point, c[0]);
  const double y = read(point, c[1]);
  const double z = read(point, c[2]);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double* const row = m.data() + 4 * axis;
    write(point, c[axis], row[0] * x + row[1] * y + row[2] * z + row[3]);
  }
}

}  // namespace

Result<std::vector<std::array<float, 3>>> PointCloud::extract_xyz() const {
  HALYARD_TRY(const Coordinates c, coordinates_of(*this));
  HALYARD_TRY(const std::span<const std::byte> bytes, data());
  std::vector<std::array<float, 3>> points(point_count());
  const bool packed = are_packed_floats(c);
  auto* out = points.data();
  for (std::size_t row = 0; row < (points.empty() ? 0 : height()); ++row) {
    const std::byte* point = bytes.data() + row * row_step();
    for (std::size_t i = 0; i < width(); ++i, point += point_step(), ++out) {
      if (packed) {
        std::memcpy(out, point + c[0].offset, sizeof *out);
      } else {
        for (std::size_t axis = 0; axis < 3; ++axis)
          (*out)[axis] = static_cast<float>(read(point, c[axis]));
      }
    }
  }
  return points;
}

Result<PointCloud> PointCloud::transform(const std::array<double, 16>& matrix,
                                         const Pool& pool) const {
  HALYARD_RETURN_IF_ERROR(check_matrix(matrix));
  HALYARD_TRY(const Coordinates c, coordinates_of(*this));
  HALYARD_TRY(const std::span<const std::byte> from, data());
  HALYARD_TRY(PointCloud moved, create_fields(width(), height(), fields(), point_step(), pool));
  HALYARD_TRY(const std::span<std::byte> to, moved.data_mut());
  const std::size_t used = ipc::used_bytes(metadata_);
  for (std::size_t row = 0; row < (point_count() == 0 ? 0 : height()); ++row) {
    for (std::size_t i = 0; i < width(); ++i) {
      std::byte* const point = to.data() + row * moved.row_step() + i * point_step();
      std::memcpy(point, from.data() + row * row_step() + i * point_step(), used);
      std::memset(point + used, 0, point_step() - used);
      move_point(point, c, matrix);
    }
  }
  moved.metadata_.header = metadata_.header;
  moved.metadata_.is_dense = metadata_.is_dense;
  return moved;
}

}  // namespace halyard
