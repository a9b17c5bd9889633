// SPDX-License-Identifier: Apache-2.0
// Types, names and ranges of controls.
#include "capture/libcamera/controls.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

namespace halyard::libcamera_plugin {
namespace {

constexpr float parts = 1000;

std::int64_t thousandths(float value) {
  constexpr float limit = 1e15F;
  if (std::isnan(value)) return 0;
  return std::llround(std::clamp(value, -limit, limit) * parts);
}

std::optional<std::int64_t> number_in(const libcamera::ControlValue& value) {
  if (value.isArray()) return std::nullopt;
  switch (value.type()) {
    case libcamera::ControlTypeBool:
      return value.get<bool>() ? 1 : 0;
    case libcamera::ControlTypeByte:
      return value.get<std::uint8_t>();
    case libcamera::ControlTypeInteger32:
      return value.get<std::int32_t>();
    case libcamera::ControlTypeInteger64:
      return value.get<std::int64_t>();
    case libcamera::ControlTypeFloat:
      return thousandths(value.get<float>());
    default:
      return std::nullopt;
  }
}

// "AeEnable" becomes "ae_enable".
std::string snake_case(const std::string& name) {
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isupper(byte) != 0 && !out.empty() && out.back() != '_') out += '_';
    out += std::isalnum(byte) != 0 ? static_cast<char>(std::tolower(byte)) : '_';
  }
  return out;
}

}  // namespace

std::vector<NumberControl> number_controls(const libcamera::ControlInfoMap& all) {
  std::vector<NumberControl> found;
  for (const auto& [id, info] : all) {
    const auto low = number_in(info.min());
    const auto high = number_in(info.max());
    if (!low || !high || *low > *high) continue;
    NumberControl control;
    control.id = id;
    control.name = snake_case(id->name());
    control.description = id->name();
    if (id->type() == libcamera::ControlTypeFloat) control.description += ", in thousandths";
    control.is_switch = id->type() == libcamera::ControlTypeBool;
    control.minimum = *low;
    control.maximum = *high;
    control.default_value = std::clamp(number_in(info.def()).value_or(*low), *low, *high);
    found.push_back(std::move(control));
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.id->id() < b.id->id(); });
  return found;
}

std::optional<libcamera::ControlValue> control_value(libcamera::ControlType type,
                                                     std::int64_t value) {
  switch (type) {
    case libcamera::ControlTypeBool:
      return libcamera::ControlValue(value != 0);
    case libcamera::ControlTypeByte:
      return libcamera::ControlValue(static_cast<std::uint8_t>(value));
    case libcamera::ControlTypeInteger32:
      return libcamera::ControlValue(static_cast<std::int32_t>(value));
    case libcamera::ControlTypeInteger64:
      return libcamera::ControlValue(value);
    case libcamera::ControlTypeFloat:
      return libcamera::ControlValue(static_cast<float>(value) / parts);
    default:
      return std::nullopt;
  }
}

}  // namespace halyard::libcamera_plugin
