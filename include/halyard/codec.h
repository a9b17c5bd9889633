// SPDX-License-Identifier: Apache-2.0
// Codec: image files to and from tensors. Pixels keep their stored size and orientation; image.h
// resizes and rotates. The EXIF orientation becomes the tensor's orientation, and is written back
// to the file.
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

/// A kind of image file, and whether this build reads and writes it: WebP, TIFF and GIF need
/// libraries.
struct ImageFileKind {
  ImageFileType type;
  std::string_view name;                         ///< "jpeg"
  std::span<const std::string_view> extensions;  ///< lower case, without the dot
  bool is_read;
  bool is_written;
};
/// One entry for each ImageFileType, in the order of the enumerators.
std::span<const ImageFileKind> image_file_kinds() noexcept;
/// The extensions that this build writes, for messages: ".jpg .jpeg .png .webp".
std::string written_image_extensions();
std::string_view to_string(ImageFileType type) noexcept;
/// Detects the type from the first bytes of a file; 18 are enough. Empty if the type is not known.
std::optional<ImageFileType> image_file_type(std::span<const std::byte> file) noexcept;
/// Finds the type by the extension of a name; letter case is ignored.
std::optional<ImageFileType> image_file_type(std::string_view path) noexcept;

/// Data from the header of an image file. Sizes are as stored, before any orientation.
struct ImageFileInfo {
  ImageFileType type = ImageFileType::jpeg;
  std::size_t width = 0;
  std::size_t height = 0;
  /// Format that loading gives unless LoadOptions::format is set: 4:2:0 nv12, 4:2:2 nv16, 4:4:4
  /// nv24, grey, rgb or rgba. Other chroma samplings give nv12 with averaged chroma; a JPEG that
  /// stores R, G and B gives rgb. A transparent palette or colour of a PNG or GIF, and the alpha of
  /// a WebP, TIFF or BMP give rgba; the alpha of a grey image is dropped. A palette of greys only
  /// (BMP) gives grey.
  PixelFormat native_format = PixelFormat::rgb;
  int bit_depth = 8;         ///< per sample, as stored
  int components = 3;        ///< as stored; a palette counts 3, or 4 with transparency
  bool progressive = false;  ///< progressive JPEG, or interlaced PNG or GIF
  bool palette = false;
  Orientation orientation;   ///< makes the image upright
  int exif_orientation = 0;  ///< the tag's value 1..8, 0: absent or invalid
  Colorimetry colorimetry;
};

/// Limits of one decoding. A file beyond one of them is refused with invalid_argument before pixels
/// are decoded or memory for them is allocated. The message names the limit, its value and the
/// value that the file needs. Raise the named field if the file is legitimate; lower fields for
/// untrusted files.
struct DecodeLimits {
  std::size_t max_width = 65500;
  std::size_t max_height = 65500;
  std::size_t max_pixels = std::size_t{1} << 28;  ///< 268 Mpx
  /// Bytes of the decoded pixels plus the decoder's working memory: the coefficients of a
  /// progressive JPEG (2 bytes per sample), the converted rows of an interlaced PNG, 8 bytes per
  /// pixel of a WebP, the strips or tiles of a TIFF, the indices of a packed BMP. 4 GiB. For other
  /// PNGs the decoder also allocates all rows at once, up to 128 MiB, but only if they fit into
  /// this limit too.
  std::size_t max_bytes = std::size_t{1} << 32;
  /// Max decoded bytes per byte of the file; applies to images above expansion_floor. Blank areas
  /// compress 1000 to 1 and more (PNG: rows 1030 to 1; 1-bit palettes to rgba: 33000 to 1),
  /// photographs and drawings 2 to 200.
  std::size_t max_expansion = 1000;
  /// Decoded bytes up to which max_expansion does not apply, so that blank pages are accepted: rgba
  /// of 8K is 133 MB, an A4 page of 600 dpi with a palette 104 MB. 256 MiB.
  std::size_t expansion_floor = std::size_t{1} << 28;
  /// Max scans of a JPEG. A progressive file has about 10; a file with one scan per coefficient has
  /// 190.
  std::size_t max_scans = 1000;
  /// Max average number of times that the scans of a JPEG visit each block of 8 x 8: the sum over
  /// scans of their blocks, divided by the blocks of the image. Usual progressive files need 5 to
  /// 9. Sums up to 2^25 blocks are accepted for every image size.
  std::size_t max_scan_passes = 24;

