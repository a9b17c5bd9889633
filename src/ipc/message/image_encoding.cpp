// SPDX-License-Identifier: Apache-2.0
// The table of image encodings.
#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "halyard/image_message.h"

namespace halyard {
namespace {

using E = ImageEncoding;
using F = PixelFormat;

constexpr std::array<ImageEncodingInfo, 32> encodings = {{
    {E::mono8, "mono8", F::grey, DType::u8},
    {E::mono16, "mono16", F::grey, DType::u16},
    {E::rgb8, "rgb8", F::rgb, DType::u8},
    {E::bgr8, "bgr8", F::bgr, DType::u8},
    {E::rgba8, "rgba8", F::rgba, DType::u8},
    {E::bgra8, "bgra8", F::bgra, DType::u8},
    {E::yuv422, "yuv422", F::uyvy, DType::u8},
    {E::mono32f, "32FC1", F::grey, DType::f32},
    {E::rgb32f, "32FC3", F::rgb, DType::f32},
    {E::bayer_rggb8, "bayer_rggb8", F::bayer_rggb, DType::u8},
    {E::depth16, "16UC1", F::grey, DType::u16},
    {E::bayer_bggr8, "bayer_bggr8", F::bayer_bggr, DType::u8},
    {E::bayer_gbrg8, "bayer_gbrg8", F::bayer_gbrg, DType::u8},
    {E::bayer_grbg8, "bayer_grbg8", F::bayer_grbg, DType::u8},
    {E::yuv422_yuy2, "yuv422_yuy2", F::yuyv, DType::u8},
    {E::nv12, "nv12", F::nv12, DType::u8},
    {E::nv21, "nv21", F::nv21, DType::u8},
    {E::nv24, "nv24", F::nv24, DType::u8},
    {E::nv16, "nv16", F::nv16, DType::u8},
    {E::i420, "i420", F::i420, DType::u8},
    {E::planar_rgb8, "planar_rgb8", F::planar_rgb, DType::u8},
    {E::planar_rgba8, "planar_rgba8", F::planar_rgba, DType::u8},
    {E::rgb16, "rgb16", F::rgb, DType::u16},
    {E::bgr16, "bgr16", F::bgr, DType::u16},
    {E::rgba16, "rgba16", F::rgba, DType::u16},
    {E::bgra16, "bgra16", F::bgra, DType::u16},
    {E::bayer_rggb16, "bayer_rggb16", F::bayer_rggb, DType::u16},
    {E::bayer_bggr16, "bayer_bggr16", F::bayer_bggr, DType::u16},
    {E::bayer_gbrg16, "bayer_gbrg16", F::bayer_gbrg, DType::u16},
    {E::bayer_grbg16, "bayer_grbg16", F::bayer_grbg, DType::u16},
    {E::yvyu, "yvyu", F::yvyu, DType::u8},
    {E::vyuy, "vyuy", F::vyuy, DType::u8},
}};

// Names of enumerators that differ from the encoding's name, and newer names of sensor_msgs.
constexpr std::array<std::pair<std::string_view, E>, 6> other_names = {{{"mono32f", E::mono32f},
                                                                        {"rgb32f", E::rgb32f},
                                                                        {"depth16", E::depth16},
                                                                        {"uyvy", E::yuv422},
                                                                        {"yuyv", E::yuv422_yuy2},
                                                                        {"8uc1", E::mono8}}};

bool equals_ignoring_case(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

}  // namespace

std::span<const ImageEncodingInfo> all_encodings() noexcept {
  return encodings;
}

const ImageEncodingInfo* encoding_info(ImageEncoding encoding) noexcept {
  const auto i = static_cast<std::size_t>(encoding);
  return i < encodings.size() ? &encodings[i] : nullptr;
}

std::string_view to_string(ImageEncoding encoding) noexcept {
  const ImageEncodingInfo* const row = encoding_info(encoding);
  return row != nullptr ? row->name : "unknown";
}

std::optional<ImageEncoding> encoding_from_string(std::string_view name) noexcept {
  for (const ImageEncodingInfo& row : encodings) {
    if (equals_ignoring_case(name, row.name)) return row.encoding;
  }
  for (const auto& [alias, encoding] : other_names) {
    if (equals_ignoring_case(name, alias)) return encoding;
  }
  return std::nullopt;
}

std::optional<ImageEncoding> encoding_of(PixelFormat format, DType dtype) noexcept {
  for (const ImageEncodingInfo& row : encodings) {
    if (row.format == format && row.dtype == dtype) return row.encoding;
  }
  return std::nullopt;
}

}  // namespace halyard
