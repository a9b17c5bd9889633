// SPDX-License-Identifier: Apache-2.0
// The heads: a closed set. A head knows where its numbers lie and collects candidates; score order,
// suppression and caps are nms.h's, the same for all.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "decode/threshold.h"
#include "halyard/decode.h"

namespace halyard::decode {

/// What every head is given to collect from: one mapped tensor.
struct Source {
  const Layout* layout = nullptr;
  const std::byte* data = nullptr;  ///< element (0, ..., 0)
  std::size_t batch = 0;
  Affine affine;        ///< identity for floats
  float threshold = 0;  ///< in [0, 1]
  float scale_x = 1;    ///< stored box unit to input pixels
  float scale_y = 1;
};

/// YOLOv8 and YOLO11 detection: [batch, 4 + C, N] or [batch, N, 4 + C], in any order of axes.
struct YoloDetection {
  std::size_t output = 0;  ///< index into the description's outputs
  std::optional<std::size_t> batch_axis;
  std::size_t feature_axis = 0;
  std::size_t box_axis = 0;
  std::size_t features = 0;
  std::size_t boxes = 0;

  std::size_t class_count() const noexcept { return features - 4; }
  std::string describe() const;
  /// Candidates in the order of anchors, boxes in input pixels. Errors: unsupported (dtype).
  Result<std::vector<Detection>> collect(const Source& source) const;
};

using Head = std::variant<YoloDetection>;

/// The head that fits the outputs. Errors: invalid_argument (shapes), unsupported (no head fits).
Result<Head> choose_head(const ModelDescription& description);

}  // namespace halyard::decode