  /// Limits of the process: the values above until set_default_decode_limits() changes them.
  /// Thread-safe.
  static DecodeLimits defaults() noexcept;

  friend bool operator==(const DecodeLimits&, const DecodeLimits&) = default;
};

/// Sets the limits of every call that gives none: default LoadOptions, peek(), the C interface and
/// Python. For services, which set them once at start. Thread-safe; running calls keep the limits
/// that they began with.
void set_default_decode_limits(const DecodeLimits& limits) noexcept;

struct LoadOptions {
  /// Unset: the file's native format. JPEG: rgb, bgr, rgba, bgra, grey or its native format;
  /// libjpeg converts the colours (smooth chroma upsampling), as in most other loaders. All other
  /// files: rgb, rgba, bgra, grey.
  std::optional<PixelFormat> format = {};
  Memory memory = Memory::automatic;
  DecodeLimits limits = DecodeLimits::defaults();
  /// Called while pixels are decoded, on the calling thread, so it should be quick: before each row
  /// of a PNG, before each row of MCUs of each scan of a JPEG (again from the first row if the data
  /// has an error), after each 64 KiB of a WebP file, and before each row or strip of other files.
  /// Up to 128 MiB of a PNG are inflated before its first row. If it returns true, the call fails
  /// with `cancelled`. Must not throw. Empty: decoding cannot be cancelled.
  std::function<bool()> is_cancelled = {};
};

/// Reads only the header. Of an animation (WebP, GIF) and of a file with several images (TIFF) it
/// describes the first image. Errors: malformed (not an image file), corrupt (header truncated or
/// contradictory), unsupported (a JPEG that is lossless, arithmetic, hierarchical, 12-bit or CMYK,
/// whose first component is subsampled, or whose height follows the scan; a TIFF that is not grey,
/// palette or RGB with integer samples up to 16 bits; a kind that this build does not read: the
/// message names what to install), invalid_argument (a limit of the size is exceeded; the message
/// has both numbers). Reentrant.
Result<ImageFileInfo> peek(std::span<const std::byte> file,
                           const DecodeLimits& limits = DecodeLimits::defaults());

/// Decodes into the caller's tensor. An image of the right size and format is filled at its own row
/// stride, and its padding is not changed. Any other tensor first gets the file's size and format
/// within its capacity (see Tensor::reconfigured). On an error the tensor keeps its old size and
/// format, but if the file is damaged in the middle, the memory may already hold new pixels. The
/// tensor gets the file's colorimetry (BT.601 full range for the YCbCr of a JPEG, sRGB for rgb) and
/// its orientation (Tensor::orientation), which convert() applies. Errors: those of peek, exhausted
/// (capacity), invalid_argument (any other limit of options.limits), corrupt (data ends early, is
/// damaged, or cannot hold the declared size), unsupported (format or dtype), invalid_argument
/// (empty tensor), cancelled.
/// A JPEG decodes to u8; all others to u8, i8 (value xor 0x80), u16 and f32 (value / 255, or /
/// 65535). 16-bit samples become u8 and i8 by round(value * 255 / 65535), as convert() makes them.
/// Alpha is straight: the colours of a premultiplied TIFF are divided by alpha.
/// Reentrant: the decoder's state is thread-local and reused.
Result<ImageFileInfo> load_into(Tensor& destination, std::span<const std::byte> file,
                                const LoadOptions& options = {});

/// Decodes into a new tensor, as load_into() does.
Result<Tensor> load_image(std::span<const std::byte> file, const LoadOptions& options = {});
/// The same from a file; further errors: not_found, permission, os; invalid_argument (empty file).
Result<Tensor> load_image(const std::string& path, const LoadOptions& options = {});

