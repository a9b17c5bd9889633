// SPDX-License-Identifier: Apache-2.0
// JPEG decoding with libjpeg-turbo: raw planes for the native YCbCr formats, rows for the others.
#include "codec/jpeg/jpeg_decode.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/system/per_thread.h"
#include "base/text/format_error.h"
#include "codec/cancel.h"
#include "codec/jpeg/chroma.h"
#include "codec/jpeg/jpeg_entropy.h"
#include "codec/jpeg/jpeg_guard.h"
#include "codec/jpeg/jpeg_scans.h"

namespace halyard::codec {
namespace {

// Rows of one component in one row of MCUs: at most 4 blocks of 8.
constexpr std::size_t max_group_rows = 32;

// Where libjpeg writes the samples of one component.
struct Component {
  JSAMPLE* scratch = nullptr;  // group_rows rows of stride bytes, or the whole plane
  std::size_t stride = 0;      // blocks * 8, which libjpeg writes
  std::size_t group_rows = 0;  // rows per row of MCUs
  bool whole_plane = false;
};

// All data of the guarded functions. No member has a destructor, because libjpeg uses longjmp.
struct JpegDecodeJob {
  jpeg_decompress_struct* codec;
  JpegEntropy* entropy;  // null: libjpeg decodes the Huffman codes
  bool always_own;       // use `entropy` wherever possible, even if it is not faster
  const std::byte* file;
  std::size_t file_bytes;
  std::size_t width, height;
  J_COLOR_SPACE stored, asked;
  bool raw;
  std::byte* rows;  // first plane
  std::size_t rows_stride;
  std::byte* cbcr;  // second plane, null for grey
  std::size_t cbcr_stride;
  std::size_t chroma_width, chroma_height;
  Component components[3];
};

// libjpeg calls it for every row of MCUs that it reads from a file of several scans or outputs.
struct ScanWatch {
  jpeg_progress_mgr base;  // first: libjpeg holds a pointer to it
  std::size_t max_scans;
  std::uint64_t visits, max_visits;
  JDIMENSION row;
};

void count_scans(j_common_ptr object) {
  if (is_cancelled()) leave_with(object, "cancelled");
  const auto* codec = reinterpret_cast<jpeg_decompress_struct*>(object);
  auto* watch = reinterpret_cast<ScanWatch*>(codec->progress);
  if (codec->output_scanline != 0 || codec->input_scan_number <= 0) return;
  if (static_cast<std::size_t>(codec->input_scan_number) > watch->max_scans)
    leave_with(object, "more scans than limits.max_scans");
  if (std::exchange(watch->row, codec->input_iMCU_row) == codec->input_iMCU_row) return;
  for (int i = 0; i < codec->comps_in_scan; ++i) {
    const jpeg_component_info& c = *codec->cur_comp_info[i];
    watch->visits += std::uint64_t{c.width_in_blocks} * static_cast<unsigned>(c.v_samp_factor);
  }
  if (watch->visits > watch->max_visits)
    leave_with(object, "scans visit more blocks than limits.max_scan_passes allows");
}

// The codec object of a thread. It is created once; the memory of an image is freed after each one.
class JpegDecoder {
 public:
  JpegDecoder() {
    codec.err = prepare(errors);
    make_ready();
  }
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;
  ~JpegDecoder() {
    if (ready) jpeg_destroy_decompress(&codec);
  }

  /// Tries again if memory was short before.
  bool make_ready() {
    if (ready) return true;
    ready = run_guarded<create>(errors, codec);
    watch.base.progress_monitor = count_scans;
    codec.progress = &watch.base;
    return ready;
  }

  jpeg_decompress_struct codec{};
  JpegErrors errors{};
  ScanWatch watch{};
  JpegEntropy entropy;
  std::vector<JSAMPLE> scratch;
  bool ready = false;

