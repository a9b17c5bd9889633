// SPDX-License-Identifier: Apache-2.0
// CoverageAtlas: glyphs and corners in one texture, each copied there when it is first drawn.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "draw/coverage_bitmap.h"
#include "draw/gl/shelf_packer.h"

namespace halyard::draw {

/// Made, used and destroyed on the worker's thread.
class CoverageAtlas {
 public:
  static constexpr std::int32_t side = 1024;
  static bool fits(const CoverageBitmap& bitmap) noexcept {
    return bitmap.width <= side && bitmap.height <= side;
  }

  CoverageAtlas() = default;
  CoverageAtlas(const CoverageAtlas&) = delete;
  CoverageAtlas& operator=(const CoverageAtlas&) = delete;
  ~CoverageAtlas();

  /// Makes the texture that of the active unit.
  void bind();
  /// The texel of the bitmap's first byte; call after bind(). nullopt: the atlas is full; draw what
  /// was found so far, then clear().
  std::optional<std::array<std::int32_t, 2>> find(const CoverageBitmap& bitmap);
  void clear() noexcept;

 private:
  std::uint32_t texture_ = 0;
  ShelfPacker packer_{side};
  std::unordered_map<std::uint64_t, std::array<std::int32_t, 2>> places_;
};

/// Bitmaps copied into atlases since the start of the process. Thread-safe.
std::uint64_t coverage_uploads() noexcept;

}  // namespace halyard::draw
