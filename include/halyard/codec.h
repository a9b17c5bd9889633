// SPDX-License-Identifier: Apache-2.0
// Codec: image files to and from tensors. Pixels stay as they are stored: see image.h for
// sizes and turns. What an EXIF orientation says goes with the tensor, both ways.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halyard/export.h"
#include "halyard/geometry.h"
#include "halyard/result.h"
#include "halyard/tensor.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

enum class ImageFileType : std::uint8_t { jpeg, png, webp, tiff, bmp, gif };

/// A kind of image file, and what this build does with it: WebP, TIFF and GIF need libraries.
struct ImageFileKind {
  ImageFileType type;
  std::string_view name;                         ///< "jpeg"
  std::span<const std::string_view> extensions;  ///< lower case, without the dot
  bool is_read;
  bool is_written;
};
/// One for each ImageFileType, in its order.
std::span<const ImageFileKind> image_file_kinds() noexcept;
/// The extensions that this build writes, for messages: ".jpg .jpeg .png .webp".
std::string written_image_extensions();
std::string_view to_string(ImageFileType type) noexcept;
/// By the first bytes of a file; 18 are enough. Nothing: no image that is known.
std::optional<ImageFileType> image_file_type(std::span<const std::byte> file) noexcept;
/// By the extension of a name, in letters of either case.
std::optional<ImageFileType> image_file_type(std::string_view path) noexcept;

/// What the header of an image file says. Sizes are as stored, before any orientation.
struct ImageFileInfo {
  ImageFileType type = ImageFileType::jpeg;
  std::size_t width = 0;
  std::size_t height = 0;
  /// What load gives without a request: 4:2:0 nv12, 4:2:2 nv16, 4:4:4 nv24, grey, rgb or rgba.
  /// Other chroma samplings give nv12, its chroma averaged; a JPEG that stores R, G and B gives
  /// rgb. A transparent palette or colour of a PNG or GIF, and the alpha of a WebP, TIFF or BMP
  /// give rgba; the alpha beside grey is dropped. A palette of greys alone (BMP) gives grey.
  PixelFormat native_format = PixelFormat::rgb;
  int bit_depth = 8;         ///< per sample, as stored
  int components = 3;        ///< as stored; a palette counts 3, or 4 with transparency
  bool progressive = false;  ///< progressive JPEG, or interlaced PNG or GIF
  bool palette = false;
  Orientation orientation;   ///< the turn that shows the image upright
  int exif_orientation = 0;  ///< the tag's value 1..8, 0: absent or invalid
  Colorimetry colorimetry;
};

/// Limits of one decoding. A file beyond one of them is refused with invalid_argument before pixels
/// are decoded or memory for them is taken; the message names the limit, its value and what the
/// file asks for. Raise the field that it names, or lower one for files of strangers.
struct DecodeLimits {
  std::size_t max_width = 65500;
  std::size_t max_height = 65500;
  std::size_t max_pixels = std::size_t{1} << 28;  ///< 268 Mpx
  /// Bytes of the decoded pixels and of what decoding holds beside them: the coefficients of a
  /// progressive JPEG (2 bytes a sample), the rows of an interlaced PNG that are converted, 8 bytes
  /// a pixel of a WebP, the strips or tiles of a TIFF, the indices of a packed BMP. 4 GiB. Other
  /// PNGs take as much again as their rows have, up to 128 MiB, only where that fits too.
  std::size_t max_bytes = std::size_t{1} << 32;
  /// Decoded bytes for each byte of the file, of images above expansion_floor. Blank areas pack
  /// 1000 to 1 and more (PNG: rows 1030 to 1; 1-bit palettes to rgba: 33000 to 1), photographs and
  /// drawings 2 to 200.
  std::size_t max_expansion = 1000;
  /// Decoded bytes up to which max_expansion does not count, so that blank pages pass: rgba of 8K
  /// is 133 MB, an A4 page of 600 dpi with a palette 104 MB. 256 MiB.
  std::size_t expansion_floor = std::size_t{1} << 28;
  /// Scans of a JPEG. A progressive file has about 10; one with a scan for each coefficient, 190.
  std::size_t max_scans = 1000;
  /// How many times the scans of a JPEG may visit each block of 8 x 8 on average: the sum over
  /// scans of their blocks, divided by the blocks of the image. Usual progressive files visit 5
  /// to 9 times. Sums up to 2^25 blocks pass whatever the image's size is.
  std::size_t max_scan_passes = 24;

  /// Limits of the process: those above until set_default_decode_limits() changes them.
  /// Thread-safe.
  static DecodeLimits defaults() noexcept;

  friend bool operator==(const DecodeLimits&, const DecodeLimits&) = default;
};

/// Makes `limits` those of every call that names none: default LoadOptions, peek(), the C interface
/// and Python. For services, which set them once at start. Thread-safe; calls that run go on under
/// the limits that they began with.
void set_default_decode_limits(const DecodeLimits& limits) noexcept;

struct LoadOptions {
  /// Unset: the file's native format. JPEG: rgb, bgr, rgba, bgra, grey or its native one; colours
  /// are libjpeg's own (smooth chroma upsampling), as most other loaders give them. All others:
  /// rgb, rgba, bgra, grey.
  std::optional<PixelFormat> format = {};
  Memory memory = Memory::automatic;
  DecodeLimits limits = DecodeLimits::defaults();
  /// Asked while pixels are decoded, on the calling thread: before each row of a PNG, each row of
  /// MCUs of each scan of a JPEG (again from the first where the data has a flaw), so it should be
  /// quick. Up to 128 MiB of a PNG are inflated before its first row; of a WebP after each 64 KiB
  /// of the file, of others before each row or strip. True ends the call with `cancelled`. Must not
  /// throw. Empty: nobody asks.
  std::function<bool()> is_cancelled = {};
};

