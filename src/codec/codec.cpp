// SPDX-License-Identifier: Apache-2.0
// Entry points of the codec: they recognize the file type, check and complete the request, and set
// the labels of the caller's tensor once the pixels are there. The decoders are in jpeg/, png/ and
// formats/.
#include "halyard/codec.h"

#include <utility>
#include <variant>

#include "base/text/format_error.h"
#include "codec/cancel.h"
#include "codec/exif.h"
#include "codec/formats/file_format.h"
#include "codec/jpeg/jpeg_decode.h"
#include "codec/jpeg/jpeg_header.h"
#include "codec/jpeg/jpeg_scans.h"
#include "codec/limits.h"
#include "codec/png/png_decode.h"
#include "codec/png/png_header.h"
#include "halyard/trace.h"

namespace halyard {
namespace {

using codec::FormatHeader;
using codec::JpegHeader;
using codec::PngHeader;

struct Source {
  ImageFileInfo info;
  std::variant<JpegHeader, PngHeader, FormatHeader> header;
};

Result<Source> read_header(std::span<const std::byte> file, const DecodeLimits& limits) {
  Source source;
  const auto type = image_file_type(file);
  if (!type) {
    return fail(Errc::malformed, "file must be JPEG, PNG, WebP, TIFF, BMP or GIF", "{} bytes",
                file.size());
  }
  if (type == ImageFileType::jpeg) {
    HALYARD_TRY(const JpegHeader header, codec::parse_jpeg_header(file, limits));
    source.info = header.info;
    source.header = header;
    source.info.exif_orientation = codec::exif_orientation(header.exif);
  } else if (type == ImageFileType::png) {
    HALYARD_TRY(const PngHeader header, codec::parse_png_header(file, limits));
    source.info = header.info;
    source.header = header;
    source.info.exif_orientation = codec::exif_orientation_of_tiff(header.exif);
  } else {
    HALYARD_TRY(const FormatHeader header, codec::format_of(*type)->parse(file, limits));
    source.info = header.info;
    source.header = header;
  }
  source.info.orientation = codec::orientation_of_tag(source.info.exif_orientation);
  return source;
}

Status check_length(const Source& source, std::size_t file_bytes) {
  if (const auto* jpeg = std::get_if<JpegHeader>(&source.header)) {
    return codec::check_jpeg_length(*jpeg);
  }
  const auto* png = std::get_if<PngHeader>(&source.header);
  return png != nullptr ? codec::check_png_length(*png, file_bytes) : Status();
}

// Bytes of a decoded image, at most 2^62: width and height are below 2^31.
std::size_t decoded_bytes(const ImageFileInfo& file, PixelFormat format, DType dtype) {
  const FormatInfo& row = info(format);
  const std::size_t element = size_of(dtype);
  if (row.model != ColorModel::yuv) return file.width * file.height * row.channels * element;
  const std::size_t columns = (file.width + (1U << row.chroma_shift_x) - 1) >> row.chroma_shift_x;
  const std::size_t rows = (file.height + (1U << row.chroma_shift_y) - 1) >> row.chroma_shift_y;
  return (file.width * file.height + 2 * columns * rows) * element;
}

// Memory that the decoder of this file holds for the whole image, beside its pixels.
std::size_t working_bytes(const Source& source, std::span<const std::byte> file) {
  constexpr std::size_t block_bytes = 128;  // 64 coefficients of 16 bits
  if (const auto* jpeg = std::get_if<JpegHeader>(&source.header)) {
    return codec::has_many_scans(file, *jpeg) ? jpeg->blocks() * block_bytes : 0;
  }
  if (const auto* other = std::get_if<FormatHeader>(&source.header)) return other->working_bytes;
  const auto& png = std::get<PngHeader>(source.header);
  if (!png.interlaced) return 0;
  return png.info.width * png.info.height * 4 * (png.info.bit_depth == 16 ? 2 : 1);
}

// All checks of a file that need neither its pixels nor memory.
Status check_work(const Source& source, std::span<const std::byte> file, PixelFormat format,
                  DType dtype, const DecodeLimits& limits) {
  HALYARD_RETURN_IF_ERROR(check_length(source, file.size()));
  HALYARD_RETURN_IF_ERROR(codec::check_bytes(decoded_bytes(source.info, format, dtype),
                                             working_bytes(source, file), file.size(), limits));
  const auto* jpeg = std::get_if<JpegHeader>(&source.header);
  return jpeg != nullptr ? codec::check_jpeg_scans(file, *jpeg, limits) : Status();
}

Status check_target(const Source& source, PixelFormat format, DType dtype) {
  const auto* jpeg = std::get_if<JpegHeader>(&source.header);
  if (jpeg != nullptr ? !codec::serves(*jpeg, format) : !codec::png_serves(format)) {
    return fail(Errc::unsupported, "options.format is not available for this file",
                "{} requested; a {} file whose native format is {}", to_string(format),
                to_string(source.info.type), to_string(source.info.native_format));
  }
  if (jpeg != nullptr ? dtype != DType::u8 : !codec::png_serves(dtype)) {
    return fail(Errc::unsupported,
                jpeg != nullptr ? "JPEG decodes to u8 tensors only"
                                : "PNG, WebP, TIFF, BMP and GIF decode to u8, i8, u16 and f32 "
                                  "tensors only",
                "destination is {}", to_string(dtype));
  }
  return {};
}

// Colorimetry of decoded samples in `format`: YCbCr as in JFIF, RGB as sRGB, grey in full range.
Colorimetry colorimetry_of(PixelFormat format) {
  const ColorModel model = info(format).model;
  if (model == ColorModel::grey) return {.range = ColorRange::full};
  Colorimetry out = Colorimetry::jpeg();
  if (model == ColorModel::rgb) out.encoding = ColorEncoding::unknown;
  return out;
}

Status decode_pixels(const Source& source, std::span<const std::byte> file, PixelFormat format,
                     const LoadOptions& options, const TensorMap& map) {
  if (const auto* jpeg = std::get_if<JpegHeader>(&source.header))
    return codec::decode_jpeg(file, *jpeg, format, map, options.limits);
  if (const auto* other = std::get_if<FormatHeader>(&source.header)) {
    codec::RowSink sink(map, format);
    return codec::format_of(source.info.type)->decode(file, *other, sink);
  }
  // check_bytes() has verified that max_bytes is not below the bytes of the pixels.
  const std::size_t spare_bytes =
      options.limits.max_bytes - decoded_bytes(source.info, format, map.layout().dtype);
  return codec::decode_png(file, std::get<PngHeader>(source.header), format, map, spare_bytes);
}

Status decode(const Source& source, std::span<const std::byte> file, PixelFormat format,
              const LoadOptions& options, Tensor& into) {
  trace::Span span("codec.decode");
  span.arg("width", source.info.width).arg("height", source.info.height);
  span.arg("format", to_string(format)).arg("bytes", file.size());
  HALYARD_TRY(const TensorMap map, into.map(Access::write));
  const codec::CancelScope scope(&options.is_cancelled);
  const Status decoded = decode_pixels(source, file, format, options, map);
  // A decoder that is stopped inside its callbacks may report another error.
  if (scope.was_cancelled()) return codec::cancelled_error();
  HALYARD_RETURN_IF_ERROR(decoded);
  into.set_colorimetry(colorimetry_of(format));
  into.set_orientation(source.info.orientation);
  return {};
}

Result<Tensor> labelled(const Tensor& destination, const ImageFileInfo& info, PixelFormat format) {
  const bool fits = destination.format() == format && destination.width() == info.width &&
                    destination.height() == info.height;
  if (fits) return destination;
  return destination.reconfigured(info.width, info.height, format);
}

}  // namespace

Result<ImageFileInfo> peek(std::span<const std::byte> file, const DecodeLimits& limits) {
  trace::Span span("codec.peek");
  span.arg("bytes", file.size());
  HALYARD_TRY(const Source source, read_header(file, limits));
  return source.info;
}

Result<ImageFileInfo> load_into(Tensor& destination, std::span<const std::byte> file,
                                const LoadOptions& options) {
  trace::Span span("codec.load_into");
  if (destination.is_empty()) {
    return fail(Errc::invalid_argument, "destination must have memory; load_image makes its own");
  }
  HALYARD_TRY(const Source source, read_header(file, options.limits));
  const PixelFormat format = options.format.value_or(source.info.native_format);
  HALYARD_RETURN_IF_ERROR(check_target(source, format, destination.dtype()));
  HALYARD_RETURN_IF_ERROR(check_work(source, file, format, destination.dtype(), options.limits));
  HALYARD_TRY(Tensor image, labelled(destination, source.info, format));
  HALYARD_RETURN_IF_ERROR(decode(source, file, format, options, image));
  destination = std::move(image);
  return source.info;
}

Result<Tensor> load_image(std::span<const std::byte> file, const LoadOptions& options) {
  trace::Span span("codec.load_image");
  HALYARD_TRY(const Source source, read_header(file, options.limits));
  const PixelFormat format = options.format.value_or(source.info.native_format);
  HALYARD_RETURN_IF_ERROR(check_target(source, format, DType::u8));
  HALYARD_RETURN_IF_ERROR(check_work(source, file, format, DType::u8, options.limits));
  HALYARD_TRY(Tensor image, Tensor::create_image(source.info.width, source.info.height, format,
                                                 DType::u8, options.memory));
  HALYARD_RETURN_IF_ERROR(decode(source, file, format, options, image));
  return image;
}

Result<Tensor> load_image(const std::string& path, const LoadOptions& options) {
  HALYARD_TRY(const std::vector<std::byte> file, read_file(path));
  if (file.empty()) return fail(Errc::invalid_argument, "path names an empty file", "{}", path);
  auto image = load_image(std::span<const std::byte>(file), options);
  if (image) return image;
  // Add the path to the error.
  const Error& error = image.error();
  return make_error(error.code, error.what,
                    error.detail ? fmt::format("{}: {}", path, *error.detail) : path,
                    error.os_errno);
}

}  // namespace halyard
