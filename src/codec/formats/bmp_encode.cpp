// SPDX-License-Identifier: Apache-2.0
// Writes BMP files, and chooses the encoder for a type of file.
#include <limits>

#include "base/text/format_error.h"
#include "codec/exif.h"
#include "codec/formats/bmp_header.h"
#include "halyard/trace.h"

namespace halyard {
namespace {

using codec::bmp_file_header_bytes;
using codec::bmp_info_bytes;

constexpr std::uint32_t v4_bytes = 108;  // the first header version that has an alpha mask

class BmpBytes {
 public:
  void put(std::uint32_t value, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      out.push_back(static_cast<std::byte>(value >> (8 * i)));
  }
  std::vector<std::byte> out;
};

struct Shape {
  std::size_t channels;   ///< channels of the file's pixels: 1, 3, 4
  std::size_t row_bytes;  ///< a multiple of 4
  std::uint32_t header;
  std::uint32_t palette;  ///< in bytes
};

Shape shape_of(const Tensor& image) {
  const std::size_t channels = info(*image.format()).channels;
  return {channels, (image.width() * channels + 3) / 4 * 4,
          channels == 4 ? v4_bytes : bmp_info_bytes, channels == 1 ? 1024U : 0U};
}

void put_headers(BmpBytes& to, const Tensor& image, const Shape& shape) {
  const auto data_at =
      static_cast<std::uint32_t>(bmp_file_header_bytes) + shape.header + shape.palette;
  const auto data = static_cast<std::uint32_t>(shape.row_bytes * image.height());
  to.put('B' | 'M' << 8, 2);
  to.put(data_at + data, 4);
  to.put(0, 4);
  to.put(data_at, 4);
  to.put(shape.header, 4);
  to.put(static_cast<std::uint32_t>(image.width()), 4);
  to.put(static_cast<std::uint32_t>(image.height()), 4);  // rows from the bottom up
  to.put(1, 2);
  to.put(static_cast<std::uint32_t>(shape.channels * 8), 2);
  to.put(shape.channels == 4 ? 3 : 0, 4);  // masks, or none
  to.put(data, 4);
  to.put(2835, 4);  // 72 dpi
  to.put(2835, 4);
  to.put(shape.channels == 1 ? 256 : 0, 4);
  to.put(0, 4);
  if (shape.channels == 4) {
    for (const std::uint32_t mask : {0xFF0000U, 0xFF00U, 0xFFU, 0xFF000000U})
      to.put(mask, 4);
    to.put('s' << 24 | 'R' << 16 | 'G' << 8 | 'B', 4);
    for (int i = 0; i < 12; ++i)
      to.put(0, 4);  // end points and gammas, which sRGB does not need
  }
  for (std::uint32_t grey = 0; grey < shape.palette / 4; ++grey)
    to.put(grey << 16 | grey << 8 | grey, 4);
}

void put_row(BmpBytes& to, const std::byte* row, const Tensor& image, const Shape& shape) {
  const PixelFormat format = *image.format();
  const bool is_swapped = format == PixelFormat::rgb || format == PixelFormat::rgba;
  const std::size_t end = to.out.size() + shape.row_bytes;
  for (std::size_t x = 0; x < image.width(); ++x, row += shape.channels) {
    if (shape.channels == 1) {
      to.out.push_back(row[0]);
      continue;
    }
    to.out.push_back(row[is_swapped ? 2 : 0]);
    to.out.push_back(row[1]);
    to.out.push_back(row[is_swapped ? 0 : 2]);
    if (shape.channels == 4) to.out.push_back(row[3]);
  }
  to.out.resize(end);
}

Status check_bmp_image(const Tensor& image) {
  if (!image.is_image()) return fail(Errc::invalid_argument, "image must be an image tensor");
  const PixelFormat format = *image.format();
  const bool fits = format == PixelFormat::rgb || format == PixelFormat::rgba ||
                    format == PixelFormat::bgr || format == PixelFormat::bgra ||
                    format == PixelFormat::grey;
  if (image.dtype() != DType::u8 || !fits)
    return fail(Errc::unsupported, "BMP is written from u8 rgb, rgba, bgr, bgra and grey",
                "image is {} {}", to_string(image.dtype()), to_string(format));
  if (codec::tag_of(image.orientation()) != 1)
    return fail(Errc::unsupported, "BMP stores no orientation: make the image upright first");
  const Shape shape = shape_of(image);
  constexpr std::size_t maximum = std::numeric_limits<std::int32_t>::max();
  if (image.width() > maximum / 4 || image.height() > maximum / shape.row_bytes)
    return fail(Errc::invalid_argument, "BMP holds at most 2 GiB", "{} x {}", image.width(),
                image.height());
  return {};
}

}  // namespace

Result<std::vector<std::byte>> encode_bmp(const Tensor& image) {
  trace::Span span("codec.encode_bmp");
  HALYARD_RETURN_IF_ERROR(check_bmp_image(image));
  span.arg("width", image.width()).arg("height", image.height());
  const Shape shape = shape_of(image);
  HALYARD_TRY(const TensorMap map, image.map(Access::read));
  const MappedPlane& plane = map.plane(0);
  BmpBytes to;
  to.out.reserve(bmp_file_header_bytes + shape.header + shape.palette +
                 shape.row_bytes * image.height());
  put_headers(to, image, shape);
  for (std::size_t y = image.height(); y-- > 0;)
    put_row(to, plane.data + y * plane.stride_bytes, image, shape);
  return std::move(to.out);
}

Result<std::vector<std::byte>> encode_image(const Tensor& image, ImageFileType type,
                                            const SaveOptions& options) {
  switch (type) {
    case ImageFileType::jpeg:
      return encode_jpeg(image, options.jpeg);
    case ImageFileType::png:
      return encode_png(image, options.png);
    case ImageFileType::webp:
      return encode_webp(image, options.webp);
    case ImageFileType::tiff:
      return encode_tiff(image);
    case ImageFileType::bmp:
      return encode_bmp(image);
    case ImageFileType::gif:
      break;
  }
  return fail(Errc::unsupported, "GIF files cannot be written", "writable: {}",
              written_image_extensions());
}

Status save_image(const Tensor& image, const std::string& path, const SaveOptions& options) {
  const auto type = image_file_type(path);
  if (!type) {
    return fail(Errc::invalid_argument, "path must end in the extension of a writable image",
                "{}, writable: {}", path, written_image_extensions());
  }
  HALYARD_TRY(const auto bytes, encode_image(image, *type, options));
  return write_file(path, bytes);
}

}  // namespace halyard
