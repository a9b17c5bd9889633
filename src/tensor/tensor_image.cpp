// SPDX-License-Identifier: Apache-2.0
// Images: tensors with a pixel format, made of one to four planes.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/checked.h"
#include "base/text/format_error.h"
#include "halyard/tensor.h"
#include "tensor/exchange/imported_planes.h"
#include "tensor/image_storage.h"

namespace halyard {
namespace {

AllocateOptions allocate_options(const ImageOptions& options) {
  AllocateOptions result;
  result.memory = options.memory;
  result.cpu_access = options.cpu_access;
  result.label = options.label;
  return result;
}

}  // namespace

Result<Tensor> Tensor::create_image(std::size_t width, std::size_t height, PixelFormat format,
                                    DType dtype, Memory memory) {
  ImageOptions options;
  options.dtype = dtype;
  options.memory = memory;
  return create_image(width, height, format, options);
}

Result<Tensor> Tensor::create_image(Size size, PixelFormat format, DType dtype, Memory memory) {
  if (size.width < 0 || size.height < 0) {
    return fail(Errc::invalid_argument, "size: must not be negative", "{} x {}", size.width,
                size.height);
  }
  return create_image(static_cast<std::size_t>(size.width), static_cast<std::size_t>(size.height),
                      format, dtype, memory);
}

Result<Tensor> Tensor::create_image(std::size_t width, std::size_t height, PixelFormat format,
                                    const ImageOptions& options) {
  const auto from_system = [&](std::size_t size_bytes) {
    return allocate(size_bytes, allocate_options(options));
  };
  return create_image_in(from_system, width, height, format, options);
}

Result<Tensor> Tensor::create_image_in(const BufferSource& allocate, std::size_t width,
                                       std::size_t height, PixelFormat format,
                                       const ImageOptions& options) {
  HALYARD_TRY(const ImageStorage storage, image_storage(width, height, format, options));
  HALYARD_TRY(auto buffer, allocate(storage.size_bytes));
  const PlaneSource whole{std::move(buffer), 0, storage.stride_bytes};
  return wrap_image({&whole, 1}, width, height, format, options.dtype);
}

Result<Tensor> Tensor::create_image_batch(std::size_t count, std::size_t width, std::size_t height,
                                          PixelFormat format, const ImageOptions& options) {
  if (count == 0) return fail(Errc::invalid_argument, "count: must be at least 1");
  HALYARD_TRY(const ImageStorage storage, image_storage(width, height, format, options));
  const auto [stride, one] = storage;
  const auto pitch = checked_round_up(one, pitch_alignment);
  const auto bytes = pitch ? checked_mul(*pitch, count) : std::nullopt;
  if (!bytes || *bytes > static_cast<std::size_t>(PTRDIFF_MAX)) {
    return fail(Errc::invalid_argument, "count: size in bytes overflows", "{} x {} bytes", count,
                one);
  }
  HALYARD_TRY(auto buffer, allocate(*bytes, allocate_options(options)));
  const Layout item = image_layout(info(format), options.dtype, width, height, stride);
  Layout layout = item;
  layout.rank = static_cast<std::uint8_t>(item.rank + 1);
  std::copy_n(item.shape.begin(), item.rank, layout.shape.begin() + 1);
  std::copy_n(item.stride_bytes.begin(), item.rank, layout.stride_bytes.begin() + 1);
  layout.shape[0] = count;
  layout.stride_bytes[0] = static_cast<std::ptrdiff_t>(*pitch);
  HALYARD_TRY(Tensor batch, wrap(std::move(buffer), layout));
  batch.capacity_bytes_.reset();  // the gaps belong to the batch
  batch.item_format_ = format;
  return batch;
}

Result<Tensor> Tensor::wrap_image(std::span<const PlaneSource> planes, std::size_t width,
                                  std::size_t height, PixelFormat format, DType dtype,
                                  std::uint64_t modifier) {
  HALYARD_RETURN_IF_ERROR(check_image_size(width, height));
  const FormatInfo& f = info(format);
  const std::size_t entries = storage_planes(f);
  const bool linear = is_linear(modifier);
  if (planes.size() != entries && (planes.size() != 1 || !linear)) {
    return fail(Errc::invalid_argument, "planes: wrong count", "{} given, {} {} takes {}{}",
                planes.size(), modifier_to_string(modifier), f.name, linear ? "1 or " : "",
                entries);
  }
  Tensor tensor;
  std::array<PlacedPlane, 3> placed;
  for (std::size_t i = 0; i < entries; ++i) {
    const PlaneSource& source = planes[planes.size() == 1 ? 0 : i];
    HALYARD_TRY(placed[i],
                place_plane({width, height, format, dtype, linear}, source, planes.size() > 1, i));
    tensor.planes_[i] = {source.buffer, placed[i].region.offset_bytes,
                         placed[i].region.stride_bytes, 0};
  }
  if (linear)
    HALYARD_RETURN_IF_ERROR(check_apart(std::span(tensor.planes_).first(entries), placed));
  tensor.layout_ = image_layout(f, dtype, width, height, tensor.planes_[0].stride_bytes);
  if (f.kind == FormatKind::planar) {
    tensor.layout_.stride_bytes[0] = static_cast<std::ptrdiff_t>(placed[0].plane_stride_bytes);
  }
  tensor.format_ = format;
  tensor.width_ = width;
  tensor.height_ = height;
  tensor.modifier_ = modifier;
  tensor.opaque_ = !linear;
  return tensor;
}

Size Tensor::size() const noexcept {
  return {static_cast<std::int32_t>(width_), static_cast<std::int32_t>(height_)};
}

[[gnu::hot]] std::size_t Tensor::plane_count() const noexcept {
  return format_ ? info(*format_).planes : 0;
}

[[gnu::hot]] Result<ImagePlane> Tensor::image_plane(std::size_t index) const {
  if (!format_) return fail(Errc::invalid_argument, "tensor: is not an image");
  // Only row length and row count come from the geometry: each plane has its own stride.
  HALYARD_TRY(const PlaneGeometry g, plane_geometry(*format_, dtype(), width_, height_, 0, index));
  const FormatInfo& f = info(*format_);
  const PlaneSource& source = planes_[f.kind == FormatKind::planar ? 0 : index];
  ImagePlane plane{source.buffer, source.offset_bytes, source.stride_bytes, g.row_bytes, g.rows};
  if (f.kind == FormatKind::planar) {
    plane.offset_bytes += index * static_cast<std::size_t>(layout_.stride_bytes[0]);
  }
  return plane;
}

}  // namespace halyard