/// Reads the header only. Of an animation (WebP, GIF) and of a file with several images (TIFF)
/// the first image is meant. Errors: malformed (no image file), corrupt (header cut or
/// contradictory), unsupported (lossless, arithmetic, hierarchical, 12-bit, CMYK JPEG, one whose
/// first component is subsampled or whose height follows the scan; a TIFF that is not grey, palette
/// or RGB of whole numbers up to 16 bits; a kind that this build does not read, where the message
/// says what to install), invalid_argument (a limit of the size is exceeded; the message names both
/// numbers). Reentrant.
Result<ImageFileInfo> peek(std::span<const std::byte> file,
                           const DecodeLimits& limits = DecodeLimits::defaults());

/// Decodes into the caller's tensor. An image of the right size and format is filled at its own
/// row pitch, padding untouched; any other tensor is re-labelled inside its capacity first (see
/// Tensor::reconfigured), and keeps its old label when the file turns out bad: damage in the middle
/// may leave new pixels behind the old label. The colorimetry becomes the file's: BT.601 full range
/// for the YCbCr of a JPEG, sRGB for rgb; and so does the orientation (Tensor::orientation), which
/// convert() applies. Errors: those of peek, exhausted (capacity),
/// invalid_argument (any other limit of options.limits), corrupt
/// (data ends early, is damaged, or cannot hold the declared size), unsupported (format or dtype),
/// invalid_argument (empty tensor), cancelled.
/// JPEG writes u8; all others u8, i8 (value xor 0x80), u16 and f32 (value / 255, or / 65535).
/// 16-bit samples become u8 and i8 by round(value * 255 / 65535), as convert() makes them. Alpha is
/// straight; of a premultiplied TIFF it is divided out.
/// Reentrant: the decoder's state is thread-local and reused.
Result<ImageFileInfo> load_into(Tensor& destination, std::span<const std::byte> file,
                                const LoadOptions& options = {});

/// Decodes into a new tensor, as load_into() does.
Result<Tensor> load_image(std::span<const std::byte> file, const LoadOptions& options = {});
/// The same from a file; further errors: not_found, permission, os; invalid_argument (empty file).
Result<Tensor> load_image(const std::string& path, const LoadOptions& options = {});

/// Whole file into memory. Never more than max_bytes + 1 bytes are read, and memory for no more is
/// taken; a pipe or device, which tells no size, is read until it ends or passes max_bytes.
/// Errors: not_found, permission, os, invalid_argument (above max_bytes).
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
  int compression = 6;  ///< 0..9: 0 stores, 1 is fastest, 9 packs best
};

/// u8 rgb, rgba, bgr, bgra (alpha dropped), grey; nv12, nv16, nv24, i420 without a colour
/// conversion. Row pitch honoured. Pixels are written as they lie; an orientation other than
/// upright goes into an EXIF block. Errors: unsupported (format, dtype; a YCbCr image that is not
/// BT.601 full range once resolve() has filled its colorimetry), invalid_argument (not an image,
/// quality, size above 65500), no_memory.
Result<std::vector<std::byte>> encode_jpeg(const Tensor& image, const JpegOptions& options = {});
/// u8 rgb, rgba, grey; the orientation as in encode_jpeg(). Errors: unsupported (format, dtype),
/// invalid_argument (not an image, compression), no_memory.
Result<std::vector<std::byte>> encode_png(const Tensor& image, const PngOptions& options = {});

struct WebpOptions {
  int quality = 90;  ///< 0..100; of lossless files how hard it is tried
  bool is_lossless = false;
};

/// u8 rgb, rgba, bgr, bgra, grey; up to 16383 x 16383. The orientation as in encode_jpeg(). Errors:
/// unsupported (format, dtype, build without libwebp), invalid_argument (not an image, quality,
/// size), no_memory.
Result<std::vector<std::byte>> encode_webp(const Tensor& image, const WebpOptions& options = {});
/// u8 and u16 rgb, rgba, grey, packed without loss (Deflate); the orientation as a tag. Errors:
/// unsupported (format, dtype, build without libtiff), invalid_argument (not an image), no_memory.
Result<std::vector<std::byte>> encode_tiff(const Tensor& image);
/// u8 rgb, bgr (24 bits), rgba, bgra (32 bits with masks), grey (a palette). Errors: unsupported
/// (format, dtype; an orientation other than upright, which BMP cannot hold), invalid_argument (not
/// an image, a file above 4 GiB).
Result<std::vector<std::byte>> encode_bmp(const Tensor& image);

struct SaveOptions {
  JpegOptions jpeg;
  PngOptions png;
  WebpOptions webp;
};
/// encode_* by the kind of file. Errors: also unsupported (a kind that is not written: gif).
Result<std::vector<std::byte>> encode_image(const Tensor& image, ImageFileType type,
                                            const SaveOptions& options = {});
/// encode_image and write_file by the extension of the name, in letters of either case. Errors:
/// also invalid_argument (an extension that is no image's; the message names it and those that
/// are written).
Status save_image(const Tensor& image, const std::string& path, const SaveOptions& options = {});

/// encode_* and write_file.
Status save_jpeg(const Tensor& image, const std::string& path, const JpegOptions& options = {});
Status save_png(const Tensor& image, const std::string& path, const PngOptions& options = {});

}  // namespace halyard
HALYARD_EXPORTS_END
