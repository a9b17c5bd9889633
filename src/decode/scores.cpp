// SPDX-License-Identifier: Apache-2.0
// Scores are compared as they are stored wherever that decides the same; only boxes that may pass
// are dequantized, activated, multiplied and compared again.
#include "decode/scores.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "decode/box_coding.h"

namespace halyard::decode {
namespace {

// The least real value before the activation that can still pass.
float before_activation(float threshold, Activation activation) noexcept {
  if (activation != Activation::sigmoid) return threshold;
  const double p = static_cast<double>(threshold) * (1 - 2.4e-7);  // roundings of the score
  if (!(p > 0)) return std::numeric_limits<float>::lowest();
  const double x = logit(p);
  return static_cast<float>(x - 1e-6 * (1 + std::abs(x)));
}

float activated(float x, Activation activation) noexcept {
  switch (activation) {
    case Activation::sigmoid:
      return sigmoid(x);
    case Activation::tanh:
      return 2 * sigmoid(2 * x) - 1;
    default:
      return x;
  }
}

// Runs of boxes that a scan can take at once, anchor by anchor.
template <class Scan>
void for_runs(const Level& level, const FieldView& field, std::vector<Hit>& hits,
              const Scan& scan) {
  const auto whole = static_cast<std::ptrdiff_t>(level.columns) * field.column_stride;
  const bool joins = level.rows == 1 || field.row_stride == whole;
  const std::size_t runs = joins ? 1 : level.rows;
  const std::size_t boxes = joins ? level.rows * level.columns : level.columns;
  for (std::size_t anchor = 0; anchor < level.anchors; ++anchor) {
    for (std::size_t run = 0; run < runs; ++run) {
      const std::size_t from = hits.size();
      scan(ScoreGrid{field.box(run, 0, anchor).data, boxes, field.count, field.column_stride,
                     field.feature_stride});
      for (std::size_t i = from; i < hits.size(); ++i) {
        const std::size_t cell = run * boxes + hits[i].anchor;
        hits[i].anchor = static_cast<std::uint32_t>(cell * level.anchors + anchor);
      }
    }
  }
  if (level.anchors > 1)
    std::sort(hits.begin(), hits.end(),
              [](const Hit& a, const Hit& b) { return a.anchor < b.anchor; });
}

// Boxes whose best stored value may pass. False where stored values do not tell.
template <class T>
bool scan_stored(const Level& level, const FieldView& field, T least, std::vector<Hit>& hits) {
  for_runs(level, field, hits, [&](const ScoreGrid& grid) { scan_classes<T>(grid, least, hits); });
  return true;
}

template <class T>
bool scan_integers(const Level& level, const FieldView& field, float least,
                   std::vector<Hit>& hits) {
  const auto stored = quantized_threshold(least, field.affine, field.dtype);
  return !stored || scan_stored<T>(level, field, static_cast<T>(*stored), hits);
}

bool scan_as_stored(const Level& level, const FieldView& field, float least,
                    std::vector<Hit>& hits) {
  if (field.per_channel != nullptr) return false;
  switch (field.dtype) {
    case DType::f32:
      return scan_stored<float>(level, field, least, hits);
    case DType::f16:
      if (!(least >= 0 && least <= 1)) return false;
      return scan_stored<Half>(level, field, Half{half_threshold(least)}, hits);
    case DType::i8:
      return scan_integers<std::int8_t>(level, field, least, hits);
    case DType::u8:
      return scan_integers<std::uint8_t>(level, field, least, hits);
    case DType::i16:
      return scan_integers<std::int16_t>(level, field, least, hits);
    case DType::u16:
      return scan_integers<std::uint16_t>(level, field, least, hits);
    default:
      return false;
  }
}

BoxView box_at(const Level& level, const FieldView& field, std::size_t box) noexcept {
  const std::size_t cell = box / level.anchors;
  return field.box(cell / level.columns, cell % level.columns, box % level.anchors);
}

// A hit for each class that passes, or the first best one.
void push_passing(const std::vector<float>& scores, float factor, std::size_t box,
                  const Passing& passing, std::vector<Hit>& hits) {
  Hit best{static_cast<std::uint32_t>(box), -1, 0};
  for (std::size_t c = 0; c < scores.size(); ++c) {
    const float score = scores[c] * factor;
    if (!(score >= passing.threshold)) continue;
    const Hit hit{static_cast<std::uint32_t>(box), static_cast<std::int32_t>(c), score};
    if (passing.multi_label) {
      hits.push_back(hit);
    } else if (best.label < 0 || score > best.raw) {
      best = hit;
    }
  }
  if (best.label >= 0) hits.push_back(best);
}

// Every box from its real values.
void scan_real(const Program& program, const Level& level, const LevelView& view,
               const Passing& passing, Scratch& work) {
  for (std::size_t box = 0; box < level.count(); ++box) {
    float factor = 1;
    if (view.objectness)
      factor = activated(view.objectness.value(box_at(level, view.objectness, box), 0),
                         program.scoring.activation);
    if (!(factor >= passing.threshold)) continue;
    read_scores(program, view.scores, box_at(level, view.scores, box), work.numbers);
    push_passing(work.numbers, factor, box, passing, work.hits);
  }
}

// Hits hold stored values of the best class, or of objectness: to scores, those that pass.
void refine(const Program& program, const Level& level, const LevelView& view,
            const Passing& passing, Scratch& work) {
  const Activation activation = program.scoring.activation;
  if (!view.objectness && !passing.multi_label) {
    std::size_t kept = 0;
    for (Hit& hit : work.hits) {
      hit.raw = activated(dequantize(hit.raw, view.scores.affine), activation);
      if (hit.raw >= passing.threshold) work.hits[kept++] = hit;
    }
    work.hits.resize(kept);
    return;
  }
  const std::size_t count = work.hits.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Hit hit = work.hits[i];
    const float factor =
        view.objectness ? activated(dequantize(hit.raw, view.objectness.affine), activation) : 1;
    read_scores(program, view.scores, box_at(level, view.scores, hit.anchor), work.numbers);
    push_passing(work.numbers, factor, hit.anchor, passing, work.hits);
  }
  work.hits.erase(work.hits.begin(), work.hits.begin() + static_cast<std::ptrdiff_t>(count));
}

// The network names the class itself.
void read_classes(const Level& level, const LevelView& view, std::vector<Hit>& hits) {
  std::size_t kept = 0;
  for (Hit& hit : hits) {
    const float label =
        std::nearbyint(view.classes.value(box_at(level, view.classes, hit.anchor), 0));
    if (!(label >= 0 && label < 2147483648.0F)) continue;
    hit.label = static_cast<std::int32_t>(label);
    hits[kept++] = hit;
  }
  hits.resize(kept);
}

}  // namespace

