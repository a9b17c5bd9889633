// SPDX-License-Identifier: Apache-2.0
// COCO files: refused as malformed, or objects that refer to existing images and categories, with
// masks as large as their images. The first byte selects what is compared; the results follow 0x1E.
// Documents that are read are also evaluated.
#include <cstdint>
#include <string_view>
#include <vector>

#include "fuzz/source.h"
#include "halyard/evaluate.h"

namespace {

using namespace halyard;
using fuzz::expect;

void check(const CocoTruth& truth, const std::vector<CocoObject>& objects, CocoKind kind) {
  for (const CocoObject& object : objects) {
    expect(object.image < truth.images.size());
    const bool may_lack = kind == CocoKind::classes && object.category == CocoObject::no_category;
    expect(may_lack || object.category < truth.categories.size());
    if (may_lack) continue;
    expect(object.box.width >= 0 && object.box.height >= 0);
    if (kind == CocoKind::keypoints)
      expect(object.keypoints.size() == truth.categories[object.category].sigmas.size());
    if (kind != CocoKind::masks) continue;
    expect(object.mask.size == truth.images[object.image].size);
    expect(rle_area(object.mask).has_value() && rle_bounds(object.mask).has_value());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto kind = static_cast<CocoKind>(data[0] % 5);
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto middle = text.find('\x1e');
  const auto truth = parse_coco_truth(text.substr(0, middle), kind);
  if (!truth) {
    expect(truth.error().code == Errc::malformed || truth.error().code == Errc::exhausted);
    expect(!truth.error().message().empty());
    return 0;
  }
  check(*truth, truth->objects, kind);
  if (middle == std::string_view::npos) return 0;
  const auto results = parse_coco_results(text.substr(middle + 1), *truth, kind);
  if (!results) {
    expect(results.error().code == Errc::malformed && !results.error().message().empty());
    return 0;
  }
  check(*truth, results->objects, kind);
  const auto scores = evaluate_coco(*truth, results->objects, kind);
  if (!scores) {
    expect(scores.error().code == Errc::exhausted);
    return 0;
  }
  expect(scores->category_ap.size() == truth->categories.size());
  for (const CocoMetric& metric : scores->summary)
    expect(!metric.value || (*metric.value >= 0 && *metric.value <= 1));
  return 0;
}
