// SPDX-License-Identifier: Apache-2.0
// WebP encoding with libwebp; an orientation is stored in a container, with libwebp's muxer.
#include "base/text/format_error.h"
#include "codec/exif.h"
#include "codec/formats/file_format.h"
#include "halyard/trace.h"

#if HALYARD_HAVE_WEBP
#include <webp/encode.h>
#include <webp/mux.h>

#include <memory>

namespace halyard {
namespace {

struct WebpDeleter {
  void operator()(WebPPicture* image) const noexcept { WebPPictureFree(image); }
};

struct Writer {
  WebPMemoryWriter memory{};
  Writer() { WebPMemoryWriterInit(&memory); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() { WebPMemoryWriterClear(&memory); }
};

using Import = int (*)(WebPPicture*, const std::uint8_t*, int);

Import import_of(PixelFormat format) {
  switch (format) {
    case PixelFormat::rgb:
      return WebPPictureImportRGB;
    case PixelFormat::rgba:
      return WebPPictureImportRGBA;
    case PixelFormat::bgr:
      return WebPPictureImportBGR;
    case PixelFormat::bgra:
      return WebPPictureImportBGRA;
    default:
      return nullptr;
  }
}

Error no_webp_memory() {
  return fail(Errc::no_memory, "memory for the WebP codec cannot be allocated");
}

/// Grey is written as three equal channels.
Status import(WebPPicture& webp, const Tensor& image, const MappedPlane& plane) {
  const auto* rows = reinterpret_cast<const std::uint8_t*>(plane.data);
  if (const Import function = import_of(*image.format()))
    return function(&webp, rows, static_cast<int>(plane.stride_bytes)) != 0
               ? Status()
               : Status(no_webp_memory());
  std::vector<std::uint8_t> colors(image.width() * image.height() * 3);
  for (std::size_t y = 0; y < image.height(); ++y)
    for (std::size_t x = 0; x < image.width() * 3; ++x)
      colors[y * image.width() * 3 + x] = rows[y * plane.stride_bytes + x / 3];
  const int stride = static_cast<int>(image.width() * 3);
  return WebPPictureImportRGB(&webp, colors.data(), stride) != 0 ? Status()
                                                                 : Status(no_webp_memory());
}

Result<std::vector<std::byte>> with_exif(const WebPMemoryWriter& bare, Orientation orientation) {
  const codec::ExifBlock block = codec::exif_block(orientation);
  const WebPData image{bare.mem, bare.size};
  const WebPData exif{block.data() + codec::exif_prefix_bytes,
                      block.size() - codec::exif_prefix_bytes};
  const std::unique_ptr<WebPMux, void (*)(WebPMux*)> mux(WebPMuxNew(), WebPMuxDelete);
  WebPData whole{};
  if (!mux || WebPMuxSetImage(mux.get(), &image, 0) != WEBP_MUX_OK ||
      WebPMuxSetChunk(mux.get(), "EXIF", &exif, 0) != WEBP_MUX_OK ||
      WebPMuxAssemble(mux.get(), &whole) != WEBP_MUX_OK) {
    return no_webp_memory();
  }
  const auto* first = reinterpret_cast<const std::byte*>(whole.bytes);
  std::vector<std::byte> out(first, first + whole.size);
  WebPDataClear(&whole);
  return out;
}

Status check_webp_image(const Tensor& image, const WebpOptions& options) {
  if (!image.is_image()) return fail(Errc::invalid_argument, "image must be an image tensor");
  const PixelFormat format = *image.format();
  if (image.dtype() != DType::u8 || (import_of(format) == nullptr && format != PixelFormat::grey))
    return fail(Errc::unsupported, "WebP is written from u8 rgb, rgba, bgr, bgra and grey",
                "image is {} {}", to_string(image.dtype()), to_string(format));
  if (options.quality < 0 || options.quality > 100)
    return fail(Errc::invalid_argument, "options.quality must be 0 to 100", "{}", options.quality);
  if (image.width() > WEBP_MAX_DIMENSION || image.height() > WEBP_MAX_DIMENSION)
    return fail(Errc::invalid_argument, "WebP holds at most 16383 x 16383 pixels", "{} x {}",
                image.width(), image.height());
  return {};
}

}  // namespace

Result<std::vector<std::byte>> encode_webp(const Tensor& image, const WebpOptions& options) {
  trace::Span span("codec.encode_webp");
  HALYARD_RETURN_IF_ERROR(check_webp_image(image, options));
  span.arg("width", image.width()).arg("height", image.height());
  WebPConfig config{};
  WebPPicture webp{};
  if (WebPConfigInit(&config) == 0 || WebPPictureInit(&webp) == 0)
    return fail(Errc::unsupported, "libwebp has an incompatible version");
  const std::unique_ptr<WebPPicture, WebpDeleter> owner(&webp);
  config.quality = static_cast<float>(options.quality);
  config.lossless = options.is_lossless ? 1 : 0;
  config.exact = 1;  // keep the colours of transparent pixels
  webp.use_argb = config.lossless;
  webp.width = static_cast<int>(image.width());
  webp.height = static_cast<int>(image.height());
  Writer writer;
  webp.writer = WebPMemoryWrite;
  webp.custom_ptr = &writer.memory;
  HALYARD_TRY(const TensorMap map, image.map(Access::read));
  HALYARD_RETURN_IF_ERROR(import(webp, image, map.plane(0)));
  if (WebPEncode(&config, &webp) == 0) {
    if (webp.error_code == VP8_ENC_ERROR_OUT_OF_MEMORY) return no_webp_memory();
    return fail(Errc::invalid_argument, "the image cannot be written as WebP", "error {}",
                static_cast<int>(webp.error_code));
  }
  if (codec::tag_of(image.orientation()) != 1) return with_exif(writer.memory, image.orientation());
  const auto* first = reinterpret_cast<const std::byte*>(writer.memory.mem);
  return std::vector<std::byte>(first, first + writer.memory.size);
}

}  // namespace halyard

#else

namespace halyard {

Result<std::vector<std::byte>> encode_webp(const Tensor&, const WebpOptions&) {
  return codec::missing_library("WebP", "libwebp", "libwebp-dev");
}

}  // namespace halyard

#endif
