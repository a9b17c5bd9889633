// SPDX-License-Identifier: Apache-2.0
// Image: an image as a message of a camera, in the words of sensor_msgs/Image.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "halyard/colorimetry.h"
#include "halyard/export.h"
#include "halyard/format.h"
#include "halyard/geometry.h"
#include "halyard/result.h"
#include "halyard/sensor_message.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

class TensorPool;

/// What the bytes of an image are. Values are those of the byte in ImageMetadata.
enum class ImageEncoding : std::uint8_t {
  mono8 = 0,
  mono16 = 1,
  rgb8 = 2,
  bgr8 = 3,
  rgba8 = 4,
  bgra8 = 5,
  yuv422 = 6,   ///< U Y V Y
  mono32f = 7,  ///< "32FC1"
  rgb32f = 8,   ///< "32FC3"
  bayer_rggb8 = 9,
  depth16 = 10,  ///< "16UC1"
  bayer_bggr8 = 11,
  bayer_gbrg8 = 12,
  bayer_grbg8 = 13,
  yuv422_yuy2 = 14,  ///< Y U Y V
  nv12 = 15,
  nv21 = 16,
  nv24 = 17,
  nv16 = 18,
  i420 = 19,
  planar_rgb8 = 20,
  planar_rgba8 = 21,
  rgb16 = 22,
  bgr16 = 23,
  rgba16 = 24,
  bgra16 = 25,
  bayer_rggb16 = 26,
  bayer_bggr16 = 27,
  bayer_gbrg16 = 28,
  bayer_grbg16 = 29,
  yvyu = 30,
  vyuy = 31,
};

/// One row of the table of encodings.
struct ImageEncodingInfo {
  ImageEncoding encoding;
  std::string_view name;  ///< sensor_msgs/image_encodings' where it has the encoding
  PixelFormat format;
  DType dtype;
};
/// All rows, in the order of the enumerators.
std::span<const ImageEncodingInfo> all_encodings() noexcept;
/// Null for a foreign value.
const ImageEncodingInfo* encoding_info(ImageEncoding encoding) noexcept;
/// "rgb8", "32FC1", "yuv422_yuy2"; "unknown" for a foreign value.
std::string_view to_string(ImageEncoding encoding) noexcept;
/// Accepts the names of to_string, those of the enumerators and sensor_msgs' "uyvy", "yuyv" and
/// "8UC1", in any case.
std::optional<ImageEncoding> encoding_from_string(std::string_view name) noexcept;
/// The first encoding of these samples; mono16, not depth16, for 16 bits of grey.
std::optional<ImageEncoding> encoding_of(PixelFormat format, DType dtype) noexcept;

/// Where a plane lies.
struct ImagePlaneLayout {
  std::int64_t offset_bytes = 0;   ///< from the tensor's first byte; may be negative
  std::uint64_t stride_bytes = 0;  ///< between rows
};

/// What travels beside the tensor of an image. Plain bytes, little endian.
struct ImageMetadata {
  SensorHeader header;
  std::uint32_t width = 0;   ///< pixels, 1..65535
  std::uint32_t height = 0;  ///< rows, 1..65535
  ImageEncoding encoding = ImageEncoding::rgb8;
  std::uint8_t plane_count = 0;  ///< planes in use: 1 packed and planar, 2 NV12 and alike, 3 I420
  Colorimetry colorimetry;
  std::uint8_t reserved[2] = {};
  std::array<ImagePlaneLayout, 3> planes{};  ///< zeros where not in use
  std::uint64_t plane_stride_bytes = 0;      ///< between the colour planes of planar RGB(A), else 0
};
static_assert(sizeof(ImageMetadata) == 112 && alignof(ImageMetadata) == 8);
static_assert(offsetof(ImageMetadata, width) == 40 && offsetof(ImageMetadata, height) == 44);
static_assert(offsetof(ImageMetadata, encoding) == 48 &&
              offsetof(ImageMetadata, colorimetry) == 50);
static_assert(offsetof(ImageMetadata, planes) == 56 &&
              offsetof(ImageMetadata, plane_stride_bytes) == 104);

