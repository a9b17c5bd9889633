// SPDX-License-Identifier: Apache-2.0
#include "capture/captures.h"

namespace halyard::python {
namespace {

nb::dict dict_of_control(const CameraControl& control) {
  nb::dict out;
  out["name"] = str_of(control.name);
  out["kind"] = str_of(to_string(control.kind));
  out["minimum"] = nb::cast(control.minimum);
  out["maximum"] = nb::cast(control.maximum);
  out["step"] = nb::cast(control.step);
  out["default"] = nb::cast(control.default_value);
  out["value"] = nb::cast(control.value);
  out["is_read_only"] = nb::cast(control.is_read_only);
  out["is_inactive"] = nb::cast(control.is_inactive);
  nb::dict menu;
  for (const auto& [value, text] : control.menu)
    menu[nb::cast(value)] = str_of(text);
  out["menu"] = menu;
  return out;
}

}  // namespace

nb::list controls_result(const std::vector<CameraControl>& controls) {
  nb::list out;
  for (const CameraControl& control : controls)
    out.append(dict_of_control(control));
  return out;
}

}  // namespace halyard::python
