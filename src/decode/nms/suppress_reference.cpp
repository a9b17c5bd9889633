// SPDX-License-Identifier: Apache-2.0
// Suppression as it is defined: every box against every other. The library does not call it.
#include "decode/nms/suppress_reference.h"
#include "decode/nms/nms.h"
#include "decode/nms/soft_queue.h"
#include "decode/nms/suppress.h"

namespace halyard::decode {
namespace {

template <Overlap overlap>
void hard(const Rule& rule, Workspace& w) {
  const float limit = overlap_limit(overlap, rule.threshold);
  std::vector<std::size_t> suppressors;
  for (std::size_t i = 0; i < w.boxes.size() && w.kept.size() < rule.maximum; ++i) {
    const bool is_suppressed = std::any_of(
        suppressors.begin(), suppressors.end(),
        [&](std::size_t k) { return suppresses<overlap>(w.boxes.at(k), w.boxes.at(i), limit); });
    if (!is_suppressed) w.kept.push_back(static_cast<std::uint32_t>(i));
    if (!is_suppressed || rule.suppression == Suppression::fast) suppressors.push_back(i);
  }
}

template <Overlap overlap>
void soft(const Rule& rule, Workspace& w) {
  const float limit = overlap_limit(overlap, rule.threshold);
  std::vector<bool> gone(w.boxes.size());
  while (w.kept.size() < rule.maximum) {
    std::size_t best = gone.size();
    for (std::size_t i = 0; i < gone.size(); ++i) {
      if (!gone[i] && (best == gone.size() || w.scores[i] > w.scores[best])) best = i;
    }
    if (best == gone.size()) return;
    gone[best] = true;
    w.kept.push_back(static_cast<std::uint32_t>(best));
    const FlatBox kept = w.boxes.at(best);
    for (std::size_t i = 0; i < gone.size(); ++i) {
      const FlatBox box = w.boxes.at(i);
      if (gone[i] || box.label != kept.label || box.area == 0 || kept.area == 0) continue;
      const bool counts = rule.suppression == Suppression::soft_gaussian
                              ? shared_area<float>(kept, box) > 0
                              : exceeds<overlap>(kept, box, limit);
      if (!counts) continue;
      const float now = softened(w.scores[i], overlap_of<overlap>(kept, box), rule);
      gone[i] = now != w.scores[i] && now < rule.floor;
      w.scores[i] = now;
    }
  }
}

}  // namespace

void suppress_reference(const Rule& rule, Workspace& workspace) {
  workspace.kept.clear();
  with_overlap(rule.overlap, [&](auto overlap) {
    if (is_soft(rule.suppression)) {
      soft<decltype(overlap)::value>(rule, workspace);
    } else {
      hard<decltype(overlap)::value>(rule, workspace);
    }
  });
}

}  // namespace halyard::decode
