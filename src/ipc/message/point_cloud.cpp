// SPDX-License-Identifier: Apache-2.0
// Point clouds: construction, checks of tensors and metadata from outside, access to points and
// fields.
#include "halyard/point_cloud.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/checked.h"
#include "base/text/format_error.h"
#include "halyard/log.h"
#include "ipc/message/message_storage.h"
#include "ipc/message/point_fields.h"

namespace halyard {
namespace {

Result<PointCloudMetadata> metadata_of(std::size_t width, std::size_t height,
                                       std::span<const PointField> fields) {
  if (fields.empty() || fields.size() > max_point_fields)
    return fail(Errc::invalid_argument, "fields: must be 1..16", "{}", fields.size());
  if (height == 0 || width > UINT32_MAX || height > UINT32_MAX) {
    return fail(Errc::invalid_argument, "width, height: must be below 2^32, and height at least 1",
                "{} x {}", width, height);
  }
  PointCloudMetadata m;
  m.width = static_cast<std::uint32_t>(width);
  m.height = static_cast<std::uint32_t>(height);
  m.field_count = static_cast<std::uint32_t>(fields.size());
  std::copy(fields.begin(), fields.end(), m.fields.begin());
  return m;
}

// Reads the strides of the axes before the last one. The last axis must have no gaps.
Status read_steps(const Tensor& tensor, PointCloudMetadata& m) {
  const Layout& layout = tensor.layout();
  const std::size_t last = layout.rank - std::size_t{1};
  const std::ptrdiff_t point = layout.stride_bytes[last - 1];
  const std::size_t width = layout.shape[last - 1];
  const std::ptrdiff_t row =
      last == 2 ? layout.stride_bytes[0] : point * static_cast<std::ptrdiff_t>(width);
  const auto element = static_cast<std::ptrdiff_t>(size_of(layout.dtype));
  if (point <= 0 || row < 0 || point > std::ptrdiff_t{UINT32_MAX} ||
      (layout.stride_bytes[last] != element && layout.shape[last] > 1)) {
    return fail(Errc::invalid_argument,
                "tensor: strides must be above 0, and the last axis without gaps",
                "{} bytes between points, {} between rows", point, row);
  }
  m.point_step = static_cast<std::uint32_t>(point);
  m.row_step = static_cast<std::uint64_t>(row);
  return {};
}

Status check_cloud_size(std::size_t width, std::size_t height, std::size_t point_step) {
  const auto points = checked_mul(width, height);
  const auto bytes = points ? checked_mul(*points, point_step) : std::nullopt;
  if (bytes && *bytes <= std::size_t{PTRDIFF_MAX} && point_step <= UINT32_MAX) return {};
  return fail(Errc::invalid_argument, "size: in bytes overflows", "{} x {} points of {} bytes",
              width, height, point_step);
}

// Checks that the points lie within the elements of the tensor, whatever fields they have.
Status check_reach(const Tensor& tensor, const PointCloudMetadata& m) {
  const auto reach = reach_of(tensor.layout());
  if (!reach || reach->lowest < 0) return fail(Errc::corrupt, "tensor: has negative strides");
  if (m.width == 0) return {};
  const auto rows = checked_mul(m.height - std::size_t{1}, m.row_step);
  const auto points = checked_mul(m.width - std::size_t{1}, m.point_step);
  const auto last = rows && points ? checked_add(*rows, *points) : std::nullopt;
  const auto end = last ? checked_add(*last, ipc::used_bytes(m)) : std::nullopt;
  if (!end || *end > static_cast<std::size_t>(reach->end)) {
    return fail(Errc::corrupt, "metadata: points exceed the tensor",
                "{} x {} points, {} and {} bytes apart, the tensor has {} bytes", m.width, m.height,
                m.point_step, m.row_step, reach->end);
  }
  return {};
}

}  // namespace

Result<PointCloud> PointCloud::create(std::size_t points, std::size_t fields, DType dtype,
                                      const Pool& pool) {
  HALYARD_TRY(const auto named, ipc::default_fields(fields, dtype));
  return create_fields(points, 1, std::span(named).first(fields), 0, pool);
}

Result<PointCloud> PointCloud::create_fields(std::size_t width, std::size_t height,
                                             std::span<const PointField> fields,
                                             std::size_t point_step, const Pool& pool) {
  HALYARD_TRY(PointCloudMetadata m, metadata_of(width, height, fields));
  const std::size_t step = point_step == 0 ? ipc::used_bytes(m) : point_step;
  HALYARD_RETURN_IF_ERROR(check_cloud_size(width, height, step));
  m.point_step = static_cast<std::uint32_t>(step);
  m.row_step = std::uint64_t{step} * width;
  HALYARD_RETURN_IF_ERROR(ipc::check_fields(m, Errc::invalid_argument));
  const auto one_type = ipc::only_dtype(m);
  const DType dtype = one_type.value_or(DType::u8);
  const std::array<std::size_t, 3> shape = {height, width, step / size_of(dtype)};
  const auto axes = std::span<const std::size_t>(shape).subspan(height == 1 ? 1 : 0);
  HALYARD_TRY(Tensor tensor, ipc::message_tensor(pool, axes, dtype));
  return PointCloud(std::move(tensor), m);
}

Result<PointCloud> PointCloud::xyz(std::size_t points, const Pool& pool) {
  return create(points, 3, DType::f32, pool);
}
Result<PointCloud> PointCloud::xyzi(std::size_t points, const Pool& pool) {
  return create(points, 4, DType::f32, pool);
}
Result<PointCloud> PointCloud::xyzrgb(std::size_t points, const Pool& pool) {
  return create(points, 6, DType::f32, pool);
}

Result<PointCloud> PointCloud::from_xyz(std::span<const std::array<float, 3>> points,
                                        const Pool& pool) {
  return of_bytes(std::as_bytes(points), 3, pool);
}
Result<PointCloud> PointCloud::from_xyzi(std::span<const std::array<float, 4>> points,
                                         const Pool& pool) {
  return of_bytes(std::as_bytes(points), 4, pool);
}
Result<PointCloud> PointCloud::from_xyzrgb(std::span<const std::array<float, 6>> points,
                                           const Pool& pool) {
  return of_bytes(std::as_bytes(points), 6, pool);
}

Result<PointCloud> PointCloud::of_bytes(std::span<const std::byte> bytes, std::size_t fields,
                                        const Pool& pool) {
  HALYARD_TRY(PointCloud cloud,
              create(bytes.size() / (fields * sizeof(float)), fields, DType::f32, pool));
  HALYARD_RETURN_IF_ERROR(cloud.copy_from(bytes));
  return cloud;
}

Result<PointCloud> PointCloud::wrap(const Tensor& tensor, std::span<const PointField> fields) {
  if (tensor.is_empty() || tensor.is_image() || tensor.rank() < 2 || tensor.rank() > 3) {
    return fail(Errc::invalid_argument, "tensor: must be [N, K] or [H, W, K], not an image",
                "rank {}", tensor.rank());
  }
  const auto shape = tensor.shape();
  const std::size_t numbers = shape.back();
  std::array<PointField, max_point_fields> named;
  if (fields.empty()) {
    HALYARD_TRY(named, ipc::default_fields(numbers, tensor.dtype()));
    fields = std::span(named).first(numbers);
  }
  const std::size_t rows = shape.size() == 3 ? shape[0] : 1;
  HALYARD_TRY(PointCloudMetadata m, metadata_of(shape[shape.size() - 2], rows, fields));
  HALYARD_RETURN_IF_ERROR(read_steps(tensor, m));
  HALYARD_RETURN_IF_ERROR(ipc::check_fields(m, Errc::invalid_argument));
  if (ipc::used_bytes(m) > numbers * size_of(tensor.dtype())) {
    return fail(Errc::invalid_argument, "fields: exceed the point",
                "they end at {}, it has {} bytes", ipc::used_bytes(m),
                numbers * size_of(tensor.dtype()));
  }
  return PointCloud(Tensor(tensor), m);
}

Result<PointCloud> PointCloud::from_parts(const Tensor& tensor, const PointCloudMetadata& m) {
  if (tensor.is_empty()) return fail(Errc::invalid_argument, "tensor: is empty");
  if (tensor.is_image()) return fail(Errc::invalid_argument, "tensor: is an image");
  HALYARD_RETURN_IF_ERROR(ipc::check_cloud_metadata(m));
  HALYARD_RETURN_IF_ERROR(check_reach(tensor, m));
  return PointCloud(Tensor(tensor), m);
}

Result<PointCloud> PointCloud::from_frame(const Tensor& tensor,
                                          const PointCloudMetadata& metadata) {
  PointCloudMetadata m = metadata;
  const auto shape = tensor.shape();
  const bool is_row = shape.size() == 2 && m.height == 1 && shape[0] == m.width;
  const bool is_grid = shape.size() == 3 && shape[0] == m.height && shape[1] == m.width;
  if (is_row || is_grid) HALYARD_RETURN_IF_ERROR(read_steps(tensor, m));
  return from_parts(tensor, m);
}

const PointField* PointCloud::find_field(std::string_view name) const noexcept {
  const auto all = fields();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const PointField& f) { return f.name() == name; });
  return found == all.end() ? nullptr : &*found;
}

