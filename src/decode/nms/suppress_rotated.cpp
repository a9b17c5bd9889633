// SPDX-License-Identifier: Apache-2.0
// Suppression of rotated boxes, one pair at a time.
#include "decode/nms/suppress_rotated.h"
#include "decode/nms/nms.h"
#include "decode/nms/soft_queue.h"
#include "decode/nms/suppress.h"

namespace halyard::decode {
namespace {

void suppress_rotated_hard(const Rule& rule, Workspace& w) {
  const double limit = distance_limit(rule.threshold);
  auto& kept = w.rotated_survivors;
  kept.clear();
  SurvivorIndex neighbours(w.rotated_index, gaussian_search_radius(limit), w.gaussians.size(),
                           break_even_one_by_one, true);
  for (std::size_t i = 0; i < w.gaussians.size() && w.kept.size() < rule.maximum; ++i) {
    const Gaussian& box = w.gaussians[i];
    if (box.is_empty()) {
      w.kept.push_back(static_cast<std::uint32_t>(i));
      continue;
    }
    const auto suppresses = [&](const Gaussian& other) { return is_nearer(other, box, limit); };
    const auto nearby = neighbours.any(box, suppresses);
    const bool is_suppressed = nearby ? *nearby : std::any_of(kept.begin(), kept.end(), suppresses);
    if (!is_suppressed) w.kept.push_back(static_cast<std::uint32_t>(i));
    if (is_suppressed && rule.suppression == Suppression::greedy) continue;
    kept.push_back(box);
    neighbours.push(kept.size(), [&](std::size_t k) -> const Gaussian& { return kept[k]; });
  }
}

float rotated_score_against(const std::vector<Gaussian>& kept, std::size_t i, double limit,
                            const Rule& rule, Workspace& w) {
  const Gaussian& box = w.gaussians[i];
  float score = w.scores[i];
  if (box.is_empty()) return score;
  for (std::size_t k = w.applied[i]; k < kept.size(); ++k) {
    if (is_nearer(kept[k], box, limit))
      score = softened(score, static_cast<float>(probabilistic_iou(kept[k], box)), rule);
  }
  return score;
}

void suppress_rotated_softly(const Rule& rule, Workspace& w) {
  // The Gaussian rule applies to any overlap.
  const double limit =
      distance_limit(rule.suppression == Suppression::soft_gaussian ? 0 : rule.threshold);
  auto& kept = w.rotated_survivors;
  kept.clear();
  soften(
      rule, w,
      [&](std::size_t i) {
        const float score = rotated_score_against(kept, i, limit, rule, w);
        w.applied[i] = static_cast<std::uint32_t>(kept.size());
        return score;
      },
      [&](std::size_t i) {
        if (!w.gaussians[i].is_empty()) kept.push_back(w.gaussians[i]);
      });
}

}  // namespace

void suppress_rotated(const Rule& rule, Workspace& workspace) {
  workspace.kept.clear();
  if (is_soft(rule.suppression)) {
    suppress_rotated_softly(rule, workspace);
  } else {
    suppress_rotated_hard(rule, workspace);
  }
}

}  // namespace halyard::decode
