// SPDX-License-Identifier: Apache-2.0
// Finds the plane of an image that a tensor in the same buffer is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "reconcile/merge/draft.h"

namespace halyard {

/// An extent that is halved `shift` times, rounded up.
constexpr std::uint64_t halved(std::uint64_t extent, unsigned shift) {
  return (extent + (std::uint64_t{1} << shift) - 1) >> shift;
}

/// How a tensor's extents compare with those of a plane.
struct PlaneMatch {
  std::size_t plane = 0;
  std::array<std::uint64_t, 4> extents{};  ///< of the plane: W, H, C, N
  std::size_t wrong_count = 0;
  std::size_t axis = 0;  ///< the first wrong axis, as an index of Key::shape
  std::uint64_t value = 0, wanted = 0;
};

/// The plane with the tensor's extents, or with most of them. An extent that no party states is not
/// compared.
PlaneMatch best_plane(const Merged& merged, const Draft& draft, const FormatInfo& format,
                      bool is_pyramid);

/// Sets extents that no party states to those of the plane.
void take_unsaid_extents(const Merged& merged, const std::array<std::uint64_t, 4>& extents,
                         TensorDraft& tensor);

}  // namespace halyard
