// SPDX-License-Identifier: Apache-2.0
// Writer for rare destinations: quantized YUV, and scales at the edge of single precision.

#include <algorithm>
#include <cmath>
#include <cstring>

#include "image/cpu/store/store_value.h"
#include "image/cpu/store/writer_kinds.h"

namespace halyard::image {
namespace {

class PlainWriter final : public Writer {
 public:
  PlainWriter(const Plan& plan, int fraction)
      : Writer(1 << info(plan.dst.format).chroma_shift_x,
               1 << info(plan.dst.format).chroma_shift_y),
        values_(plan.values),
        dtype_(plan.dst.dtype),
        channels_(plan.dst.channels->count),
        unit_(1.0F / static_cast<float>(1 << fraction)),
        codes_(writes_codes(plan)) {}

  bool wants_codes() const noexcept override { return codes_; }

  void store(const MappedImages& frame, const Piece& piece) const noexcept override {
    for (std::size_t c = 0; c < channels_; ++c)
      store_channel(frame.target[c], piece, c);
  }

 private:
  float at(const ResultRows& row, std::size_t c, std::int32_t x) const noexcept {
    return codes_ ? static_cast<float>(row.codes[c][x])
                  : static_cast<float>(row.values[c][x]) * unit_;
  }

  void store_channel(const TargetChannel& target, const Piece& piece,
                     std::size_t c) const noexcept {
    const std::int32_t wide = 1 << target.shift_x;
    const std::int32_t high = 1 << target.shift_y;
    const auto rows = static_cast<std::int32_t>(piece.rows.size());
    for (std::int32_t y = 0; y < rows; y += high) {
      std::byte* to = target.row((piece.y + y) >> target.shift_y);
      for (std::int32_t x = 0; x < piece.width; x += wide) {
        const std::int32_t column = (piece.x + x) >> target.shift_x;
        if (column >= target.columns) break;  // the last Cr of a packed row of odd width
        float sum = 0;
        int count = 0;
        for (std::int32_t j = y; j < std::min(y + high, rows); ++j) {
          for (std::int32_t i = x; i < std::min(x + wide, piece.width); ++i, ++count)
            sum += at(piece.rows[static_cast<std::size_t>(j)], c, i);
        }
        store_value(values_, dtype_, c, sum / static_cast<float>(count),
                    to + static_cast<std::size_t>(column) * target.step_bytes);
      }
    }
  }

  ValueMap values_;
  DType dtype_;
  std::size_t channels_;
  float unit_;
  bool codes_;
};

}  // namespace

std::unique_ptr<const Writer> make_plain_writer(const Plan& plan, int fraction) {
  return std::make_unique<PlainWriter>(plan, fraction);
}

}  // namespace halyard::image
