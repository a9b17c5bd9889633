// SPDX-License-Identifier: Apache-2.0
// libcamera's controls as whole numbers with names.
#pragma once

#include <libcamera/controls.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace halyard::libcamera_plugin {

/// A control that is a number or a switch. Fractions are told in thousandths.
struct NumberControl {
  const libcamera::ControlId* id = nullptr;
  std::string name;         ///< "exposure_time" of libcamera's "ExposureTime"
  std::string description;  ///< libcamera's name, and the unit where it is ours
  bool is_switch = false;
  std::int64_t minimum = 0;
  std::int64_t maximum = 0;
  std::int64_t default_value = 0;
};

/// Those of a camera, by their ids. Lists and rectangles are left out.
std::vector<NumberControl> number_controls(const libcamera::ControlInfoMap& all);
/// nullopt: the type has no number.
std::optional<libcamera::ControlValue> control_value(libcamera::ControlType type,
                                                     std::int64_t value);

}  // namespace halyard::libcamera_plugin
