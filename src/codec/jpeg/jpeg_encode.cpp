// SPDX-License-Identifier: Apache-2.0
// JPEG encoding with libjpeg-turbo: planes of YCbCr images as they are, rows for the others.
#include <jerror.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>

#include "base/text/format_error.h"
#include "codec/exif.h"
#include "codec/jpeg/chroma.h"
#include "codec/jpeg/jpeg_guard.h"
#include "halyard/codec.h"
#include "halyard/trace.h"

namespace halyard {
namespace {

using codec::JpegErrors;

constexpr std::size_t max_encoded_rows = 16;
constexpr std::size_t max_side = JPEG_MAX_DIMENSION;

struct ComponentPlane {
  const std::byte* data;
  std::size_t stride_bytes;
  std::size_t width, height;  // in samples of one component
};

// All data of the guarded functions. No member has a destructor, because libjpeg uses longjmp.
struct JpegEncodeJob {
  jpeg_compress_struct* codec;
  std::size_t width, height;
  int quality;
  J_COLOR_SPACE space;
  int components;
  int h, v;  // luma sampling factors of raw planes, 0: rows
  codec::ExifBlock exif = {};
  bool has_exif = false;
  bool interleaved = false;  // planes[1] holds interleaved Cb and Cr
  ComponentPlane planes[3] = {};
  JSAMPLE* scratch = nullptr;  // rows of a group of the three components, scratch_stride apart
  std::size_t scratch_stride = 0;
};

// The growing file. libjpeg's own memory destination loses its buffer when an error occurs.
struct JpegOutput {
  jpeg_destination_mgr base;  // first: libjpeg holds a pointer to it
  unsigned char* bytes;       // malloc
  std::size_t capacity;
  std::size_t used;  // set at the end
};

void grow(j_compress_ptr codec) {
  auto* output = reinterpret_cast<JpegOutput*>(codec->dest);
  const std::size_t capacity = output->capacity == 0 ? std::size_t{1} << 16 : output->capacity * 2;
  void* bytes = std::realloc(output->bytes, capacity);
  if (bytes == nullptr) ERREXIT1(codec, JERR_OUT_OF_MEMORY, 0);
  output->bytes = static_cast<unsigned char*>(bytes);
  output->base.next_output_byte = output->bytes + output->capacity;
  output->base.free_in_buffer = capacity - output->capacity;
  output->capacity = capacity;
}

// libjpeg calls it when the buffer is full, whatever the value of free_in_buffer.
boolean on_full(j_compress_ptr codec) {
  grow(codec);
  return TRUE;
}

void on_end(j_compress_ptr codec) {
  auto* output = reinterpret_cast<JpegOutput*>(codec->dest);
  output->used = output->capacity - output->base.free_in_buffer;
}

class Encoder {
 public:
  Encoder() {
    codec.err = codec::prepare(errors);
    ready = codec::run_guarded<create>(errors, codec);
    output.base.init_destination = grow;
    output.base.empty_output_buffer = on_full;
    output.base.term_destination = on_end;
    codec.dest = &output.base;
  }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
  ~Encoder() {
    if (ready) jpeg_destroy_compress(&codec);
    std::free(output.bytes);
  }
  jpeg_compress_struct codec{};
  JpegErrors errors{};
  JpegOutput output{};
  bool ready = false;

