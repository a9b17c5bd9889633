// SPDX-License-Identifier: Apache-2.0
#include "evaluate/class_scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace halyard::evaluate {
namespace {

constexpr std::size_t second_limit = 5;

struct Share {
  double right = 0;
  double all = 0;
  void add(bool is_right) {
    right += is_right ? 1 : 0;
    all += 1;
  }
  std::optional<double> value() const {
    return all > 0 ? std::optional(right / all) : std::nullopt;
  }
};

/// Number of detections before the first that has the category; their count if none has it.
std::size_t rank_of(std::size_t category, std::vector<const CocoObject*>& found) {
  std::stable_sort(found.begin(), found.end(),
                   [](const auto* a, const auto* b) { return a->score > b->score; });
  const auto right = std::find_if(found.begin(), found.end(),
                                  [&](const auto* one) { return one->category == category; });
  return right == found.end() ? ~std::size_t{0} : static_cast<std::size_t>(right - found.begin());
}

}  // namespace

Result<CocoScores> class_scores(const CocoTruth& truth, std::span<const CocoObject> found) {
  std::vector<std::vector<const CocoObject*>> by_image(truth.images.size());
  for (const CocoObject& one : found)
    by_image[one.image].push_back(&one);
  std::vector<bool> is_known(truth.images.size());
  std::vector<Share> by_category(truth.categories.size());
  Share first, best;
  for (std::size_t i = 0; i < truth.objects.size(); ++i) {
    const CocoObject& wanted = truth.objects[i];
    if (is_known[wanted.image] || wanted.category == CocoObject::no_category)
      return make_error(Errc::invalid_argument, "an object cannot be evaluated",
                        fmt::format("truth.objects[{}]: must be the only class of its image", i));
    is_known[wanted.image] = true;
    const std::size_t rank = rank_of(wanted.category, by_image[wanted.image]);
    first.add(rank == 0);
    best.add(rank < second_limit);
    by_category[wanted.category].add(rank == 0);
  }
  CocoScores scores;
  scores.summary = {{"top1", "share of images with the right best class", first.value()},
                    {"top5", "with the right one among the best 5", best.value()}};
  for (const Share& share : by_category)
    scores.category_ap.push_back(share.value());
  return scores;
}

}  // namespace halyard::evaluate
