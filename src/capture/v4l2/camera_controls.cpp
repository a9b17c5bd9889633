// SPDX-License-Identifier: Apache-2.0
// VIDIOC_QUERYCTRL, VIDIOC_QUERYMENU, VIDIOC_G_CTRL and VIDIOC_S_CTRL.
#include "capture/v4l2/camera_controls.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>

#include "base/text/format_error.h"
#include "halyard/enumerators.h"

namespace halyard {

std::string_view to_string(CameraControlKind kind) noexcept {
  return enumerator_name(kind, "unknown");
}

namespace capture {
namespace {

constexpr std::uint32_t max_controls = 1000;
constexpr std::int64_t max_menu_entries = 256;

template <std::size_t size>
std::string driver_text(const std::uint8_t (&field)[size]) {
  const auto* end = std::find(std::begin(field), std::end(field), std::uint8_t{0});
  return std::string(std::begin(field), end);
}

// "White Balance, Automatic" becomes "white_balance_automatic", as v4l2-ctl names it.
std::string control_name(std::string_view description) {
  std::string name;
  for (const char c : description) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  if (!name.empty() && name.back() == '_') name.pop_back();
  return name;
}

CameraControlKind kind_of(std::uint32_t type) noexcept {
  switch (type) {
    case V4L2_CTRL_TYPE_INTEGER:
      return CameraControlKind::integer;
    case V4L2_CTRL_TYPE_BOOLEAN:
      return CameraControlKind::boolean;
    case V4L2_CTRL_TYPE_MENU:
      return CameraControlKind::menu;
    case V4L2_CTRL_TYPE_INTEGER_MENU:
      return CameraControlKind::integer_menu;
    case V4L2_CTRL_TYPE_BUTTON:
      return CameraControlKind::button;
    default:
      return CameraControlKind::other;
  }
}

bool has_number(const CameraControl& control) noexcept {
  return control.kind != CameraControlKind::button && control.kind != CameraControlKind::other;
}

bool has_menu(const CameraControl& control) noexcept {
  return control.kind == CameraControlKind::menu || control.kind == CameraControlKind::integer_menu;
}

void list_menu(const CameraDevice& device, CameraControl& control) {
  const std::int64_t last = std::min(control.maximum, control.minimum + max_menu_entries - 1);
  for (std::int64_t value = control.minimum; value <= last; ++value) {
    v4l2_querymenu entry{};
    entry.id = control.id;
    entry.index = static_cast<std::uint32_t>(value);
    if (device.call(VIDIOC_QUERYMENU, &entry) != 0) continue;  // a gap in the menu
    control.menu.emplace_back(value, control.kind == CameraControlKind::menu
                                         ? driver_text(entry.name)
                                         : std::to_string(entry.value));
  }
}

Result<CameraControl> describe_control(const CameraDevice& device, const v4l2_queryctrl& found) {
  CameraControl control;
  control.id = found.id;
  control.description = driver_text(found.name);
  control.name = control_name(control.description);
  control.kind = kind_of(found.type);
  control.minimum = found.minimum;
  control.maximum = found.maximum;
  control.step = found.step;
  control.default_value = found.default_value;
  control.is_read_only = (found.flags & V4L2_CTRL_FLAG_READ_ONLY) != 0;
  control.is_inactive = (found.flags & V4L2_CTRL_FLAG_INACTIVE) != 0;
  if (has_menu(control)) list_menu(device, control);
  if (!has_number(control) || (found.flags & V4L2_CTRL_FLAG_WRITE_ONLY) != 0) return control;
  v4l2_control now{found.id, 0};
  const int failed = device.call(VIDIOC_G_CTRL, &now);
  if (failed == ENODEV) return camera_error("", failed, device.path());
  if (failed == 0) control.value = now.value;
  return control;
}

Result<CameraControl> device_control(const CameraDevice& device, std::string_view name) {
  HALYARD_TRY(const auto controls, list_controls(device));
  return find_control(controls, device.path(), name);
}

}  // namespace

Result<std::vector<CameraControl>> list_controls(const CameraDevice& device) {
  std::vector<CameraControl> controls;
  v4l2_queryctrl found{};
  found.id = V4L2_CTRL_FLAG_NEXT_CTRL;
  for (std::uint32_t n = 0; n < max_controls; ++n) {
    const int failed = device.call(VIDIOC_QUERYCTRL, &found);
    if (failed == ENODEV) return camera_error("", failed, device.path());
    if (failed != 0) break;
    const bool is_shown =
        (found.flags & V4L2_CTRL_FLAG_DISABLED) == 0 && found.type != V4L2_CTRL_TYPE_CTRL_CLASS;
    if (is_shown) {
      HALYARD_TRY(auto control, describe_control(device, found));
      controls.push_back(std::move(control));
    }
    found.id |= V4L2_CTRL_FLAG_NEXT_CTRL;
  }
  return controls;
}

Result<CameraControl> find_control(std::span<const CameraControl> controls,
                                   const std::string& where, std::string_view name) {
  std::string names;
  for (const CameraControl& control : controls) {
    if (control.name == name) return control;
    names.append(names.empty() ? "" : ", ").append(control.name);
  }
  return fail(Errc::not_found, "control: the camera has none of this name", "{}: {}; it has {}",
              where, name, names.empty() ? "none" : names);
}

Result<std::int64_t> number_of_control(const CameraControl& control) {
  if (!has_number(control))
    return fail(Errc::unsupported, "control: it has no number", "{}", control.name);
  return control.value;
}

Status check_control_value(const CameraControl& control, std::int64_t value) {
  if (control.is_read_only)
    return fail(Errc::permission, "control: it can only be read", "{}", control.name);
  if (control.kind == CameraControlKind::button) return {};
  if (control.kind == CameraControlKind::other)
    return fail(Errc::unsupported, "control: it has no number", "{}", control.name);
  if (value < control.minimum || value > control.maximum)
    return fail(Errc::invalid_argument, "control: the value is outside its range",
                "{}: {}, not {} to {}", control.name, value, control.minimum, control.maximum);
  const bool is_entry = std::any_of(control.menu.begin(), control.menu.end(),
                                    [value](const auto& entry) { return entry.first == value; });
  if (has_menu(control) && !is_entry)
    return fail(Errc::invalid_argument, "control: its menu has no such entry", "{}: {}",
                control.name, value);
  return {};
}

Result<std::int64_t> value_of_entry(const CameraControl& control, std::string_view entry) {
  std::string entries;
  for (const auto& [value, text] : control.menu) {
    if (text == entry) return value;
    entries.append(entries.empty() ? "" : ", ").append(text);
  }
  if (!has_menu(control))
    return fail(Errc::invalid_argument, "control: it has no menu", "{}", control.name);
  return fail(Errc::invalid_argument, "control: its menu has no such entry", "{}: {}; it has {}",
              control.name, entry, entries);
}

Status set_device_control(const CameraDevice& device, const CameraControl& control,
                          std::int64_t value) {
  v4l2_control setting{control.id, static_cast<std::int32_t>(value)};
  const int failed = device.call(VIDIOC_S_CTRL, &setting);
  if (failed == 0) return {};
  const std::string text = device.path() + ": " + control.name;
  if (failed == EBUSY)
    return fail(Errc::busy, "control: it cannot be changed while the camera runs", "{}", text);
  if (failed == EACCES)
    return fail(Errc::permission, "control: it cannot be changed now", "{}", text);
  return camera_error("control: the camera refuses the value", failed, text);
}

Result<std::int64_t> read_control(const CameraDevice& device, std::string_view name) {
  HALYARD_TRY(const CameraControl control, device_control(device, name));
  return number_of_control(control);
}

Status write_control(const CameraDevice& device, std::string_view name, std::int64_t value) {
  HALYARD_TRY(const CameraControl control, device_control(device, name));
  HALYARD_RETURN_IF_ERROR(check_control_value(control, value));
  return set_device_control(device, control, value);
}

Status write_control(const CameraDevice& device, std::string_view name, std::string_view entry) {
  HALYARD_TRY(const CameraControl control, device_control(device, name));
  HALYARD_TRY(const std::int64_t value, value_of_entry(control, entry));
  HALYARD_RETURN_IF_ERROR(check_control_value(control, value));
  return set_device_control(device, control, value);
}

}  // namespace capture
}  // namespace halyard
