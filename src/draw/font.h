// SPDX-License-Identifier: Apache-2.0
// Font: text to coverage masks through FreeType, with a glyph cache. One line, left to right.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "draw/canvas.h"
#include "halyard/result.h"

namespace halyard::draw {

/// Paths of packaged fonts, best first.
std::span<const char* const> packaged_fonts() noexcept;

/// One face. One font serves one thread at a time.
class Font {
 public:
  /// The file at `path`; empty: the first of `candidates` that exists. Errors: not_found (the
  /// detail names every path tried and the package to install), permission, malformed (not a
  /// scalable font), no_memory.
  static Result<Font> open(const std::string& path, std::span<const char* const> candidates);
  Font(Font&&) noexcept;
  Font& operator=(Font&&) noexcept;
  ~Font();

  /// Height of a capital letter at this size in pixels.
  int cap_height(int size_px);
  /// Advance of the line in pixels. Control characters count as spaces; text after the first 512
  /// code points is ignored.
  int width(std::string_view line, int size_px);
  /// Blends the line with its pen start at (x, baseline), inside the canvas's clip.
  void draw(const Canvas& canvas, int x, int baseline, std::string_view line, int size_px,
            const Ink& ink);

 private:
  struct Impl;
  explicit Font(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halyard::draw
