// SPDX-License-Identifier: Apache-2.0
// From hits to candidates, and from survivors to what else they have.
#include "decode/dense.h"

#include <algorithm>

#include "decode/box_coding.h"
#include "decode/scores.h"

namespace halyard::decode {
namespace {

class BoxReader {
 public:
  BoxReader(const Program& program, const Binding& binding, std::vector<float>& numbers)
      : program_(program), binding_(binding), numbers_(numbers) {}

  Box read(const BoxPlace& at) const {
    const Level& level = program_.levels[at.level];
    const LevelView& view = binding_.levels[at.level];
    const Cell cell{at.column, at.row, level.stride_x, level.stride_y};
    if (program_.coding == Coding::bins) {
      numbers_.resize(4 * program_.bins);
      fill(view.boxes, at, numbers_);
      return box_of_bins(numbers_, cell);
    }
    float b[4];
    if (view.sizes) {
      fill(view.boxes, at, std::span(b).first(2));
      fill(view.sizes, at, std::span(b).last(2));
    } else {
      fill(view.boxes, at, b);
    }
    switch (program_.coding) {
      case Coding::corners:
        return box_of_corners(b, binding_.scale_x, binding_.scale_y);
      case Coding::distances:
        return box_of_distances(b, cell);
      case Coding::anchor:
        return box_of_anchor(b, cell, level.extents[at.anchor]);
      case Coding::prior: {
        float prior[4];
        fill(view.priors, at, prior);
        return box_of_prior(b, prior, binding_.scale_x, binding_.scale_y);
      }
      default:
        return box_of_centre(b, binding_.scale_x, binding_.scale_y);
    }
  }

 private:
  static void fill(const FieldView& field, const BoxPlace& at, std::span<float> out) {
    const BoxView box = field.box(at.row, at.column, at.anchor);
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = field.value(box, i);
  }
  const Program& program_;
  const Binding& binding_;
  std::vector<float>& numbers_;
};

BoxPlace place_in(const Level& level, std::size_t index, std::size_t box) noexcept {
  const std::size_t cell = box / level.anchors;
  return {index, cell / level.columns, cell % level.columns, box % level.anchors};
}

// x, y and visibility; those of levels are offsets of a cell, as YOLOv8 codes them.
Keypoint keypoint_of(const Program& program, const Binding& binding, const BoxPlace& at,
                     const FieldView& field, const BoxView& box, std::size_t first) {
  const Level& level = program.levels[at.level];
  Keypoint out;
  float x = field.value(box, first);
  float y = field.value(box, first + 1);
  const bool coded = program.coding == Coding::bins || program.coding == Coding::distances;
  if (coded) {
    x = (2 * x + static_cast<float>(at.column)) * level.stride_x;
    y = (2 * y + static_cast<float>(at.row)) * level.stride_y;
  }
  out.at = {x * binding.scale_x, y * binding.scale_y};
  out.score = 1;
  if (program.keypoints->dimensions > 2) {
    const float seen = field.value(box, first + 2);
    out.score = coded ? sigmoid(seen) : seen;
  }
  return out;
}

}  // namespace

BoxPlace place_of(const Program& program, std::size_t index) noexcept {
  std::size_t level = program.levels.size() - 1;
  while (program.levels[level].first_box > index)
    --level;
  return place_in(program.levels[level], level, index - program.levels[level].first_box);
}

void collect(const Program& program, const Passing& passing, Scratch& work) {
  work.candidates.clear();
  const BoxReader reader(program, work.binding, work.numbers);
  for (std::size_t l = 0; l < program.levels.size(); ++l) {
    const Level& level = program.levels[l];
    scan_level(program, level, work.binding.levels[l], passing, work);
    for (const Hit& hit : work.hits) {
      const Box box = reader.read(place_in(level, l, hit.anchor));
      if (!is_legal(box)) continue;
      work.candidates.push_back(
          {box, hit.raw, hit.label, static_cast<std::int32_t>(level.first_box + hit.anchor)});
    }
  }
}

void take_survivors(const Scratch& work, std::vector<Detection>& out) {
  out.clear();
  for (std::size_t i = 0; i < work.selection.kept.size(); ++i) {
    out.push_back(work.candidates[work.selection.kept[i]]);
    out.back().score = work.selection.kept_scores[i];
  }
}

void read_extras(const Program& program, const Binding& binding, Decoded& out) {
  out.keypoints.clear();
  out.coefficients.clear();
  out.keypoints_each = 0;
  out.coefficients_each = program.levels[0].coefficients.count;
  if (program.levels[0].keypoints) out.keypoints_each = program.keypoints->count;
  if (out.keypoints_each == 0 && out.coefficients_each == 0) return;
  for (const Detection& detection : out.detections) {
    const BoxPlace at = place_of(program, static_cast<std::size_t>(detection.anchor));
    const LevelView& view = binding.levels[at.level];
    if (view.coefficients) {
      const BoxView box = view.coefficients.box(at.row, at.column, at.anchor);
      for (std::size_t k = 0; k < view.coefficients.count; ++k)
        out.coefficients.push_back(view.coefficients.value(box, k));
    }
    if (!view.keypoints) continue;
    const BoxView box = view.keypoints.box(at.row, at.column, at.anchor);
    for (std::size_t k = 0; k < out.keypoints_each; ++k)
      out.keypoints.push_back(keypoint_of(program, binding, at, view.keypoints, box,
                                          k * program.keypoints->dimensions));
  }
}

}  // namespace halyard::decode
