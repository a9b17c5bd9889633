// SPDX-License-Identifier: Apache-2.0
// The image files other than JPEG and PNG: each has a parser of its header and a decoder that
// delivers rows. codec.cpp checks limits and requests between the two.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "halyard/codec.h"

namespace halyard::codec {

struct FormatHeader {
  ImageFileInfo info;             ///< complete except for `orientation`
  std::size_t working_bytes = 0;  ///< memory of decoding, beside the pixels
};

/// Takes rows in a decoder's layout and stores them in the destination's format and type.
class RowSink {
 public:
  /// `map` has the header's size and `format`; both outlive this.
  RowSink(const TensorMap& map, PixelFormat format);

  /// Stores row y: 1 (grey), 3 or 4 channels of 8 bits, or 16 in host order. Rows come in any
  /// order.
  void put(std::size_t y, const std::byte* row, std::size_t channels, bool is_wide);

  /// The destination, for libraries that write 8 bits of this format themselves.
  PixelFormat format() const noexcept { return format_; }
  bool is_u8() const noexcept { return dtype_ == DType::u8; }
  std::byte* rows() const noexcept { return plane_.writable; }
  std::size_t stride_bytes() const noexcept { return plane_.stride_bytes; }
  std::size_t width() const noexcept { return width_; }
  std::size_t height() const noexcept { return plane_.rows; }

 private:
  MappedPlane plane_;
  PixelFormat format_;
  DType dtype_;
  std::size_t width_;
  std::vector<std::byte> spread_;
};

/// Errors of parse(): as for peek(). Errors of decode(): corrupt, no_memory, unsupported,
/// cancelled; it may have written some pixels before it finds that the file is bad.
struct Format {
  Result<FormatHeader> (*parse)(std::span<const std::byte> file, const DecodeLimits& limits);
  Status (*decode)(std::span<const std::byte> file, const FormatHeader& header, RowSink& sink);
};

/// Null for JPEG and PNG. parse() refuses a format whose library this build lacks.
const Format* format_of(ImageFileType type) noexcept;

extern const Format webp_format;
extern const Format tiff_format;
extern const Format bmp_format;
extern const Format gif_format;

/// The error of a build without `library`, which is in Debian's `package`.
Error missing_library(const char* kind, const char* library, const char* package);

/// Little-endian numbers of two and four bytes at `at`, which must be inside.
std::uint32_t le16(std::span<const std::byte> bytes, std::size_t at) noexcept;
std::uint32_t le32(std::span<const std::byte> bytes, std::size_t at) noexcept;

/// sRGB, full range; for grey images only the range.
Colorimetry srgb_colorimetry(PixelFormat format) noexcept;

}  // namespace halyard::codec