/// Reads a whole file into memory. It never reads more than max_bytes + 1 bytes; a pipe or device,
/// which has no size, is read until it ends or exceeds max_bytes, and needs up to 64 MiB more
/// memory than its bytes. Errors: not_found, permission, os, invalid_argument (above max_bytes).
Result<std::vector<std::byte>> read_file(const std::string& path,
                                         std::size_t max_bytes = std::size_t{1} << 30);
/// The same from an open descriptor, from its position on; it stays open. `name`: of the source,
/// for errors.
Result<std::vector<std::byte>> read_file(int fd, const std::string& name,
                                         std::size_t max_bytes = std::size_t{1} << 30);
/// Writes a whole file through OutputFile (halyard/output_file.h): the name never refers to a
/// partly written file; a replaced file keeps its permissions, a symbolic link stays a link;
/// devices and pipes are written directly. Errors: those of OutputFile.
Status write_file(const std::string& path, std::span<const std::byte> bytes);

struct JpegOptions {
  int quality = 90;  ///< 1..100
};
struct PngOptions {
  int compression = 6;  ///< 0..9: 0 stores, 1 is fastest, 9 compresses best
};

/// Encodes u8 rgb, rgba, bgr, bgra (alpha is dropped), grey; and nv12, nv16, nv24, i420 without a
/// colour conversion; with any row stride. Pixels are written as stored; an orientation other than
/// upright is written to an EXIF block. Errors: unsupported (format, dtype; a YCbCr image that is
/// not BT.601 full range once resolve() has filled its colorimetry), invalid_argument (not an
/// image, quality, size above 65500), no_memory.
Result<std::vector<std::byte>> encode_jpeg(const Tensor& image, const JpegOptions& options = {});
/// Encodes u8 rgb, rgba, grey; the orientation as in encode_jpeg(). Errors: unsupported (format,
/// dtype), invalid_argument (not an image, compression), no_memory.
Result<std::vector<std::byte>> encode_png(const Tensor& image, const PngOptions& options = {});

struct WebpOptions {
  int quality = 90;  ///< 0..100; for lossless files the compression effort
  bool is_lossless = false;
};

/// Encodes u8 rgb, rgba, bgr, bgra, grey; up to 16383 x 16383. The orientation as in encode_jpeg().
/// Errors: unsupported (format, dtype, build without libwebp), invalid_argument (not an image,
/// quality, size), no_memory.
Result<std::vector<std::byte>> encode_webp(const Tensor& image, const WebpOptions& options = {});
/// Encodes u8 and u16 rgb, rgba, grey with lossless compression (Deflate); the orientation is
/// written as a tag. Errors: unsupported (format, dtype, build without libtiff), invalid_argument
/// (not an image), no_memory.
Result<std::vector<std::byte>> encode_tiff(const Tensor& image);
/// Encodes u8 rgb, bgr (24 bits), rgba, bgra (32 bits with masks), grey (a palette). Errors:
/// unsupported (format, dtype; an orientation other than upright, which BMP cannot hold),
/// invalid_argument (not an image, a file above 4 GiB).
Result<std::vector<std::byte>> encode_bmp(const Tensor& image);

struct SaveOptions {
  JpegOptions jpeg;
  PngOptions png;
  WebpOptions webp;
};
/// Calls the encode function of the file type. Errors: also unsupported (a type that is not
/// written: gif).
Result<std::vector<std::byte>> encode_image(const Tensor& image, ImageFileType type,
                                            const SaveOptions& options = {});
/// encode_image() and write_file(); the extension of the name selects the type, letter case is
/// ignored. Errors: also invalid_argument (not an image extension; the message names it and those
/// that are written).
Status save_image(const Tensor& image, const std::string& path, const SaveOptions& options = {});

/// encode_jpeg() or encode_png(), then write_file().
Status save_jpeg(const Tensor& image, const std::string& path, const JpegOptions& options = {});
Status save_png(const Tensor& image, const std::string& path, const PngOptions& options = {});

}  // namespace halyard
HALYARD_EXPORTS_END
