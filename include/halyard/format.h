// SPDX-License-Identifier: Apache-2.0
// Element types and pixel formats. One row of one table describes each format.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "halyard/export.h"
#include "halyard/result.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// Element type of a tensor. The first eleven values are those of the C interface.
enum class DType : std::uint8_t {
  u8 = 0,
  i8 = 1,
  u16 = 2,
  i16 = 3,
  u32 = 4,
  i32 = 5,
  u64 = 6,
  i64 = 7,
  f16 = 8,
  f32 = 9,
  f64 = 10,
  bf16 = 11,
  boolean = 12,
};

/// Bytes of one element, 1..8.
std::size_t size_of(DType dtype) noexcept;
/// "u8", "f32", "bf16", "bool"...
std::string_view to_string(DType dtype) noexcept;
/// Accepts the names of to_string() and NumPy's names ("uint8", "float32").
std::optional<DType> dtype_from_string(std::string_view name) noexcept;
bool is_float(DType dtype) noexcept;
bool is_integer(DType dtype) noexcept;  ///< false for floats and bool

/// An IEEE binary16 or a bfloat16 as bits; the library computes in float.
struct Half {
  std::uint16_t bits;
};
struct BFloat16 {
  std::uint16_t bits;
};

/// Converts exactly: every f16 and bf16 value is a float. NaN stays NaN, with its payload.
inline float to_float(Half half) noexcept {
  const std::uint32_t sign = (half.bits & 0x8000U) << 16;
  const std::uint32_t exponent = (half.bits >> 10) & 0x1FU;
  const std::uint32_t mantissa = half.bits & 0x3FFU;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000U | (mantissa << 13));
  if (exponent != 0)
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
  return sign != 0 ? -magnitude : magnitude;
}
inline float to_float(BFloat16 value) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

/// DType of a C++ type; none for types that are not listed.
template <class T>
inline constexpr std::optional<DType> dtype_of = std::nullopt;
template <>
inline constexpr std::optional<DType> dtype_of<std::uint8_t> = DType::u8;
template <>
inline constexpr std::optional<DType> dtype_of<std::int8_t> = DType::i8;
template <>
inline constexpr std::optional<DType> dtype_of<std::uint16_t> = DType::u16;
template <>
inline constexpr std::optional<DType> dtype_of<std::int16_t> = DType::i16;
template <>
inline constexpr std::optional<DType> dtype_of<std::uint32_t> = DType::u32;
template <>
inline constexpr std::optional<DType> dtype_of<std::int32_t> = DType::i32;
template <>
inline constexpr std::optional<DType> dtype_of<std::uint64_t> = DType::u64;
template <>
inline constexpr std::optional<DType> dtype_of<std::int64_t> = DType::i64;
template <>
inline constexpr std::optional<DType> dtype_of<Half> = DType::f16;
template <>
inline constexpr std::optional<DType> dtype_of<float> = DType::f32;
template <>
inline constexpr std::optional<DType> dtype_of<double> = DType::f64;
template <>
inline constexpr std::optional<DType> dtype_of<BFloat16> = DType::bf16;
template <>
inline constexpr std::optional<DType> dtype_of<bool> = DType::boolean;

/// How the samples of an image lie in memory. The first eleven values are those of the C
/// interface.
enum class PixelFormat : std::uint8_t {
  yuyv = 0,
  nv12 = 1,
  nv16 = 2,
  rgba = 3,
  rgb = 4,
  grey = 5,
  planar_rgb = 6,
  planar_rgba = 7,
  bgra = 8,
  vyuy = 9,
  nv24 = 10,
  uyvy = 11,
  yvyu = 12,
  nv21 = 13,
  i420 = 14,
  bgr = 15,
  bayer_rggb = 16,
  bayer_bggr = 17,
  bayer_grbg = 18,
  bayer_gbrg = 19,
};

/// `packed`: all channels of a pixel are adjacent. `planar`: one full plane per channel, one after
/// another. `semi_planar`: a luma plane, then interleaved chroma. `tri_planar`: luma, Cb, Cr
/// planes.
enum class FormatKind : std::uint8_t { packed, planar, semi_planar, tri_planar };

/// What the samples mean.
enum class ColorModel : std::uint8_t { rgb, yuv, grey, bayer };

/// One row of the format table.
struct FormatInfo {
  PixelFormat format;
  std::string_view name;    ///< "nv12"; format_from_string() accepts it in any letter case
  std::string_view fourcc;  ///< four characters as V4L2 and the C interface spell it; empty: none
  FormatKind kind;
  ColorModel model;
  std::uint8_t channels;  ///< size of the channel axis of the tensor; 1 for semi- and tri-planar
  std::uint8_t planes;    ///< number of planes for image_plane(), 1..4
  std::uint8_t chroma_shift_x;  ///< log2 of luma columns per chroma column
  std::uint8_t chroma_shift_y;  ///< log2 of luma rows per chroma row
  bool has_alpha;
};

const FormatInfo& info(PixelFormat format) noexcept;
/// All rows, in the order of the enumerators.
std::span<const FormatInfo> all_formats() noexcept;
std::string_view to_string(PixelFormat format) noexcept;
std::optional<PixelFormat> format_from_string(std::string_view name) noexcept;
std::optional<PixelFormat> format_from_fourcc(std::string_view fourcc) noexcept;

/// One plane of an image in bytes: each row uses `row_bytes`, rows begin `stride_bytes` apart.
struct PlaneGeometry {
  std::size_t row_bytes = 0;
  std::size_t rows = 0;
  std::size_t stride_bytes = 0;
  std::size_t offset_bytes = 0;  ///< from the start of the image, all planes in one buffer
};

/// Geometry of plane `index` of a width x height image in one buffer whose first plane has the
/// stride `stride_bytes` (0: the tight stride). Chroma extents round up, so odd sizes are legal for
/// all formats. Errors: invalid_argument (zero size, stride below the row, product overflow, plane
/// out of range).
Result<PlaneGeometry> plane_geometry(PixelFormat format, DType dtype, std::size_t width,
                                     std::size_t height, std::size_t stride_bytes,
                                     std::size_t index);

/// Smallest legal stride of the first plane: row bytes, with the width rounded up to even for
/// semi-planar formats (the last CbCr pair must fit) and for I420.
Result<std::size_t> tight_stride(PixelFormat format, DType dtype, std::size_t width);

/// Bytes of the whole image in one buffer with the stride `stride_bytes` (0: tight).
Result<std::size_t> image_bytes(PixelFormat format, DType dtype, std::size_t width,
                                std::size_t height, std::size_t stride_bytes);

/// Shape of the tensor that holds such an image: packed [H,W,C]; planar [C,H,W]; NV12, NV21, I420
/// [H + ceil(H/2), W]; NV16 [2H, W]; NV24 [3H, W]. Writes the rank's values, returns the rank.
std::size_t image_shape(PixelFormat format, std::size_t width, std::size_t height,
                        std::span<std::size_t, 8> shape) noexcept;

/// Finds width and height from a shape of image_shape(); a leading batch axis of 1 is skipped.
/// Errors: invalid_argument (the shape cannot hold this format; the message has the rule).
struct ImageExtent {
  std::size_t width = 0;
  std::size_t height = 0;
};
Result<ImageExtent> image_extent(PixelFormat format, std::span<const std::size_t> shape);

}  // namespace halyard
HALYARD_EXPORTS_END
