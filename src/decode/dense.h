// SPDX-License-Identifier: Apache-2.0
// Runs a program on bound tensors: scores of all boxes, coordinates of those that pass, and what
// else belongs to the survivors.
#pragma once

#include <vector>

#include "decode/binding.h"
#include "decode/class_scan.h"
#include "decode/nms.h"
#include "decode/program.h"

namespace halyard::decode {

/// Memory of one run, reused.
struct Scratch {
  Binding binding;
  std::vector<Hit> hits;
  std::vector<Detection> candidates;
  std::vector<float> numbers;  ///< of one box
  Workspace selection;
};

struct Passing {
  float threshold = 0;
  bool multi_label = false;  ///< every class that passes, not the best alone
};

/// Candidates in the order of boxes, in input pixels; `anchor` is the box. Of equal classes the
/// first wins; NaN never passes, nor do illegal boxes.
void collect(const Program& program, const Passing& passing, Scratch& work);

/// Where box `index` of all levels lies.
struct BoxPlace {
  std::size_t level = 0;
  std::size_t row = 0;
  std::size_t column = 0;
  std::size_t anchor = 0;
};
BoxPlace place_of(const Program& program, std::size_t index) noexcept;

/// The candidates that selection left, with their scores.
void take_survivors(const Scratch& work, std::vector<Detection>& out);

/// Coefficients and keypoints of the detections, in their order.
void read_extras(const Program& program, const Binding& binding, Decoded& out);

}  // namespace halyard::decode
