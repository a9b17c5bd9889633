// SPDX-License-Identifier: Apache-2.0
// ShelfPacker: places rectangles in a square, in rows of the height of the highest.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace halyard::draw {

class ShelfPacker {
 public:
  explicit ShelfPacker(std::int32_t side) noexcept : side_(side) {}
  /// The top left corner; nullopt: there is no space before clear().
  std::optional<std::array<std::int32_t, 2>> place(std::int32_t width,
                                                   std::int32_t height) noexcept {
    if (width > side_) return std::nullopt;
    if (x_ + width > side_) {
      y_ += row_height_;
      x_ = row_height_ = 0;
    }
    if (y_ + height > side_) return std::nullopt;
    const std::array<std::int32_t, 2> out{x_, y_};
    x_ += width;
    row_height_ = std::max(row_height_, height);
    return out;
  }
  void clear() noexcept { x_ = y_ = row_height_ = 0; }

 private:
  std::int32_t side_;
  std::int32_t x_ = 0;
  std::int32_t y_ = 0;
  std::int32_t row_height_ = 0;
};

}  // namespace halyard::draw
