// SPDX-License-Identifier: Apache-2.0
#include "evaluate/keypoint_sigmas.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>

namespace halyard::evaluate {
namespace {

// Of nose, eyes, ears, shoulders, elbows, wrists, hips, knees, ankles: cocodataset.org, "Keypoint
// Evaluation".
constexpr std::array<double, 17> coco_sigmas{.026, .025, .025, .035, .035, .079, .079, .072, .072,
                                             .062, .062, .107, .107, .087, .087, .089, .089};

}  // namespace

Problem check_keypoint_count(std::size_t count, std::size_t wanted) {
  if (count == wanted) return {};
  return fmt::format("keypoints: has {}, must have the {} of its category", count, wanted);
}

Problem KeypointSigmas::read(const Json& category, std::int64_t id) {
  Known known;
  if (const Json* names = member(category, "keypoints")) {
    if (!names->is_array()) return "keypoints: must be an array of names";
    known.count = names->size();
    has_names_ = has_names_ || known.count != 0;
  }
  if (const Json* sigmas = member(category, "sigmas")) {
    if (Problem p = read_numbers(*sigmas, "sigmas", known.sigmas); !p.empty()) return p;
    for (std::size_t i = 0; i < known.sigmas.size(); ++i)
      if (!(known.sigmas[i] > 0))
        return fmt::format("sigmas[{}]: {}, must be above 0", i, known.sigmas[i]);
    if (known.count == 0) known.count = known.sigmas.size();
    if (known.sigmas.size() != known.count)
      return fmt::format("sigmas: has {}, must have one for each of {} keypoints",
                         known.sigmas.size(), known.count);
  }
  if (known.count != 0) known_.emplace(id, std::move(known));
  return {};
}

bool KeypointSigmas::leaves_out(const Json& annotation, std::int64_t category) const {
  return has_names_ && known_.count(category) == 0 && member(annotation, "keypoints") == nullptr;
}

Problem KeypointSigmas::check_count(std::int64_t category, std::size_t count) {
  Known& known = known_[category];
  if (known.count == 0) known.count = count;
  return check_keypoint_count(count, known.count);
}

std::vector<double> KeypointSigmas::of(std::int64_t category) const {
  const auto found = known_.find(category);
  if (found == known_.end()) return {};
  const Known& known = found->second;
  if (!known.sigmas.empty()) return known.sigmas;
  if (known.count == coco_sigmas.size()) return {coco_sigmas.begin(), coco_sigmas.end()};
  return std::vector<double>(known.count, 1.0 / static_cast<double>(known.count));
}

}  // namespace halyard::evaluate
