// SPDX-License-Identifier: Apache-2.0
// Files, references and images for the codec's tests.
#include "codec/support.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
// jpeglib.h needs stdio.
#include <jpeglib.h>
#include <spng.h>

namespace halyard::test {
namespace {

Bytes to_bytes(const void* data, std::size_t size) {
  const auto* begin = static_cast<const std::byte*>(data);
  return {begin, begin + size};
}

std::vector<std::uint8_t> texture(unsigned width, unsigned height, unsigned channels) {
  std::vector<std::uint8_t> out(std::size_t{width} * height * channels);
  for (unsigned y = 0; y < height; ++y) {
    for (unsigned x = 0; x < width; ++x) {
      for (unsigned c = 0; c < channels; ++c) {
        const unsigned value = c == 0   ? x * 5 + y * 3 + (x * y) % 23
                               : c == 1 ? x * 7 + 30 + (y / 3 % 2) * 40
                                        : y * 6 + 20 + (x / 5 % 2) * 50;
        out[(std::size_t{y} * width + x) * channels + c] = static_cast<std::uint8_t>(value);
      }
    }
  }
  return out;
}

int channels_of(Stored stored) {
  return stored == Stored::grey ? 1 : stored == Stored::cmyk ? 4 : 3;
}

J_COLOR_SPACE space_of(Stored stored) {
  switch (stored) {
    case Stored::grey:
      return JCS_GRAYSCALE;
    case Stored::rgb:
      return JCS_RGB;
    case Stored::cmyk:
      return JCS_CMYK;
    default:
      return JCS_YCbCr;
  }
}

void set_up(jpeg_compress_struct& c, const JpegSpec& spec, jpeg_scan_info* scans) {
  c.image_width = spec.width;
  c.image_height = spec.height;
  c.input_components = channels_of(spec.stored);
  c.in_color_space = space_of(spec.stored);
  jpeg_set_defaults(&c);
  jpeg_set_colorspace(&c, space_of(spec.stored));
  jpeg_set_quality(&c, spec.quality, TRUE);
  for (int i = 0; i < std::min(3, c.num_components); ++i) {
    c.comp_info[i].h_samp_factor = spec.sampling[static_cast<std::size_t>(i)][0];
    c.comp_info[i].v_samp_factor = spec.sampling[static_cast<std::size_t>(i)][1];
  }
  if (spec.progressive) jpeg_simple_progression(&c);
  if (!spec.interleaved) {
    for (int i = 0; i < 3; ++i)
      scans[i] = {1, {i, 0, 0, 0}, 0, 63, 0, 0};
    c.scan_info = scans;
    c.num_scans = 3;
  }
  c.restart_interval = spec.restart_interval;
  c.optimize_coding = spec.optimized ? TRUE : FALSE;
  if (spec.longest_first) {
    for (JHUFF_TBL* table : {c.dc_huff_tbl_ptrs[0], c.dc_huff_tbl_ptrs[1], c.ac_huff_tbl_ptrs[0],
                             c.ac_huff_tbl_ptrs[1]}) {
      const int count = std::accumulate(table->bits + 1, table->bits + 17, 0);
      std::reverse(table->huffval, table->huffval + count);
    }
  }
}

void set_chunks(spng_ctx* context, const PngSpec& spec) {
  if (!spec.palette.empty()) {
    spng_plte palette{};
    for (const auto& [r, g, b] : spec.palette)
      palette.entries[palette.n_entries++] = {r, g, b, 0};
    spng_set_plte(context, &palette);
  }
  spng_trns transparency{};
  for (const auto alpha : spec.palette_alpha)
    transparency.type3_alpha[transparency.n_type3_entries++] = alpha;
  if (spec.transparent_color) {
    transparency.red = (*spec.transparent_color)[0];
    transparency.green = (*spec.transparent_color)[1];
    transparency.blue = (*spec.transparent_color)[2];
  }
  if (spec.transparent_color || !spec.palette_alpha.empty()) {
    spng_set_trns(context, &transparency);
  }
  // libspng keeps the pointer and only reads.
  spng_exif exif{spec.exif.size(), const_cast<char*>(spec.exif.data())};
  if (!spec.exif.empty()) spng_set_exif(context, &exif);
}

}  // namespace

Bytes photo(const std::string& name) {
  const char* folder = std::getenv("HALYARD_TESTDATA_DIR");
  if (folder == nullptr) return {};
  auto bytes = read_file(std::string(folder) + "/photos/" + name);
  return bytes ? *bytes : Bytes{};
}

Bytes with_inserted(const Bytes& file, std::size_t at, std::span<const std::byte> extra) {
  Bytes out = file;
  out.insert(out.begin() + static_cast<std::ptrdiff_t>(at), extra.begin(), extra.end());
  return out;
}

Bytes make_jpeg(const JpegSpec& spec) {
  jpeg_compress_struct c{};
  jpeg_error_mgr errors{};
  c.err = jpeg_std_error(&errors);
  jpeg_create_compress(&c);
  unsigned char* out = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&c, &out, &size);
  jpeg_scan_info scans[3];
  set_up(c, spec, scans);
  jpeg_start_compress(&c, TRUE);
  if (!spec.exif.empty()) {
    jpeg_write_marker(&c, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(spec.exif.data()),
                      static_cast<unsigned>(spec.exif.size()));
  }
  const auto channels = static_cast<unsigned>(channels_of(spec.stored));
  auto pixels = texture(spec.width, spec.height, channels);
  std::mt19937 random(spec.noise);
  for (std::uint8_t& sample : pixels)
    if (spec.noise != 0) sample = static_cast<std::uint8_t>(sample + random() % (spec.noise + 1));
  while (c.next_scanline < c.image_height) {
    JSAMPROW row = pixels.data() + std::size_t{c.next_scanline} * spec.width * channels;
    jpeg_write_scanlines(&c, &row, 1);
  }
  jpeg_finish_compress(&c);
  jpeg_destroy_compress(&c);
  Bytes file = to_bytes(out, size);
  std::free(out);
  return file;
}

