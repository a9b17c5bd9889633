// SPDX-License-Identifier: Apache-2.0
// The controls of an open camera.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/v4l2/camera_device.h"
#include "halyard/camera.h"

namespace halyard::capture {

/// Errors: device.
Result<std::vector<CameraControl>> list_controls(const CameraDevice& device);

/// The control of this name. `where`: the path, for messages. Errors: not_found (the message has
/// all names).
Result<CameraControl> find_control(std::span<const CameraControl> controls,
                                   const std::string& where, std::string_view name);
/// Its value. Errors: unsupported (it has no number).
Result<std::int64_t> number_of_control(const CameraControl& control);
/// Errors: permission (read-only), unsupported, invalid_argument (range, menu).
Status check_control_value(const CameraControl& control, std::int64_t value);
/// The value of an entry of its menu. Errors: invalid_argument (the message has all entries).
Result<std::int64_t> value_of_entry(const CameraControl& control, std::string_view entry);

/// Sets a control, whose value was checked.
Status set_device_control(const CameraDevice& device, const CameraControl& control,
                          std::int64_t value);
/// As the functions of Camera.
Result<std::int64_t> read_control(const CameraDevice& device, std::string_view name);
Status write_control(const CameraDevice& device, std::string_view name, std::int64_t value);
Status write_control(const CameraDevice& device, std::string_view name, std::string_view entry);

}  // namespace halyard::capture
