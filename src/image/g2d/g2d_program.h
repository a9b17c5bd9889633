// SPDX-License-Identifier: Apache-2.0
// G2dProgram: a plan in the terms of the blitter, and which plans have one.
#pragma once

#include <cstdint>
#include <optional>

#include "image/backend.h"
#include "image/cpu/store/pad.h"
#include "image/g2d/g2d_api.h"

namespace halyard::image::g2d {

/// What the backend may do, by the device and by the request for it.
struct Limits {
  /// Whether work that the device rounds in its own way is accepted: scaling, and colours of YUV.
  bool may_round = false;
  bool has_bt601_full = false;
  bool has_bt709_full = false;
};

/// Accepts the plans that a G2dProgram can be made of. Pure.
Verdict check_plan(const Plan& plan, const Limits& limits) noexcept;

/// The formats of an accepted plan.
struct Formats {
  SurfaceFormat source{};
  SurfaceFormat target{};
};
Formats formats_of(const Plan& plan) noexcept;
/// The crop of an accepted plan, in the source as it is stored.
Region crop_of(const Plan& plan) noexcept;
/// Whether g2d_clear() fills this format.
constexpr bool is_cleared(SurfaceFormat format) noexcept {
  return format == SurfaceFormat::rgba8888 || format == SurfaceFormat::bgra8888;
}

/// A plan that check_plan() accepts, without the addresses of a run.
struct G2dProgram final : BackendProgram {
  /// Errors: none; may throw std::bad_alloc.
  explicit G2dProgram(const Plan& plan);

  SurfaceOrientation flip{};
  SurfaceOrientation rotation{};
  std::optional<Capability> matrix;  ///< for YUV
  /// The destination is filled by g2d_clear() first, with `clear_color`.
  bool clears = false;
  std::uint32_t clear_color = 0;
  /// Or the CPU fills what lies around the content, in formats that g2d_clear() does not fill.
  std::optional<PadWriter> pad;
};

}  // namespace halyard::image::g2d
