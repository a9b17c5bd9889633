// SPDX-License-Identifier: Apache-2.0
// PNG decoding through libspng: rows go straight into the destination where libspng has its format,
// through one row (or, interlaced, one picture) of scratch where it does not.
#include "codec/png_decode.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "base/format_error.h"
#include "codec/cancel.h"
#include "codec/png_context.h"

namespace halyard::codec {
namespace {

// What libspng is asked for, and how its rows look.
struct Stage {
  int format = SPNG_FMT_RGB8;
  int flags = SPNG_DECODE_PROGRESSIVE;
  std::size_t channels = 3;
  bool wide = false;    // 16-bit samples in host order
  bool direct = false;  // rows are the destination's
};

bool is_color(const PngHeader& header) {
  return (header.color_type & 2U) != 0;
}

Stage choose_stage(const PngHeader& header, PixelFormat format, DType dtype) {
  Stage stage;
  stage.wide = header.info.bit_depth == 16;
  if (format == PixelFormat::grey && !is_color(header)) {
    stage.channels = header.color_type == 0 ? 1 : 2;
    stage.format = stage.wide || stage.channels == 2 ? SPNG_FMT_PNG : SPNG_FMT_G8;
    stage.direct = dtype == DType::u8 && stage.format == SPNG_FMT_G8;
    return stage;
  }
  stage.direct = dtype == DType::u8 && !stage.wide && format != PixelFormat::grey;
  if (stage.direct && format == PixelFormat::rgb) return stage;
  stage.format = stage.wide ? SPNG_FMT_RGBA16 : SPNG_FMT_RGBA8;
  stage.channels = 4;
  stage.flags |= SPNG_DECODE_TRNS;
  return stage;
}

template <class In>
In luma(const In* pixel) {
  // BT.601 weights in 16 bits, as libjpeg has them; they sum to 65536.
  return static_cast<In>((19595U * pixel[0] + 38470U * pixel[1] + 7471U * pixel[2] + 32768U) >> 16);
}

template <class In, class Out>
Out convert_sample(In v) {
  constexpr bool wide = sizeof(In) == 2;
  if constexpr (std::is_same_v<Out, float>) {
    return static_cast<float>(v) / static_cast<float>(std::numeric_limits<In>::max());
  } else if constexpr (std::is_same_v<Out, std::uint16_t>) {
    return static_cast<std::uint16_t>(wide ? v : v * 257U);
  } else {
    const unsigned byte = wide ? static_cast<unsigned>(v) >> 8 : v;
    return static_cast<Out>(std::is_same_v<Out, std::int8_t> ? byte ^ 0x80U : byte);
  }
}

struct RowJob {
  const std::byte* in;
  std::byte* out;
  std::size_t width;
  std::size_t in_channels;
  PixelFormat format;
};

template <class In, class Out>
void convert_row(const RowJob& job) {
  const auto* in = reinterpret_cast<const In*>(job.in);
  auto* out = reinterpret_cast<Out*>(job.out);
  if (job.format == PixelFormat::grey) {
    for (std::size_t x = 0; x < job.width; ++x, in += job.in_channels) {
      out[x] = convert_sample<In, Out>(job.in_channels >= 3 ? luma(in) : in[0]);
    }
    return;
  }
  const std::size_t channels = info(job.format).channels;
  const bool swapped = job.format == PixelFormat::bgra;
  for (std::size_t x = 0; x < job.width; ++x, in += job.in_channels, out += channels) {
    out[0] = convert_sample<In, Out>(in[swapped ? 2 : 0]);
    out[1] = convert_sample<In, Out>(in[1]);
    out[2] = convert_sample<In, Out>(in[swapped ? 0 : 2]);
    if (channels == 4) out[3] = convert_sample<In, Out>(in[3]);
  }
}

using RowConverter = void (*)(const RowJob&);

template <class In>
RowConverter converter_to(DType dtype) {
  switch (dtype) {
    case DType::u8:
      return convert_row<In, std::uint8_t>;
    case DType::i8:
      return convert_row<In, std::int8_t>;
    case DType::u16:
      return convert_row<In, std::uint16_t>;
    default:
      return convert_row<In, float>;
  }
}

void swap_red_and_blue(std::byte* row, std::size_t width) {
  for (std::size_t x = 0; x < width; ++x)
    std::swap(row[4 * x], row[4 * x + 2]);
}

struct Target {
  std::byte* rows;
  std::size_t stride_bytes;
  PixelFormat format;
  DType dtype;
};

// One pass over the picture's rows, in the order of the file: `row(y)` is where row y goes and
// `done(y)` is told afterwards. Interlaced files visit rows several times.
template <class Row, class Done>
Status for_each_row(spng_ctx* context, std::size_t row_bytes, Row row, Done done) {
  while (true) {
    if (is_cancelled()) return cancelled_error();
    spng_row_info where{};
    int code = spng_get_row_info(context, &where);
    if (code == SPNG_OK) {
      code = spng_decode_row(context, row(where.row_num), row_bytes);
      if (code == SPNG_OK || code == SPNG_EOI) done(where.row_num);
    }
    if (code == SPNG_EOI) break;
    if (code != SPNG_OK) return png_error(code);
  }
  // What follows the pixels (checksums, the end chunk) must be there too.
  if (const int code = spng_decode_chunks(context); code != SPNG_OK) return png_error(code);
  return {};
}

Status decode_direct(spng_ctx* context, const PngHeader& header, const Stage& stage,
                     const Target& target) {
  const std::size_t width = header.info.width;
  const auto row = [&](std::size_t y) { return target.rows + y * target.stride_bytes; };
  HALYARD_CHECK(for_each_row(context, width * stage.channels, row, [](std::size_t) {}));
  if (target.format != PixelFormat::bgra) return {};
  for (std::size_t y = 0; y < header.info.height; ++y)
    swap_red_and_blue(row(y), width);
  return {};
}

Status decode_converted(spng_ctx* context, const PngHeader& header, const Stage& stage,
                        const Target& target) {
  const std::size_t row_bytes = header.info.width * stage.channels * (stage.wide ? 2 : 1);
  // The pixels of an interlaced row come in several visits.
  const std::size_t kept_rows = header.interlaced ? header.info.height : 1;
  std::vector<std::byte> scratch(row_bytes * kept_rows);
  const RowConverter convert = stage.wide ? converter_to<std::uint16_t>(target.dtype)
                                          : converter_to<std::uint8_t>(target.dtype);
  const auto row = [&](std::size_t y) {
    return scratch.data() + (header.interlaced ? y * row_bytes : 0);
  };
  const auto store = [&](std::size_t y) {
    convert({row(y), target.rows + y * target.stride_bytes, header.info.width, stage.channels,
             target.format});
  };
  HALYARD_CHECK(for_each_row(context, row_bytes, row, [&](std::size_t y) {
    if (!header.interlaced) store(y);
  }));
  for (std::size_t y = 0; header.interlaced && y < header.info.height; ++y)
    store(y);
  return {};
}

// libspng's own limits: those of the picture were checked; a text or profile chunk that inflates to
// more than this is refused by it.
constexpr std::size_t max_chunk_bytes = std::size_t{64} << 20;

Result<PngContext> open(std::span<const std::byte> file, const PngHeader& header) {
  PngContext context(spng_ctx_new(0));
  if (!context) return png_error(SPNG_EMEM);
  const std::size_t chunk =
      std::min<std::size_t>(std::max(max_chunk_bytes, file.size()), 0x7FFFFFFF);
  int code = spng_set_crc_action(context.get(), SPNG_CRC_ERROR, SPNG_CRC_ERROR);
  if (code == SPNG_OK) {
    code = spng_set_image_limits(context.get(), static_cast<std::uint32_t>(header.info.width),
                                 static_cast<std::uint32_t>(header.info.height));
  }
  if (code == SPNG_OK) code = spng_set_chunk_limits(context.get(), chunk, 2 * chunk);
  if (code == SPNG_OK) code = spng_set_png_buffer(context.get(), file.data(), file.size());
  if (code != SPNG_OK) return png_error(code);
  return context;
}

}  // namespace

bool png_serves(PixelFormat format) noexcept {
  return format == PixelFormat::rgb || format == PixelFormat::rgba || format == PixelFormat::bgra ||
         format == PixelFormat::grey;
}

bool png_serves(DType dtype) noexcept {
  return dtype == DType::u8 || dtype == DType::i8 || dtype == DType::u16 || dtype == DType::f32;
}

Status decode_png(std::span<const std::byte> file, const PngHeader& header, PixelFormat format,
                  const TensorMap& map) {
  HALYARD_TRY(const PngContext context, open(file, header));
  const DType dtype = map.layout().dtype;
  const Stage stage = choose_stage(header, format, dtype);
  const int code = spng_decode_image(context.get(), nullptr, 0, stage.format, stage.flags);
  if (code != SPNG_OK) return png_error(code);
  const Target target{map.plane(0).writable, map.plane(0).stride_bytes, format, dtype};
  return stage.direct ? decode_direct(context.get(), header, stage, target)
                      : decode_converted(context.get(), header, stage, target);
}

}  // namespace halyard::codec
