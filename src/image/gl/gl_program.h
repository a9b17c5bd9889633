// SPDX-License-Identifier: Apache-2.0
// GlProgram: a plan compiled for OpenGL, without objects of the context.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "image/backend.h"
#include "image/gl/shader/affine_rows.h"
#include "image/gl/shader/shader_text.h"
#include "image/gl/shader/source_layout.h"
#include "image/gl/shader/tap_table.h"

namespace halyard::image {

/// The first of two passes for a group of channels: filtered rows.
struct RowPass {
  std::size_t group = 0;
  std::size_t components = 0;  ///< of a texel, 32 bits each: 1, 2 or 4
  Size size;                   ///< in texels
  std::string shader;
};

/// A draw that makes planes of the destination.
struct PlaneDraw {
  PlaneRange planes;
  std::string shader;
};

/// Immutable. Its id names it to the objects that a context keeps for it.
class GlProgram final : public BackendProgram {
 public:
  /// May throw std::bad_alloc.
  explicit GlProgram(const Plan& plan);

  const Plan& plan() const noexcept { return plan_; }
  const TapTable& taps() const noexcept { return taps_; }
  /// Zeros without an affine map.
  const AffineNumbers& affine() const noexcept { return affine_; }
  /// The samples of each group that are read: first column, first row, last column, last row.
  const std::array<std::int32_t, 4 * group_count>& sample_range() const noexcept {
    return sample_range_;
  }
  std::size_t source_planes() const noexcept { return source_planes_; }
  std::size_t target_planes() const noexcept { return target_planes_; }
  /// Empty where one pass does all.
  std::span<const RowPass> row_passes() const noexcept { return row_passes_; }
  /// The draws that make all planes: one for each, or one for all that are alike, which computes
  /// their pixels once. That one needs a texture of its own for each plane.
  std::span<const PlaneDraw> separate_draws() const noexcept { return separate_draws_; }
  std::span<const PlaneDraw> joint_draws() const noexcept {
    return joint_draws_.empty() ? separate_draws_ : joint_draws_;
  }
  /// Unique in the process.
  std::uint64_t id() const noexcept { return id_; }

 private:
  void add_group(std::size_t group, const ChannelSite& site);
  void add_draws();

  Plan plan_;
  TapTable taps_;
  AffineNumbers affine_;
  std::array<std::int32_t, 4 * group_count> sample_range_{};
  std::size_t source_planes_;
  std::size_t target_planes_;
  std::vector<RowPass> row_passes_;
  std::vector<PlaneDraw> separate_draws_;
  std::vector<PlaneDraw> joint_draws_;  ///< empty if no planes are alike
  std::uint64_t id_;
};

}  // namespace halyard::image
