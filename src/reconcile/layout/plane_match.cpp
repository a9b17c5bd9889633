// SPDX-License-Identifier: Apache-2.0
// Compares a tensor's extents with those of an image's planes.
#include "reconcile/layout/plane_match.h"

#include <iterator>

namespace halyard {
namespace {

/// Compares the stated extents with `match.extents`.
void compare(const Merged& merged, const TensorDraft& tensor, PlaneMatch& match) {
  const std::uint64_t own[] = {tensor.w, tensor.h, tensor.c, tensor.n};
  const bool is_known[] = {merged[Key::width].is_set, merged[Key::height].is_set,
                           merged[Key::format].is_set, true};
  for (std::size_t axis = 0; axis < std::size(own); ++axis) {
    // The batch is always compared, since axes before the fourth count too.
    const bool is_said = axis == 3 || merged.at(Key::shape, axis).is_set;
    if (!is_said || !is_known[axis] || own[axis] == match.extents[axis]) continue;
    if (++match.wrong_count > 1) continue;
    match.axis = axis;
    match.value = own[axis];
    match.wanted = match.extents[axis];
  }
}

}  // namespace

PlaneMatch best_plane(const Merged& merged, const Draft& draft, const FormatInfo& format,
                      bool is_pyramid) {
  const std::uint64_t width = merged.number(Key::width, 1);
  const std::uint64_t height = merged.number(Key::height, 1);
  PlaneMatch best;
  for (std::size_t p = 0; p < draft.plane_count || p == 0; ++p) {
    const bool is_chroma = p > 0 && !is_pyramid;
    std::uint64_t channels = draft.plane_count == 1 ? format.channels : 1;
    if (is_chroma && format.kind == FormatKind::semi_planar) channels = 2;
    PlaneMatch match{
        .plane = p,
        .extents = {halved(width, is_chroma ? format.chroma_shift_x : 0),
                    halved(height, is_chroma ? format.chroma_shift_y : 0), channels, 1}};
    compare(merged, draft.tensor, match);
    if (p == 0 || match.wrong_count < best.wrong_count) best = match;
  }
  return best;
}

void take_unsaid_extents(const Merged& merged, const std::array<std::uint64_t, 4>& extents,
                         TensorDraft& tensor) {
  std::uint64_t* const own[] = {&tensor.w, &tensor.h, &tensor.c};
  for (std::size_t axis = 0; axis < std::size(own); ++axis)
    if (!merged.at(Key::shape, axis).is_set) *own[axis] = extents[axis];
  tensor.channels = tensor.c;
  tensor.blocks = (tensor.c - 1) / tensor.x + 1;
}

}  // namespace halyard
