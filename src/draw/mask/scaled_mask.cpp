// SPDX-License-Identifier: Apache-2.0
// Between two columns of a mask the sampled value is linear. So each cell between two columns is
// decided at once as on or off, or pixel by pixel if its ends differ.
#include "draw/mask/scaled_mask.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace halyard::draw {
namespace {

constexpr float on = 127.5F;

// The pixels of the image along one axis that are in [begin, end), and their positions in the mask.
struct Axis {
  std::int32_t first = 0;
  std::int32_t last = 0;  // exclusive
  float origin = 0;
  float scale = 0;
  float maximum = 0;

  Axis(float begin, float end, std::int32_t extent, std::size_t samples)
      : origin(begin),
        scale(static_cast<float>(samples) / (end - begin)),
        maximum(static_cast<float>(samples - 1)) {
    const auto edge = [extent](float v) {
      return static_cast<std::int32_t>(
          std::ceil(std::clamp(v - 0.5F, -1.0F, static_cast<float>(extent))));
    };
    first = std::max(edge(begin), 0);
    last = std::min(edge(end), extent);
  }
  float at(std::int32_t pixel) const noexcept {
    return std::clamp((static_cast<float>(pixel) + 0.5F - origin) * scale - 0.5F, 0.0F, maximum);
  }
};

bool is_finite_with_area(const Box& box) noexcept {
  return std::isfinite(box.x1) && std::isfinite(box.y1) && std::isfinite(box.x2) &&
         std::isfinite(box.y2) && box.x2 > box.x1 && box.y2 > box.y1;
}

// Cell j has the columns whose sample position is in [j, j + 1).
void find_cells(const Axis& x, std::size_t samples, std::vector<std::int32_t>& cells) {
  cells.assign(samples + 1, x.last);
  std::size_t cell = 0;
  for (std::int32_t column = x.first; column < x.last; ++column) {
    const auto at = static_cast<std::size_t>(x.at(column));
    for (; cell <= at; ++cell)
      cells[cell] = column;
  }
}

// Samples the mask at the vertical position `v`, once per column of the mask. The last sample
// repeats.
void sample_row(const ByteMask& mask, float v, std::vector<float>& row) {
  const auto upper = static_cast<std::size_t>(v);
  const std::size_t lower = std::min(upper + 1, mask.height - 1);
  const float part = v - static_cast<float>(upper);
  const std::uint8_t* const a = mask.data + upper * mask.width;
  const std::uint8_t* const b = mask.data + lower * mask.width;
  for (std::size_t j = 0; j < mask.width; ++j)
    row[j] = static_cast<float>(a[j]) + part * static_cast<float>(b[j] - a[j]);
  row[mask.width] = row[mask.width - 1];
}

// Calls `use(begin, end)` for each run of columns that are on.
template <class Use>
void each_run(const Axis& x, const std::vector<std::int32_t>& cells, const std::vector<float>& row,
              const Use& use) {
  std::int32_t begin = -1;  // begin of the open run; -1: none
  const auto close = [&](std::int32_t end) {
    if (begin >= 0 && begin < end) use(begin, end);
    begin = -1;
  };
  for (std::size_t j = 0; j + 1 < cells.size(); ++j) {
    const std::int32_t from = cells[j], to = cells[j + 1];
    if (from == to) continue;
    const bool left = row[j] >= on, right = row[j + 1] >= on;
    if (left && right) {
      if (begin < 0) begin = from;
    } else if (!left && !right) {
      close(from);
    } else {
      const float slope = row[j + 1] - row[j];
      for (std::int32_t column = from; column < to; ++column) {
        const float value = row[j] + slope * (x.at(column) - static_cast<float>(j));
        if (value < on) {
          close(column);
        } else if (begin < 0) {
          begin = column;
        }
      }
    }
  }
  close(x.last);
}

}  // namespace

void ScaledMask::blend(const ByteMask& mask, const Box& box, const Canvas& canvas, const Ink& ink) {
  if (!is_finite_with_area(box) || mask.width == 0 || mask.height == 0) return;
  const Axis x(box.x1, box.x2, canvas.width(), mask.width);
  const Axis y(box.y1, box.y2, canvas.height(), mask.height);
  if (x.first >= x.last) return;
  find_cells(x, mask.width, cells_);
  row_.resize(mask.width + 1);
  constexpr auto step = static_cast<std::int32_t>(band_rows);
  for (std::int32_t top = y.first, next = 0; top < y.last; top = next) {
    next = std::min((top / step + 1) * step, y.last);
    MaskBits bits = band_.rows(static_cast<std::size_t>(x.last - x.first),
                               static_cast<std::size_t>(next - top));
    bits.x = static_cast<std::size_t>(x.first);
    bits.y = static_cast<std::size_t>(top);
    for (std::int32_t line = top; line < next; ++line) {
      std::uint8_t* const to = bits.data + static_cast<std::size_t>(line - top) * bits.stride;
      std::memset(to, 0, bits.width);
      sample_row(mask, y.at(line), row_);
      each_run(x, cells_, row_, [&](std::int32_t begin, std::int32_t end) {
        std::memset(to + (begin - x.first), 255, static_cast<std::size_t>(end - begin));
      });
    }
    canvas.blend_mask(bits, ink);
  }
}

}  // namespace halyard::draw
