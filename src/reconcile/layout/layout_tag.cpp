// SPDX-License-Identifier: Apache-2.0
// Reads and writes the names of layouts and formats.
#include "reconcile/layout/layout_tag.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "base/text/format_error.h"

namespace halyard {

namespace {

constexpr std::uint32_t max_x = 1024;

template <class T>
std::optional<T> parse_number(std::string_view text, int base) {
  T out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return out;
}

std::optional<LayoutTag> tensor_tag(std::string_view text) {
  const std::string name = upper(text);
  if (name == "NCHW") return LayoutTag::tensor(AxisOrder::nchw);
  if (name == "NHWC") return LayoutTag::tensor(AxisOrder::nhwc);
  constexpr std::string_view blocks = "NCXHWX";
  if (!name.starts_with(blocks)) return std::nullopt;
  const auto x = parse_number<std::uint32_t>(std::string_view(name).substr(blocks.size()), 10);
  if (!x) return std::nullopt;
  return LayoutTag::tensor(AxisOrder::nc_hwx, *x);
}

std::optional<LayoutTag> image_tag(std::string_view text) {
  const auto at = text.find('@');
  const std::string_view name = text.substr(0, at);
  auto format = format_from_string(name);
  if (!format) format = format_from_fourcc(name);
  if (!format) format = format_from_fourcc(upper(name));
  if (!format) return std::nullopt;
  if (at == std::string_view::npos) return LayoutTag::image(*format);
  std::string_view number = text.substr(at + 1);
  if (!number.starts_with("0x")) return std::nullopt;
  const auto modifier = parse_number<std::uint64_t>(number.substr(2), 16);
  if (!modifier) return std::nullopt;
  return LayoutTag::image(*format, *modifier);
}

}  // namespace

std::string to_string(const LayoutTag& tag) {
  switch (tag.family) {
    case LayoutTag::Family::wildcard:
      return "*";
    case LayoutTag::Family::tensor:
      if (tag.order == AxisOrder::nchw) return "NCHW";
      if (tag.order == AxisOrder::nhwc) return "NHWC";
      return fmt::format("NCxHWx{}", tag.x);
    case LayoutTag::Family::image:
      break;
  }
  const std::string name(to_string(tag.format));
  return tag.modifier == drm_modifier_linear ? name
                                             : fmt::format("{}@{:#018x}", name, tag.modifier);
}

Result<LayoutTag> layout_tag_from_string(std::string_view text) {
  if (text == "*") return LayoutTag::any();
  auto tag = tensor_tag(text);
  if (!tag) tag = image_tag(text);
  if (!tag)
    return fail(Errc::invalid_argument,
                "a layout is NCHW, NHWC, NCxHWx and a number, a format (NV12, with @0x and a "
                "modifier), or *",
                "\"{}\"", text);
  HALYARD_RETURN_IF_ERROR(check_tag(*tag));
  return *tag;
}

Status check_tag(const LayoutTag& tag) {
  if (tag.family != LayoutTag::Family::tensor) return {};
  const bool has_x = tag.order == AxisOrder::nc_hwx;
  if (has_x ? tag.x < 1 || tag.x > max_x : tag.x != 1)
    return fail(Errc::invalid_argument, "channels are in blocks of 1 to 1024, for NCxHWx only",
                "x = {}", tag.x);
  return {};
}

Result<LayoutTag> layout_tag_from_json(const KeyInfo& info, const nlohmann::json& json) {
  if (!json.is_string())
    return fail(Errc::invalid_argument, "a layout is a name", "{}: {}", info.name, json.dump());
  HALYARD_TRY(const LayoutTag tag, layout_tag_from_string(json.get<std::string>()));
  const auto family =
      info.key == Key::format ? LayoutTag::Family::image : LayoutTag::Family::tensor;
  if (tag.family != family && tag.family != LayoutTag::Family::wildcard)
    return fail(Errc::invalid_argument, "the layout belongs to the other of t.layout and i.format",
                "{}: {}", info.name, json.dump());
  return tag;
}

}  // namespace halyard
