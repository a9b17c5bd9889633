// SPDX-License-Identifier: Apache-2.0
// Draft: the buffer that follows from merged facts, and what keeps it from being one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "reconcile/merge/memory_order.h"
#include "reconcile/merge/merge.h"

namespace halyard {

inline constexpr std::size_t max_levels = 10;

/// Rows of a plane of an image, or of a level of a pyramid.
struct PlaneDraft {
  std::uint64_t used_bytes = 0;  ///< of each row
  std::uint64_t pitch = 0;
  std::uint64_t offset = 0;
  std::uint64_t rows = 0;
  std::uint64_t size = 0;
  std::uint64_t layer_stride = 0;  ///< between colour planes that make one plane here; else 0
};

/// A tensor: extents of the four axes that orders speak of, strides of those and of the blocks.
struct TensorDraft {
  AxisOrder order = AxisOrder::nchw;
  std::uint64_t x = 1;
  std::uint64_t element = 1;
  std::uint64_t n = 1, c = 1, h = 1, w = 1;  ///< n: with the axes before it
  std::uint64_t channels = 1;                ///< stored, of NHWC
  std::uint64_t blocks = 1;                  ///< of x channels
  std::uint64_t stride_n = 0, stride_c = 0, stride_h = 0, stride_w = 0;
  std::uint64_t offset = 0, size = 0;
};

enum class Anchor : std::uint8_t { none, held };

struct Draft {
  bool has_tensor = false, has_image = false;
  std::uint64_t kinds = 0;
  TensorDraft tensor;
  std::array<PlaneDraft, max_levels> planes{};
  std::size_t plane_count = 0;
  std::uint64_t size = 0, alloc_size = 0, base_align = 64, count = 1;
  std::uint64_t heaps = 0;  ///< all that serve everybody
  Heap heap = Heap::heap;   ///< the first of them
  MemoryOrder order;
  Coherency domain = Coherency::hardware;
  CpuPolicy policy = CpuPolicy::cached;
  bool policy_is_emulated = false;
  bool needs_sync = false;
  Anchor anchor = Anchor::none;
};

/// What can be wrong. The order is that of reports.
enum class Check : std::uint8_t {
  merged,        ///< a key on which the facts contradict each other; the slot says which
  required,      ///< an extent that the allowed range does not hold
  kinds,         ///< arrays or pyramids beside others
  image_tensor,  ///< an arrangement of the tensor that the image's format has not
  image_shape,   ///< an extent that is not the image's
  max_axis,
  row_exact,  ///< no multiple of the alignment
  row_min,    ///< an exact stride that is too small
  row_max,    ///< the least legal stride is too large
  overflow,
  size_max,
  count_max,
  pinned,
  is_protected,
  unmapped,  ///< strictly, and somebody wants to map
  padding,
  modifier,  ///< the CPU cannot read what is not linear
  domains,
  heaps,
  anchor,
};

/// One failed check; numbers are what it compares.
struct Failure {
  Check check;
  std::uint16_t slot;        ///< the key that a report speaks of
  std::uint64_t value = 0;   ///< what is wanted or came out
  std::uint64_t limit = 0;   ///< what it must obey
  std::uint64_t needed = 0;  ///< the least that would be legal otherwise; 0: none
  std::uint64_t below = 0;   ///< the largest legal one below `value`; 0: none
  friend bool same_kind(const Failure& a, const Failure& b) noexcept {
    return a.check == b.check && a.slot == b.slot;
  }
};

/// One pair of arrangements to try; the family of a wildcard: there is none.
struct Candidate {
  LayoutTag tensor, image;
  std::uint64_t cost = 0;
};

/// Whether two are the same arrangements.
inline bool same_tags(const Candidate& a, const Candidate& b) noexcept {
  return a.tensor == b.tensor && a.image == b.image;
}

/// What the machine has that reconciling may count on.
struct MachineTraits {
  bool can_anchor = true;  ///< a render node that can hold buffers attached
};

}  // namespace halyard
