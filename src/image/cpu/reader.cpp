// SPDX-License-Identifier: Apache-2.0
// Readers of 16-bit grey images and of Bayer mosaics of 8 and 16 bits.
#include "image/cpu/reader.h"

#include <algorithm>

#include "image/cpu/kernels/read.h"

namespace halyard::image {
namespace {

/// Converts samples of one 8- or 16-bit plane to fixed point.
struct Scaling {
  Scaling(const Plan& plan, int fraction_bits) noexcept
      : wide(size_of(plan.src.dtype) == 2),
        fraction(fraction_bits),
        scale(static_cast<float>(255.0 * (1 << fraction) / ((1 << plan.source_bits) - 1))) {}

  void apply(const std::byte* row, std::int32_t begin, std::int32_t samples,
             std::int16_t* out) const noexcept {
    const std::byte* from = row + static_cast<std::size_t>(begin) * (wide ? 2 : 1);
    if (wide) return scale_u16(from, samples, scale, fraction, out);
    scale_bytes(reinterpret_cast<const std::uint8_t*>(from), samples, scale, out);
  }

  bool wide;
  int fraction;
  float scale;
};

class WideReader final : public Reader {
 public:
  WideReader(const Plan& plan, SampleRange columns, int fraction) noexcept
      : columns_(columns), scaling_(plan, fraction) {}
  std::size_t workspace_bytes() const noexcept override { return 0; }
  void begin(std::byte*) const noexcept override {}
  void read(const MappedImages& frame, std::int32_t row, const std::array<std::int16_t*, 4>& out,
            std::byte*) const noexcept override {
    scaling_.apply(frame.source[0].row(row), columns_.begin, columns_.count(), out[0]);
  }

 private:
  SampleRange columns_;
  Scaling scaling_;
};

/// Demosaics bilinearly from three rows of samples that it keeps. Neighbours may be samples outside
/// of the columns; beyond the image's edges samples are mirrored about the last one, so that the
/// pattern continues.
class MosaicReader final : public Reader {
 public:
  MosaicReader(const Plan& plan, SampleRange columns, int fraction) noexcept
      : columns_(columns), size_(plan.src.size), scaling_(plan, fraction) {
    const PixelFormat format = plan.src.format;
    const bool first_is_red =
        format == PixelFormat::bayer_rggb || format == PixelFormat::bayer_grbg;
    red_rows_ = first_is_red ? 0 : 1;
    green_columns_ = format == PixelFormat::bayer_grbg || format == PixelFormat::bayer_gbrg ? 0 : 1;
  }

  std::size_t workspace_bytes() const noexcept override { return lay_out(nullptr).bytes; }
  void begin(std::byte* workspace) const noexcept override {
    std::fill_n(lay_out(workspace).held, kept, -1);
  }

  void read(const MappedImages& frame, std::int32_t row, const std::array<std::int16_t*, 4>& out,
            std::byte* workspace) const noexcept override {
    const Workspace at = lay_out(workspace);
    MosaicRow job;
    job.above = samples_of(frame, reflected(row - 1, size_.height), at);
    job.here = samples_of(frame, row, at);
    job.below = samples_of(frame, reflected(row + 1, size_.height), at);
    job.samples = columns_.count();
    job.green_first = (columns_.begin & 1) == ((green_columns_ + row) & 1);
    const bool red_row = (row & 1) == red_rows_;
    job.green = out[1];
    job.beside = red_row ? out[0] : out[2];
    job.other_rows = red_row ? out[2] : out[0];
    demosaic_row(job);
  }

 private:
  static constexpr std::int32_t kept = 3;
  struct Workspace {
    std::int32_t* held = nullptr;
    std::int16_t* rows = nullptr;
    std::size_t bytes = 0;
  };

  // Room for one sample before the first one, at the start of a vector, and for one behind the
  // last.
  std::size_t row_samples() const noexcept { return padded_row(columns_.count() + 2); }
  Workspace lay_out(std::byte* workspace) const noexcept {
    WorkspaceCursor cursor(workspace);
    Workspace at;
    at.held = cursor.take<std::int32_t>(kept);
    at.rows = cursor.take<std::int16_t>(kept * row_samples());
    at.bytes = cursor.used_bytes();
    return at;
  }

  static std::int32_t reflected(std::int32_t i, std::int32_t count) noexcept {
    if (count == 1) return 0;
    if (i < 0) return -i;
    return i < count ? i : 2 * (count - 1) - i;
  }

  // The samples of columns begin - 1 .. end of source row `row`; kept from earlier calls where
  // possible.
  const std::int16_t* samples_of(const MappedImages& frame, std::int32_t row,
                                 const Workspace& at) const noexcept {
    std::int16_t* to = at.rows + static_cast<std::size_t>(row % kept) * row_samples();
    std::int32_t& held = at.held[row % kept];
    if (held == row) return to;
    held = row;
    const std::byte* from = frame.source[0].row(row);
    const std::int32_t begin = std::max(columns_.begin - 1, 0);
    const std::int32_t end = std::min(columns_.end + 1, size_.width);
    const std::int32_t lead = begin - (columns_.begin - 1);  // 1 at the left edge
    scaling_.apply(from, begin, end - begin, to + lead);
    if (lead != 0) to[0] = to[lead + reflected(-1, size_.width)];
    if (columns_.end == size_.width) {
      to[columns_.count() + 1] = to[lead + reflected(size_.width, size_.width) - begin];
    }
    return to;
  }

  SampleRange columns_;
  Size size_;
  Scaling scaling_;
  std::int32_t red_rows_ = 0;       ///< parity of the rows that have red samples
  std::int32_t green_columns_ = 0;  ///< parity of the green columns of row 0
};

}  // namespace

std::unique_ptr<const Reader> make_reader(const Plan& plan, SampleRange columns, int fraction) {
  if (plan.src.channels == nullptr) return std::make_unique<MosaicReader>(plan, columns, fraction);
  if (size_of(plan.src.dtype) == 2) return std::make_unique<WideReader>(plan, columns, fraction);
  return nullptr;
}

}  // namespace halyard::image
