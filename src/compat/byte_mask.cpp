// SPDX-License-Identifier: Apache-2.0
// Between two columns of a mask the sampled value is linear. So each cell between two columns is
// decided at once as on or off, or pixel by pixel if its ends differ.
#include "compat/byte_mask.h"

#include <algorithm>
#include <cmath>

namespace halyard::compat {
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

}  // namespace

void ByteMask::blend(const Segmentation& mask, const Box& box, Target& target,
                     const std::array<Paint, 4>& paints) {
  const bool is_box = std::isfinite(box.x1) && std::isfinite(box.y1) && std::isfinite(box.x2) &&
                      std::isfinite(box.y2) && box.x2 > box.x1 && box.y2 > box.y1;
  if (!is_box || mask.width == 0 || mask.height == 0) return;
  const Axis x(box.x1, box.x2, target.size().width, mask.width);
  const Axis y(box.y1, box.y2, target.size().height, mask.height);
  if (x.first >= x.last) return;
  // Cell j has the columns whose sample position is in [j, j + 1).
  cells_.assign(mask.width + 1, x.last);
  std::size_t cell = 0;
  for (std::int32_t column = x.first; column < x.last; ++column) {
    const auto at = static_cast<std::size_t>(x.at(column));
    for (; cell <= at; ++cell)
      cells_[cell] = column;
  }
  row_.resize(mask.width + 1);
  for (std::int32_t line = y.first; line < y.last; ++line) {
    const float v = y.at(line);
    const auto upper = static_cast<std::size_t>(v);
    const std::size_t lower = std::min(upper + 1, mask.height - 1);
    const float part = v - static_cast<float>(upper);
    const std::uint8_t* const a = mask.data + upper * mask.width;
    const std::uint8_t* const b = mask.data + lower * mask.width;
    for (std::size_t j = 0; j < mask.width; ++j)
      row_[j] = static_cast<float>(a[j]) + part * static_cast<float>(b[j] - a[j]);
    row_[mask.width] = row_[mask.width - 1];
    std::int32_t begin = -1;  // begin of the open run; -1: none
    const auto close = [&](std::int32_t end) {
      if (begin >= 0 && begin < end) target.blend(line, begin, end, paints);
      begin = -1;
    };
    for (std::size_t j = 0; j < mask.width; ++j) {
      const std::int32_t from = cells_[j], to = cells_[j + 1];
      if (from == to) continue;
      const bool left = row_[j] >= on, right = row_[j + 1] >= on;
      if (left && right) {
        if (begin < 0) begin = from;
      } else if (!left && !right) {
        close(from);
      } else {
        const float slope = row_[j + 1] - row_[j];
        for (std::int32_t column = from; column < to; ++column) {
          const float value = row_[j] + slope * (x.at(column) - static_cast<float>(j));
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
}

}  // namespace halyard::compat
