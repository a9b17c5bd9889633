// SPDX-License-Identifier: Apache-2.0
// PNG decoding. Rows of most files are inflated in one call (png_inflate) and unfiltered one by
// one; libspng checks the chunks before the data, and decodes all other files. Rows are written
// straight into the destination where they have its format. Otherwise they pass through one row of
// scratch (one image if the file is interlaced).
#include "codec/png/png_decode.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "codec/cancel.h"
#include "codec/png/png_context.h"
#include "codec/png/png_filter.h"
#include "codec/png/png_inflate.h"
#include "codec/png/png_narrow.h"
#include "codec/png/png_rows.h"

namespace halyard::codec {
namespace {

// The format that libspng is asked for, and the layout of its rows.
struct Stage {
  int format = SPNG_FMT_RGB8;
  int flags = SPNG_DECODE_PROGRESSIVE;
  std::size_t channels = 3;
  bool wide = false;    // 16-bit samples in host order
  bool direct = false;  // rows are written straight into the destination
};

bool is_color(const PngHeader& header) {
  return (header.color_type & 2U) != 0;
}

Stage choose_stage(const PngHeader& header, bool wide, PixelFormat format, DType dtype) {
  Stage stage;
  stage.wide = wide;
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

struct Target {
  std::byte* rows;
  std::size_t stride_bytes;
  PixelFormat format;
  DType dtype;
};

// One pass over the image's rows, in the order of the file: row y is decoded to `row(y)`, then
// `done(y)` is called. Interlaced files visit a row several times.
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
  // Checksums and the end chunk, which follow the pixels, must be there too.
  if (const int code = spng_decode_chunks(context); code != SPNG_OK) return png_error(code);
  return {};
}

Status decode_direct(spng_ctx* context, const PngHeader& header, const Stage& stage,
                     const Target& target) {
  const std::size_t width = header.info.width;
  const auto row = [&](std::size_t y) { return target.rows + y * target.stride_bytes; };
  HALYARD_RETURN_IF_ERROR(for_each_row(context, width * stage.channels, row, [](std::size_t) {}));
  if (target.format != PixelFormat::bgra) return {};
  for (std::size_t y = 0; y < header.info.height; ++y)
    swap_red_and_blue(row(y), width);
  return {};
}

Status decode_converted(spng_ctx* context, const PngHeader& header, const Stage& stage,
                        const Target& target) {
  const std::size_t row_bytes = header.info.width * stage.channels * (stage.wide ? 2 : 1);
  // The pixels of an interlaced row arrive in several visits.
  const std::size_t kept_rows = header.interlaced ? header.info.height : 1;
  std::vector<std::byte> scratch(row_bytes * kept_rows);
  const RowConverter convert = row_converter(stage.wide, target.dtype);
  const auto row = [&](std::size_t y) {
    return scratch.data() + (header.interlaced ? y * row_bytes : 0);
  };
  const auto store = [&](std::size_t y) {
    convert({row(y), target.rows + y * target.stride_bytes, header.info.width, stage.channels,
             target.format});
  };
  HALYARD_RETURN_IF_ERROR(for_each_row(context, row_bytes, row, [&](std::size_t y) {
    if (!header.interlaced) store(y);
  }));
  for (std::size_t y = 0; header.interlaced && y < header.info.height; ++y)
    store(y);
  return {};
}

// The palette as libspng keeps it; entries that the file does not define are opaque black.
PngPalette read_png_palette(spng_ctx* context) {
  PngPalette out;
  out.fill({0, 0, 0, 255});
  spng_plte colors{};
  if (spng_get_plte(context, &colors) == SPNG_OK) {
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = {colors.entries[i].red, colors.entries[i].green, colors.entries[i].blue, 255};
  }
  spng_trns transparency{};
  if (spng_get_trns(context, &transparency) == SPNG_OK) {
    for (std::size_t i = 0; i < transparency.n_type3_entries; ++i)
      out[i][3] = transparency.type3_alpha[i];
  }
  return out;
}

// Unfilters rows in order. The scratch rows stay in the cache, because the destination may be
// memory that is slow to read.
class PngRowReader {
 public:
  PngRowReader(const InflatedRows& rows, std::size_t height)
      : rows_(rows),
        height_(height),
        scratch_(3 * pitch()),
        above_(scratch_.data()),
        here_(above_ + pitch()),
        next_(here_ + pitch()) {}

