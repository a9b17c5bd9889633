// SPDX-License-Identifier: Apache-2.0
// The scans as simple loops, without vectors.
#include "decode/head/scan_reference.h"
#include "decode/head/argmax_scan.h"
#include "decode/head/stored_types.h"

namespace halyard::decode {
template <class T>
void scan_argmax_reference(const ScoreGrid& grid, T minimum, std::vector<Hit>& hits) {
  const float floor = as_float(minimum);
  for (std::size_t anchor = 0; anchor < grid.anchors; ++anchor) {
    const std::byte* at =
        grid.data + static_cast<std::ptrdiff_t>(anchor) * grid.anchor_stride_bytes;
    float best = floor;
    std::int32_t label = -1;
    for (std::size_t c = 0; c < grid.classes; ++c, at += grid.class_stride_bytes) {
      const float value = load_stored<T>(at);
      if (label < 0 ? value >= floor : value > best) {
        best = value;
        label = static_cast<std::int32_t>(c);
      }
    }
    if (label >= 0) hits.push_back({static_cast<std::uint32_t>(anchor), label, best});
  }
}

template <class T>
void scan_multilabel_reference(const ScoreGrid& grid, T minimum, std::span<const std::int32_t> each,
                               std::vector<Hit>& hits) {
  const float floor = as_float(minimum);
  for (std::size_t anchor = 0; anchor < grid.anchors; ++anchor) {
    const std::byte* at =
        grid.data + static_cast<std::ptrdiff_t>(anchor) * grid.anchor_stride_bytes;
    for (std::size_t c = 0; c < grid.classes; ++c, at += grid.class_stride_bytes) {
      const float value = load_stored<T>(at);
      if (each.empty() ? value >= floor : static_cast<std::int32_t>(value) >= each[c])
        hits.push_back({static_cast<std::uint32_t>(anchor), static_cast<std::int32_t>(c), value});
    }
  }
}

#define HALYARD_SCAN(name, T)                                                                 \
  template void scan_argmax_reference(const ScoreGrid&, T, std::vector<Hit>&);                \
  template void scan_multilabel_reference(const ScoreGrid&, T, std::span<const std::int32_t>, \
                                          std::vector<Hit>&);
HALYARD_STORED_TYPES(HALYARD_SCAN)
#undef HALYARD_SCAN

}  // namespace halyard::decode
