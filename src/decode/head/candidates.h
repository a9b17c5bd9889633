// SPDX-License-Identifier: Apache-2.0
// Runs a program on bound tensors: scores of all boxes, coordinates of those that pass, and the
// survivors.
#pragma once

#include <vector>

#include "decode/compile/program.h"
#include "decode/head/argmax_scan.h"
#include "decode/head/binding.h"
#include "decode/nms/nms.h"

namespace halyard::decode {

/// Memory of one run, reused by later runs.
struct Scratch {
  Binding binding;
  std::vector<Hit> hits;
  std::vector<Hit> pairs;             ///< for scan_multilabel()
  std::vector<std::int32_t> minimum;  ///< per class
  std::vector<Detection> candidates;
  std::vector<RotatedBox> rotated;  ///< one per candidate if the head has angles, else empty
  std::vector<float> numbers;       ///< of one box
  Quantization row;  ///< quantization of one box's coefficients, if it is per channel
  Workspace selection;

  /// Gives up the tensors of the caller.
  void release() { binding.release(); }
};

struct ScoreFilter {
  float threshold = 0;
  bool multi_label = false;  ///< every class that passes, not only the best one
};

/// Fills work.candidates in the order of boxes, in input pixels; `anchor` is the index of the box.
/// Of equal classes the first wins. NaN and illegal boxes never pass.
void collect(const HeadProgram& program, const ScoreFilter& filter, Scratch& work);

/// Position of box `index`, counted over all levels.
struct BoxPlace {
  std::size_t level = 0;
  std::size_t row = 0;
  std::size_t column = 0;
  std::size_t anchor = 0;
};
BoxPlace locate_box(const HeadProgram& program, std::size_t index) noexcept;

/// Copies the candidates that selection kept, with their scores and rotated boxes.
void take_survivors(const Scratch& work, Decoded& out);

}  // namespace halyard::decode