 private:
  static void create(jpeg_compress_struct& c) { jpeg_create_compress(&c); }
};

void begin_jpeg(JpegEncodeJob& job) {
  jpeg_compress_struct* c = job.codec;
  c->image_width = static_cast<JDIMENSION>(job.width);
  c->image_height = static_cast<JDIMENSION>(job.height);
  c->input_components = job.components;
  c->in_color_space = job.space;
  jpeg_set_defaults(c);
  jpeg_set_quality(c, job.quality, TRUE);
  if (job.h != 0) {
    c->raw_data_in = TRUE;
    c->comp_info[0].h_samp_factor = job.h;
    c->comp_info[0].v_samp_factor = job.v;
  }
  jpeg_start_compress(c, TRUE);
  if (job.has_exif) {
    jpeg_write_marker(c, JPEG_APP0 + 1, job.exif.data(), static_cast<unsigned>(job.exif.size()));
  }
}

void write_jpeg_rows(JpegEncodeJob& job) {
  begin_jpeg(job);
  while (job.codec->next_scanline < job.height) {
    const std::size_t y = job.codec->next_scanline;
    JSAMPROW rows[max_encoded_rows];
    const std::size_t count = std::min(max_encoded_rows, job.height - y);
    for (std::size_t i = 0; i < count; ++i) {
      // libjpeg only reads the rows; its interface has no const.
      rows[i] = const_cast<JSAMPROW>(reinterpret_cast<const JSAMPLE*>(
          job.planes[0].data + (y + i) * job.planes[0].stride_bytes));
    }
    jpeg_write_scanlines(job.codec, rows, static_cast<JDIMENSION>(count));
  }
  jpeg_finish_compress(job.codec);
}

// Repeats the last sample up to the end of the block that libjpeg reads.
void extend_row(JSAMPLE* row, std::size_t width) {
  const std::size_t padded = (width + 7) / 8 * 8;
  std::memset(row + width, row[width - 1], padded - width);
}

const std::byte* plane_row(const ComponentPlane& plane, std::size_t y) {
  return plane.data + std::min(y, plane.height - 1) * plane.stride_bytes;
}

JSAMPROW scratch_row(const JpegEncodeJob& job, int component, std::size_t row) {
  return job.scratch +
         (static_cast<std::size_t>(component) * max_encoded_rows + row) * job.scratch_stride;
}

// A row of one component in whole blocks: the image's own row if it ends at a block's end.
JSAMPROW component_row(const JpegEncodeJob& job, int component, std::size_t y, std::size_t row) {
  const ComponentPlane& plane = job.planes[component];
  const std::byte* from = plane_row(plane, y);
  if (plane.width % 8 == 0) {
    return const_cast<JSAMPROW>(reinterpret_cast<const JSAMPLE*>(from));
  }
  JSAMPROW to = scratch_row(job, component, row);
  std::memcpy(to, from, plane.width);
  extend_row(to, plane.width);
  return to;
}

void split_chroma(const JpegEncodeJob& job, std::size_t y, std::size_t row) {
  const ComponentPlane& plane = job.planes[1];
  JSAMPROW cb = scratch_row(job, 1, row);
  JSAMPROW cr = scratch_row(job, 2, row);
  codec::deinterleave(reinterpret_cast<const std::uint8_t*>(plane_row(plane, y)), cb, cr,
                      plane.width);
  extend_row(cb, plane.width);
  extend_row(cr, plane.width);
}

void write_planes(JpegEncodeJob& job) {
  begin_jpeg(job);
  const auto luma_rows = static_cast<std::size_t>(job.v) * 8;
  JSAMPROW rows[3][max_encoded_rows];
  JSAMPARRAY planes[3] = {rows[0], rows[1], rows[2]};
  for (std::size_t group = 0; job.codec->next_scanline < job.height; ++group) {
    for (std::size_t r = 0; r < luma_rows; ++r) {
      rows[0][r] = component_row(job, 0, group * luma_rows + r, r);
    }
    for (std::size_t r = 0; r < 8; ++r) {
      if (job.interleaved) split_chroma(job, group * 8 + r, r);
      for (int c = 1; c < 3; ++c) {
        rows[c][r] =
            job.interleaved ? scratch_row(job, c, r) : component_row(job, c, group * 8 + r, r);
      }
    }
    jpeg_write_raw_data(job.codec, planes, static_cast<JDIMENSION>(luma_rows));
  }
  jpeg_finish_compress(job.codec);
}

struct Kind {
  PixelFormat format;
  J_COLOR_SPACE space;
  int components;
  int h, v;
};
constexpr Kind sampling_kinds[] = {
    {PixelFormat::rgb, JCS_EXT_RGB, 3, 0, 0},    {PixelFormat::bgr, JCS_EXT_BGR, 3, 0, 0},
    {PixelFormat::rgba, JCS_EXT_RGBX, 4, 0, 0},  {PixelFormat::bgra, JCS_EXT_BGRX, 4, 0, 0},
    {PixelFormat::grey, JCS_GRAYSCALE, 1, 0, 0}, {PixelFormat::nv12, JCS_YCbCr, 3, 2, 2},
    {PixelFormat::nv16, JCS_YCbCr, 3, 2, 1},     {PixelFormat::nv24, JCS_YCbCr, 3, 1, 1},
    {PixelFormat::i420, JCS_YCbCr, 3, 2, 2},
};

Result<const Kind*> kind_of(const Tensor& image) {
  if (!image.is_image()) return fail(Errc::invalid_argument, "image must be an image tensor");
  const auto* kind = std::find_if(std::begin(sampling_kinds), std::end(sampling_kinds),
                                  [&](const Kind& k) { return k.format == image.format(); });
  if (kind == std::end(sampling_kinds) || image.dtype() != DType::u8) {
    return fail(Errc::unsupported,
                "JPEG is written from u8 rgb, rgba, bgr, bgra, grey, nv12, nv16, nv24 and i420",
                "image is {} {}", to_string(image.dtype()), to_string(*image.format()));
  }
  return kind;
}

Status check_jpeg_image(const Tensor& image, const Kind& kind, const JpegOptions& options) {
  if (options.quality < 1 || options.quality > 100) {
    return fail(Errc::invalid_argument, "options.quality must be 1 to 100", "{}", options.quality);
  }
  if (image.width() > max_side || image.height() > max_side) {
    return fail(Errc::invalid_argument, "JPEG sides are at most 65500", "{} x {}", image.width(),
                image.height());
  }
  if (kind.h == 0) return {};
  const Colorimetry colors = resolve(image.colorimetry(), image.height());
  if (colors.encoding == ColorEncoding::bt601 && colors.range == ColorRange::full) return {};
  return fail(Errc::unsupported,
              "JPEG holds BT.601 full range; convert the image, or set its colorimetry",
              "image is {} {} range", to_string(colors.encoding), to_string(colors.range));
}

void describe_planes(const TensorMap& map, const Kind& kind, JpegEncodeJob& job) {
  job.planes[0] = {map.plane(0).data, map.plane(0).stride_bytes, job.width, job.height};
  if (kind.h == 0) return;
  job.interleaved = map.plane_count() == 2;
  const auto h = static_cast<std::size_t>(kind.h);
  const auto v = static_cast<std::size_t>(kind.v);
  for (std::size_t p = 1; p < map.plane_count(); ++p) {
    job.planes[p] = {map.plane(p).data, map.plane(p).stride_bytes, (job.width + h - 1) / h,
                     (job.height + v - 1) / v};
  }
}

}  // namespace

Result<std::vector<std::byte>> encode_jpeg(const Tensor& image, const JpegOptions& options) {
  trace::Span span("codec.encode_jpeg");
  HALYARD_TRY(const Kind* kind, kind_of(image));
  HALYARD_RETURN_IF_ERROR(check_jpeg_image(image, *kind, options));
  span.arg("width", image.width()).arg("height", image.height());
  span.arg("format", to_string(kind->format)).arg("quality", options.quality);
  HALYARD_TRY(const TensorMap map, image.map(Access::read));
  Encoder encoder;
  if (!encoder.ready) return codec::to_error(encoder.errors);
  JpegEncodeJob job{.codec = &encoder.codec,
                    .width = image.width(),
                    .height = image.height(),
                    .quality = options.quality,
                    .space = kind->space,
                    .components = kind->components,
                    .h = kind->h,
                    .v = kind->v,
                    .exif = codec::exif_block(image.orientation()),
                    .has_exif = codec::tag_of(image.orientation()) != 1};
  describe_planes(map, *kind, job);
  job.scratch_stride = (job.width + 7) / 8 * 8;
  std::vector<JSAMPLE> scratch(kind->h == 0 ? 0 : 3 * max_encoded_rows * job.scratch_stride);
  job.scratch = scratch.data();
  const bool done = kind->h == 0 ? codec::run_guarded<write_jpeg_rows>(encoder.errors, job)
                                 : codec::run_guarded<write_planes>(encoder.errors, job);
  if (!done) return codec::to_error(encoder.errors);
  const auto bytes = std::as_bytes(std::span(encoder.output.bytes, encoder.output.used));
  span.arg("bytes", bytes.size());
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

Status save_jpeg(const Tensor& image, const std::string& path, const JpegOptions& options) {
  HALYARD_TRY(const auto bytes, encode_jpeg(image, options));
  return write_file(path, bytes);
}

}  // namespace halyard
