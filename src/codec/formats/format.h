// SPDX-License-Identifier: Apache-2.0
// The image files beside JPEG and PNG: each has a reader of its header and a decoder that hands
// over rows. The front (codec.cpp) checks limits and requests between the two.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "halyard/codec.h"

namespace halyard::codec {

struct FormatHeader {
  ImageFileInfo info;             ///< whole, but for `orientation`
  std::size_t working_bytes = 0;  ///< what decoding holds beside the pixels
};

/// Takes rows as decoders have them, and stores them as the destination wants them.
class RowSink {
 public:
  /// `map` has the header's size and `format`; both outlive this.
  RowSink(const TensorMap& map, PixelFormat format);

  /// Row y: 1 (grey), 3 or 4 channels, 8 bits or 16 in host order. Rows come in any order.
  void put(std::size_t y, const std::byte* row, std::size_t channels, bool is_wide);

  /// The destination itself, for libraries that write 8 bits of this format.
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

/// Errors of parse(): those of peek(). Errors of decode(): corrupt, no_memory, unsupported,
/// cancelled; pixels of a file that turns out bad may have been written.
struct Format {
  Result<FormatHeader> (*parse)(std::span<const std::byte> file, const DecodeLimits& limits);
  Status (*decode)(std::span<const std::byte> file, const FormatHeader& header, RowSink& sink);
};

/// Null for JPEG and PNG. A format whose library this build lacks refuses in parse().
const Format* format_of(ImageFileType type) noexcept;

extern const Format webp_format;
extern const Format tiff_format;
extern const Format bmp_format;
extern const Format gif_format;

/// The refusal of a build without `library`, which Debian's `package` has.
Error missing_library(const char* kind, const char* library, const char* package);

/// Little-endian, two and four bytes at `at`, which must lie inside.
std::uint32_t le16(std::span<const std::byte> bytes, std::size_t at) noexcept;
std::uint32_t le32(std::span<const std::byte> bytes, std::size_t at) noexcept;

/// sRGB, full range; of grey images the range alone.
Colorimetry srgb_colorimetry(PixelFormat format) noexcept;

}  // namespace halyard::codec
