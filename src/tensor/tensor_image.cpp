// SPDX-License-Identifier: Apache-2.0
// Pictures: tensors with a pixel format, made of one to four planes.
#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "base/checked.h"
#include "base/format_error.h"
#include "halyard/tensor.h"
#include "tensor/image_storage.h"
#include "tensor/imported_planes.h"

namespace halyard {
namespace {

constexpr std::size_t most_pixels_per_side = 65535;
constexpr std::size_t pitch_alignment = 64;  // what GPUs and blitters want

bool is_flat(const FormatInfo& f) {
  return f.kind == FormatKind::semi_planar || f.kind == FormatKind::tri_planar;
}

// Storage planes: the entries that wrap_image takes apart. A planar picture is one.
std::size_t storage_planes(const FormatInfo& f) {
  return f.kind == FormatKind::planar ? 1 : f.planes;
}

Result<std::size_t> chosen_stride(PixelFormat format, DType dtype, std::size_t width,
                                  Memory memory) {
  HALYARD_TRY(const std::size_t tight, tight_stride(format, dtype, width));
  if (!is_flat(info(format)) && memory != Memory::dma) return tight;
  const auto padded = checked_round_up(tight, pitch_alignment);
  if (!padded) return fail(Errc::invalid_argument, "width: row size overflows", "{}", width);
  return *padded;
}

Status check_size(std::size_t width, std::size_t height) {
  if (width == 0 || height == 0 || width > most_pixels_per_side || height > most_pixels_per_side) {
    return fail(Errc::invalid_argument, "size: width and height must be 1..65535", "{} x {}", width,
                height);
  }
  return {};
}

Error no_parts(std::uint64_t modifier) {
  return fail(Errc::unsupported, "slice: only the device can address a part of these pixels", "{}",
              modifier_to_string(modifier));
}

// Layout of the tensor that shows the picture as numbers.
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
  fallbacks.fetch_add(1, std::memory_order_relaxed);
  return {};
}

// The pitch depends on the memory, which `automatic` decides: size for the widest pitch then.
Result<std::size_t> asked_stride(std::size_t width, PixelFormat format,
                                 const ImageOptions& options) {
  if (options.stride_bytes == 0) {
    const bool may_be_dma =
        options.memory == Memory::automatic && memory_available(Memory::dma).has_value();
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

Result<ImageStorage> image_storage(std::size_t width, std::size_t height, PixelFormat format,
                                   const ImageOptions& options) {
  HALYARD_CHECK(check_size(width, height));
  HALYARD_CHECK(check_compression(options));
  HALYARD_TRY(const std::size_t stride, asked_stride(width, format, options));
  HALYARD_TRY(const std::size_t bytes, image_bytes(format, options.dtype, width, height, stride));
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

Result<Tensor> Tensor::create_image(std::size_t width, std::size_t height, PixelFormat format,
                                    const ImageOptions& options) {
  HALYARD_TRY(const ImageStorage storage, image_storage(width, height, format, options));
  HALYARD_TRY(auto buffer, allocate(storage.size_bytes, allocate_options(options)));
  const PlaneSource whole{std::move(buffer), 0, storage.stride_bytes};
  return wrap_image({&whole, 1}, width, height, format, options.dtype);
}

Result<Tensor> Tensor::create_image_batch(std::size_t count, std::size_t width, std::size_t height,
                                          PixelFormat format, const ImageOptions& options) {
  HALYARD_TRY(const ImageStorage storage, image_storage(width, height, format, options));
  const auto [stride, one] = storage;
  if (count == 0) return fail(Errc::invalid_argument, "count: must be at least 1");
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
  batch.item_format_ = format;
  return batch;
}

Result<Tensor> Tensor::wrap_image(std::span<const PlaneSource> planes, std::size_t width,
                                  std::size_t height, PixelFormat format, DType dtype,
                                  std::uint64_t modifier) {
  HALYARD_CHECK(check_size(width, height));
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

std::size_t Tensor::plane_count() const noexcept {
  return format_ ? info(*format_).planes : 0;
}

Result<ImagePlane> Tensor::image_plane(std::size_t index) const {
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

Result<Tensor> Tensor::slice(const Region& region) const {
  if (!format_) return fail(Errc::invalid_argument, "slice: the tensor is not a picture");
  if (opaque_ || !is_linear(modifier_)) return no_parts(modifier_);
  const FormatInfo& f = info(*format_);
  const auto [width, height] = size();
  if (region.x < 0 || region.y < 0 || region.width <= 0 || region.height <= 0 ||
      region.x > width - region.width || region.y > height - region.height) {
    return fail(Errc::invalid_argument, "region: empty or outside the picture",
                "{}x{} at ({}, {}), the picture is {}x{}", region.width, region.height, region.x,
                region.y, width, height);
  }
  if (region.x % (1 << f.chroma_shift_x) != 0 || region.y % (1 << f.chroma_shift_y) != 0) {
    return fail(Errc::invalid_argument, "region: x and y must be multiples of the chroma block",
                "({}, {}) with blocks of {}x{} in {}", region.x, region.y, 1 << f.chroma_shift_x,
                1 << f.chroma_shift_y, f.name);
  }
  Tensor part = *this;
  const auto x = static_cast<std::size_t>(region.x);
  const auto y = static_cast<std::size_t>(region.y);
  const std::size_t element = size_of(dtype());
  for (std::size_t i = 0; i < storage_planes(f); ++i) {
    const bool chroma = i > 0;
    const std::size_t column = chroma ? x >> f.chroma_shift_x : x;
    const std::size_t row = chroma ? y >> f.chroma_shift_y : y;
    const std::size_t samples = f.kind == FormatKind::packed                  ? f.channels
                                : chroma && f.kind == FormatKind::semi_planar ? 2
                                                                              : 1;
    part.planes_[i].offset_bytes += row * planes_[i].stride_bytes + column * samples * element;
  }
  // Unknown colour axes follow the height of the whole picture, not of the part.
  if (f.model == ColorModel::yuv) part.colorimetry_ = resolve(colorimetry_, height_);
  part.width_ = static_cast<std::size_t>(region.width);
  part.height_ = static_cast<std::size_t>(region.height);
  const std::ptrdiff_t plane_stride = layout_.stride_bytes[0];
  part.layout_ = image_layout(f, dtype(), part.width_, part.height_, planes_[0].stride_bytes);
  if (f.kind == FormatKind::planar) part.layout_.stride_bytes[0] = plane_stride;
  return part;
}

Result<Tensor> Tensor::with_format(PixelFormat format) const {
  if (is_empty()) return fail(Errc::invalid_argument, "tensor: is empty");
  HALYARD_TRY(const ImageExtent extent, image_extent(format, shape()));
  HALYARD_CHECK(check_size(extent.width, extent.height));
  const FormatInfo& f = info(format);
  const std::size_t axes = is_flat(f) ? 2 : 3;
  const auto* stride = layout_.stride_bytes.data() + (rank() - axes);
  const std::ptrdiff_t row = f.kind == FormatKind::planar ? stride[1] : stride[0];
  if (row <= 0) return fail(Errc::unsupported, "strides: rows must lie one behind the other");
  const Layout wanted =
      image_layout(f, dtype(), extent.width, extent.height, static_cast<std::size_t>(row));
  if (!std::equal(stride, stride + axes, wanted.stride_bytes.begin())) {
    return fail(Errc::unsupported, "strides: no picture of this format has them", "{}", f.name);
  }
  const PlaneSource whole{planes_[0].buffer, planes_[0].offset_bytes,
                          static_cast<std::size_t>(row)};
  HALYARD_TRY(Tensor image, wrap_image({&whole, 1}, extent.width, extent.height, format, dtype()));
  image.modifier_ = modifier_;
  image.opaque_ = opaque_;
  image.colorimetry_ = colorimetry_;
  image.name_ = name_;
  if (quantization_ && !quantization_->axis) image.quantization_ = quantization_;
  return image;
}

Result<Tensor> Tensor::as_image() const {
  if (format_) return *this;
  auto dims = shape();
  while (dims.size() > 3 && dims[0] == 1)
    dims = dims.subspan(1);
  if (dims.size() == 3) {
    if (dims[2] == 3) return with_format(PixelFormat::rgb);
    if (dims[2] == 4) return with_format(PixelFormat::rgba);
    if (dims[0] == 3) return with_format(PixelFormat::planar_rgb);
    if (dims[0] == 4) return with_format(PixelFormat::planar_rgba);
    if (dims[2] == 1) return with_format(PixelFormat::grey);
    if (dims[0] == 1) {
      HALYARD_TRY(const Tensor flat, reshape({dims[1], dims[2], std::size_t{1}}));
      return flat.with_format(PixelFormat::grey);
    }
  }
  return fail(Errc::invalid_argument,
              "tensor: its shape is no picture; [1,]H,W,C or [1,]C,H,W with C of 1, 3 or 4 is",
              "rank {}", rank());
}

Result<Tensor> Tensor::reconfigured(std::size_t width, std::size_t height,
                                    PixelFormat format) const {
  if (is_empty()) return fail(Errc::invalid_argument, "tensor: is empty");
  HALYARD_CHECK(check_size(width, height));
  for (const PlaneSource& plane : planes_) {
    if (plane.buffer && plane.buffer != planes_[0].buffer) {
      return fail(Errc::unsupported, "tensor: its planes lie in several buffers");
    }
  }
  const std::size_t capacity = planes_[0].buffer->size_bytes() - planes_[0].offset_bytes;
  HALYARD_TRY(const std::size_t tight, tight_stride(format, dtype(), width));
  HALYARD_TRY(std::size_t stride, chosen_stride(format, dtype(), width, memory()));
  const std::size_t kept = row_stride_bytes();
  if (kept >= tight && kept % pitch_alignment == 0) {
    HALYARD_TRY(const std::size_t needed, image_bytes(format, dtype(), width, height, kept));
    if (needed <= capacity) stride = kept;
  }
  HALYARD_TRY(std::size_t needed, image_bytes(format, dtype(), width, height, stride));
  if (needed > capacity && stride != tight) {
    stride = tight;
    HALYARD_TRY(needed, image_bytes(format, dtype(), width, height, stride));
  }
  if (needed > capacity) {
    return fail(Errc::exhausted, "destination: too small for the picture",
                "{}x{} {} {} needs {} bytes, there are {}", width, height, to_string(format),
                to_string(dtype()), needed, capacity);
  }
  const PlaneSource whole{planes_[0].buffer, planes_[0].offset_bytes, stride};
  HALYARD_TRY(Tensor image, wrap_image({&whole, 1}, width, height, format, dtype()));
  image.colorimetry_ = colorimetry_;
  image.name_ = name_;
  return image;
}

}  // namespace halyard
