// SPDX-License-Identifier: Apache-2.0
// Codec: JPEG and PNG files to and from tensors. No resizing and no turning here: see image.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "halyard/export.h"
#include "halyard/geometry.h"
#include "halyard/result.h"
#include "halyard/tensor.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

enum class ImageFileType : std::uint8_t { jpeg, png };

/// What the header of a picture file says. Sizes are as stored, before any orientation.
struct ImageFileInfo {
  ImageFileType type = ImageFileType::jpeg;
  std::size_t width = 0;
  std::size_t height = 0;
  /// What load gives without a request: 4:2:0 nv12, 4:2:2 nv16, 4:4:4 nv24, grey, rgb or rgba.
  /// Other chroma samplings give nv12, its chroma averaged; a JPEG that stores R, G and B gives
  /// rgb. A transparent palette or colour of a PNG gives rgba; the alpha beside grey is dropped.
  PixelFormat native_format = PixelFormat::rgb;
  int bit_depth = 8;         ///< per sample, as stored
  int components = 3;        ///< as stored; a palette counts 3, or 4 with transparency
  bool progressive = false;  ///< progressive JPEG or interlaced PNG
  bool palette = false;
  Orientation orientation;   ///< the turn that shows the picture upright
  int exif_orientation = 0;  ///< the tag's value 1..8, 0: absent or invalid
  Colorimetry colorimetry;
};

/// Limits applied before anything is allocated.
struct DecodeLimits {
  std::size_t max_width = 65500;
  std::size_t max_height = 65500;
  std::size_t max_pixels = std::size_t{1} << 28;  ///< 268 Mpx
};

struct LoadOptions {
  /// Unset: the file's native format. JPEG: rgb, bgr, rgba, bgra, grey or its native one; colours
  /// are libjpeg's own (smooth chroma upsampling), as most other loaders give them. PNG: rgb, rgba,
  /// bgra, grey.
  std::optional<PixelFormat> format = {};
  Memory memory = Memory::automatic;
  DecodeLimits limits = {};
  /// Asked while pixels are decoded, on the calling thread: before each row of a PNG, each row of
  /// MCUs of each scan of a JPEG, so it should be quick. True ends the call with `cancelled`. Must
  /// not throw. Empty: nobody asks.
  std::function<bool()> is_cancelled = {};
};

/// Reads the header only. Errors: malformed (neither JPEG nor PNG), corrupt (header cut or
/// contradictory), unsupported (lossless, arithmetic, hierarchical, 12-bit, CMYK JPEG, one whose
/// first component is subsampled or whose height follows the scan), invalid_argument (a limit is
/// exceeded; the message names both numbers). Reentrant.
Result<ImageFileInfo> peek(std::span<const std::byte> file, const DecodeLimits& limits = {});

/// Decodes into the caller's tensor. A picture of the right size and format is filled at its own
/// row pitch, padding untouched; any other tensor is re-labelled inside its capacity first (see
/// Tensor::reconfigured), and keeps its old label when the file turns out bad: damage in the middle
/// may leave new pixels behind the old label. The colorimetry becomes the file's: BT.601 full range
/// for the YCbCr of a JPEG, sRGB for rgb. Errors: those of peek, exhausted (capacity), corrupt
/// (data ends early, is damaged, or cannot hold the declared size), unsupported (format or dtype),
/// invalid_argument (empty tensor), cancelled.
/// JPEG writes u8; PNG u8, i8 (value xor 0x80), u16 and f32 (value / 255, or / 65535).
/// Reentrant: the decoder's state is thread-local and reused.
Result<ImageFileInfo> load_into(Tensor& destination, std::span<const std::byte> file,
                                const LoadOptions& options = {});

/// Decodes into a new tensor.
Result<Tensor> load_image(std::span<const std::byte> file, const LoadOptions& options = {});
/// The same from a file; further errors: not_found, permission, os; invalid_argument (empty file).
Result<Tensor> load_image(const std::string& path, const LoadOptions& options = {});

/// Whole file into memory. Errors: not_found, permission, os, invalid_argument (above max_bytes).
Result<std::vector<std::byte>> read_file(const std::string& path,
                                         std::size_t max_bytes = std::size_t{1} << 30);
/// A whole file by way of OutputFile (halyard/output_file.h): the name never shows half a file; a
/// file that is replaced keeps its permissions, a symbolic link stays one; devices and pipes are
/// written to. Errors: those of OutputFile.
Status write_file(const std::string& path, std::span<const std::byte> bytes);

struct JpegOptions {
  int quality = 90;  ///< 1..100
};
struct PngOptions {
  int compression = 6;  ///< 0..9
};

/// u8 rgb, rgba, bgr, bgra (alpha dropped), grey; nv12, nv16, nv24, i420 without a colour
/// conversion. Row pitch honoured. Errors: unsupported (format, dtype; a YCbCr picture that is not
/// BT.601 full range once resolve() has filled its colorimetry), invalid_argument (not a picture,
/// quality, size above 65500), no_memory.
Result<std::vector<std::byte>> encode_jpeg(const Tensor& image, const JpegOptions& options = {});
/// u8 rgb, rgba, grey. Errors: unsupported (format, dtype), invalid_argument (not a picture,
/// compression), no_memory.
Result<std::vector<std::byte>> encode_png(const Tensor& image, const PngOptions& options = {});

/// encode_* and write_file.
Status save_jpeg(const Tensor& image, const std::string& path, const JpegOptions& options = {});
Status save_png(const Tensor& image, const std::string& path, const PngOptions& options = {});

}  // namespace halyard
HALYARD_EXPORTS_END
