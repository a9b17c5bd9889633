// SPDX-License-Identifier: Apache-2.0
// Draw: draws detections and tracks on images, in place.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halyard/detection.h"
#include "halyard/export.h"
#include "halyard/geometry.h"
#include "halyard/result.h"
#include "halyard/tensor.h"
#include "halyard/track.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// R, G, B, 0..255.
using Color = std::array<std::uint8_t, 3>;

/// A well separated colour for a class index or track id; the same index always has the same
/// colour.
Color palette_color(std::uint64_t index) noexcept;

enum class ColorBy : std::uint8_t { label, track };

/// Draws boxes, filled tags with text, ids and trails on u8 rgb and rgba images (alpha kept).
/// Stores the trails of the tracks it has drawn. One overlay serves one thread at a time.
class Overlay {
 public:
  struct Options {
    std::vector<std::string> labels = {};  ///< class names; a missing name is drawn as "class 7"
    ColorBy color_by = ColorBy::label;
    int line_px = 0;  ///< box line width, 1..256; 0: from the image's size
    int text_px = 0;  ///< font size (em), 6..512; 0: from the image's size
    bool show_score = true;
    std::size_t trail_length = 30;  ///< points of a track's trail, 0..10000; 0: no trail
    std::string font = {};          ///< path of a font file; empty: a packaged font is searched for
  };
  /// Errors: not_found (no font: the message names the paths tried and the package to install),
  /// malformed or permission (the font file), invalid_argument (an option outside its range).
  static Result<Overlay> create(Options options);
  static Result<Overlay> create();
  Overlay(Overlay&&) noexcept;
  Overlay& operator=(Overlay&&) noexcept;
  ~Overlay();

  /// Draws detections, which must be sorted best first; the best is drawn on top. Boxes may lie
  /// partly or wholly outside the image; they are clipped. NaN, infinite, empty and inverted boxes
  /// are ignored. Tags stay inside the image. Labels are UTF-8; invalid bytes are drawn as U+FFFD.
  /// Errors: unsupported (format, dtype), invalid_argument (the image has an orientation, but boxes
  /// refer to upright images), those of mapping.
  Status draw(Tensor& image, std::span<const Detection> detections);
  /// Draws tracks: visible ones solid, coasting ones thin and dashed, with the tag "label #id 87%".
  /// Extends the trails, and removes the trails of tracks that are not in `tracks`.
  Status draw(Tensor& image, std::span<const Track> tracks);

  /// Draws one line of text with its top left corner at (x, y), on a filled tag, clipped to the
  /// image.
  Status text(Tensor& image, int x, int y, std::string_view line, Color background);

 private:
  struct Impl;
  explicit Overlay(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halyard
HALYARD_EXPORTS_END
