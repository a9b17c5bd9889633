// SPDX-License-Identifier: Apache-2.0
// Makes candidates from hits, and detections from survivors.
#include "decode/head/candidates.h"

#include <algorithm>
#include <array>

#include "decode/head/box_coding.h"
#include "decode/head/dfl.h"
#include "decode/head/scores.h"

namespace halyard::decode {
namespace {

class BoxReader {
 public:
  BoxReader(const HeadProgram& program, const Binding& binding, std::vector<float>& numbers)
      : program_(program), binding_(binding), numbers_(numbers) {}

  Box read(const BoxPlace& at) const {
    const Level& level = program_.levels[at.level];
    const LevelView& view = binding_.levels[at.level];
    if (program_.coding == Coding::bins) return box_of_bins(read_bins(view, at), cell_of(at));
    const auto b = read_four(view, at);
    switch (program_.coding) {
      case Coding::corners:
        return box_of_corners(b, binding_.scale_x, binding_.scale_y);
      case Coding::distances:
        return box_of_distances(b, cell_of(at));
      case Coding::anchor:
        return box_of_anchor(b, cell_of(at), level.extents[at.anchor]);
      case Coding::prior: {
        std::array<float, 4> prior;
        fill(view.priors, at, prior);
        return box_of_prior(b, prior, binding_.scale_x, binding_.scale_y);
      }
      default:
        return box_of_centre(b, binding_.scale_x, binding_.scale_y);
    }
  }

  // For heads with angles: boxes coded as centres, distances or bins.
  RotatedBox read_rotated(const BoxPlace& at) const {
    const LevelView& view = binding_.levels[at.level];
    float angle = 0;
    fill(view.angles, at, {&angle, 1});
    if (program_.coding == Coding::bins) {
      const auto ltrb = distances_of_bins(read_bins(view, at));
      return rotated_of_distances(ltrb, angle_of_logit(angle), cell_of(at));
    }
    const auto b = read_four(view, at);
    if (program_.coding == Coding::distances)
      return rotated_of_distances(b, angle_of_logit(angle), cell_of(at));
    return {b[0] * binding_.scale_x, b[1] * binding_.scale_y, b[2] * binding_.scale_x,
            b[3] * binding_.scale_y, angle};
  }

 private:
  Cell cell_of(const BoxPlace& at) const noexcept {
    const Level& level = program_.levels[at.level];
    return {at.column, at.row, level.stride_x, level.stride_y};
  }
  std::span<float> read_bins(const LevelView& view, const BoxPlace& at) const {
    numbers_.resize(4 * program_.bins);
    fill(view.boxes, at, numbers_);
    return numbers_;
  }
  static std::array<float, 4> read_four(const LevelView& view, const BoxPlace& at) {
    std::array<float, 4> b{};
    const std::span<float> all = b;
    fill(view.boxes, at, view.sizes ? all.first(2) : all);
    if (view.sizes) fill(view.sizes, at, all.last(2));
    return b;
  }
  static void fill(const FieldView& field, const BoxPlace& at, std::span<float> out) {
    field.values(field.box(at.row, at.column, at.anchor), out);
  }
  const HeadProgram& program_;
  const Binding& binding_;
  std::vector<float>& numbers_;
};

BoxPlace place_in(const Level& level, std::size_t index, std::size_t box) noexcept {
  const std::size_t cell = box / level.anchors;
  return {index, cell / level.columns, cell % level.columns, box % level.anchors};
}

// Reads one box. Returns false for illegal boxes. Rotated boxes are also appended to work.rotated.
bool read_box(const BoxReader& reader, const BoxPlace& at, const Level& level, Scratch& work,
              Box& box) {
  if (!level.angles) {
    box = reader.read(at);
    return is_legal(box);
  }
  const RotatedBox rotated = reader.read_rotated(at);
  if (!is_legal(rotated)) return false;
  work.rotated.push_back(rotated);
  box = bounds(rotated);
  return true;
}

}  // namespace

BoxPlace locate_box(const HeadProgram& program, std::size_t index) noexcept {
  std::size_t level = program.levels.size() - 1;
  while (program.levels[level].first_box > index)
    --level;
  return place_in(program.levels[level], level, index - program.levels[level].first_box);
}

void collect(const HeadProgram& program, const ScoreFilter& filter, Scratch& work) {
  work.candidates.clear();
  work.rotated.clear();
  const BoxReader reader(program, work.binding, work.numbers);
  for (std::size_t l = 0; l < program.levels.size(); ++l) {
    const Level& level = program.levels[l];
    scan_level(program, level, work.binding.levels[l], filter, work);
    Box box;
    bool is_given = false;
    for (std::size_t i = 0; i < work.hits.size(); ++i) {
      const Hit& hit = work.hits[i];
      const bool is_another = i == 0 || hit.anchor != work.hits[i - 1].anchor;
      if (is_another) is_given = read_box(reader, place_in(level, l, hit.anchor), level, work, box);
      if (!is_given) continue;
      if (level.angles && !is_another) work.rotated.push_back(RotatedBox(work.rotated.back()));
      work.candidates.push_back(
          {box, hit.raw, hit.label, static_cast<std::int32_t>(level.first_box + hit.anchor)});
    }
  }
}

void take_survivors(const Scratch& work, Decoded& out) {
  out.detections.clear();
  out.rotated.clear();
  for (std::size_t i = 0; i < work.selection.kept.size(); ++i) {
    const std::uint32_t index = work.selection.kept[i];
    out.detections.push_back(work.candidates[index]);
    out.detections.back().score = work.selection.kept_scores[i];
    if (!work.rotated.empty()) out.rotated.push_back(work.rotated[index]);
  }
}

}  // namespace halyard::decode