  // Row y, valid until the next call. Rows must be read in order.
  const std::uint8_t* read(std::size_t y) {
    if (has_next_) {
      has_next_ = false;
      std::swap(above_, next_);
      return above_;
    }
    const std::uint8_t* in = rows_.row(y);
    has_next_ = is_pair(y);
    if (has_next_) {
      unfilter_paeth_pair(rows_.pixel_bytes, rows_.row_bytes, {in + 1, rows_.row(y + 1) + 1},
                          above_, {here_, next_});
    } else {
      unfilter_row(filter(y), rows_.pixel_bytes, rows_.row_bytes, in + 1, above_, here_);
    }
    std::swap(above_, here_);
    return above_;
  }

 private:
  std::size_t pitch() const { return rows_.row_bytes + png_row_slack; }
  PngFilter filter(std::size_t y) const { return static_cast<PngFilter>(*rows_.row(y)); }
  bool is_pair(std::size_t y) const {
    return rows_.pixel_bytes <= png_pair_pixel_bytes && y + 1 < height_ &&
           filter(y) == PngFilter::paeth && filter(y + 1) == PngFilter::paeth;
  }

  const InflatedRows& rows_;
  std::size_t height_;
  std::vector<std::uint8_t> scratch_;
  std::uint8_t* above_;
  std::uint8_t* here_;
  std::uint8_t* next_;
  bool has_next_ = false;
};

// Whether 16-bit samples become bytes before any other step. Only colours that become grey keep 16
// bits: their luma is computed and rounded in 16 bits first.
bool narrows_first(const PngHeader& header, const Target& target) {
  const bool is_byte = target.dtype == DType::u8 || target.dtype == DType::i8;
  return header.info.bit_depth == 16 && is_byte &&
         (target.format != PixelFormat::grey || !is_color(header));
}

Status decode_inflated(spng_ctx* context, const InflatedRows& rows, const PngHeader& header,
                       const Target& target) {
  const std::size_t width = header.info.width;
  const bool narrows = narrows_first(header, target);
  const Stage stage =
      choose_stage(header, header.info.bit_depth == 16 && !narrows, target.format, target.dtype);
  const std::size_t samples = narrows ? rows.row_bytes / 2 : 0;
  std::vector<std::uint8_t> narrowed(narrows ? samples + png_row_slack : 0);
  const PngPalette palette = header.info.palette ? read_png_palette(context) : PngPalette{};
  const RowSpreader spread = row_spreader(header.color_type, stage.wide, stage.channels);
  const RowConverter convert = row_converter(stage.wide, target.dtype);
  std::vector<std::byte> channels(stage.direct ? 0 : width * stage.channels * (stage.wide ? 2 : 1));
  PngRowReader reader(rows, header.info.height);
  for (std::size_t y = 0; y < header.info.height; ++y) {
    if (is_cancelled()) return cancelled_error();
    std::byte* out = target.rows + y * target.stride_bytes;
    const std::uint8_t* in = reader.read(y);
    if (narrows) {
      narrow_samples(in, samples, narrowed.data());
      in = narrowed.data();
    }
    spread({in, stage.direct ? out : channels.data(), width, &palette});
    if (!stage.direct) {
      convert({channels.data(), out, width, stage.channels, target.format});
    } else if (target.format == PixelFormat::bgra) {
      swap_red_and_blue(out, width);
    }
  }
  return {};
}

// libspng's limit of one chunk: it refuses a text or profile chunk that inflates to more than this.
// The limits of the image were checked before.
constexpr std::size_t max_chunk_bytes = std::size_t{64} << 20;

Result<PngContext> open_png(std::span<const std::byte> file, const PngHeader& header) {
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
                  const TensorMap& map, std::size_t spare_bytes) {
  HALYARD_TRY(const PngContext context, open_png(file, header));
  const DType dtype = map.layout().dtype;
  const Stage stage = choose_stage(header, header.info.bit_depth == 16, format, dtype);
  const Target target{map.plane(0).writable, map.plane(0).stride_bytes, format, dtype};
  int code = spng_decode_chunks(context.get());
  if (code != SPNG_OK) return png_error(code);
  if (const auto rows = inflate_rows(file, header, spare_bytes)) {
    return decode_inflated(context.get(), *rows, header, target);
  }
  code = spng_decode_image(context.get(), nullptr, 0, stage.format, stage.flags);
  if (code != SPNG_OK) return png_error(code);
  return stage.direct ? decode_direct(context.get(), header, stage, target)
                      : decode_converted(context.get(), header, stage, target);
}

}  // namespace halyard::codec
