// SPDX-License-Identifier: Apache-2.0
// Matches per image, then computes precision over recall per category.
#include "halyard/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "evaluate/class_scores.h"
#include "evaluate/coco_limits.h"
#include "evaluate/object_checks.h"
#include "evaluate/similarity.h"

namespace halyard {
namespace {

constexpr std::size_t thresholds = 10;
constexpr std::size_t recalls = 101;

/// Detections of an image and category that are compared: the last is the protocol's own.
using Limits = std::array<std::size_t, 3>;
Limits limits_of(CocoKind kind) noexcept {
  return {1, 10, kind == CocoKind::keypoints ? 20U : 100U};
}

struct AreaRange {
  double low = 0;
  double high = 0;
  bool has(double area) const noexcept { return area >= low && area <= high; }
};
// All, small, medium, large.
constexpr std::array<AreaRange, 4> ranges{
    {{0, 1e10}, {0, 32.0 * 32}, {32.0 * 32, 96.0 * 96}, {96.0 * 96, 1e10}}};

double threshold_of(std::size_t i) noexcept {
  // As linspace(0.5, 0.95, 10) of NumPy computes them: the last one is exactly 0.95.
  const double step = (0.95 - 0.5) / 9;
  return i + 1 == thresholds ? 0.95 : static_cast<double>(i) * step + 0.5;
}

using Objects = std::vector<const CocoObject*>;

/// One detection after matching. For each threshold: whether it matched, and whether it is ignored.
struct Judged {
  double score = 0;
  std::bitset<thresholds> is_match;
  std::bitset<thresholds> is_ignored;
  std::size_t rank = 0;  ///< among the detections of its image
};

/// The detections of one category and area range, and the number of annotations to find.
struct Tally {
  std::vector<Judged> judged;
  std::size_t wanted = 0;
};

/// Matches one image and category. Keeps its memory.
class Matcher {
 public:
  explicit Matcher(CocoKind kind) : kind_(kind), max_found_(limits_of(kind).back()) {}

  void set(const Objects& truth, Objects found, const std::vector<double>& sigmas) {
    std::stable_sort(found.begin(), found.end(),
                     [](const auto* a, const auto* b) { return a->score > b->score; });
    if (found.size() > max_found_) found.resize(max_found_);
    truth_ = truth;
    found_ = std::move(found);
    areas_.clear();
    for (const CocoObject* d : found_)
      areas_.push_back(evaluate::found_area(kind_, *d));
    overlaps_.clear();
    for (const CocoObject* d : found_) {
      for (const CocoObject* t : truth_)
        overlaps_.push_back(evaluate::similarity(kind_, *d, *t, sigmas));
    }
  }

