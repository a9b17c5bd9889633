// SPDX-License-Identifier: Apache-2.0
#include "capi/capture/captures.h"

namespace halyard::capi {
namespace {

hal_camera_control control_to_c(const CameraControl& control) {
  hal_camera_control out{.id = control.id,
                         .name = {},
                         .kind = static_cast<int>(control.kind),
                         .minimum = control.minimum,
                         .maximum = control.maximum,
                         .step = control.step,
                         .default_value = control.default_value,
                         .value = control.value,
                         .is_read_only = control.is_read_only,
                         .is_inactive = control.is_inactive};
  copy_cut(control.name, out.name);
  return out;
}

}  // namespace

std::chrono::milliseconds timeout_from(std::int64_t timeout_ns) noexcept {
  if (timeout_ns < 0) return std::chrono::milliseconds(-1);
  return std::chrono::ceil<std::chrono::milliseconds>(std::chrono::nanoseconds(timeout_ns));
}

int put_controls(const std::vector<CameraControl>& controls, hal_camera_control* out,
                 std::size_t capacity) {
  for (std::size_t i = 0; i < std::min(capacity, controls.size()); ++i)
    out[i] = control_to_c(controls[i]);
  return static_cast<int>(controls.size());
}

}  // namespace halyard::capi
