// SPDX-License-Identifier: Apache-2.0
// Every parser takes the whole text or nothing.
#include "values.h"

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

}  // namespace

std::optional<Size> parse_size(std::string_view text) {
  const auto parts = split(text, 'x');
  if (parts.size() != 2) return std::nullopt;
  const auto width = parse_integer(parts[0], 1, 65535);
  const auto height = parse_integer(parts[1], 1, 65535);
  if (!width || !height) return std::nullopt;
  return Size{static_cast<std::int32_t>(*width), static_cast<std::int32_t>(*height)};
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
  constexpr std::array<std::string_view, 5> names{"nearest", "bilinear", "bicubic", "lanczos3",
                                                  "box"};
  for (std::size_t i = 0; i < names.size(); ++i)
    if (text == names[i]) return static_cast<Filter>(i);
  return std::nullopt;
}

Size turned(Size size, Orientation orientation) noexcept {
  const bool is_sideways =
      orientation.rotation == Rotation::cw90 || orientation.rotation == Rotation::cw270;
  return is_sideways ? Size{size.height, size.width} : size;
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
