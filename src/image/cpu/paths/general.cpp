// SPDX-License-Identifier: Apache-2.0
// General path, for every plan: rows are sampled, colour-converted and stored, one after the other.
// Where the plan swaps axes, tiles of rows are transposed in between.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "image/cpu/color/color_converter.h"
#include "image/cpu/color/fused_writer.h"
#include "image/cpu/cpu_program.h"
#include "image/cpu/store/pad.h"
#include "image/cpu/store/transpose.h"
#include "image/cpu/store/writer.h"

namespace halyard::image {
namespace {

/// Rows of results that are transposed together: a whole vector of codes for every destination row.
constexpr std::int32_t tile_rows = 64;

/// The content, extended to the chroma blocks that it shares with pad pixels.
Region extended(const Plan& plan, const Writer& writer) {
  const auto round_down = [](std::int32_t value, std::int32_t block) {
    return value / block * block;
  };
  const auto up = [](std::int32_t value, std::int32_t block, std::int32_t maximum) {
    return std::min((value + block - 1) / block * block, maximum);
  };
  const Region& c = plan.content;
  const std::int32_t w = writer.block_width();
  const std::int32_t h = writer.block_height();
  Region e{round_down(c.x, w), round_down(c.y, h), 0, 0};
  e.width = up(c.x + c.width, w, plan.dst.size.width) - e.x;
  e.height = up(c.y + c.height, h, plan.dst.size.height) - e.y;
  return e;
}

std::unique_ptr<const Sampler> make_sampler(const Plan& plan) {
  const std::size_t channels = ColorConverter::needed_channels(plan);
  if (plan.affine) return make_affine(plan, channels);
  std::unique_ptr<const Sampler> whole = make_rational(plan, channels);
  return whole ? std::move(whole) : make_separable(plan, channels);
}

class RowsProgram final : public CpuProgram {
 public:
  explicit RowsProgram(const Plan& plan)
      : swaps_(plan.swaps_axes()),
        content_(plan.content),
        size_(plan.dst.size),
        sampler_(make_sampler(plan)),
        color_converter_(plan, sampler_->fraction(), writes_codes(plan)),
        writer_(make_writer(plan, color_converter_.fraction())),
        fused_writer_(FusedWriter::create(plan, color_converter_.setup())),
        extended_(extended(plan, *writer_)),
        source_pixels_(plan.crop.width * plan.crop.height) {
    if (extended_ != Region{0, 0, size_.width, size_.height}) pad_.emplace(plan, extended_);
    for (std::size_t c = 0; c < 4; ++c) {
      pad_code_[c] = round_to_code(plan.pad[c]);
      pad_value_[c] = static_cast<std::int16_t>(
          std::lrint(std::clamp(plan.pad[c], 0.0, 255.0) * (1 << color_converter_.fraction())));
    }
  }

  std::int32_t units() const noexcept override {
    const std::int32_t unit = swaps_ ? tile_rows : writer_->block_height();
    return ((swaps_ ? extended_.width : size_.height) + unit - 1) / unit;
  }

  // About 50 us of work at half a pixel a nanosecond.
  std::int32_t grain() const noexcept override {
    constexpr double min_pixels = 50'000;
    const double pixels =
        std::max(static_cast<double>(content_.width) * content_.height, source_pixels_ / 2) /
        units();
    return static_cast<std::int32_t>(std::clamp(min_pixels / pixels, 1.0, 1e6));
  }

  std::size_t workspace_bytes() const noexcept override { return lay_out(nullptr).bytes; }

  void run(const MappedImages& frame, std::int32_t begin, std::int32_t end,
           std::byte* workspace) const override {
    const Workspace at = lay_out(workspace);
    sampler_->begin(at.sampler);
    if (pad_) pad_->fill(frame, pad_border(begin), pad_border(end));
    for (std::int32_t unit = begin; unit < end; ++unit) {
      if (swaps_) {
        convert_tile(frame, unit, at);
      } else {
        convert_block(frame, unit, at);
      }
    }
  }

 private:
  struct Workspace {
    std::byte* sampler = nullptr;
    std::array<std::uint8_t*, 4> codes{};   // rows of one block, or of one tile
    std::array<std::int16_t*, 4> values{};  // as codes
    std::byte* rotated = nullptr;
    // The rows of one block, and the start of the content in them. Made once per run: pointers that
    // are stored and copied for every row would wait for earlier stores to the destination.
    std::array<ResultRows, 2> rows{};
    std::array<ResultRows, 2> content{};
    std::size_t bytes = 0;
  };

  /// Results in one row of the source's direction; and the rows kept at a time.
  std::size_t row_stride() const noexcept {
    return padded_row(swaps_ ? extended_.height : extended_.width);
  }
  std::size_t kept_rows() const noexcept {
    return static_cast<std::size_t>(swaps_ ? tile_rows : writer_->block_height());
  }

  Workspace lay_out(std::byte* workspace) const noexcept {
    WorkspaceCursor cursor(workspace);
    Workspace at;
    const std::size_t samples = kept_rows() * row_stride();
    for (std::size_t c = 0; c < color_converter_.channels(); ++c) {
      if (writer_->wants_codes()) at.codes[c] = cursor.take<std::uint8_t>(samples);
      if (!writer_->wants_codes()) at.values[c] = cursor.take<std::int16_t>(samples);
    }
    if (swaps_) at.rotated = cursor.take<std::byte>(transpose_workspace_bytes(tile_rows));
    at.sampler = cursor.take<std::byte>(sampler_->workspace_bytes());
    at.bytes = cursor.used_bytes();
    for (std::size_t r = 0; r < (swaps_ ? 0 : kept_rows()); ++r) {
      at.rows[r] = rows_at(at, r, 0);
      at.content[r] = rows_at(at, r, before());
    }
    return at;
  }