/// An image in one buffer. tensor() is an image that Processor::convert() takes as it is.
class Image : public SensorMessage<ImageMetadata> {
 public:
  /// An image from the default pool, at the pitch of Tensor::create_image(). Its pixels are any.
  /// Errors: invalid_argument (a side outside 1..65535, a foreign encoding), those of
  /// default_pool() and TensorPool::alloc_image().
  static Result<Image> create(std::size_t width, std::size_t height, ImageEncoding encoding);
  /// The same from `pool`, whose receivers map its memory; `stride_bytes` 0: the usual pitch.
  static Result<Image> create_on(const std::shared_ptr<TensorPool>& pool, std::size_t width,
                                 std::size_t height, ImageEncoding encoding,
                                 std::size_t stride_bytes = 0);
  /// A tensor as a message, without a copy: an image of the encoding's format, or a tensor of its
  /// dtype and shape ([H, W] and [H, W, 1] for one channel). Keeps strides and colorimetry. Errors:
  /// invalid_argument (another dtype, format or shape; a foreign encoding), unsupported (planes in
  /// several buffers or not linear; strides that no image has).
  static Result<Image> wrap(const Tensor& tensor, ImageEncoding encoding);
  /// The same for an image, whose format and dtype say the encoding. Errors: also unsupported
  /// (no encoding has them).
  static Result<Image> wrap(const Tensor& image);
  /// A received message: the image that `metadata` describes in the buffer of `tensor`. Takes any
  /// bytes. Errors: malformed (a field that no image has), corrupt (a plane leaves the buffer,
  /// planes overlap, a stride is too small, the tensor has another dtype), unsupported (the buffer
  /// is not linear).
  static Result<Image> from_parts(const Tensor& tensor, const ImageMetadata& metadata);
  /// The same where a tensor that is an image keeps its own planes: topics copy what lies in no
  /// pool, and rows may lie closer then. Errors: also corrupt (an image of another size, format or
  /// dtype).
  static Result<Image> from_frame(Tensor tensor, const ImageMetadata& metadata);

  std::size_t width() const noexcept { return metadata_.width; }
  std::size_t height() const noexcept { return metadata_.height; }
  ImageEncoding encoding() const noexcept { return metadata_.encoding; }
  /// Bytes between rows of the first plane.
  std::size_t step() const noexcept { return metadata_.planes[0].stride_bytes; }
  /// Samples of 16 and 32 bits are in the order of this machine.
  static constexpr bool is_bigendian() noexcept { return std::endian::native == std::endian::big; }
  /// Samples stored per pixel of packed encodings (1..4; 2 for 4:2:2); 3 for YUV in planes.
  std::size_t channels() const noexcept;
  /// Bytes of a pixel of packed encodings (4:2:2: of half a pair), 0 where it lies in planes.
  std::size_t bytes_per_pixel() const noexcept;
  PixelFormat format() const noexcept { return encoding_info(encoding())->format; }
  const Colorimetry& colorimetry() const noexcept { return tensor_.colorimetry(); }
  void set_colorimetry(const Colorimetry& colorimetry) noexcept;

  /// The bytes of a pixel, valid as long as data(). Maps anew each time: for many pixels use
  /// tensor().map() or data(). Errors: invalid_argument (outside the image), unsupported (pixels
  /// that lie in planes), those of data().
  Result<std::span<const std::byte>> pixel(std::size_t x, std::size_t y) const;
  /// `value`: bytes_per_pixel() bytes. Errors: also invalid_argument (another length), permission.
  Status set_pixel(std::size_t x, std::size_t y, std::span<const std::byte> value);
  /// Gives all pixels one value: bytes_per_pixel() bytes, for packed 4:2:2 the four samples of a
  /// pair, for YUV in planes one sample each of Y, Cb and Cr, for planar RGB(A) one of each plane.
  /// Errors: invalid_argument (another length), those of Tensor::map().
  Status fill(std::span<const std::byte> value);
  /// A part of the image that shares its bytes. Errors: those of Tensor::slice(): a region that
  /// is empty or outside; a corner at an odd position of a subsampled or Bayer encoding.
  Result<Image> roi(const Region& region) const;
  /// The same part copied, without gaps between rows, planes one behind the other.
  Result<std::vector<std::byte>> copy_roi(const Region& region) const;

 private:
  using SensorMessage::SensorMessage;
  static Result<Image> over(Tensor&& image, ImageEncoding encoding,
                            const SensorHeader& header = {});
  Status check_pixel(std::size_t x, std::size_t y) const;
};

template <>
struct MessageFrame<Image> : SensorFrame<Image, ImageMetadata> {
  static constexpr std::string_view name = "halyard.Image";
};

}  // namespace halyard
HALYARD_EXPORTS_END
