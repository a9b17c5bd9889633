// SPDX-License-Identifier: Apache-2.0
// Presets of DecodeOptions that match other pipelines.
#include <cmath>

#include "halyard/decode.h"

namespace halyard {

DecodeOptions DecodeOptions::ultralytics() {
  DecodeOptions out;
  out.score_threshold = std::nextafter(0.25F, 1.0F);
  out.iou_threshold = 0.7F;
  out.nms = Nms::class_aware;
  return out;
}

DecodeOptions DecodeOptions::ultralytics_val() {
  DecodeOptions out = ultralytics();
  out.score_threshold = std::nextafter(0.001F, 1.0F);
  out.multi_label = true;
  return out;
}

DecodeOptions DecodeOptions::hal() {
  DecodeOptions out;
  out.score_threshold = 0.5F;
  out.iou_threshold = 0.5F;
  out.nms = Nms::class_agnostic;
  out.pre_nms_top_k = 300;
  return out;
}

}  // namespace halyard