  void judge(const AreaRange& range, Tally& tally) {
    order_.resize(truth_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    const auto is_ignored = [&](std::size_t i) {
      return evaluate::is_ignored(kind_, *truth_[i]) || !range.has(truth_[i]->area);
    };
    const auto ignored = std::stable_partition(order_.begin(), order_.end(),
                                               [&](std::size_t i) { return !is_ignored(i); });
    const auto counted = static_cast<std::size_t>(ignored - order_.begin());
    tally.wanted += counted;
    const std::size_t first = tally.judged.size();
    for (std::size_t d = 0; d < found_.size(); ++d)
      tally.judged.push_back({found_[d]->score, {}, {}, d});
    for (std::size_t t = 0; t < thresholds; ++t)
      match(t, counted, range, {tally.judged.data() + first, found_.size()});
  }

 private:
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

  // Index in order_ of the annotation that the detection matches.
  std::size_t best_for(std::size_t d, double minimum, std::size_t counted) const {
    std::size_t best = none;
    for (std::size_t k = 0; k < order_.size(); ++k) {
      const std::size_t g = order_[k];
      if (is_taken_[g] && !truth_[g]->is_crowd) continue;
      if (best < counted && k >= counted)
        break;  // an annotation that counts has priority over ignored ones
      const double overlap = overlaps_[d * truth_.size() + g];
      if (overlap < minimum) continue;
      minimum = overlap;
      best = k;
    }
    return best;
  }

  void match(std::size_t t, std::size_t counted, const AreaRange& range, std::span<Judged> judged) {
    is_taken_.assign(truth_.size(), false);
    for (std::size_t d = 0; d < found_.size(); ++d) {
      const std::size_t best = best_for(d, std::min(threshold_of(t), 1 - 1e-10), counted);
      if (best == none) {
        judged[d].is_ignored[t] = !range.has(areas_[d]);
      } else {
        is_taken_[order_[best]] = true;
        judged[d].is_match[t] = true;
        judged[d].is_ignored[t] = best >= counted;
      }
    }
  }

  CocoKind kind_;
  std::size_t max_found_;
  Objects truth_;
  Objects found_;
  std::vector<double> areas_;     // of detections
  std::vector<double> overlaps_;  // detection by annotation
  std::vector<std::size_t> order_;
  std::vector<bool> is_taken_;
};

/// Precision at the fixed recalls, and the recall reached, for one threshold.
struct Curve {
  std::array<double, recalls> precision{};
  double recall = 0;
};

/// `judged` is sorted, best first.
Curve curve_of(std::span<const Judged> judged, std::size_t wanted, std::size_t limit,
               std::size_t threshold) {
  std::vector<double> recall;
  std::vector<double> precision;
  double right = 0;
  double wrong = 0;
  for (const Judged& one : judged) {
    if (one.rank >= limit) continue;
    if (!one.is_ignored[threshold]) (one.is_match[threshold] ? right : wrong) += 1;
    recall.push_back(right / static_cast<double>(wanted));
    precision.push_back(right > 0 ? right / (wrong + right) : 0);
  }
  for (std::size_t i = precision.size(); i-- > 1;)
    precision[i - 1] = std::max(precision[i - 1], precision[i]);
  Curve curve;
  for (std::size_t r = 0; r < recalls; ++r) {
    const double at = r + 1 == recalls ? 1.0 : static_cast<double>(r) * 0.01;
    const auto reached = std::lower_bound(recall.begin(), recall.end(), at);
    if (reached == recall.end()) break;
    curve.precision[r] = precision[static_cast<std::size_t>(reached - recall.begin())];
  }
  if (!recall.empty()) curve.recall = recall.back();
  return curve;
}

/// A running mean; nullopt while it is empty.
struct Mean {
  double sum = 0;
  std::size_t count = 0;
  void add(double value) {
    sum += value;
    ++count;
  }
  std::optional<double> value() const {
    if (count == 0) return std::nullopt;
    return sum / static_cast<double>(count);
  }
};

/// Means over categories, by range and threshold. Recall is also by limit.
struct Means {
  using Row = std::array<Mean, thresholds>;
  explicit Means(CocoKind kind) : limits(limits_of(kind)) {}
  Limits limits;
  std::array<Row, ranges.size()> precision;
  std::array<std::array<Row, 3>, ranges.size()> recall;

  /// Adds a category. Returns its AP.
  std::optional<double> add(std::size_t range, const Tally& tally) {
    Mean category;
    if (tally.wanted == 0) return {};
    for (std::size_t m = 0; m < limits.size(); ++m) {
      if (range != 0 && limits[m] != limits.back()) continue;  // not in the summary
      for (std::size_t t = 0; t < thresholds; ++t) {
        const Curve curve = curve_of(tally.judged, tally.wanted, limits[m], t);
        recall[range][m][t].add(curve.recall);
        if (limits[m] != limits.back()) continue;
        for (const double value : curve.precision) {
          precision[range][t].add(value);
          category.add(value);
        }
      }
    }
    return category.value();
  }