std::vector<std::uint8_t> plain_jpeg(std::span<const std::byte> file, int color_space,
                                     bool smooth) {
  jpeg_decompress_struct c{};
  jpeg_error_mgr errors{};
  c.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&c);
  jpeg_mem_src(&c, reinterpret_cast<const unsigned char*>(file.data()), file.size());
  jpeg_read_header(&c, TRUE);
  c.out_color_space = static_cast<J_COLOR_SPACE>(color_space);
  c.do_fancy_upsampling = smooth ? TRUE : FALSE;
  jpeg_start_decompress(&c);
  const std::size_t row_bytes =
      std::size_t{c.output_width} * static_cast<unsigned>(c.output_components);
  std::vector<std::uint8_t> pixels(row_bytes * c.output_height);
  while (c.output_scanline < c.output_height) {
    JSAMPROW row = pixels.data() + c.output_scanline * row_bytes;
    jpeg_read_scanlines(&c, &row, 1);
  }
  jpeg_finish_decompress(&c);
  jpeg_destroy_decompress(&c);
  return pixels;
}

Bytes make_png(const PngSpec& spec, std::span<const std::byte> samples) {
  const std::unique_ptr<spng_ctx, void (*)(spng_ctx*)> context(spng_ctx_new(SPNG_CTX_ENCODER),
                                                               spng_ctx_free);
  spng_set_option(context.get(), SPNG_ENCODE_TO_BUFFER, 1);
  spng_ihdr header{};
  header.width = spec.width;
  header.height = spec.height;
  header.bit_depth = static_cast<std::uint8_t>(spec.depth);
  header.color_type = static_cast<std::uint8_t>(spec.color_type);
  header.interlace_method = spec.interlaced ? 1 : 0;
  spng_set_ihdr(context.get(), &header);
  set_chunks(context.get(), spec);
  const int code = spng_encode_image(context.get(), samples.data(), samples.size(), SPNG_FMT_PNG,
                                     SPNG_ENCODE_FINALIZE);
  EXPECT_EQ(code, 0) << spng_strerror(code);
  std::size_t size = 0;
  int error = 0;
  void* out = spng_get_png_buffer(context.get(), &size, &error);
  Bytes file = to_bytes(out, size);
  std::free(out);
  return file;
}

std::string tiff_orientation(int value, bool big_endian) {
  const char v = static_cast<char>(value);
  if (big_endian) {
    return {'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, v, 0, 0, 0, 0, 0, 0};
  }
  return {'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, v, 0, 0, 0, 0, 0, 0, 0};
}

std::unique_ptr<Guarded> make_guarded(std::size_t width, std::size_t height, PixelFormat format,
                                      std::size_t extra, DType dtype) {
  auto out = std::make_unique<Guarded>();
  const std::size_t stride = *tight_stride(format, dtype, width) + extra;
  out->memory.assign(*image_bytes(format, dtype, width, height, stride) + 64, 0xA5);
  auto buffer = wrap_memory(out->memory.data(), out->memory.size(), {});
  const Tensor::PlaneSource source{*buffer, 0, stride};
  out->tensor = *Tensor::wrap_image({&source, 1}, width, height, format, dtype);
  return out;
}

bool padding_is_intact(const Guarded& image) {
  std::vector<bool> used(image.memory.size());
  const auto format = *image.tensor.format();
  const auto width = image.tensor.width();
  for (std::size_t p = 0; p < image.tensor.plane_count(); ++p) {
    const auto plane = *image.tensor.image_plane(p);
    // The luma row of an odd width ends with the image, not with the pair.
    const bool luma = p == 0 && info(format).model == ColorModel::yuv;
    const std::size_t row_bytes = luma ? width : plane.row_bytes;
    for (std::size_t y = 0; y < plane.rows; ++y) {
      const std::size_t begin = plane.offset_bytes + y * plane.stride_bytes;
      std::fill_n(used.begin() + static_cast<std::ptrdiff_t>(begin), row_bytes, true);
    }
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (!used[i] && image.memory[i] != 0xA5) return false;
  }
  return true;
}

std::vector<std::uint8_t> plane_bytes(const Tensor& image, std::size_t index,
                                      std::size_t row_bytes) {
  const auto map = image.map(Access::read);
  const auto& plane = map->plane(index);
  const std::size_t bytes = row_bytes == 0 ? plane.row_bytes : row_bytes;
  std::vector<std::uint8_t> out(bytes * plane.rows);
  for (std::size_t y = 0; y < plane.rows; ++y)
    std::memcpy(out.data() + y * bytes, plane.data + y * plane.stride_bytes, bytes);
  return out;
}

}  // namespace halyard::test
