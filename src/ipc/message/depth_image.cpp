// SPDX-License-Identifier: Apache-2.0
// Depth images: construction, checks, single pixels and statistics.
#include "halyard/depth_image.h"

#include <cmath>
#include <cstring>

#include "base/text/format_error.h"
#include "ipc/message/depth_kernels.h"
#include "ipc/message/depth_units.h"
#include "ipc/message/message_storage.h"

namespace halyard {
namespace {

// The limit of an Image's stride, so that as_image() always succeeds.
constexpr std::uint64_t max_step = std::uint64_t{PTRDIFF_MAX} / (4 * ipc::max_pixels_per_side);

bool is_depth(DType dtype) noexcept {
  return dtype == DType::f32 || dtype == DType::u16;
}

Status check_depth_dtype(DType dtype) {
  if (is_depth(dtype)) return {};
  return fail(Errc::invalid_argument, "dtype: must be f32 (metres) or u16 (millimetres)", "{}",
              to_string(dtype));
}

Status check_size(std::size_t width, std::size_t height, Errc code) {
  if (width > 0 && height > 0 && width <= ipc::max_pixels_per_side &&
      height <= ipc::max_pixels_per_side)
    return {};
  return fail(code, "width, height: must be 1..65535", "{} x {}", width, height);
}

Status check_scale(float scale, Errc code) {
  if (std::isfinite(scale) && scale > 0) return {};
  return fail(code, "depth_scale: must be finite and above 0", "{} mm", scale);
}

Status check_range(float min, float max, Errc code) {
  if (min >= 0 && max >= min && std::isfinite(min)) return {};
  return fail(code, "min_depth, max_depth: must be 0 <= min <= max, in metres", "{} and {}", min,
              max);
}

Status check_metadata(const DepthImageMetadata& m) {
  HALYARD_RETURN_IF_ERROR(validate(m.header));
  HALYARD_RETURN_IF_ERROR(check_size(m.width, m.height, Errc::malformed));
  HALYARD_RETURN_IF_ERROR(check_scale(m.depth_scale, Errc::malformed));
  HALYARD_RETURN_IF_ERROR(check_range(m.min_depth, m.max_depth, Errc::malformed));
  if (m.reserved != 0) return fail(Errc::malformed, "metadata.reserved: must be zero");
  if (m.step > max_step)
    return fail(Errc::malformed, "metadata.step: is too large", "{} bytes", m.step);
  return {};
}

// A tensor [H, W] with rows `step` bytes apart, from the first byte of `tensor` on.
Result<Tensor> rows_over(const Tensor& tensor, std::size_t width, std::size_t height,
                         std::size_t step) {
  Layout layout;
  layout.dtype = tensor.dtype();
  layout.rank = 2;
  layout.shape = {height, width};
  layout.stride_bytes = {static_cast<std::ptrdiff_t>(step),
                         static_cast<std::ptrdiff_t>(size_of(tensor.dtype()))};
  return Tensor::wrap(tensor.buffer(), layout, tensor.offset_bytes());
}

DepthStatistics finished(const ipc::FloatDepths& depths) {
  if (depths.count == 0) return {};
  double sum = 0;
  for (const double part : depths.sums)
    sum += part;
  return {depths.min, depths.max, sum / static_cast<double>(depths.count), depths.count};
}

DepthStatistics finished(const ipc::UnitDepths& depths, const DepthImageMetadata& m) {
  if (depths.count == 0) return {};
  const ipc::DepthUnits units(m);
  const double mean = static_cast<double>(depths.sum) / static_cast<double>(depths.count) *
                      (static_cast<double>(m.depth_scale) / 1000);
  return {units.meters(depths.min), units.meters(depths.max), mean, depths.count};
}

}  // namespace

Result<DepthImage> DepthImage::create(std::size_t width, std::size_t height, DType dtype,
                                      const Pool& pool) {
  HALYARD_RETURN_IF_ERROR(check_depth_dtype(dtype));
  HALYARD_RETURN_IF_ERROR(check_size(width, height, Errc::invalid_argument));
  const std::array<std::size_t, 2> shape = {height, width};
  HALYARD_TRY(const Tensor tensor, ipc::message_tensor(pool, shape, dtype));
  return wrap(tensor);
}

Result<DepthImage> DepthImage::meters(std::size_t width, std::size_t height, const Pool& pool) {
  return create(width, height, DType::f32, pool);
}

Result<DepthImage> DepthImage::millimeters(std::size_t width, std::size_t height,
                                           const Pool& pool) {
  return create(width, height, DType::u16, pool);
}

Result<DepthImage> DepthImage::wrap(const Tensor& tensor) {
  if (tensor.is_empty()) return fail(Errc::invalid_argument, "tensor: is empty");
  HALYARD_RETURN_IF_ERROR(check_depth_dtype(tensor.dtype()));
  HALYARD_RETURN_IF_ERROR(ipc::check_linear(tensor));
  const Layout& layout = tensor.layout();
  const bool is_grey = !tensor.format() || tensor.format() == PixelFormat::grey;
  if (!is_grey || layout.rank < 2 || layout.rank > 3 ||
      (layout.rank == 3 && layout.shape[2] != 1)) {
    return fail(Errc::invalid_argument, "tensor: must be [H, W], [H, W, 1] or a grey image",
                "rank {}", layout.rank);
  }
  const std::size_t height = layout.shape[0];
  const std::size_t width = layout.shape[1];
  HALYARD_RETURN_IF_ERROR(check_size(width, height, Errc::invalid_argument));
  const auto element = static_cast<std::ptrdiff_t>(size_of(layout.dtype));
  const auto row_bytes = element * static_cast<std::ptrdiff_t>(width);
  if ((layout.stride_bytes[1] != element && width > 1) ||
      (height > 1 &&
       (layout.stride_bytes[0] < row_bytes || layout.stride_bytes[0] % element != 0))) {
    return fail(Errc::invalid_argument,
                "tensor: pixels of a row must be adjacent, rows must not overlap",
                "strides {} and {}", layout.stride_bytes[0], layout.stride_bytes[1]);
  }
  DepthImageMetadata m;
  m.width = static_cast<std::uint32_t>(width);
  m.height = static_cast<std::uint32_t>(height);
  m.step = static_cast<std::uint64_t>(height > 1 ? layout.stride_bytes[0] : row_bytes);
  return assemble(tensor, m);
}

Result<DepthImage> DepthImage::from_parts(const Tensor& tensor, const DepthImageMetadata& m) {
  if (tensor.is_empty()) return fail(Errc::invalid_argument, "tensor: is empty");
  HALYARD_RETURN_IF_ERROR(ipc::check_linear(tensor));
  HALYARD_RETURN_IF_ERROR(check_metadata(m));
  if (!is_depth(tensor.dtype())) {
    return fail(Errc::corrupt, "tensor: a depth image is f32 or u16", "{}",
                to_string(tensor.dtype()));
  }
  const std::size_t element = size_of(tensor.dtype());
  if (m.step < m.width * element || m.step % element != 0) {
    return fail(Errc::corrupt,
                "metadata.step: must hold a row and be a multiple of the dtype's size",
                "{} bytes, {} pixels of {}", m.step, m.width, to_string(tensor.dtype()));
  }
  return assemble(tensor, m);
}

Result<DepthImage> DepthImage::from_frame(const Tensor& tensor, const DepthImageMetadata& m) {
  const auto shape = tensor.shape();
  if (shape.size() != 2 || shape[0] != m.height || shape[1] != m.width)
    return from_parts(tensor, m);
  DepthImageMetadata with_step = m;
  if (m.height > 1) with_step.step = static_cast<std::uint64_t>(tensor.layout().stride_bytes[0]);
  return from_parts(tensor, with_step);
}

// The caller has checked the metadata and its step.
Result<DepthImage> DepthImage::assemble(const Tensor& tensor, const DepthImageMetadata& m) {
  auto rows = rows_over(tensor, m.width, m.height, m.step);
  const auto has = reach_of(tensor.layout());
  const auto wants = rows ? reach_of(rows->layout()) : std::nullopt;
  if (!has || !wants || has->lowest < 0 || wants->end > has->end) {
    return fail(Errc::corrupt, "metadata: rows exceed the tensor",
                "{} x {} pixels, rows {} bytes apart, the tensor reaches {} bytes", m.width,
                m.height, m.step, has ? has->end : 0);
  }
  return DepthImage(*std::move(rows), m);
}

Status DepthImage::set_depth_scale(float millimeters) {
  HALYARD_RETURN_IF_ERROR(check_scale(millimeters, Errc::invalid_argument));
  metadata_.depth_scale = millimeters;
  return {};
}

Status DepthImage::set_depth_range(float min_depth, float max_depth) {
  HALYARD_RETURN_IF_ERROR(check_range(min_depth, max_depth, Errc::invalid_argument));
  metadata_.min_depth = min_depth;
  metadata_.max_depth = max_depth;
  return {};
}

Status DepthImage::check_pixel(std::size_t x, std::size_t y) const {
  if (x < width() && y < height()) return {};
  return fail(Errc::invalid_argument, "x, y: outside the image", "({}, {}), the image is {} x {}",
              x, y, width(), height());
}

Result<float> DepthImage::get_depth(std::size_t x, std::size_t y) const {
  HALYARD_RETURN_IF_ERROR(check_pixel(x, y));
  HALYARD_TRY(const std::span<const std::byte> bytes, data());
  if (is_meters()) {
    float meters = 0;
    std::memcpy(&meters, &bytes[y * step() + x * sizeof meters], sizeof meters);
    return meters;
  }
  HALYARD_TRY(const std::uint16_t unit, get_depth_u16(x, y));
  return ipc::DepthUnits(metadata_).meters(unit);
}

Result<std::uint16_t> DepthImage::get_depth_u16(std::size_t x, std::size_t y) const {
  HALYARD_RETURN_IF_ERROR(check_pixel(x, y));
  HALYARD_TRY(const std::span<const std::byte> bytes, data());
  if (!is_millimeters())
    return fail(Errc::invalid_argument, "image: is in f32 metres, it has no units");
  std::uint16_t unit = 0;
  std::memcpy(&unit, &bytes[y * step() + x * sizeof unit], sizeof unit);
  return unit;
}

Status DepthImage::set_depth(std::size_t x, std::size_t y, float meters) {
  HALYARD_RETURN_IF_ERROR(check_pixel(x, y));
  const ipc::DepthUnits units(metadata_);
  const bool is_none = meters == 0 || (is_meters() && std::isnan(meters));
  if (!is_none && !units.is_valid(meters)) {
    return fail(Errc::invalid_argument, "meters: must be 0 or within min_depth and max_depth",
                "{}, the range is {} to {}", meters, min_depth(), max_depth());
  }
  const double whole = is_none ? 0 : units.units(meters);
  if (is_millimeters() && whole > 65535) {
    return fail(Errc::invalid_argument, "meters: must be at most 65535 units",
                "{} m are {} units of {} mm", meters, whole, depth_scale());
  }
  HALYARD_TRY(const std::span<std::byte> bytes, data_mut());
  std::byte* const at = &bytes[y * step() + x * size_of(dtype())];
  if (is_meters()) {
    std::memcpy(at, &meters, sizeof meters);
    return {};
  }
  const auto unit = static_cast<std::uint16_t>(whole);
  std::memcpy(at, &unit, sizeof unit);
  return {};
}

Result<DepthStatistics> DepthImage::depth_statistics() const {
  const ipc::DepthUnits units(metadata_);
  HALYARD_TRY(const TensorMap map, tensor_.map(Access::read));
  if (is_meters()) {
    HALYARD_TRY(const auto rows, (map.view<const float, 2>()));
    ipc::FloatDepths depths{.low = units.low(), .high = units.high()};
    for (std::size_t y = 0; y < height(); ++y)
      ipc::add_depths(rows.row(y).data_handle(), width(), depths);
    return finished(depths);
  }
  HALYARD_TRY(const auto rows, (map.view<const std::uint16_t, 2>()));
  const std::uint32_t first = units.first_unit(units.low());
  const std::uint32_t end =
      units.first_unit(std::nextafter(units.high(), std::numeric_limits<float>::infinity()));
  if (first >= end) return DepthStatistics{};
  ipc::UnitDepths depths{.low = static_cast<std::uint16_t>(first),
                         .high = static_cast<std::uint16_t>(end - 1)};
  for (std::size_t y = 0; y < height(); ++y)
    ipc::add_depths(rows.row(y).data_handle(), width(), depths);
  return finished(depths, metadata_);
}

Result<Image> DepthImage::as_image() const {
  HALYARD_TRY(Image image,
              Image::wrap(tensor_, is_meters() ? ImageEncoding::mono32f : ImageEncoding::depth16));
  image.set_timestamp_ns(timestamp_ns());
  HALYARD_RETURN_IF_ERROR(image.set_frame_id(frame_id()));
  return image;
}

}  // namespace halyard
