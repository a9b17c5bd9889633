// SPDX-License-Identifier: Apache-2.0
// TIFF encoding with libtiff: one image in strips, Deflate after a horizontal predictor.
#include "base/text/format_error.h"
#include "codec/exif.h"
#include "codec/formats/file_format.h"
#include "codec/formats/tiff_file.h"
#include "halyard/trace.h"

#if HALYARD_HAVE_TIFF

namespace halyard {
namespace {

bool set_fields(TIFF* tiff, const Tensor& image) {
  const FormatInfo& format = info(*image.format());
  const auto channels = static_cast<int>(format.channels);
  const std::uint16_t alpha = EXTRASAMPLE_UNASSALPHA;
  return TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(image.width())) == 1 &&
         TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(image.height())) == 1 &&
         TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, channels) == 1 &&
         TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, image.dtype() == DType::u16 ? 16 : 8) == 1 &&
         TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC,
                      channels == 1 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB) == 1 &&
         TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) == 1 &&
         TIFFSetField(tiff, TIFFTAG_ORIENTATION, codec::tag_of(image.orientation())) == 1 &&
         TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE) == 1 &&
         TIFFSetField(tiff, TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL) == 1 &&
         TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, TIFFDefaultStripSize(tiff, 0)) == 1 &&
         (channels != 4 || TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &alpha) == 1);
}

/// libtiff changes the row in place, so each row is copied.
bool write_tiff_rows(TIFF* tiff, const MappedPlane& plane) {
  std::vector<std::byte> row(plane.row_bytes);
  for (std::size_t y = 0; y < plane.rows; ++y) {
    const std::byte* from = plane.data + y * plane.stride_bytes;
    row.assign(from, from + plane.row_bytes);
    if (TIFFWriteScanline(tiff, row.data(), static_cast<std::uint32_t>(y), 0) != 1) return false;
  }
  return true;
}

}  // namespace

Result<std::vector<std::byte>> encode_tiff(const Tensor& image) {
  trace::Span span("codec.encode_tiff");
  if (!image.is_image()) return fail(Errc::invalid_argument, "image must be an image tensor");
  const PixelFormat format = *image.format();
  const bool fits =
      (image.dtype() == DType::u8 || image.dtype() == DType::u16) &&
      (format == PixelFormat::rgb || format == PixelFormat::rgba || format == PixelFormat::grey);
  if (!fits) {
    return fail(Errc::unsupported, "TIFF is written from u8 and u16 rgb, rgba and grey",
                "image is {} {}", to_string(image.dtype()), to_string(format));
  }
  span.arg("width", image.width()).arg("height", image.height());
  HALYARD_TRY(const TensorMap map, image.map(Access::read));
  codec::TiffFile file;
  if (file.get() == nullptr || !set_fields(file.get(), image) ||
      !write_tiff_rows(file.get(), map.plane(0)) || TIFFFlush(file.get()) != 1) {
    const Error told = file.error();
    return fail(Errc::invalid_argument, "the image cannot be written as TIFF", "{}",
                told.detail ? *told.detail : "");
  }
  file.close();
  return file.take();
}

}  // namespace halyard

#else

namespace halyard {

Result<std::vector<std::byte>> encode_tiff(const Tensor&) {
  return codec::missing_library("TIFF", "libtiff", "libtiff-dev");
}

}  // namespace halyard

#endif
