// SPDX-License-Identifier: Apache-2.0
// PNG encoding: with one deflate call (png_deflate), or row by row through libspng for very large
// images.
#include <cstdlib>
#include <span>

#include "base/text/format_error.h"
#include "codec/exif.h"
#include "codec/png/png_context.h"
#include "codec/png/png_deflate.h"
#include "halyard/codec.h"
#include "halyard/trace.h"

namespace halyard {
namespace {

// PNG's color type; nullopt if PNG has none for this image.
std::optional<std::uint8_t> color_type(const Tensor& image) {
  if (image.dtype() != DType::u8) return std::nullopt;
  if (image.format() == PixelFormat::grey) return std::uint8_t{SPNG_COLOR_TYPE_GRAYSCALE};
  if (image.format() == PixelFormat::rgb) return std::uint8_t{SPNG_COLOR_TYPE_TRUECOLOR};
  if (image.format() == PixelFormat::rgba) return std::uint8_t{SPNG_COLOR_TYPE_TRUECOLOR_ALPHA};
  return std::nullopt;
}

Error encode_error(int code) {
  if (code == SPNG_EMEM)
    return fail(Errc::no_memory, "memory for the PNG codec cannot be allocated");
  return fail(Errc::invalid_argument, "the image cannot be written as PNG", "{}",
              spng_strerror(code));
}

// `block` must live until encoding begins: libspng reads it then.
int add_exif(spng_ctx* context, Orientation orientation, codec::ExifBlock& block) {
  if (codec::tag_of(orientation) == 1) return SPNG_OK;
  block = codec::exif_block(orientation);
  spng_exif exif{block.size() - codec::exif_prefix_bytes,
                 reinterpret_cast<char*>(block.data()) + codec::exif_prefix_bytes};
  return spng_set_exif(context, &exif);
}

int begin_png(spng_ctx* context, const Tensor& image, std::uint8_t type, int compression) {
  spng_ihdr header{};
  header.width = static_cast<std::uint32_t>(image.width());
  header.height = static_cast<std::uint32_t>(image.height());
  header.bit_depth = 8;
  header.color_type = type;
  codec::ExifBlock exif{};
  int code = spng_set_option(context, SPNG_ENCODE_TO_BUFFER, 1);
  if (code == SPNG_OK) code = spng_set_option(context, SPNG_IMG_COMPRESSION_LEVEL, compression);
  if (code == SPNG_OK) code = spng_set_ihdr(context, &header);
  if (code == SPNG_OK) code = add_exif(context, image.orientation(), exif);
  if (code == SPNG_OK) {
    code = spng_encode_image(context, nullptr, 0, SPNG_FMT_PNG,
                             SPNG_ENCODE_PROGRESSIVE | SPNG_ENCODE_FINALIZE);
  }
  return code;
}

// Returns SPNG_EOI after the last row.
int write_png_rows(spng_ctx* context, const MappedPlane& plane) {
  int code = SPNG_OK;
  for (std::size_t y = 0; y < plane.rows && code == SPNG_OK; ++y) {
    code = spng_encode_row(context, plane.data + y * plane.stride_bytes, plane.row_bytes);
  }
  return code;
}

Result<std::vector<std::byte>> take_buffer(spng_ctx* context) {
  std::size_t size = 0;
  int code = SPNG_OK;
  const std::unique_ptr<void, void (*)(void*)> buffer(spng_get_png_buffer(context, &size, &code),
                                                      std::free);
  if (!buffer) return encode_error(code);
  const std::span bytes(static_cast<const std::byte*>(buffer.get()), size);
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

Result<std::vector<std::byte>> encode_rows(const Tensor& image, const MappedPlane& plane,
                                           std::uint8_t type, int compression) {
  const codec::PngContext context(spng_ctx_new(SPNG_CTX_ENCODER));
  if (!context) return encode_error(SPNG_EMEM);
  int code = begin_png(context.get(), image, type, compression);
  if (code == SPNG_OK) code = write_png_rows(context.get(), plane);
  if (code != SPNG_EOI) return encode_error(code);
  return take_buffer(context.get());
}

}  // namespace

Result<std::vector<std::byte>> encode_png(const Tensor& image, const PngOptions& options) {
  trace::Span span("codec.encode_png");
  if (!image.is_image()) return fail(Errc::invalid_argument, "image must be an image tensor");
  const auto type = color_type(image);
  if (!type) {
    return fail(Errc::unsupported, "PNG is written from u8 rgb, rgba and grey", "image is {} {}",
                to_string(image.dtype()), to_string(*image.format()));
  }
  if (options.compression < 0 || options.compression > 9) {
    return fail(Errc::invalid_argument, "options.compression must be 0 to 9", "{}",
                options.compression);
  }
  span.arg("width", image.width()).arg("height", image.height());
  HALYARD_TRY(const TensorMap map, image.map(Access::read));
  const MappedPlane& plane = map.plane(0);
  if (codec::deflates_png(plane.row_bytes, plane.rows)) {
    return codec::deflate_png(plane, info(*image.format()).channels, {*type, image.orientation()},
                              options.compression);
  }
  return encode_rows(image, plane, *type, options.compression);
}

Status save_png(const Tensor& image, const std::string& path, const PngOptions& options) {
  HALYARD_TRY(const auto bytes, encode_png(image, options));
  return write_file(path, bytes);
}

}  // namespace halyard
