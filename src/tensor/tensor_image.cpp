// SPDX-License-Identifier: Apache-2.0
// Pictures: tensors with a pixel format, made of one to four planes.
#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "base/checked.h"
#include "base/text/format_error.h"
#include "halyard/tensor.h"
#include "tensor/exchange/imported_planes.h"
#include "tensor/image_storage.h"
#include "tensor/memory/buffer_kinds.h"

namespace halyard {
namespace {

constexpr std::size_t most_pixels_per_side = 65535;

std::atomic<std::uint64_t> fallbacks{0};

Status check_compression(const ImageOptions& options) {
  if (options.compression == Compression::none) return {};
  if (options.cpu_access != CpuAccess::none) {
    return fail(Errc::invalid_argument, "compression: needs cpu_access none, no CPU reads it",
                "{} with {}", to_string(options.compression), to_string(options.cpu_access));
  }
  if (options.compression != Compression::any) {
    return fail(Errc::unsupported, "compression: no allocator here makes such buffers", "{}",
                to_string(options.compression));
  }
  return {};
}

// The pitch depends on the memory, which `automatic` decides: size for the widest pitch then.
Result<std::size_t> asked_stride(std::size_t width, PixelFormat format,
                                 const ImageOptions& options) {
  if (options.stride_bytes == 0) {
    const bool may_be_dma = options.memory == Memory::automatic && automatic_tries_dma();
    return chosen_stride(format, options.dtype, width, may_be_dma ? Memory::dma : options.memory);
  }
  HALYARD_TRY(const std::size_t tight, tight_stride(format, options.dtype, width));
  if (options.stride_bytes < tight || options.stride_bytes % size_of(options.dtype) != 0) {
    return fail(Errc::invalid_argument,
                "stride: below the tight one, or no multiple of the element size",
                "{} bytes, tight {}", options.stride_bytes, tight);
  }
  return options.stride_bytes;
}

AllocateOptions allocate_options(const ImageOptions& options) {
  AllocateOptions result;
  result.memory = options.memory;
  result.cpu_access = options.cpu_access;
  result.label = options.label;
  return result;
}

}  // namespace

Status check_image_size(std::size_t width, std::size_t height) {
  if (width == 0 || height == 0 || width > most_pixels_per_side || height > most_pixels_per_side) {
    return fail(Errc::invalid_argument, "size: width and height must be 1..65535", "{} x {}", width,
                height);
  }
  return {};
}

Result<std::size_t> chosen_stride(PixelFormat format, DType dtype, std::size_t width,
                                  Memory memory) {
  HALYARD_TRY(const std::size_t tight, tight_stride(format, dtype, width));
  if (!is_flat(info(format)) && memory != Memory::dma) return tight;
  const auto padded = checked_round_up(tight, pitch_alignment);
  if (!padded) return fail(Errc::invalid_argument, "width: row size overflows", "{}", width);
  return *padded;
}

Layout image_layout(const FormatInfo& f, DType dtype, std::size_t width, std::size_t height,
                    std::size_t stride) {
  Layout layout;
  layout.dtype = dtype;
  layout.rank = static_cast<std::uint8_t>(image_shape(f.format, width, height, layout.shape));
  const auto element = static_cast<std::ptrdiff_t>(size_of(dtype));
  const auto row = static_cast<std::ptrdiff_t>(stride);
  switch (f.kind) {
    case FormatKind::packed:
      layout.stride_bytes = {row, element * f.channels, element};
      break;
    case FormatKind::planar:
      layout.stride_bytes = {row * static_cast<std::ptrdiff_t>(height), row, element};
      break;
    default:
      layout.stride_bytes = {row, element};
  }
  return layout;
}

Result<ImageStorage> image_storage(std::size_t width, std::size_t height, PixelFormat format,
                                   const ImageOptions& options) {
  HALYARD_CHECK(check_image_size(width, height));
  HALYARD_CHECK(check_compression(options));
  HALYARD_TRY(const std::size_t stride, asked_stride(width, format, options));
  HALYARD_TRY(const std::size_t bytes, image_bytes(format, options.dtype, width, height, stride));
  // Counted last: what is refused becomes no picture at all.
  if (options.compression == Compression::any) fallbacks.fetch_add(1, std::memory_order_relaxed);
  return ImageStorage{stride, bytes};
}

std::uint64_t compression_fallbacks() noexcept {
  return fallbacks.load(std::memory_order_relaxed);
}

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
  batch.capacity_bytes_.reset();  // the gaps are its own
  batch.item_format_ = format;
  return batch;
}

Result<Tensor> Tensor::wrap_image(std::span<const PlaneSource> planes, std::size_t width,
                                  std::size_t height, PixelFormat format, DType dtype,
                                  std::uint64_t modifier) {
  HALYARD_CHECK(check_image_size(width, height));
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
  if (linear) HALYARD_CHECK(check_apart(std::span(tensor.planes_).first(entries), placed));
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
  if (!format_) return fail(Errc::invalid_argument, "tensor: is not a picture");
  // Only the row length and count are taken from the geometry: the stride is the plane's own.
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
