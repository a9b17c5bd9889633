// SPDX-License-Identifier: Apache-2.0
// Which plane of an image a tensor in the same buffer is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "reconcile/merge/draft.h"

namespace halyard {

/// An extent that is subsampled `shift` times; what is left over counts as one.
constexpr std::uint64_t halved(std::uint64_t extent, unsigned shift) {
  return (extent + (std::uint64_t{1} << shift) - 1) >> shift;
}

/// How a tensor's extents are those of a plane.
struct PlaneMatch {
  std::size_t plane = 0;
  std::array<std::uint64_t, 4> extents{};  ///< of the plane: W, H, C, N
  std::size_t wrong_count = 0;
  std::size_t axis = 0;  ///< of Key::shape, of the first wrong one
  std::uint64_t value = 0, wanted = 0;
};

/// The plane that has the tensor's extents, or most of them. An extent that nobody says is right.
PlaneMatch best_plane(const Merged& merged, const Draft& draft, const FormatInfo& format,
                      bool is_pyramid);

/// Extents that nobody says are the plane's.
void take_unsaid_extents(const Merged& merged, const std::array<std::uint64_t, 4>& extents,
                         TensorDraft& tensor);

}  // namespace halyard
