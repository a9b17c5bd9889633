// SPDX-License-Identifier: Apache-2.0
// Greedy suppression on vectors: each box against all survivors so far, a vector of them at a time.
#include "decode/nms.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "decode/suppress.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h first: it includes this file once per target
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace halyard::decode {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Survivors as columns, with room for one more vector. Lanes past the last survivor have no area
// and no extent, so they share nothing with any box.
struct Survivors {
  explicit Survivors(std::size_t lanes) : lanes_(lanes) { grow(); }

  void push(const BoxColumns& b, std::size_t i) {
    if (count == capacity()) grow();
    x1[count] = b.x1[i];
    y1[count] = b.y1[i];
    x2[count] = b.x2[i];
    y2[count] = b.y2[i];
    area[count] = b.area[i];
    label[count] = b.label[i];
    ++count;
  }

  std::size_t capacity() const { return x1.size(); }

  std::vector<float> x1, y1, x2, y2, area;
  std::vector<std::int32_t> label;
  std::size_t count = 0;

 private:
  void grow() {
    const std::size_t size = std::max(lanes_ * 16, capacity() * 2);  // whole vectors
    for (auto* column : {&x1, &y1, &x2, &y2, &area})
      column->resize(size, 0.0F);
    label.resize(size, 0);
  }
  std::size_t lanes_;
};

HWY_INLINE bool overlaps_any(const Survivors& kept, const BoxColumns& b, std::size_t i,
                             float factor) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const auto x1 = hn::Set(d, b.x1[i]);
  const auto y1 = hn::Set(d, b.y1[i]);
  const auto x2 = hn::Set(d, b.x2[i]);
  const auto y2 = hn::Set(d, b.y2[i]);
  const auto area = hn::Set(d, b.area[i]);
  const auto label = hn::Set(di, b.label[i]);
  const auto scale = hn::Set(d, factor);
  const auto zero = hn::Zero(d);
  for (std::size_t k = 0; k < kept.count; k += hn::Lanes(d)) {
    const auto width = hn::Sub(hn::Min(hn::LoadU(d, kept.x2.data() + k), x2),
                               hn::Max(hn::LoadU(d, kept.x1.data() + k), x1));
    const auto height = hn::Sub(hn::Min(hn::LoadU(d, kept.y2.data() + k), y2),
                                hn::Max(hn::LoadU(d, kept.y1.data() + k), y1));
    const auto shared = hn::Mul(hn::Max(width, zero), hn::Max(height, zero));
    const auto limit = hn::Mul(scale, hn::Add(hn::LoadU(d, kept.area.data() + k), area));
    const auto same = hn::Eq(hn::LoadU(di, kept.label.data() + k), label);
    const auto hit = hn::And(hn::Gt(shared, limit), hn::RebindMask(d, same));
    if (!hn::AllFalse(d, hit)) return true;
  }
  return false;
}

void greedy(const BoxColumns& boxes, float factor, std::size_t most,
            std::vector<std::uint32_t>& out) {
  Survivors kept(hn::Lanes(hn::ScalableTag<float>()));
  for (std::size_t i = 0; i < boxes.size() && out.size() < most; ++i) {
    if (overlaps_any(kept, boxes, i, factor)) continue;
    kept.push(boxes, i);
    out.push_back(static_cast<std::uint32_t>(i));
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace halyard::decode
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halyard::decode {
namespace {
HWY_EXPORT(greedy);
}

std::vector<std::uint32_t> suppress(const BoxColumns& boxes, float iou_threshold,
                                    std::size_t most) {
  std::vector<std::uint32_t> out;
  HWY_DYNAMIC_DISPATCH(greedy)(boxes, overlap_factor(iou_threshold), most, out);
  return out;
}

}  // namespace halyard::decode
#endif
