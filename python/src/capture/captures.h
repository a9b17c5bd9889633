// SPDX-License-Identifier: Apache-2.0
// What the C++ parts of halyard.Camera, VideoDecoder and VideoEncoder share.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "args.h"
#include "bindings.h"
#include "fork_mutex.h"
#include "halyard/camera.h"

namespace halyard::python {

/// [{"name", "kind", "value", "minimum", "maximum", "menu", ...}, ...]
nb::list controls_result(const std::vector<CameraControl>& controls);

/// Sets a control of a camera or an encoder to an int, or to the entry of its menu with this str.
template <class T>
void set_named_control(T& device, nb::handle name, nb::handle value) {
  const std::string control = text_from(name, "name");
  if (PyUnicode_Check(value.ptr()) != 0) {
    const std::string entry = text_from(value, "value");
    check(released([&] { return device.set_control(control, std::string_view(entry)); }));
    return;
  }
  const auto number = static_cast<std::int64_t>(int_from(value, "value"));
  check(released([&] { return device.set_control(control, number); }));
}

/// Calls `call(timeout)`, which returns a Result, with the interpreter released and `mutex` held,
/// until it has not failed with timeout or exhausted, at most for `timeout_s` seconds (negative:
/// for ever). Waits in slices, so that Ctrl-C is handled.
template <class F>
auto wait_in_slices(PyMutex& mutex, double timeout_s, F&& call) {
  using std::chrono::milliseconds;
  using Clock = std::chrono::steady_clock;
  constexpr milliseconds slice{50};
  const bool is_endless = timeout_s < 0;
  if (std::isnan(timeout_s)) raise(Errc::invalid_argument, "timeout: must be a number");
  const milliseconds limit(static_cast<std::int64_t>(std::clamp(timeout_s, 0.0, 1e9) * 1000));
  return take(released_with_signals([&](auto is_cancelled) -> decltype(call(slice)) {
    const std::lock_guard lock(mutex);
    const auto end = Clock::now() + limit;
    for (;;) {
      const auto left = std::chrono::ceil<milliseconds>(end - Clock::now());
      auto got = call(is_endless ? slice : std::clamp(left, milliseconds(0), slice));
      if (got || is_cancelled()) return got;
      const bool is_late = got.error().code == Errc::timeout || got.error().code == Errc::exhausted;
      if (!is_late || (!is_endless && left <= slice)) return got;
    }
  }));
}

}  // namespace halyard::python
