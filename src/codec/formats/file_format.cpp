// SPDX-License-Identifier: Apache-2.0
// The table of image files, and code that their decoders share. png_rows converts element types and
// channel orders.
#include "codec/formats/file_format.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "base/text/format_error.h"
#include "codec/jpeg/jpeg_header.h"
#include "codec/png/png_header.h"
#include "codec/png/png_rows.h"

namespace halyard {
namespace codec {
namespace {

using namespace std::string_view_literals;

constexpr std::array jpeg_names = {"jpg"sv, "jpeg"sv};
constexpr std::array png_names = {"png"sv};
constexpr std::array webp_names = {"webp"sv};
constexpr std::array tiff_names = {"tif"sv, "tiff"sv};
constexpr std::array bmp_names = {"bmp"sv};
constexpr std::array gif_names = {"gif"sv};

#if HALYARD_HAVE_WEBP
constexpr bool has_webp = true;
#else
constexpr bool has_webp = false;
#endif
#if HALYARD_HAVE_TIFF
constexpr bool has_tiff = true;
#else
constexpr bool has_tiff = false;
#endif
#if HALYARD_HAVE_GIF
constexpr bool has_gif = true;
#else
constexpr bool has_gif = false;
#endif

/// In the order of ImageFileType.
constexpr std::array file_kinds = {
    ImageFileKind{ImageFileType::jpeg, "jpeg", jpeg_names, true, true},
    ImageFileKind{ImageFileType::png, "png", png_names, true, true},
    ImageFileKind{ImageFileType::webp, "webp", webp_names, has_webp, has_webp},
    ImageFileKind{ImageFileType::tiff, "tiff", tiff_names, has_tiff, has_tiff},
    ImageFileKind{ImageFileType::bmp, "bmp", bmp_names, true, true},
    ImageFileKind{ImageFileType::gif, "gif", gif_names, has_gif, false},
};

bool begins(std::span<const std::byte> file, std::string_view magic, std::size_t at = 0) {
  return file.size() >= at + magic.size() &&
         std::memcmp(file.data() + at, magic.data(), magic.size()) == 0;
}

bool is_tiff(std::span<const std::byte> file) {
  return begins(file, "II*\0"sv) || begins(file, "MM\0*"sv) || begins(file, "II+\0"sv) ||
         begins(file, "MM\0+"sv);
}

bool is_same_letter(char a, char lower) {
  return a == lower || (a >= 'A' && a <= 'Z' && a - 'A' + 'a' == lower);
}

std::size_t channels_of(PixelFormat format) {
  return info(format).channels;
}

}  // namespace

RowSink::RowSink(const TensorMap& map, PixelFormat format)
    : plane_(map.plane(0)),
      format_(format),
      dtype_(map.layout().dtype),
      width_(plane_.row_bytes / (channels_of(format) * size_of(dtype_))) {}

void RowSink::put(std::size_t y, const std::byte* row, std::size_t channels, bool is_wide) {
  std::byte* out = plane_.writable + y * plane_.stride_bytes;
  const std::size_t wanted = channels_of(format_);
  if (!is_wide && is_u8() && channels == wanted && format_ != PixelFormat::bgra) {
    std::memcpy(out, row, plane_.row_bytes);
    return;
  }
  // Colours need at least three channels, and alpha a fourth.
  const std::size_t needed = wanted == 1 ? channels : std::max<std::size_t>(wanted, 3);
  if (channels < needed) {
    spread_.resize(width_ * 4 * (is_wide ? 2 : 1));
    const unsigned color_type = channels == 1 ? 0 : 2;
    if (is_wide) {
      const auto* in = reinterpret_cast<const std::uint16_t*>(row);
      auto* to = reinterpret_cast<std::uint16_t*>(spread_.data());
      for (std::size_t x = 0; x < width_; ++x, in += channels, to += 4) {
        for (std::size_t c = 0; c < 3; ++c)
          to[c] = in[channels == 1 ? 0 : c];
        to[3] = 0xFFFF;
      }
    } else {
      row_spreader(color_type, false, 4)(
          {reinterpret_cast<const std::uint8_t*>(row), spread_.data(), width_, nullptr});
    }
    row = spread_.data();
    channels = 4;
  }
  row_converter(is_wide, dtype_)({row, out, width_, channels, format_});
}

const Format* format_of(ImageFileType type) noexcept {
  switch (type) {
    case ImageFileType::webp:
      return &webp_format;
    case ImageFileType::tiff:
      return &tiff_format;
    case ImageFileType::bmp:
      return &bmp_format;
    case ImageFileType::gif:
      return &gif_format;
    default:
      return nullptr;
  }
}

Error missing_library(const char* kind, const char* library, const char* package) {
  return fail(Errc::unsupported, "this build cannot read or write files of this kind",
              "{}: built without {}; install {} and build again", kind, library, package);
}

std::uint32_t le16(std::span<const std::byte> bytes, std::size_t at) noexcept {
  return std::to_integer<std::uint32_t>(bytes[at]) | std::to_integer<std::uint32_t>(bytes[at + 1])
                                                         << 8;
}

std::uint32_t le32(std::span<const std::byte> bytes, std::size_t at) noexcept {
  return le16(bytes, at) | le16(bytes, at + 2) << 16;
}

Colorimetry srgb_colorimetry(PixelFormat format) noexcept {
  Colorimetry out{.range = ColorRange::full};
  if (info(format).model == ColorModel::grey) return out;
  out.space = ColorSpace::srgb;
  out.transfer = ColorTransfer::srgb;
  return out;
}

}  // namespace codec

std::span<const ImageFileKind> image_file_kinds() noexcept {
  return codec::file_kinds;
}

std::string written_image_extensions() {
  std::string text;
  for (const ImageFileKind& kind : codec::file_kinds) {
    if (!kind.is_written) continue;
    for (const std::string_view extension : kind.extensions)
      text.append(text.empty() ? "." : " .").append(extension);
  }
  return text;
}

std::string_view to_string(ImageFileType type) noexcept {
  const auto index = static_cast<std::size_t>(type);
  return index < codec::file_kinds.size() ? codec::file_kinds[index].name : "unknown";
}

std::optional<ImageFileType> image_file_type(std::span<const std::byte> file) noexcept {
  if (codec::is_jpeg(file)) return ImageFileType::jpeg;
  if (codec::is_png(file)) return ImageFileType::png;
  if (codec::begins(file, "RIFF") && codec::begins(file, "WEBP", 8)) return ImageFileType::webp;
  if (codec::is_tiff(file)) return ImageFileType::tiff;
  if (codec::begins(file, "GIF87a") || codec::begins(file, "GIF89a")) return ImageFileType::gif;
  // Two letters are weak evidence, so the length of the header must also be a known one.
  if (codec::begins(file, "BM") && file.size() >= 18) {
    constexpr std::array<std::uint32_t, 8> lengths = {12, 16, 40, 52, 56, 64, 108, 124};
    const auto found = std::find(lengths.begin(), lengths.end(), codec::le32(file, 14));
    if (found != lengths.end()) return ImageFileType::bmp;
  }
  return std::nullopt;
}

std::optional<ImageFileType> image_file_type(std::string_view path) noexcept {
  const std::size_t dot = path.find_last_of("./");
  // A file name that only begins with a dot has no extension.
  if (dot == std::string_view::npos || path[dot] != '.' || dot == 0 || path[dot - 1] == '/') {
    return std::nullopt;
  }
  const std::string_view extension = path.substr(dot + 1);
  for (const ImageFileKind& kind : codec::file_kinds) {
    for (const std::string_view name : kind.extensions) {
      if (std::equal(extension.begin(), extension.end(), name.begin(), name.end(),
                     codec::is_same_letter)) {
        return kind.type;
      }
    }
  }
  return std::nullopt;
}

}  // namespace halyard
