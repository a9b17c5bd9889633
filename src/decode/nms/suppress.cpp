// SPDX-License-Identifier: Apache-2.0
// Suppression with vectors of floats: each box is compared with one vector of survivors at a time.
// If there are many survivors, greedy and fast suppression ask the spatial index instead
// (spatial_index.h). The operations and their order are those of overlap.h, so the results have the
// same bits. Areas are finite (see flat_box()).
#include "base/elementary.h"
#include "decode/nms/soft_queue.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "decode/nms/suppress.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h first: it includes this file once per target
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "decode/nms/nms.h"
#include "decode/nms/suppress.h"

HWY_BEFORE_NAMESPACE();
namespace halyard::decode {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;

// Survivors as columns, padded to whole vectors. Lanes past the last survivor have no area and no
// extent, so they overlap nothing.
class Survivors {
 public:
  explicit Survivors(BoxColumns& columns) : columns_(columns) {}

  void push(const FlatBox& box) {
    const std::size_t lanes = hn::Lanes(D());
    if (count_ % lanes == 0) {
      if (columns_.size() < count_ + lanes) columns_.resize(std::max(2 * count_, 16 * lanes));
      for (std::size_t i = count_; i < count_ + lanes; ++i)
        columns_.set(i, {});
    }
    columns_.set(count_++, box);
  }

  std::size_t count() const { return count_; }
  const BoxColumns& columns() const { return columns_; }

 private:
  BoxColumns& columns_;
  std::size_t count_ = 0;
};

HWY_INLINE hn::Vec<D> shared_areas(D d, const BoxColumns& kept, std::size_t k, const FlatBox& box) {
  const auto zero = hn::Zero(d);
  const auto width = hn::Sub(hn::Min(hn::LoadU(d, kept.x2.data() + k), hn::Set(d, box.x2)),
                             hn::Max(hn::LoadU(d, kept.x1.data() + k), hn::Set(d, box.x1)));
  const auto height = hn::Sub(hn::Min(hn::LoadU(d, kept.y2.data() + k), hn::Set(d, box.y2)),
                              hn::Max(hn::LoadU(d, kept.y1.data() + k), hn::Set(d, box.y1)));
  return hn::Mul(hn::Max(width, zero), hn::Max(height, zero));
}

// Survivors of [k, k + lanes) with the label of the box for which exceeds() is true. For DIoU:
// those that share an area with the box.
template <Overlap overlap>
HWY_INLINE hn::Mask<D> suppressors(D d, const BoxColumns& kept, std::size_t k, const FlatBox& box,
                                   float limit) {
  const hn::RebindToSigned<D> di;
  const auto shared = shared_areas(d, kept, k, box);
  const auto area = hn::LoadU(d, kept.area.data() + k);
  const auto same =
      hn::RebindMask(d, hn::Eq(hn::LoadU(di, kept.label.data() + k), hn::Set(di, box.label)));
  if constexpr (overlap == Overlap::iou) {
    const auto minimum = hn::Mul(hn::Set(d, limit), hn::Add(area, hn::Set(d, box.area)));
    return hn::And(same, hn::Gt(shared, minimum));
  } else if constexpr (overlap == Overlap::ios) {
    const auto minimum = hn::Mul(hn::Set(d, limit), hn::Min(area, hn::Set(d, box.area)));
    return hn::And(same, hn::Gt(shared, minimum));
  } else {
    return hn::And(same, hn::Gt(shared, hn::Zero(d)));  // few; the caller tests each pair
  }
}

// Calls use(k), in order, for the survivors of [from, count) that can suppress the box, until it
// returns true. Returns whether it did. No suppressor is left out.
template <Overlap overlap, class Use>
HWY_INLINE bool each_suppressor(const Survivors& kept, const FlatBox& box, std::size_t from,
                                float limit, Use use) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t k = from / lanes * lanes; k < kept.count(); k += lanes) {
    const auto mask = suppressors<overlap>(d, kept.columns(), k, box, limit);
    if (HWY_LIKELY(hn::AllFalse(d, mask))) continue;
    HWY_ALIGN std::uint8_t bits[8 + HWY_MAX_BYTES / 8] = {};
    hn::StoreMaskBits(d, mask, bits);
    for (std::size_t i = std::max(k, from); i < k + lanes; ++i) {
      if ((bits[(i - k) / 8] >> ((i - k) % 8) & 1) != 0 && use(i)) return true;
    }
  }
  return false;
}

