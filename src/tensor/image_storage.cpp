// SPDX-License-Identifier: Apache-2.0
// Checks image requests and computes row pitch, size and layout of images in memory.

#include "tensor/image_storage.h"

#include <atomic>

#include "base/checked.h"
#include "base/text/format_error.h"
#include "tensor/memory/buffer_kinds.h"

namespace halyard {
namespace {

constexpr std::size_t max_pixels_per_side = 65535;

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

// The pitch depends on the kind of memory. For `automatic` it is chosen later, so the size must do
// for the widest pitch.
Result<std::size_t> asked_stride(std::size_t width, PixelFormat format,
                                 const ImageOptions& options) {
  if (options.stride_bytes == 0) {
    const bool may_be_dma = options.memory == Memory::automatic && automatic_tries_dma();
    return chosen_stride(format, options.dtype, width, may_be_dma ? Memory::dma : options.memory);
  }
  HALYARD_TRY(const std::size_t tight, tight_stride(format, options.dtype, width));
  if (options.stride_bytes < tight || options.stride_bytes % size_of(options.dtype) != 0) {
    return fail(Errc::invalid_argument,
                "stride: must hold a row and be a multiple of the element size",
                "{} bytes, a row has {}", options.stride_bytes, tight);
  }
  return options.stride_bytes;
}

}  // namespace

std::uint64_t compression_fallbacks() noexcept {
  return fallbacks.load(std::memory_order_relaxed);
}

Status check_image_size(std::size_t width, std::size_t height) {
  if (width == 0 || height == 0 || width > max_pixels_per_side || height > max_pixels_per_side) {
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
  HALYARD_RETURN_IF_ERROR(check_image_size(width, height));
  HALYARD_RETURN_IF_ERROR(check_compression(options));
  HALYARD_TRY(const std::size_t stride, asked_stride(width, format, options));
  HALYARD_TRY(const std::size_t bytes, image_bytes(format, options.dtype, width, height, stride));
  // Counted last, because a refused request makes no image.
  if (options.compression == Compression::any) fallbacks.fetch_add(1, std::memory_order_relaxed);
  return ImageStorage{stride, bytes};
}

}  // namespace halyard