 private:
  static void create(jpeg_decompress_struct& c) { jpeg_create_decompress(&c); }
};

void read_jpeg_header(JpegDecodeJob& job) {
  jpeg_mem_src(job.codec, reinterpret_cast<const unsigned char*>(job.file),
               static_cast<unsigned long>(job.file_bytes));
  jpeg_read_header(job.codec, TRUE);
}

void start(JpegDecodeJob& job) {
  job.codec->jpeg_color_space = job.stored;
  job.codec->out_color_space = job.asked;
  job.codec->raw_data_out = job.raw ? TRUE : FALSE;
  jpeg_start_decompress(job.codec);
  if (job.entropy != nullptr) job.entropy->install(*job.codec, job.always_own);
}

void read_rows(JpegDecodeJob& job) {
  start(job);
  while (job.codec->output_scanline < job.height) {
    JSAMPROW rows[max_group_rows];
    const std::size_t y = job.codec->output_scanline;
    const std::size_t count = std::min(max_group_rows, job.height - y);
    for (std::size_t i = 0; i < count; ++i) {
      rows[i] = reinterpret_cast<JSAMPROW>(job.rows + (y + i) * job.rows_stride);
    }
    jpeg_read_scanlines(job.codec, rows, static_cast<JDIMENSION>(count));
  }
  jpeg_finish_decompress(job.codec);
}

// Luma rows are decoded into the destination if libjpeg writes no more columns than the image has.
bool luma_is_direct(const JpegDecodeJob& job) {
  return job.components[0].stride == job.width;
}

void point_rows(const JpegDecodeJob& job, std::size_t group, JSAMPROW (*rows)[max_group_rows]) {
  for (int c = 0; c < job.codec->num_components; ++c) {
    const Component& component = job.components[c];
    for (std::size_t r = 0; r < component.group_rows; ++r) {
      const std::size_t y = group * component.group_rows + r;
      const bool direct = c == 0 && luma_is_direct(job) && y < job.height;
      rows[c][r] = direct ? reinterpret_cast<JSAMPROW>(job.rows + y * job.rows_stride)
                          : component.scratch + (component.whole_plane ? y : r) * component.stride;
    }
  }
}

void store_group(const JpegDecodeJob& job, std::size_t group) {
  const Component& luma = job.components[0];
  const std::size_t y0 = group * luma.group_rows;
  for (std::size_t r = 0; !luma_is_direct(job) && r < luma.group_rows && y0 + r < job.height; ++r) {
    std::memcpy(job.rows + (y0 + r) * job.rows_stride, luma.scratch + r * luma.stride, job.width);
  }
  if (job.cbcr == nullptr || job.components[1].whole_plane) return;
  const Component& cb = job.components[1];
  const Component& cr = job.components[2];
  const std::size_t c0 = group * cb.group_rows;
  for (std::size_t r = 0; r < cb.group_rows && c0 + r < job.chroma_height; ++r) {
    interleave(cb.scratch + r * cb.stride, cr.scratch + r * cr.stride,
               reinterpret_cast<std::uint8_t*>(job.cbcr + (c0 + r) * job.cbcr_stride),
               job.chroma_width);
  }
}

void read_planes(JpegDecodeJob& job) {
  start(job);
  JSAMPROW rows[3][max_group_rows];
  JSAMPARRAY planes[3] = {rows[0], rows[1], rows[2]};
  for (std::size_t group = 0; job.codec->output_scanline < job.height; ++group) {
    point_rows(job, group, rows);
    jpeg_read_raw_data(job.codec, planes, static_cast<JDIMENSION>(job.components[0].group_rows));
    store_group(job, group);
  }
  jpeg_finish_decompress(job.codec);
}

// Whether the chroma grid differs from the destination's: 4:4:0, 4:1:1, unequal components.
bool needs_resampling(const JpegHeader& header, PixelFormat format) {
  const auto& [y, cb, cr] = header.components;
  return format == PixelFormat::nv12 &&
         !(cb.h == cr.h && cb.v == cr.v && y.h == 2 * cb.h && y.v == 2 * cb.v);
}

// Assigns the scratch rows of all components in `memory`.
void lay_out_scratch(const JpegHeader& header, bool whole_chroma, std::vector<JSAMPLE>& memory,
                     JpegDecodeJob& job) {
  const auto count = static_cast<std::size_t>(header.info.components);
  const std::size_t groups =
      (job.height + header.components[0].v * 8U - 1) / (header.components[0].v * 8U);
  std::size_t sizes[3] = {};
  std::size_t total = 0;
  for (std::size_t c = 0; c < count; ++c) {
    Component& component = job.components[c];
    component.stride = std::size_t{job.codec->comp_info[c].width_in_blocks} * 8;
    component.group_rows = header.components[c].v * 8U;
    component.whole_plane = whole_chroma && c > 0;
    sizes[c] = component.stride * component.group_rows * (component.whole_plane ? groups : 1);
    total += sizes[c];
  }
  if (memory.size() < total) memory.resize(total);
  JSAMPLE* next = memory.data();
  for (std::size_t c = 0; c < count; ++c) {
    job.components[c].scratch = next;
    next += sizes[c];
  }
}

// Crafted markers may show Halyard's parser and libjpeg different headers. Sizes come from
// Halyard's.
Status check_agreement(const JpegHeader& header, const jpeg_decompress_struct& codec) {
  bool same = codec.image_width == header.info.width && codec.image_height == header.info.height &&
              codec.num_components == header.info.components;
  for (int c = 0; same && c < codec.num_components; ++c) {
    const auto& ours = header.components[static_cast<std::size_t>(c)];
    same = codec.comp_info[c].h_samp_factor == ours.h && codec.comp_info[c].v_samp_factor == ours.v;
  }
  if (same) return {};
  return fail(Errc::corrupt, "the JPEG header contradicts itself", "{} x {} and {} x {}",
              header.info.width, header.info.height, codec.image_width, codec.image_height);
}

J_COLOR_SPACE color_space(PixelFormat format) noexcept {
  switch (format) {
    case PixelFormat::rgb:
      return JCS_EXT_RGB;
    case PixelFormat::bgr:
      return JCS_EXT_BGR;
    case PixelFormat::rgba:
      return JCS_EXT_RGBA;
    case PixelFormat::bgra:
      return JCS_EXT_BGRA;
    case PixelFormat::grey:
      return JCS_GRAYSCALE;
    default:
      return JCS_UNKNOWN;
  }
}

J_COLOR_SPACE stored_space(const JpegHeader& header) {
  if (header.info.components == 1) return JCS_GRAYSCALE;
  return header.stored_rgb ? JCS_RGB : JCS_YCbCr;
}

Status decode_planes(const JpegHeader& header, PixelFormat format, JpegDecoder& decoder,
                     JpegDecodeJob& job) {
  const bool resample = job.cbcr != nullptr && needs_resampling(header, format);
  std::vector<JSAMPLE> whole;  // rare and large, so it is not kept
  lay_out_scratch(header, resample, resample ? whole : decoder.scratch, job);
  if (!run_guarded<read_planes>(decoder.errors, job)) return to_error(decoder.errors);
  for (std::size_t c = 1; resample && c < 3; ++c) {
    const auto& factors = header.components[c];
    box_resample({job.components[c].scratch, job.components[c].stride, factors.h, factors.v},
                 header.components[0].h, header.components[0].v, job.width, job.height,
                 reinterpret_cast<std::uint8_t*>(job.cbcr) + (c - 1), job.cbcr_stride);
  }
  return {};
}

JpegDecodeJob make_job(std::span<const std::byte> file, const JpegHeader& header,
                       PixelFormat format, const TensorMap& map) {
  JpegDecodeJob job{};
  job.file = file.data();
  job.file_bytes = file.size();
  job.width = header.info.width;
  job.height = header.info.height;
  job.stored = stored_space(header);
  job.asked = color_space(format);
  job.rows = map.plane(0).writable;
  job.rows_stride = map.plane(0).stride_bytes;
  const FormatInfo& row = info(format);
  job.raw =
      row.model == ColorModel::yuv || (format == PixelFormat::grey && job.stored == JCS_GRAYSCALE);
  if (row.model == ColorModel::yuv) {
    job.asked = job.stored;
    job.cbcr = map.plane(1).writable;
    job.cbcr_stride = map.plane(1).stride_bytes;
    job.chroma_width = (job.width + (1U << row.chroma_shift_x) - 1) >> row.chroma_shift_x;
    job.chroma_height = (job.height + (1U << row.chroma_shift_y) - 1) >> row.chroma_shift_y;
  }
  return job;
}

Status decode_with(JpegDecoder& decoder, const JpegHeader& header, PixelFormat format,
                   JpegDecodeJob& job) {
  if (!run_guarded<read_jpeg_header>(decoder.errors, job)) return to_error(decoder.errors);
  HALYARD_RETURN_IF_ERROR(check_agreement(header, decoder.codec));
  if (job.raw) return decode_planes(header, format, decoder, job);
  if (!run_guarded<read_rows>(decoder.errors, job)) return to_error(decoder.errors);
  return {};
}

Status decode_once(JpegDecoder& decoder, const JpegHeader& header, PixelFormat format,
                   const DecodeLimits& limits, JpegDecodeJob& job) {
  // Frees the memory of the image on every path; does nothing after success.
  struct Abort {
    JpegDecoder& of;
    ~Abort() { jpeg_abort_decompress(&of.codec); }
  };
  const Abort abort{decoder};
  decoder.watch.max_scans = limits.max_scans;
  // Interleaved scans also visit the blocks that complete their last MCUs.
  decoder.watch.max_visits = max_visits(header, limits) / 8 * 9 + (std::uint64_t{1} << 16);
  decoder.watch.visits = 0;
  decoder.watch.row = 0;
  return decode_with(decoder, header, format, job);
}

}  // namespace

bool serves(const JpegHeader& header, PixelFormat format) noexcept {
  return format == header.info.native_format || color_space(format) != JCS_UNKNOWN;
}

Status decode_jpeg(std::span<const std::byte> file, const JpegHeader& header, PixelFormat format,
                   const TensorMap& map, const DecodeLimits& limits, JpegEntropyChoice choice) {
  JpegDecoder& decoder = PerThread<JpegDecoder>::get();
  if (!decoder.make_ready()) return to_error(decoder.errors);
  JpegDecodeJob job = make_job(file, header, format, map);
  job.codec = &decoder.codec;
  job.always_own = choice == JpegEntropyChoice::own;
  decoder.entropy.reset();
  if (choice != JpegEntropyChoice::libjpeg) job.entropy = &decoder.entropy;
  const Status decoded = decode_once(decoder, header, format, limits, job);
  if (choice == JpegEntropyChoice::own && !decoder.entropy.is_installed() && decoded) {
    return fail(Errc::unsupported, "Halyard's Huffman decoder does not support this JPEG");
  }
  if (choice != JpegEntropyChoice::automatic || !decoder.entropy.gave_up()) return decoded;
  job.entropy = nullptr;
  return decode_once(decoder, header, format, limits, job);
}

}  // namespace halyard::codec
