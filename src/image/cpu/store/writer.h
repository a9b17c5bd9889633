// SPDX-License-Identifier: Apache-2.0
// Writer: from rows of results to the destination's bytes, whatever its format and dtype.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "image/cpu/color/color_converter.h"
#include "image/cpu/cpu_program.h"

namespace halyard::image {

/// A piece of the destination: results of pixels [x, x + width) of one row, or of the rows of one
/// chroma block.
struct Piece {
  std::int32_t x = 0;  ///< a multiple of the block's width
  std::int32_t y = 0;  ///< a multiple of the block's height
  std::int32_t width = 0;
  std::span<const ResultRows> rows;  ///< of the block's height; fewer in the image's last block
};

/// Immutable. Writes the pixels of a piece and no other byte.
class Writer {
 public:
  virtual ~Writer() = default;
  /// Whether it stores codes; else it wants values of `fraction` (given when it is made).
  virtual bool wants_codes() const noexcept = 0;
  /// Pixels that share a chroma sample, 1 or 2.
  std::int32_t block_width() const noexcept { return block_width_; }
  std::int32_t block_height() const noexcept { return block_height_; }
  virtual void store(const MappedImages& frame, const Piece& piece) const noexcept = 0;

 protected:
  Writer(std::int32_t block_width, std::int32_t block_height) noexcept
      : block_width_(block_width), block_height_(block_height) {}

 private:
  std::int32_t block_width_;
  std::int32_t block_height_;
};

/// Whether the writer of this plan wants codes.
bool writes_codes(const Plan& plan) noexcept;
/// `fraction`: of the values it is given. May throw std::bad_alloc.
std::unique_ptr<const Writer> make_writer(const Plan& plan, int fraction);

}  // namespace halyard::image