bool PointCloud::is_xyz() const noexcept {
  return fields().size() == 3 && find_field("x") != nullptr && find_field("y") != nullptr &&
         find_field("z") != nullptr;
}

bool PointCloud::has_intensity() const noexcept {
  return find_field("intensity") != nullptr || find_field("i") != nullptr;
}

bool PointCloud::has_color() const noexcept {
  const bool is_packed = find_field("rgb") != nullptr || find_field("rgba") != nullptr;
  return is_packed ||
         (find_field("r") != nullptr && find_field("g") != nullptr && find_field("b") != nullptr);
}

Result<std::span<const std::byte>> PointCloud::point_at(std::size_t index) const {
  if (index >= point_count()) {
    return fail(Errc::invalid_argument, "index: must be below the count of points", "{} of {}",
                index, point_count());
  }
  HALYARD_TRY(const std::span<const std::byte> bytes, data());
  const std::size_t at = index / width() * row_step() + index % width() * point_step();
  return bytes.subspan(at, ipc::used_bytes(metadata_));
}

Result<PointCloud::FieldPlace> PointCloud::place_of(std::string_view name,
                                                    std::optional<DType> dtype,
                                                    std::size_t alignment, bool writes) const {
  const PointField* const field = find_field(name);
  if (field == nullptr) {
    return fail(Errc::invalid_argument, "field: the cloud has no field of this name", "\"{}\"",
                printable(name));
  }
  if (!dtype || dtype_from(field->datatype) != dtype) {
    return fail(Errc::invalid_argument, "field: must have the requested type",
                "\"{}\" has datatype {}", printable(name), static_cast<unsigned>(field->datatype));
  }
  FieldPlace place{nullptr, static_cast<std::ptrdiff_t>(point_step()),
                   static_cast<std::ptrdiff_t>(row_step())};
  if (writes) {
    HALYARD_TRY(const auto bytes, writable_bytes_of(tensor_));
    place.data = bytes.data();
  } else {
    HALYARD_TRY(const auto bytes, bytes_of(tensor_));
    place.data = const_cast<std::byte*>(bytes.data());
  }
  if (point_count() == 0) return place;
  place.data += field->offset;
  if (reinterpret_cast<std::uintptr_t>(place.data) % alignment != 0 ||
      point_step() % alignment != 0 || row_step() % alignment != 0) {
    return fail(Errc::unsupported, "field: its numbers must be aligned to their size",
                "offset {}, steps {} and {}, size {}", field->offset, point_step(), row_step(),
                alignment);
  }
  return place;
}

Status PointCloud::check_adjacent_rows() const {
  if (height() == 1 || point_count() == 0 || row_step() == width() * point_step()) return {};
  return fail(Errc::unsupported, "field: rows have gaps between them; use field_rows()",
              "{} bytes apart, {} points of {} bytes", row_step(), width(), point_step());
}

}  // namespace halyard
