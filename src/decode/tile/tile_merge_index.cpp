// SPDX-License-Identifier: Apache-2.0
// The packed tree of BoxIndex: boxes along a Z curve, sixteen per node.
#include "decode/tile/tile_merge_index.h"

#include <algorithm>
#include <limits>

namespace halyard::decode {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

// Up to this count the boxes are not sorted.
constexpr std::size_t few = 4 * BoxIndex::fan;

// The bits of a 16-bit number, each followed by a zero.
std::uint32_t spread(std::uint32_t v) noexcept {
  v = (v | v << 8) & 0x00FF00FFU;
  v = (v | v << 4) & 0x0F0F0F0FU;
  v = (v | v << 2) & 0x33333333U;
  return (v | v << 1) & 0x55555555U;
}

// Maps an axis to 0..65535. Uses doubles, because the sum of two floats can overflow.
struct Scale {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void add(double twice_centre) noexcept {
    low = std::min(low, twice_centre);
    high = std::max(high, twice_centre);
  }
  std::uint32_t place(double twice_centre) const noexcept {
    if (!(high > low)) return 0;
    return static_cast<std::uint32_t>((twice_centre - low) / (high - low) * 65535);
  }
};

double twice_x(const Box& box) noexcept {
  return static_cast<double>(box.x1) + box.x2;
}
double twice_y(const Box& box) noexcept {
  return static_cast<double>(box.y1) + box.y2;
}

}  // namespace

void BoxIndex::order(std::span<const Box> boxes) {
  slots_.resize(boxes.size());
  if (boxes.size() <= few) {
    for (std::size_t i = 0; i < boxes.size(); ++i)
      slots_[i] = static_cast<std::uint32_t>(i);
    return;
  }
  Scale x;
  Scale y;
  for (const Box& box : boxes) {
    x.add(twice_x(box));
    y.add(twice_y(box));
  }
  keys_.clear();
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const std::uint32_t place =
        spread(x.place(twice_x(boxes[i]))) | spread(y.place(twice_y(boxes[i]))) << 1;
    keys_.push_back(static_cast<std::uint64_t>(place) << 32 | i);
  }
  std::sort(keys_.begin(), keys_.end());
  for (std::size_t i = 0; i < keys_.size(); ++i)
    slots_[static_cast<std::uint32_t>(keys_[i])] = static_cast<std::uint32_t>(i);
}

void BoxIndex::reset(std::span<const Box> boxes) {
  order(boxes);
  std::size_t nodes = 0;
  levels_ = 0;
  std::size_t entries = std::max<std::size_t>(boxes.size(), 1);
  do {
    entries = (entries + fan - 1) / fan;
    begins_[levels_++] = nodes;
    nodes += entries;
  } while (entries > 1);
  Node empty;
  empty.x1.fill(infinity);
  empty.y1.fill(infinity);
  empty.x2.fill(-infinity);
  empty.y2.fill(-infinity);
  empty.first.fill(none);
  nodes_.assign(nodes, empty);
}

void BoxIndex::insert(std::uint32_t item, const Box& box) noexcept {
  std::size_t slot = slots_[item];
  for (std::size_t level = 0; level < levels_; ++level) {
    const std::size_t entry = slot % fan;
    slot /= fan;
    Node& node = nodes_[begins_[level] + slot];
    node.x1[entry] = std::min(node.x1[entry], box.x1);
    node.y1[entry] = std::min(node.y1[entry], box.y1);
    node.x2[entry] = std::max(node.x2[entry], box.x2);
    node.y2[entry] = std::max(node.y2[entry], box.y2);
    node.first[entry] = std::min(node.first[entry], item);
  }
}

}  // namespace halyard::decode