  /// Results in a row in front of its content.
  std::int32_t before() const noexcept {
    return swaps_ ? content_.y - extended_.y : content_.x - extended_.x;
  }

  ResultRows rows_at(const Workspace& at, std::size_t row, std::int32_t x) const noexcept {
    ResultRows out;
    const std::size_t offset = row * row_stride() + static_cast<std::size_t>(x);
    for (std::size_t c = 0; c < color_converter_.channels(); ++c) {
      if (at.codes[c] != nullptr) out.codes[c] = at.codes[c] + offset;
      if (at.values[c] != nullptr) out.values[c] = at.values[c] + offset;
    }
    return out;
  }

  void pad_results(const ResultRows& rows, std::int32_t begin, std::int32_t end) const noexcept {
    if (begin >= end) return;
    for (std::size_t c = 0; c < color_converter_.channels(); ++c) {
      if (rows.codes[c] != nullptr)
        std::fill(rows.codes[c] + begin, rows.codes[c] + end, pad_code_[c]);
      if (rows.values[c] != nullptr) {
        std::fill(rows.values[c] + begin, rows.values[c] + end, pad_value_[c]);
      }
    }
  }

  /// Makes row `row` of the sampler. `rows` begins with the extended content, `content` with the
  /// content itself. Rows outside the content are pad.
  void make_results(const MappedImages& frame, std::int32_t row, std::byte* workspace,
                    const ResultRows& rows, const ResultRows& content) const {
    const std::int32_t whole = swaps_ ? extended_.height : extended_.width;
    if (row < 0 || row >= sampler_->rows()) return pad_results(rows, 0, whole);
    const SampleRows samples = sampler_->row(frame, row, workspace);
    color_converter_.apply(samples, sampler_->columns(), content);
    pad_results(rows, 0, before() + samples.begin);
    pad_results(rows, before() + samples.end, whole);
  }

  void convert_block(const MappedImages& frame, std::int32_t unit, const Workspace& at) const {
    const std::int32_t begin = unit * writer_->block_height();
    const std::int32_t end = std::min(begin + writer_->block_height(), size_.height);
    if (begin < extended_.y || begin >= extended_.y + extended_.height) return;
    if (fused_writer_) {
      return fused_writer_->store(sampler_->row(frame, begin - content_.y, at.sampler), frame,
                                  begin);
    }
    for (std::int32_t y = begin; y < end; ++y) {
      const auto r = static_cast<std::size_t>(y - begin);
      make_results(frame, y - content_.y, at.sampler, at.rows[r], at.content[r]);
    }
    writer_->store(frame, {extended_.x,
                           begin,
                           extended_.width,
                           {at.rows.data(), static_cast<std::size_t>(end - begin)}});
  }

  void convert_tile(const MappedImages& frame, std::int32_t unit, const Workspace& at) const {
    const std::int32_t x = extended_.x + unit * tile_rows;
    const std::int32_t width = std::min(tile_rows, extended_.x + extended_.width - x);
    for (std::int32_t r = 0; r < width; ++r) {
      const auto row = static_cast<std::size_t>(r);
      make_results(frame, x + r - content_.x, at.sampler, rows_at(at, row, 0),
                   rows_at(at, row, before()));
    }
    for (std::int32_t y = 0; y < extended_.height; y += transpose_side) {
      const std::array<ResultRows, transpose_side> rotated =
          transpose_results(rows_at(at, 0, y), row_stride(), width, tile_rows, at.rotated);
      const std::int32_t rows = std::min(transpose_side, extended_.height - y);
      const std::int32_t block = writer_->block_height();
      for (std::int32_t i = 0; i < rows; i += block) {
        const auto count = static_cast<std::size_t>(std::min(block, rows - i));
        writer_->store(
            frame,
            {x, extended_.y + y + i, width, {rotated.data() + static_cast<std::size_t>(i), count}});
      }
    }
  }

  // The pad rows before the returned one belong to the units before `unit`: these units' own rows;
  // or, where units are columns, an equal share of all rows for each unit. Borders are multiples of
  // a block.
  std::int32_t pad_border(std::int32_t unit) const noexcept {
    const std::int32_t block = writer_->block_height();
    if (unit == units()) return size_.height;
    if (!swaps_) return unit * block;
    const std::int64_t row = static_cast<std::int64_t>(size_.height) * unit / units();
    return static_cast<std::int32_t>(row) / block * block;
  }

  bool swaps_;
  Region content_;
  Size size_;
  std::unique_ptr<const Sampler> sampler_;
  ColorConverter color_converter_;
  std::unique_ptr<const Writer> writer_;
  std::optional<FusedWriter> fused_writer_;  // none: converter and writer are used instead
  Region extended_;
  std::optional<PadWriter> pad_;  // none: the content fills the destination
  double source_pixels_;
  std::array<std::uint8_t, 4> pad_code_{};
  std::array<std::int16_t, 4> pad_value_{};
};

}  // namespace

ProgramPtr compile_general(const Plan& plan) {
  return std::make_unique<RowsProgram>(plan);
}

}  // namespace halyard::image
