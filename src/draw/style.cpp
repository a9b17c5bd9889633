// SPDX-License-Identifier: Apache-2.0
// Derives sizes from the image's size, and makes the texts of tags.
#include "draw/style.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace halyard::draw {
namespace {

int rounded(double value) noexcept {
  return static_cast<int>(std::lround(value));
}

std::string name_of(const OverlayOptions& options, std::int32_t label) {
  const auto index = static_cast<std::size_t>(label);
  if (label >= 0 && index < options.labels.size() && !options.labels[index].empty()) {
    return options.labels[index];
  }
  return fmt::format("class {}", label);
}

void append_score(std::string& text, const OverlayOptions& options, float score) {
  if (!options.show_score || std::isnan(score)) return;
  text += fmt::format(" {}%", rounded(100.0 * std::clamp(score, 0.0F, 1.0F)));
}

}  // namespace

Style style_for(const OverlayOptions& options, int width, int height) noexcept {
  // The geometric mean of the sides: images of equal area get equal sizes in both orientations.
  const double side = std::sqrt(static_cast<double>(width) * height);
  Style style;
  style.line = options.line_px > 0 ? options.line_px
                                   : std::clamp(rounded(side / 320), side < 240 ? 1 : 2, 32);
  style.thin_line = std::max(1, style.line / 2);
  style.dash = std::max(4, 3 * style.line);
  style.radius = 2 * style.line;
  style.text = options.text_px > 0 ? options.text_px : std::clamp(rounded(side / 70 + 4), 9, 200);
  style.tag_height = rounded(1.34 * style.text);
  style.tag_radius = std::max(2, style.text / 5);
  style.padding = std::max(2, rounded(0.35 * style.text));
  style.trail_width = static_cast<float>(style.line);
  return style;
}

std::string tag_text(const OverlayOptions& options, const Detection& detection) {
  std::string text = name_of(options, detection.label);
  append_score(text, options, detection.score);
  return text;
}

std::string tag_text(const OverlayOptions& options, const Track& track) {
  std::string text = fmt::format("{} #{}", name_of(options, track.label), track.id);
  if (track.detection >= 0) append_score(text, options, track.score);
  return text;
}

}  // namespace halyard::draw
