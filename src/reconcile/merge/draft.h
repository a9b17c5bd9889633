// SPDX-License-Identifier: Apache-2.0
// Draft: the buffer that follows from merged facts, and the failures that prevent one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "reconcile/merge/memory_order.h"
#include "reconcile/merge/merge.h"

namespace halyard {

inline constexpr std::size_t max_levels = 10;

/// The rows of an image's plane, or of a pyramid's level.
struct PlaneDraft {
  std::uint64_t used_bytes = 0;  ///< of each row
  std::uint64_t pitch = 0;
  std::uint64_t offset = 0;
  std::uint64_t rows = 0;
  std::uint64_t size = 0;
  std::uint64_t layer_stride = 0;  ///< between colour planes that are one plane here; else 0
};

/// A tensor: extents of the four axes that an AxisOrder arranges, and the strides of these and of
/// channel blocks.
struct TensorDraft {
  AxisOrder order = AxisOrder::nchw;
  std::uint64_t x = 1;
  std::uint64_t element = 1;
  std::uint64_t n = 1, c = 1, h = 1, w = 1;  ///< n includes the axes before it
  std::uint64_t channels = 1;                ///< stored channels, for NHWC
  std::uint64_t blocks = 1;                  ///< blocks of x channels
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
  std::uint64_t heaps = 0;  ///< all heaps that serve all parties
  Heap heap = Heap::heap;   ///< the preferred one of them
  MemoryOrder order;
  Coherency domain = Coherency::hardware;
  CpuPolicy policy = CpuPolicy::cached;
  bool policy_is_emulated = false;
  bool needs_sync = false;
  Anchor anchor = Anchor::none;
};

/// The checks that can fail, in the order of reports.
enum class Check : std::uint8_t {
  merged,        ///< the facts of the key `slot` contradict each other
  required,      ///< the allowed range does not include a required extent
  kinds,         ///< arrays or pyramids share the buffer with other kinds
  image_tensor,  ///< the tensor's arrangement differs from that of the image's format
  image_shape,   ///< an extent differs from the image's
  max_axis,
  row_exact,  ///< an exact stride is not a multiple of the alignment
  row_min,    ///< an exact stride is too small
  row_max,    ///< the least legal stride is too large
  overflow,
  size_max,
  count_max,
  pinned,
  is_protected,
  unmapped,  ///< the policy is strictly unmapped, but a party maps the buffer
  padding,
  modifier,  ///< the CPU cannot read an image that is not linear
  domains,
  heaps,
  anchor,
};

/// One failed check, with the numbers that it compares.
struct Failure {
  Check check;
  std::uint16_t slot;        ///< the key that a report names
  std::uint64_t value = 0;   ///< the wanted or computed value
  std::uint64_t limit = 0;   ///< the value that it must obey
  std::uint64_t needed = 0;  ///< the least value that would be legal; 0: none
  std::uint64_t below = 0;   ///< the largest legal value below `value`; 0: none
  friend bool same_kind(const Failure& a, const Failure& b) noexcept {
    return a.check == b.check && a.slot == b.slot;
  }
};

/// A pair of layouts to try. A tag of the family wildcard means that there is none.
struct Candidate {
  LayoutTag tensor, image;
  std::uint64_t cost = 0;
};

/// Whether two candidates have the same layouts.
inline bool same_tags(const Candidate& a, const Candidate& b) noexcept {
  return a.tensor == b.tensor && a.image == b.image;
}

/// Properties of the machine that reconciling uses.
struct MachineTraits {
  bool can_anchor = true;  ///< it has a render node that can keep buffers attached
};

}  // namespace halyard
