// SPDX-License-Identifier: Apache-2.0
// Boxes and the letterbox rule.
#include "halyard/geometry.h"

#include <cmath>

namespace halyard {

float iou(const Box& a, const Box& b) noexcept {
  const Box common{std::max(a.x1, b.x1), std::max(a.y1, b.y1), std::min(a.x2, b.x2),
                   std::min(a.y2, b.y2)};
  const float shared = common.area();
  const float both = a.area() + b.area() - shared;
  return shared > 0 && both > 0 ? shared / both : 0.0F;
}

Region letterbox_region(Size source, Size target) noexcept {
  if (source.width <= 0 || source.height <= 0) return {0, 0, target.width, target.height};
  const double source_aspect = static_cast<double>(source.width) / source.height;
  const double target_aspect = static_cast<double>(target.width) / target.height;
  Size content = target;
  if (source_aspect > target_aspect) {
    content.height = std::max(1, static_cast<int>(std::lround(target.width / source_aspect)));
  } else {
    content.width = std::max(1, static_cast<int>(std::lround(target.height * source_aspect)));
  }
  return {(target.width - content.width) / 2, (target.height - content.height) / 2, content.width,
          content.height};
}

}  // namespace halyard