template <Overlap overlap>
HWY_INLINE bool meets_any(const Survivors& kept, const FlatBox& box, float limit) {
  return each_suppressor<overlap>(kept, box, 0, limit, [&](std::size_t k) {
    return overlap != Overlap::diou || exceeds<overlap>(kept.columns().at(k), box, limit);
  });
}

// Greedy and fast suppression.
template <Overlap overlap>
void suppress_hard(const Rule& rule, Workspace& w) {
  const float limit = overlap_limit(overlap, rule.threshold);
  Survivors kept(w.survivors);
  SurvivorIndex neighbours(w.index, search_radius(rule.overlap, rule.threshold), w.boxes.size(),
                           break_even_on_vectors, w.may_use_index);
  for (std::size_t i = 0; i < w.boxes.size() && w.kept.size() < rule.maximum; ++i) {
    const FlatBox box = w.boxes.at(i);
    if (box.area == 0) {
      w.kept.push_back(static_cast<std::uint32_t>(i));
      continue;
    }
    const auto nearby = neighbours.any(
        box, [&](const FlatBox& other) { return suppresses<overlap>(other, box, limit); });
    const bool is_suppressed = nearby ? *nearby : meets_any<overlap>(kept, box, limit);
    if (!is_suppressed) w.kept.push_back(static_cast<std::uint32_t>(i));
    if (is_suppressed && rule.suppression == Suppression::greedy) continue;
    kept.push(box);
    neighbours.push(kept.count(), [&](std::size_t k) { return kept.columns().at(k); });
  }
}

// The score of position i after survivors [w.applied[i], count).
template <Overlap overlap>
float score_against(const Survivors& kept, std::size_t i, float limit, const Rule& rule,
                    Workspace& w) {
  const FlatBox box = w.boxes.at(i);
  float score = w.scores[i];
  if (box.area == 0) return score;
  const auto use = [&](std::size_t k) {
    const FlatBox other = kept.columns().at(k);
    if (rule.suppression == Suppression::soft_gaussian || exceeds<overlap>(other, box, limit))
      score = softened(score, overlap_of<overlap>(other, box), rule);
    return false;
  };
  // The Gaussian rule applies to any overlap. The vector code for DIoU finds exactly these
  // survivors.
  if (rule.suppression == Suppression::soft_gaussian) {
    each_suppressor<Overlap::diou>(kept, box, w.applied[i], limit, use);
  } else {
    each_suppressor<overlap>(kept, box, w.applied[i], limit, use);
  }
  return score;
}

template <Overlap overlap>
void suppress_softly(const Rule& rule, Workspace& w) {
  Survivors kept(w.survivors);
  const float limit = overlap_limit(overlap, rule.threshold);
  soften(
      rule, w,
      [&](std::size_t i) {
        const float score = score_against<overlap>(kept, i, limit, rule, w);
        w.applied[i] = static_cast<std::uint32_t>(kept.count());
        return score;
      },
      [&](std::size_t i) {
        if (w.boxes.area[i] != 0) kept.push(w.boxes.at(i));
      });
}

void suppress_boxes(const Rule& rule, Workspace& workspace) {
  with_overlap(rule.overlap, [&](auto overlap) {
    if (is_soft(rule.suppression)) {
      suppress_softly<decltype(overlap)::value>(rule, workspace);
    } else {
      suppress_hard<decltype(overlap)::value>(rule, workspace);
    }
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace halyard::decode
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halyard::decode {
namespace {
HWY_EXPORT(suppress_boxes);
}

void suppress(const Rule& rule, Workspace& workspace) {
  workspace.kept.clear();
  HWY_DYNAMIC_DISPATCH(suppress_boxes)(rule, workspace);
}

float softened(float score, float overlap, const Rule& rule) noexcept {
  if (!(score > 0) || !(overlap > 0)) return score;
  if (rule.suppression == Suppression::soft_linear)
    return overlap < 1 ? score * (1 - overlap) : 0.0F;
  const double o = overlap;
  return score * static_cast<float>(exp_of(-(o * o) / rule.sigma));
}

}  // namespace halyard::decode
#endif