  static std::optional<double> over_thresholds(const Row& row) {
    Mean all;
    for (const Mean& one : row) {
      all.sum += one.sum;
      all.count += one.count;
    }
    return all.value();
  }
  std::optional<double> ap(std::size_t range) const { return over_thresholds(precision[range]); }
  std::optional<double> ar(std::size_t range, std::size_t limit) const {
    return over_thresholds(recall[range][limit]);
  }
};

std::vector<CocoMetric> box_summary(const Means& m) {
  return {{"AP", "precision at IoU 0.50 to 0.95", m.ap(0)},
          {"AP50", "precision at IoU 0.50", m.precision[0][0].value()},
          {"AP75", "precision at IoU 0.75", m.precision[0][5].value()},
          {"AP_small", "the same as AP, area up to 32^2", m.ap(1)},
          {"AP_medium", "area 32^2 to 96^2", m.ap(2)},
          {"AP_large", "area from 96^2", m.ap(3)},
          {"AR_1", "recall of 1 detection an image", m.ar(0, 0)},
          {"AR_10", "recall of 10", m.ar(0, 1)},
          {"AR_100", "recall of 100", m.ar(0, 2)},
          {"AR_small", "of 100, area up to 32^2", m.ar(1, 2)},
          {"AR_medium", "area 32^2 to 96^2", m.ar(2, 2)},
          {"AR_large", "area from 96^2", m.ar(3, 2)}};
}

std::vector<CocoMetric> keypoint_summary(const Means& m) {
  return {{"AP", "precision at OKS 0.50 to 0.95", m.ap(0)},
          {"AP50", "precision at OKS 0.50", m.precision[0][0].value()},
          {"AP75", "precision at OKS 0.75", m.precision[0][5].value()},
          {"AP_medium", "the same as AP, area 32^2 to 96^2", m.ap(2)},
          {"AP_large", "area from 96^2", m.ap(3)},
          {"AR", "recall of 20 detections an image", m.ar(0, 2)},
          {"AR50", "at OKS 0.50", m.recall[0][2][0].value()},
          {"AR75", "at OKS 0.75", m.recall[0][2][5].value()},
          {"AR_medium", "of 20, area 32^2 to 96^2", m.ar(2, 2)},
          {"AR_large", "area from 96^2", m.ar(3, 2)}};
}

// Sorted by category, then image; otherwise in input order.
Objects sorted(std::span<const CocoObject> objects) {
  Objects list;
  list.reserve(objects.size());
  for (const CocoObject& object : objects)
    list.push_back(&object);
  std::stable_sort(list.begin(), list.end(), [](const auto* a, const auto* b) {
    return std::tie(a->category, a->image) < std::tie(b->category, b->image);
  });
  return list;
}

// Takes the objects of a category and image from the front of a sorted list.
void take(std::span<const CocoObject* const>& from, std::size_t category, std::size_t image,
          Objects& out) {
  out.clear();
  while (!from.empty() && from[0]->category == category && from[0]->image == image) {
    out.push_back(from[0]);
    from = from.subspan(1);
  }
}

CocoScores scores_of(const CocoTruth& truth, std::span<const CocoObject> found, CocoKind kind) {
  const Objects all_wanted = sorted(truth.objects);
  const Objects all_seen = sorted(found);
  std::span<const CocoObject* const> wanted = all_wanted;
  std::span<const CocoObject* const> seen = all_seen;
  Matcher matcher(kind);
  Means means(kind);
  CocoScores scores;
  Objects here;
  Objects seen_here;
  for (std::size_t c = 0; c < truth.categories.size(); ++c) {
    std::array<Tally, ranges.size()> tallies;
    const auto next_image = [c](std::span<const CocoObject* const> list) {
      const bool is_there = !list.empty() && list[0]->category == c;
      return is_there ? list[0]->image : std::numeric_limits<std::size_t>::max();
    };
    for (;;) {
      const std::size_t image = std::min(next_image(wanted), next_image(seen));
      if (image == std::numeric_limits<std::size_t>::max()) break;
      take(wanted, c, image, here);
      take(seen, c, image, seen_here);
      matcher.set(here, seen_here, truth.categories[c].sigmas);
      for (std::size_t r = 0; r < ranges.size(); ++r)
        matcher.judge(ranges[r], tallies[r]);
    }
    for (std::size_t r = 0; r < ranges.size(); ++r) {
      std::stable_sort(tallies[r].judged.begin(), tallies[r].judged.end(),
                       [](const Judged& a, const Judged& b) { return a.score > b.score; });
      const auto ap = means.add(r, tallies[r]);
      if (r == 0) scores.category_ap.push_back(ap);
    }
  }
  scores.summary = kind == CocoKind::keypoints ? keypoint_summary(means) : box_summary(means);
  return scores;
}

}  // namespace

Result<CocoScores> evaluate_coco(const CocoTruth& truth, std::span<const CocoObject> found,
                                 CocoKind kind) {
  for (std::size_t i = 0; i < truth.categories.size(); ++i)
    for (const double sigma : truth.categories[i].sigmas)
      if (!(sigma > 0) || !std::isfinite(sigma))
        return make_error(Errc::invalid_argument, "sigmas must be above 0",
                          fmt::format("truth.categories[{}].sigmas: {}", i, sigma));
  HALYARD_RETURN_IF_ERROR(evaluate::check_objects(truth, truth.objects, "truth.objects", kind));
  HALYARD_RETURN_IF_ERROR(evaluate::check_objects(truth, found, "found", kind));
  if (kind == CocoKind::classes) return evaluate::class_scores(truth, found);
  if (kind == CocoKind::masks) HALYARD_RETURN_IF_ERROR(evaluate::check_comparisons(truth, found));
  return scores_of(truth, found, kind);
}

}  // namespace halyard