void read_scores(const Program& program, const FieldView& field, const BoxView& box,
                 std::vector<float>& out) {
  const Scoring& scoring = program.scoring;
  const std::size_t before = scoring.background ? 1 : 0;
  out.resize(field.count + before);
  if (scoring.activation == Activation::softmax) {
    for (std::size_t c = 0; c < out.size(); ++c) {
      const BoxView from{box.data - static_cast<std::ptrdiff_t>(before) * field.feature_stride,
                         box.channel - before};
      out[c] = field.value(from, c);
    }
    softmax(out);
    out.erase(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(before));
    return;
  }
  out.resize(field.count);
  for (std::size_t c = 0; c < field.count; ++c)
    out[c] = activated(field.value(box, c), scoring.activation);
}

void scan_level(const Program& program, const Level& level, const LevelView& view,
                const Passing& passing, Scratch& work) {
  work.hits.clear();
  const Activation activation = program.scoring.activation;
  const FieldView& first = view.objectness ? view.objectness : view.scores;
  const float least = before_activation(passing.threshold, activation);
  const bool monotone = activation == Activation::none || activation == Activation::sigmoid;
  if (monotone && scan_as_stored(level, first, least, work.hits)) {
    refine(program, level, view, passing, work);
  } else {
    scan_real(program, level, view, passing, work);
  }
  if (view.classes) read_classes(level, view, work.hits);
}

}  // namespace halyard::decode
