// SPDX-License-Identifier: Apache-2.0
// Image: a camera image as a message, with the names of sensor_msgs/Image.
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

/// Encoding of the bytes of an image. The value is stored in ImageMetadata.
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
  std::string_view name;  ///< the name in sensor_msgs/image_encodings, if it has the encoding
  PixelFormat format;
  DType dtype;
};
/// All rows, in the order of the enumerators.
std::span<const ImageEncodingInfo> all_encodings() noexcept;
/// Null if the value is not an enumerator.
const ImageEncodingInfo* encoding_info(ImageEncoding encoding) noexcept;
/// "rgb8", "32FC1", "yuv422_yuy2"; "unknown" if the value is not an enumerator.
std::string_view to_string(ImageEncoding encoding) noexcept;
/// Accepts the names of to_string(), those of the enumerators and sensor_msgs' "uyvy", "yuyv" and
/// "8UC1", in any letter case.
std::optional<ImageEncoding> encoding_from_string(std::string_view name) noexcept;
/// The first encoding with this format and dtype; mono16, not depth16, for 16-bit grey.
std::optional<ImageEncoding> encoding_of(PixelFormat format, DType dtype) noexcept;

/// Position of a plane.
struct ImagePlaneLayout {
  std::int64_t offset_bytes = 0;   ///< from the tensor's first byte; may be negative
  std::uint64_t stride_bytes = 0;  ///< between rows
};

/// Metadata that is sent with the tensor of an image. Plain bytes, little endian.
struct ImageMetadata {
  SensorHeader header;
  std::uint32_t width = 0;   ///< pixels, 1..65535
  std::uint32_t height = 0;  ///< rows, 1..65535
  ImageEncoding encoding = ImageEncoding::rgb8;
  std::uint8_t plane_count = 0;  ///< planes in use: 1 packed and planar, 2 NV12 and similar, 3 I420
  Colorimetry colorimetry;
  std::uint8_t reserved[2] = {};
  std::array<ImagePlaneLayout, 3> planes{};  ///< zeros for unused planes
  std::uint64_t plane_stride_bytes = 0;      ///< between the colour planes of planar RGB(A), else 0
};
static_assert(sizeof(ImageMetadata) == 112 && alignof(ImageMetadata) == 8);
static_assert(offsetof(ImageMetadata, width) == 40 && offsetof(ImageMetadata, height) == 44);
static_assert(offsetof(ImageMetadata, encoding) == 48 &&
              offsetof(ImageMetadata, colorimetry) == 50);
static_assert(offsetof(ImageMetadata, planes) == 56 &&
              offsetof(ImageMetadata, plane_stride_bytes) == 104);

/// An image in one buffer. tensor() is an image that Processor::convert() accepts directly.
class Image : public SensorMessage<ImageMetadata> {
 public:
  /// Creates an image from the default pool, with the stride of Tensor::create_image(). Its pixels
  /// are not initialised. Errors: invalid_argument (a side outside 1..65535, an unknown encoding),
  /// those of default_pool() and TensorPool::alloc_image().
  static Result<Image> create(std::size_t width, std::size_t height, ImageEncoding encoding);
  /// The same from `pool`, whose memory receivers map; `stride_bytes` 0: the stride of
  /// Tensor::create_image().
  static Result<Image> create_on(const std::shared_ptr<TensorPool>& pool, std::size_t width,
                                 std::size_t height, ImageEncoding encoding,
                                 std::size_t stride_bytes = 0);
  /// Wraps a tensor as a message, without a copy: an image of the encoding's format, or a tensor of
  /// its dtype and shape ([H, W] and [H, W, 1] for one channel). Keeps strides and colorimetry.
  /// Errors: invalid_argument (another dtype, format or shape; an unknown encoding), unsupported
  /// (planes in several buffers or not linear; strides that an image cannot have).
  static Result<Image> wrap(const Tensor& tensor, ImageEncoding encoding);
  /// The same for an image whose format and dtype decide the encoding. Errors: also unsupported (no
  /// encoding has them).
  static Result<Image> wrap(const Tensor& image);
  /// Makes an image of a received message: the image that `metadata` describes in the buffer of
  /// `tensor`. The bytes may be hostile. Errors: malformed (a field with an illegal value), corrupt
  /// (a plane extends beyond the buffer, planes overlap, a stride is too small, the tensor has
  /// another dtype), unsupported (the buffer is not linear).
  static Result<Image> from_parts(const Tensor& tensor, const ImageMetadata& metadata);
  /// The same, but a tensor that is an image keeps its own planes: topics copy tensors that are not
  /// in a pool, and the copy may have smaller strides. Errors: also corrupt (an image of another
  /// size, format or dtype).
  static Result<Image> from_frame(Tensor tensor, const ImageMetadata& metadata);

  std::size_t width() const noexcept { return metadata_.width; }
  std::size_t height() const noexcept { return metadata_.height; }
  ImageEncoding encoding() const noexcept { return metadata_.encoding; }
  /// Bytes between rows of the first plane.
  std::size_t step() const noexcept { return metadata_.planes[0].stride_bytes; }
  /// Samples of 16 and 32 bits have this machine's byte order.
  static constexpr bool is_bigendian() noexcept { return std::endian::native == std::endian::big; }
  /// Samples stored per pixel of packed encodings (1..4; 2 for 4:2:2); 3 for YUV in planes.
  std::size_t channels() const noexcept;
  /// Bytes of a pixel of packed encodings (4:2:2: half of a pair); 0 for encodings in planes.
  std::size_t bytes_per_pixel() const noexcept;
  PixelFormat format() const noexcept { return encoding_info(encoding())->format; }
  const Colorimetry& colorimetry() const noexcept { return tensor_.colorimetry(); }
  void set_colorimetry(const Colorimetry& colorimetry) noexcept;

  /// Returns the bytes of a pixel, valid as long as data(). Each call maps the tensor: for many
  /// pixels use tensor().map() or data(). Errors: invalid_argument (outside the image), unsupported
  /// (an encoding in planes), those of data().
  Result<std::span<const std::byte>> pixel(std::size_t x, std::size_t y) const;
  /// Writes a pixel; `value` has bytes_per_pixel() bytes. Errors: also invalid_argument (another
  /// length), permission.
  Status set_pixel(std::size_t x, std::size_t y, std::span<const std::byte> value);
  /// Sets all pixels to one value: bytes_per_pixel() bytes; for packed 4:2:2 the four samples of a
  /// pair; for YUV in planes one sample each of Y, Cb and Cr; for planar RGB(A) one sample of each
  /// plane. Errors: invalid_argument (another length), those of Tensor::map().
  Status fill(std::span<const std::byte> value);
  /// Returns a part of the image that shares its bytes. Errors: those of Tensor::slice(), for
  /// example a region that is empty or outside, or a corner at an odd position of a subsampled or
  /// Bayer encoding.
  Result<Image> roi(const Region& region) const;
  /// Copies the same part, without gaps between rows, one plane after another.
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
