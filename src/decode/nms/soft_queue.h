// SPDX-License-Identifier: Apache-2.0
// Shared by suppression of upright and of rotated boxes: the index of survivors, used once there
// are many, and the queue of soft suppression.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>

#include "decode/nms/nms.h"

namespace halyard::decode {

/// Where the index becomes faster than a linear scan, as measured: from so many survivors, and
/// where it visits fewer cells than survivors / survivors_per_cell. Upright boxes are scanned with
/// vectors.
struct BreakEven {
  std::size_t survivors;
  std::size_t survivors_per_cell;
};
inline constexpr BreakEven break_even_on_vectors{1024, 16};
inline constexpr BreakEven break_even_one_by_one{64, 1};

/// Survivors and, once there are many, their spatial index.
template <class Payload>
class SurvivorIndex {
 public:
  /// `maximum`: upper bound of push() calls. `allowed`: false forces the linear scan.
  SurvivorIndex(SpatialIndex<Payload>& index, SearchRadius reach, std::size_t maximum,
                BreakEven break_even, bool allowed)
      : index_(index),
        reach_(reach),
        max_(maximum),
        break_even_(break_even),
        state_(allowed ? few : never) {}

  /// Call after a survivor was added. There are `count` survivors; at(k) returns the k-th.
  template <class At>
  void push(std::size_t count, At at) {
    if (state_ == never || (state_ == few && count < break_even_.survivors)) return;
    std::size_t k = count - 1;
    if (state_ == few) {
      index_.start(max_, reach_);
      state_ = many;
      k = 0;
    }
    for (; k < count; ++k) {
      const Payload payload = at(k);
      index_.add(place_of(payload), payload);
    }
    count_ = count;
  }

  /// Whether `test` is true for a survivor near the box. Empty if a linear scan is faster.
  template <class Test>
  std::optional<bool> any(const Payload& box, Test test) const {
    if (state_ != many) return std::nullopt;
    return index_.any(place_of(box), count_ / break_even_.survivors_per_cell, test);
  }

 private:
  enum State { few, many, never };

  SpatialIndex<Payload>& index_;
  SearchRadius reach_;
  std::size_t max_;
  BreakEven break_even_;
  State state_;
  std::size_t count_ = 0;
};

/// Soft suppression of positions [0, w.scores.size()), which are in order of score. score(i)
/// applies the survivors since its last call for i and returns the new score. keep(i) makes i a
/// survivor.
///
/// Scores only fall. So if the best position has the same score when it is evaluated again, it is
/// the best. Each survivor is applied to a box once, in the order of survival: the same result as
/// immediate application.
template <class Score, class Keep>
void soften(const Rule& rule, Workspace& w, Score score, Keep keep) {
  auto& queue = w.spare;
  queue.clear();
  for (std::size_t i = 0; i < w.scores.size(); ++i)
    queue.push_back(order_key(w.scores[i], i));  // ascending keys are a heap
  w.applied.assign(w.scores.size(), 0);
  while (!queue.empty() && w.kept.size() < rule.maximum) {
    std::pop_heap(queue.begin(), queue.end(), std::greater<>());
    const std::uint32_t i = index_of(queue.back());
    queue.pop_back();
    const float now = score(i);
    if (now == w.scores[i]) {
      w.kept.push_back(i);
      keep(i);
    } else if (now >= rule.floor) {
      w.scores[i] = now;
      queue.push_back(order_key(now, i));
      std::push_heap(queue.begin(), queue.end(), std::greater<>());
    }
  }
}

inline bool is_soft(Suppression suppression) noexcept {
  return suppression == Suppression::soft_linear || suppression == Suppression::soft_gaussian;
}

}  // namespace halyard::decode
