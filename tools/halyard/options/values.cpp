// SPDX-License-Identifier: Apache-2.0
// A parser must consume the whole text, or it fails.
#include "options/values.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>

namespace halyard::tool {
namespace {

std::optional<long> parse_integer(std::string_view text, long low, long high) {
  long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (value < low || value > high) return std::nullopt;
  return value;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text = text.substr(at + 1);
  }
}

bool parse_number(std::string_view text, double& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && std::isfinite(value);
}

/// The enumerator whose value is the position of the text in `names`.
template <class Enum, std::size_t count>
std::optional<Enum> parse_name(std::string_view text,
                               const std::array<std::string_view, count>& names) {
  for (std::size_t i = 0; i < count; ++i)
    if (text == names[i]) return static_cast<Enum>(i);
  return std::nullopt;
}

/// Exactly `count` finite numbers, separated by commas.
template <std::size_t count>
std::optional<std::array<double, count>> parse_numbers(std::string_view text) {
  const auto parts = split(text, ',');
  if (parts.size() != count) return std::nullopt;
  std::array<double, count> values{};
  for (std::size_t i = 0; i < count; ++i)
    if (!parse_number(parts[i], values[i])) return std::nullopt;
  return values;
}

}  // namespace

std::optional<Size> parse_size(std::string_view text) {
  const auto parts = split(text, 'x');
  if (parts.size() != 2) return std::nullopt;
  const auto width = parse_integer(parts[0], 1, 65535);
  const auto height = parse_integer(parts[1], 1, 65535);
  if (!width || !height) return std::nullopt;
  return Size{static_cast<std::int32_t>(*width), static_cast<std::int32_t>(*height)};
}

std::optional<double> parse_seconds(std::string_view text) {
  double value = 0;
  if (!parse_number(text, value) || value < 0.01 || value > 1e6) return std::nullopt;
  return value;
}

std::optional<Region> parse_region(std::string_view text) {
  const auto parts = split(text, ',');
  if (parts.size() != 4) return std::nullopt;
  std::array<std::int32_t, 4> value{};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto number = parse_integer(parts[i], i < 2 ? 0 : 1, 65535);
    if (!number) return std::nullopt;
    value[i] = static_cast<std::int32_t>(*number);
  }
  return Region{value[0], value[1], value[2], value[3]};
}

std::optional<RegionF> parse_region_f(std::string_view text) {
  const auto value = parse_numbers<4>(text);
  if (!value || (*value)[2] <= 0 || (*value)[3] <= 0) return std::nullopt;
  return RegionF((*value)[0], (*value)[1], (*value)[2], (*value)[3]);
}

std::optional<int> parse_bits(std::string_view text) {
  const auto bits = parse_integer(text, 8, 16);
  if (!bits) return std::nullopt;
  return static_cast<int>(*bits);
}

std::optional<std::array<float, 3>> parse_rgb(std::string_view text) {
  std::array<double, 3> value{};
  if (const auto one = parse_numbers<1>(text))
    value.fill((*one)[0]);
  else if (const auto three = parse_numbers<3>(text))
    value = *three;
  else
    return std::nullopt;
  std::array<float, 3> rgb{};
  for (std::size_t i = 0; i < 3; ++i) {
    rgb[i] = static_cast<float>(value[i]);
    if (!std::isfinite(rgb[i])) return std::nullopt;
  }
  return rgb;
}

std::optional<std::array<float, 3>> parse_deviation(std::string_view text) {
  const auto rgb = parse_rgb(text);
  if (!rgb || (*rgb)[0] <= 0 || (*rgb)[1] <= 0 || (*rgb)[2] <= 0) return std::nullopt;
  return rgb;
}

std::optional<Affine> parse_affine(std::string_view text) {
  const auto value = parse_numbers<6>(text);
  if (!value) return std::nullopt;
  return Affine{*value};
}

std::optional<TileOptions> parse_tiles(std::string_view text) {
  const auto parts = split(text, ',');
  TileOptions tiles;
  const auto size = parse_size(parts[0]);
  if (!size || parts.size() > 2) return std::nullopt;
  tiles.size = *size;
  if (parts.size() == 2 && !parse_number(parts[1], tiles.overlap)) return std::nullopt;
  if (tiles.overlap < 0 || tiles.overlap >= 1) return std::nullopt;
  return tiles;
}

std::optional<std::array<std::uint8_t, 4>> parse_color(std::string_view text) {
  const auto parts = split(text, ',');
  if (parts.size() != 3) return std::nullopt;
  std::array<std::uint8_t, 4> color{0, 0, 0, 255};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto number = parse_integer(parts[i], 0, 255);
    if (!number) return std::nullopt;
    color[i] = static_cast<std::uint8_t>(*number);
  }
  return color;
}

std::optional<Quantization> parse_quantization(std::string_view text) {
  const auto parts = split(text, ',');
  if (parts.size() != 2) return std::nullopt;
  float scale = 0;
  const auto [end, error] =
      std::from_chars(parts[0].data(), parts[0].data() + parts[0].size(), scale);
  if (error != std::errc{} || end != parts[0].data() + parts[0].size()) return std::nullopt;
  const auto zero = parse_integer(parts[1], -32768, 65535);
  if (!std::isfinite(scale) || scale <= 0 || !zero) return std::nullopt;
  return Quantization::per_tensor(scale, static_cast<std::int32_t>(*zero));
}

std::optional<Colorimetry> parse_colorimetry(std::string_view text) {
  Colorimetry out;
  for (const std::string_view part : split(text, ',')) {
    bool is_known = false;
    for (const auto encoding : {ColorEncoding::bt601, ColorEncoding::bt709, ColorEncoding::bt2020})
      if (part == to_string(encoding)) out.encoding = encoding, is_known = true;
    for (const auto range : {ColorRange::full, ColorRange::limited})
      if (part == to_string(range)) out.range = range, is_known = true;
    if (!is_known) return std::nullopt;
  }
  return out;
}

std::optional<Filter> parse_filter(std::string_view text) {
  return parse_name<Filter, 5>(text, {"nearest", "bilinear", "bicubic", "lanczos3", "box"});
}

std::optional<Fit> parse_fit(std::string_view text) {
  return parse_name<Fit, 4>(text, {"stretch", "letterbox", "cover", "top-left"});
}

std::optional<LetterboxRule> parse_letterbox_rule(std::string_view text) {
  return parse_name<LetterboxRule, 3>(text, {"hal", "ultralytics", "ultralytics-val"});
}

std::optional<AlphaStep> parse_alpha(std::string_view text) {
  return parse_name<AlphaStep, 3>(text, {"keep", "premultiply", "unpremultiply"});
}

Result<std::vector<std::string>> read_lines(const std::string& path) {
  HALYARD_TRY(const auto bytes, read_file(path, std::size_t{1} << 24));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::vector<std::string> lines;
  for (std::string_view line : split(text, '\n')) {
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (!line.empty()) lines.emplace_back(line);
  }
  return lines;
}

std::string extension_of(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension().string();
  for (char& c : extension)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return extension;
}

}  // namespace halyard::tool
