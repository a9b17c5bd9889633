// SPDX-License-Identifier: Apache-2.0
// What cameras and codecs of the C interface share.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "capi/handles.h"
#include "halyard/c/camera.h"
#include "halyard/camera.h"

namespace halyard::capi {

/// Copies as much of a text as `out` has room for, and a zero.
template <std::size_t size>
void copy_cut(std::string_view text, char (&out)[size]) {
  const std::size_t count = std::min(text.size(), size - 1);
  std::memcpy(out, text.data(), count);
  out[count] = '\0';
}

/// For a list that the caller has room for. Errors: invalid_argument.
template <class C>
Status check_room(const C* out, std::size_t capacity) {
  if (out == nullptr && capacity > 0) return null_argument("out: is NULL");
  return aligned(out, "out");
}

/// Errors: invalid_argument.
template <class T>
Status check_out(const T* out) {
  if (out == nullptr) return null_argument("out: is NULL");
  return aligned(out, "out");
}

/// Rounded up; -1 ms for all below 0.
std::chrono::milliseconds timeout_from(std::int64_t timeout_ns) noexcept;

/// Writes as many as there is room for, and returns how many there are.
int put_controls(const std::vector<CameraControl>& controls, hal_camera_control* out,
                 std::size_t capacity);

}  // namespace halyard::capi
