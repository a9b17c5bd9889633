// SPDX-License-Identifier: Apache-2.0
// Parses option values: sizes, regions, colours, names.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "halyard/codec.h"
#include "halyard/colorimetry.h"
#include "halyard/geometry.h"
#include "halyard/image.h"
#include "halyard/quantization.h"
#include "halyard/tiling.h"

namespace halyard::tool {

/// "640x480"; both 1..65535.
std::optional<Size> parse_size(std::string_view text);
/// "X,Y,W,H", whole numbers.
std::optional<Region> parse_region(std::string_view text);
/// As parse_region(), with decimals; W and H above 0.
std::optional<RegionF> parse_region_f(std::string_view text);
/// Significant bits of a 16-bit sample: 8..16.
std::optional<int> parse_bits(std::string_view text);
/// "R,G,B", or one number for all three.
std::optional<std::array<float, 3>> parse_rgb(std::string_view text);
/// As parse_rgb(); all above 0.
std::optional<std::array<float, 3>> parse_deviation(std::string_view text);
/// Six numbers.
std::optional<Affine> parse_affine(std::string_view text);
/// "WxH" or "WxH,OVERLAP", an overlap in [0, 1).
std::optional<TileOptions> parse_tiles(std::string_view text);
/// "R,G,B", each 0..255; alpha 255.
std::optional<std::array<std::uint8_t, 4>> parse_color(std::string_view text);
/// A time in seconds, 0.01..1e6.
std::optional<double> parse_seconds(std::string_view text);
/// "SCALE,ZERO_POINT".
std::optional<Quantization> parse_quantization(std::string_view text);
/// "bt709", "limited" or both, separated by a comma.
std::optional<Colorimetry> parse_colorimetry(std::string_view text);
std::optional<Filter> parse_filter(std::string_view text);
std::optional<Fit> parse_fit(std::string_view text);
std::optional<LetterboxRule> parse_letterbox_rule(std::string_view text);
std::optional<AlphaStep> parse_alpha(std::string_view text);

/// Non-empty lines of a text file. Errors: as read_file().
Result<std::vector<std::string>> read_lines(const std::string& path);

/// Lower-case extension with its dot; empty if there is none.
std::string extension_of(const std::string& path);

}  // namespace halyard::tool
