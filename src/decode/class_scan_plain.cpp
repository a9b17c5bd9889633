// SPDX-License-Identifier: Apache-2.0
// The scans by plain loops; no vectors here.
#include <cstring>

#include "decode/class_scan.h"
#include "decode/pair_scan.h"

namespace halyard::decode {
namespace {

// What scores are compared as: floats of 16 bits as float, all others as they are.
inline float comparable(Half value) noexcept {
  return to_float(value);
}
inline float comparable(BFloat16 value) noexcept {
  return to_float(value);
}
template <class T>
inline T comparable(T value) noexcept {
  return value;
}

template <class T>
inline auto load(const std::byte* at) noexcept {
  T value;
  std::memcpy(&value, at, sizeof value);  // strided tensors may be misaligned
  return comparable(value);
}

}  // namespace

template <class T>
void scan_classes_plain(const ScoreGrid& grid, T least, std::vector<Hit>& hits) {
  const auto floor = comparable(least);
  for (std::size_t anchor = 0; anchor < grid.anchors; ++anchor) {
    const std::byte* at =
        grid.data + static_cast<std::ptrdiff_t>(anchor) * grid.anchor_stride_bytes;
    auto best = floor;
    std::int32_t label = -1;
    for (std::size_t c = 0; c < grid.classes; ++c, at += grid.class_stride_bytes) {
      const auto value = load<T>(at);
      if (label < 0 ? value >= floor : value > best) {
        best = value;
        label = static_cast<std::int32_t>(c);
      }
    }
    if (label >= 0)
      hits.push_back({static_cast<std::uint32_t>(anchor), label, static_cast<float>(best)});
  }
}

template <class T>
void scan_pairs_plain(const ScoreGrid& grid, T least, std::span<const std::int32_t> each,
                      std::vector<Hit>& hits) {
  for (std::size_t anchor = 0; anchor < grid.anchors; ++anchor) {
    const std::byte* at =
        grid.data + static_cast<std::ptrdiff_t>(anchor) * grid.anchor_stride_bytes;
    for (std::size_t c = 0; c < grid.classes; ++c, at += grid.class_stride_bytes) {
      const auto value = load<T>(at);
      if (each.empty() ? value >= comparable(least) : static_cast<std::int32_t>(value) >= each[c])
        hits.push_back({static_cast<std::uint32_t>(anchor), static_cast<std::int32_t>(c),
                        static_cast<float>(value)});
    }
  }
}

template void scan_classes_plain(const ScoreGrid&, float, std::vector<Hit>&);
template void scan_classes_plain(const ScoreGrid&, Half, std::vector<Hit>&);
template void scan_classes_plain(const ScoreGrid&, BFloat16, std::vector<Hit>&);
template void scan_classes_plain(const ScoreGrid&, std::int8_t, std::vector<Hit>&);
template void scan_classes_plain(const ScoreGrid&, std::uint8_t, std::vector<Hit>&);
template void scan_classes_plain(const ScoreGrid&, std::int16_t, std::vector<Hit>&);
template void scan_classes_plain(const ScoreGrid&, std::uint16_t, std::vector<Hit>&);

template void scan_pairs_plain(const ScoreGrid&, float, std::span<const std::int32_t>,
                               std::vector<Hit>&);
template void scan_pairs_plain(const ScoreGrid&, Half, std::span<const std::int32_t>,
                               std::vector<Hit>&);
template void scan_pairs_plain(const ScoreGrid&, BFloat16, std::span<const std::int32_t>,
                               std::vector<Hit>&);
template void scan_pairs_plain(const ScoreGrid&, std::int8_t, std::span<const std::int32_t>,
                               std::vector<Hit>&);
template void scan_pairs_plain(const ScoreGrid&, std::uint8_t, std::span<const std::int32_t>,
                               std::vector<Hit>&);
template void scan_pairs_plain(const ScoreGrid&, std::int16_t, std::span<const std::int32_t>,
                               std::vector<Hit>&);
template void scan_pairs_plain(const ScoreGrid&, std::uint16_t, std::span<const std::int32_t>,
                               std::vector<Hit>&);

}  // namespace halyard::decode
