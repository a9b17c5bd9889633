// SPDX-License-Identifier: Apache-2.0
// Writer: stores rows of results as the destination's bytes, in any format and dtype.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "image/cpu/color/color_converter.h"
#include "image/cpu/cpu_program.h"

namespace halyard::image {

/// A piece of the destination: the results of pixels [x, x + width) of one row, or of all rows of
/// one chroma block.
struct Piece {
  std::int32_t x = 0;  ///< a multiple of the block's width
  std::int32_t y = 0;  ///< a multiple of the block's height
  std::int32_t width = 0;
  std::span<const ResultRows> rows;  ///< one per row of the block; fewer in the last block
};

/// Immutable. Writes only the bytes of a piece's pixels.
class Writer {
 public:
  virtual ~Writer() = default;
  /// Whether store() needs codes; else it needs values with the `fraction` given to make_writer().
  virtual bool wants_codes() const noexcept = 0;
  /// Pixels that share a chroma sample, 1 or 2 along each axis.
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

/// Whether the writer of this plan needs codes.
bool writes_codes(const Plan& plan) noexcept;
/// `fraction`: fractional bits of the values. May throw std::bad_alloc.
std::unique_ptr<const Writer> make_writer(const Plan& plan, int fraction);

}  // namespace halyard::image
