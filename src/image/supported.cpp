// SPDX-License-Identifier: Apache-2.0
// The table of conversions: which pairs of formats and dtypes are supported.
#include "halyard/image.h"

namespace halyard {
namespace {

bool is_known(PixelFormat format) {
  return static_cast<std::size_t>(format) < all_formats().size();
}

bool is_bayer(PixelFormat format) {
  return info(format).model == ColorModel::bayer;
}

bool is_stored(DType dtype) {
  return dtype == DType::u8 || dtype == DType::i8 || dtype == DType::u16 || dtype == DType::f16 ||
         dtype == DType::bf16 || dtype == DType::f32;
}

}  // namespace

const char* conversion_declined(PixelFormat from, DType from_dtype, PixelFormat to,
                                DType to_dtype) noexcept {
  if (!is_known(from)) return "src: not a value of PixelFormat";
  if (!is_known(to)) return "dst: not a value of PixelFormat";
  const FormatInfo& source = info(from);
  if (from_dtype == DType::u16) {
    if (source.model != ColorModel::grey && source.model != ColorModel::bayer)
      return "src: u16 is for grey and Bayer, other formats must be u8";
  } else if (from_dtype != DType::u8) {
    return "src: element type must be u8, or u16 for grey and Bayer";
  }
  if (is_bayer(to)) return "dst: a mosaic cannot be made from colours";
  if (!is_stored(to_dtype)) return "dst: element type must be u8, i8, u16, f16, bf16 or f32";
  if (info(to).model == ColorModel::yuv && to_dtype != DType::u8)
    return "dst: YUV formats must be u8";
  return nullptr;
}

}  // namespace halyard
