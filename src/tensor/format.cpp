// SPDX-License-Identifier: Apache-2.0
// The tables of element types and pixel formats, and all functions that derive from them.
#include "halyard/format.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/checked.h"
#include "base/text/format_error.h"
#include "tensor/format.h"

namespace halyard {
namespace {

struct DTypeRow {
  std::string_view name;
  std::string_view numpy_name;
  std::uint8_t bytes;
};

constexpr std::array<DTypeRow, 13> dtypes = {{{"u8", "uint8", 1},
                                              {"i8", "int8", 1},
                                              {"u16", "uint16", 2},
                                              {"i16", "int16", 2},
                                              {"u32", "uint32", 4},
                                              {"i32", "int32", 4},
                                              {"u64", "uint64", 8},
                                              {"i64", "int64", 8},
                                              {"f16", "float16", 2},
                                              {"f32", "float32", 4},
                                              {"f64", "float64", 8},
                                              {"bf16", "bfloat16", 2},
                                              {"bool", "bool_", 1}}};

using F = PixelFormat;
using K = FormatKind;
using C = ColorModel;

// format, name, fourcc, kind, model, channels, planes, chroma shifts, alpha
constexpr std::array<FormatInfo, 20> formats = {{
    {F::yuyv, "yuyv", "YUYV", K::packed, C::yuv, 2, 1, 1, 0, false},
    {F::nv12, "nv12", "NV12", K::semi_planar, C::yuv, 1, 2, 1, 1, false},
    {F::nv16, "nv16", "NV16", K::semi_planar, C::yuv, 1, 2, 1, 0, false},
    {F::rgba, "rgba", "RGBA", K::packed, C::rgb, 4, 1, 0, 0, true},
    {F::rgb, "rgb", "RGB ", K::packed, C::rgb, 3, 1, 0, 0, false},
    {F::grey, "grey", "Y800", K::packed, C::grey, 1, 1, 0, 0, false},
    {F::planar_rgb, "planar_rgb", "", K::planar, C::rgb, 3, 3, 0, 0, false},
    {F::planar_rgba, "planar_rgba", "", K::planar, C::rgb, 4, 4, 0, 0, true},
    {F::bgra, "bgra", "BGRA", K::packed, C::rgb, 4, 1, 0, 0, true},
    {F::vyuy, "vyuy", "VYUY", K::packed, C::yuv, 2, 1, 1, 0, false},
    {F::nv24, "nv24", "NV24", K::semi_planar, C::yuv, 1, 2, 0, 0, false},
    {F::uyvy, "uyvy", "UYVY", K::packed, C::yuv, 2, 1, 1, 0, false},
    {F::yvyu, "yvyu", "YVYU", K::packed, C::yuv, 2, 1, 1, 0, false},
    {F::nv21, "nv21", "NV21", K::semi_planar, C::yuv, 1, 2, 1, 1, false},
    {F::i420, "i420", "YU12", K::tri_planar, C::yuv, 1, 3, 1, 1, false},
    {F::bgr, "bgr", "BGR3", K::packed, C::rgb, 3, 1, 0, 0, false},
    {F::bayer_rggb, "bayer_rggb", "RGGB", K::packed, C::bayer, 1, 1, 0, 0, false},
    {F::bayer_bggr, "bayer_bggr", "BA81", K::packed, C::bayer, 1, 1, 0, 0, false},
    {F::bayer_grbg, "bayer_grbg", "GRBG", K::packed, C::bayer, 1, 1, 0, 0, false},
    {F::bayer_gbrg, "bayer_gbrg", "GBRG", K::packed, C::bayer, 1, 1, 0, 0, false},
}};

bool equals_ignoring_case(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

std::size_t shifted_up(std::size_t value, unsigned shift) noexcept {
  return (value + (std::size_t{1} << shift) - 1) >> shift;
}

// Rows of the tensor: the rows of all planes, counted at the stride of the first plane.
std::size_t stride_rows(const FormatInfo& f, std::size_t height) noexcept {
  switch (f.kind) {
    case K::packed:
      return height;
    case K::planar:
      return height * f.channels;
    case K::semi_planar:
      // A chroma row of NV24 is twice as long as a luma row and takes two of them.
      return height + (f.chroma_shift_x == 0 ? 2 * height : shifted_up(height, f.chroma_shift_y));
    case K::tri_planar:
      return height + shifted_up(height, f.chroma_shift_y);
  }
  return height;
}

Error zero_size(std::size_t width, std::size_t height) {
  return fail(Errc::invalid_argument, "size: width and height must be at least 1", "{} x {}", width,
              height);
}

}  // namespace

[[gnu::hot]] std::size_t size_of(DType dtype) noexcept {
  return dtypes[static_cast<std::size_t>(dtype)].bytes;
}

std::string_view to_string(DType dtype) noexcept {
  return dtypes[static_cast<std::size_t>(dtype)].name;
}

std::optional<DType> dtype_from_string(std::string_view name) noexcept {
  for (std::size_t i = 0; i < dtypes.size(); ++i) {
    if (name == dtypes[i].name || name == dtypes[i].numpy_name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

bool is_float(DType dtype) noexcept {
  return dtype == DType::f16 || dtype == DType::f32 || dtype == DType::f64 || dtype == DType::bf16;
}

bool is_integer(DType dtype) noexcept {
  return !is_float(dtype) && dtype != DType::boolean;
}

[[gnu::hot]] const FormatInfo& info(PixelFormat format) noexcept {
  return formats[static_cast<std::size_t>(format)];
}

std::span<const FormatInfo> all_formats() noexcept {
  return formats;
}

std::string_view to_string(PixelFormat format) noexcept {
  return info(format).name;
}

std::optional<PixelFormat> format_from_string(std::string_view name) noexcept {
  for (const FormatInfo& f : formats) {
    if (equals_ignoring_case(name, f.name)) return f.format;
  }
  return std::nullopt;
}

std::optional<PixelFormat> format_from_fourcc(std::string_view fourcc) noexcept {
  if (fourcc.empty()) return std::nullopt;
  for (const FormatInfo& f : formats) {
    if (fourcc == f.fourcc) return f.format;
  }
  return std::nullopt;
}

[[gnu::hot]] Result<std::size_t> tight_stride(PixelFormat format, DType dtype, std::size_t width) {
  const FormatInfo& f = info(format);
  std::size_t samples = width;
  if (f.kind == K::packed) {
    // Two luma samples of a packed format share one Cb and Cr, so an odd width is stored as whole
    // pairs.
    const auto even = f.chroma_shift_x == 1 ? checked_round_up(width, 2) : width;
    const auto product = even ? checked_mul(*even, f.channels) : std::nullopt;
    if (!product) return fail(Errc::invalid_argument, "width: row size overflows", "{}", width);
    samples = *product;
  } else if (f.kind != K::planar) {
    const auto even = checked_round_up(width, 2);
    if (!even) return fail(Errc::invalid_argument, "width: row size overflows", "{}", width);
    samples = *even;
  }
  const auto bytes = checked_mul(samples, size_of(dtype));
  if (!bytes) return fail(Errc::invalid_argument, "width: row size overflows", "{}", width);
  return *bytes;
}

[[gnu::hot]] Result<PlaneGeometry> plane_geometry(PixelFormat format, DType dtype,
                                                  std::size_t width, std::size_t height,
                                                  std::size_t stride_bytes, std::size_t index) {
  if (width == 0 || height == 0) return zero_size(width, height);
  const FormatInfo& f = info(format);
  if (index >= f.planes) {
    return fail(Errc::invalid_argument, "plane: index out of range", "{} of {} planes of {}", index,
                f.planes, f.name);
  }
  HALYARD_TRY(const std::size_t tight, tight_stride(format, dtype, width));
  const std::size_t stride = stride_bytes == 0 ? tight : stride_bytes;
  const std::size_t element = size_of(dtype);
  const bool halves = f.kind == K::tri_planar;
  if (stride < tight || stride % element != 0 || (halves && stride % (2 * element) != 0)) {
    return fail(Errc::invalid_argument, "stride: too small for a row or not a multiple of a sample",
                "{} bytes, a row of {} pixels of {} {} needs {}", stride, width, f.name,
                to_string(dtype), tight);
  }
  const auto total = checked_mul(stride, stride_rows(f, height));
  if (!total) return fail(Errc::invalid_argument, "size: image size overflows");
  return known_plane_geometry(f, element, width, height, stride, index);
}

[[gnu::hot]] PlaneGeometry known_plane_geometry(const FormatInfo& f, std::size_t element_bytes,
                                                std::size_t width, std::size_t height,
                                                std::size_t stride_bytes,
                                                std::size_t index) noexcept {
  const std::size_t luma_bytes = stride_bytes * height;
  const std::size_t chroma_width = shifted_up(width, f.chroma_shift_x);
  const std::size_t chroma_height = shifted_up(height, f.chroma_shift_y);
  switch (f.kind) {
    case K::packed: {
      // Packed formats store whole pairs of luma samples.
      const std::size_t stored = f.chroma_shift_x == 1 ? 2 * chroma_width : width;
      return {stored * f.channels * element_bytes, height, stride_bytes, 0};
    }
    case K::planar:
      return {width * element_bytes, height, stride_bytes, index * luma_bytes};
    case K::semi_planar: {
      if (index == 0) return {width * element_bytes, height, stride_bytes, 0};
      const std::size_t chroma_stride = f.chroma_shift_x == 0 ? 2 * stride_bytes : stride_bytes;
      return {2 * chroma_width * element_bytes, chroma_height, chroma_stride, luma_bytes};
    }
    case K::tri_planar:
      break;
  }
  if (index == 0) return {width * element_bytes, height, stride_bytes, 0};
  return {chroma_width * element_bytes, chroma_height, stride_bytes / 2,
          luma_bytes + (index - 1) * (stride_bytes / 2) * chroma_height};
}

Result<std::size_t> image_bytes(PixelFormat format, DType dtype, std::size_t width,
                                std::size_t height, std::size_t stride_bytes) {
  HALYARD_TRY(const PlaneGeometry first,
              plane_geometry(format, dtype, width, height, stride_bytes, 0));
  return first.stride_bytes * stride_rows(info(format), height);
}

std::size_t image_shape(PixelFormat format, std::size_t width, std::size_t height,
                        std::span<std::size_t, 8> shape) noexcept {
  const FormatInfo& f = info(format);
  if (f.kind == K::packed) {
    shape[0] = height;
    shape[1] = width;
    shape[2] = f.channels;
    return 3;
  }
  if (f.kind == K::planar) {
    shape[0] = f.channels;
    shape[1] = height;
    shape[2] = width;
    return 3;
  }
  shape[0] = stride_rows(f, height);
  shape[1] = width;
  return 2;
}

Result<ImageExtent> image_extent(PixelFormat format, std::span<const std::size_t> shape) {
  const FormatInfo& f = info(format);
  const bool flat = f.kind == K::semi_planar || f.kind == K::tri_planar;
  const std::size_t rank = flat ? 2 : 3;
  while (shape.size() > rank && shape[0] == 1)
    shape = shape.subspan(1);
  if (shape.size() != rank || std::find(shape.begin(), shape.end(), 0U) != shape.end()) {
    return fail(Errc::invalid_argument, "shape: has the wrong rank or an empty axis for the format",
                "{} needs rank {}, the shape has rank {}", f.name, rank, shape.size());
  }
  if (!flat) {
    const std::size_t channels = f.kind == K::packed ? shape[2] : shape[0];
    if (channels != f.channels) {
      return fail(Errc::invalid_argument, "shape: channel axis does not fit the format",
                  "{} has {} channels, the shape {}", f.name, f.channels, channels);
    }
    if (f.kind == K::packed) return ImageExtent{shape[1], shape[0]};
    return ImageExtent{shape[2], shape[1]};
  }
  // Inverts stride_rows(): at most one height gives this count of rows.
  const std::size_t rows = shape[0];
  const std::size_t height = f.chroma_shift_x == 0   ? rows / 3
                             : f.chroma_shift_y == 0 ? rows / 2
                                                     : rows / 3 * 2 + rows % 3 / 2;
  if (height == 0 || stride_rows(f, height) != rows) {
    return fail(Errc::invalid_argument, "shape: no image height gives this count of rows",
                "{} rows of {}", rows, f.name);
  }
  return ImageExtent{shape[1], height};
}

}  // namespace halyard
