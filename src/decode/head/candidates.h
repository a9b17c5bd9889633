// SPDX-License-Identifier: Apache-2.0
// Runs a program on bound tensors: scores of all boxes, coordinates of those that pass, and what
// else belongs to the survivors.
#pragma once

#include <vector>

#include "decode/compile/program.h"
#include "decode/head/argmax_scan.h"
#include "decode/head/binding.h"
#include "decode/nms/nms.h"
#include "decode/nms/search_radius.h"

namespace halyard::decode {

/// Memory of one run, reused.
struct Scratch {
  Binding binding;
  std::vector<Hit> hits;
  std::vector<Hit> pairs;             ///< of scan_multilabel()
  std::vector<std::int32_t> minimum;  ///< of each class
  std::vector<Detection> candidates;
  std::vector<RotatedBox> rotated;  ///< one for each candidate of heads with angles, else none
  std::vector<float> numbers;       ///< of one box
  Quantization row;                 ///< of one box's coefficients, where each has its own
  Workspace selection;

  /// Gives up the tensors of the caller.
  void release() { binding.release(); }
};

struct ScoreFilter {
  float threshold = 0;
  bool multi_label = false;  ///< every class that passes, not the best alone
};

/// Candidates in the order of boxes, in input pixels; `anchor` is the box. Of equal classes the
/// first wins; NaN never passes, nor do illegal boxes.
void collect(const HeadProgram& program, const ScoreFilter& filter, Scratch& work);

/// Where box `index` of all levels lies.
struct BoxPlace {
  std::size_t level = 0;
  std::size_t row = 0;
  std::size_t column = 0;
  std::size_t anchor = 0;
};
BoxPlace place_of(const HeadProgram& program, std::size_t index) noexcept;

/// The candidates that selection left, with their scores, and turned boxes.
void take_survivors(const Scratch& work, Decoded& out);

}  // namespace halyard::decode
