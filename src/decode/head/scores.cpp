// SPDX-License-Identifier: Apache-2.0
// Compares scores as they are stored if that gives the same decision. Only boxes that can pass are
// dequantized, activated, multiplied and compared again.
#include "decode/head/scores.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "decode/head/box_coding.h"
#include "decode/head/multilabel_scan.h"

namespace halyard::decode {
namespace {

// The smallest real value before the activation that can still pass, minus a margin for rounding.
float before_activation(float threshold, Activation activation) noexcept {
  if (activation != Activation::sigmoid && activation != Activation::tanh) return threshold;
  const bool is_tanh = activation == Activation::tanh;  // 2 sigmoid(2 x) - 1
  const double p = is_tanh ? (1 + (static_cast<double>(threshold) - 1e-6)) / 2
                           : static_cast<double>(threshold) * (1 - 2.4e-7);
  if (!(p > 0)) return -std::numeric_limits<float>::infinity();
  const double x = is_tanh ? logit(p) / 2 : logit(p);
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

// Calls `scan` for each run of boxes that one scan can read, anchor by anchor.
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
      const BoxView box = field.box(run, 0, anchor);
      scan(ScoreGrid{box.data, boxes, field.count, field.column_stride, field.feature_stride},
           box.channel);
      for (std::size_t i = from; i < hits.size(); ++i) {
        const std::size_t cell = run * boxes + hits[i].anchor;
        hits[i].anchor = static_cast<std::uint32_t>(cell * level.anchors + anchor);
      }
    }
  }
  if (level.anchors > 1)
    std::sort(hits.begin(), hits.end(), [](const Hit& a, const Hit& b) {
      return a.anchor != b.anchor ? a.anchor < b.anchor : a.label < b.label;
    });
}

// What the scan looks for: the best class of a box, or if `pairs` every class.
struct Sought {
  float minimum = 0;  // a real value
  bool pairs = false;
};

// Whether stored values have the order of their real values. Per-channel scales change the order. A
// scale that gives real values beyond the range of floats makes them equal.
bool has_order_of_stored(const FieldView& field) noexcept {
  const auto [lowest, highest] = stored_range(field.dtype);
  return field.per_channel == nullptr &&
         std::isfinite(dequantize(static_cast<float>(lowest), field.affine)) &&
         std::isfinite(dequantize(static_cast<float>(highest), field.affine));
}

// Thresholds per class in stored values. If no stored value of a class passes, the highest one is
// used; activate() checks again.
std::span<const std::int32_t> thresholds_of(const FieldView& field, std::size_t channel,
                                            float minimum, std::vector<std::int32_t>& out) {
  out.clear();
  for (std::size_t c = channel; c < channel + field.count; ++c) {
    const Dequantization affine{field.per_channel->scale_at(c),
                                field.per_channel->zero_point_at(c)};
    out.push_back(quantized_threshold(minimum, affine, field.dtype)
                      .value_or(stored_range(field.dtype).highest));
  }
  return out;
}

template <class T>
void scan_stored(const Level& level, const FieldView& field, T minimum, const Sought& sought,
                 Scratch& work) {
  for_runs(level, field, work.hits, [&](const ScoreGrid& grid, std::size_t channel) {
    if (!sought.pairs) return scan_argmax<T>(grid, minimum, work.hits);
    std::span<const std::int32_t> each;
    if (field.per_channel != nullptr)
      each = thresholds_of(field, channel, sought.minimum, work.minimum);
    scan_multilabel<T>(grid, minimum, each, work.pairs, work.hits);
  });
}

template <class T>
void scan_integers(const Level& level, const FieldView& field, const Sought& sought,
                   Scratch& work) {
  if (field.per_channel != nullptr) return scan_stored<T>(level, field, T{}, sought, work);
  const auto minimum = quantized_threshold(sought.minimum, field.affine, field.dtype);
  if (minimum) scan_stored<T>(level, field, static_cast<T>(*minimum), sought, work);
}

void scan_as_stored(const Level& level, const FieldView& field, const Sought& sought,
                    Scratch& work) {
  switch (field.dtype) {
    case DType::f32:
      return scan_stored<float>(level, field, sought.minimum, sought, work);
    case DType::f16:
      return scan_stored(level, field, short_threshold<Half>(sought.minimum), sought, work);
    case DType::bf16:
      return scan_stored(level, field, short_threshold<BFloat16>(sought.minimum), sought, work);
    case DType::i8:
      return scan_integers<std::int8_t>(level, field, sought, work);
    case DType::u8:
      return scan_integers<std::uint8_t>(level, field, sought, work);
    case DType::i16:
      return scan_integers<std::int16_t>(level, field, sought, work);
    default:
      return scan_integers<std::uint16_t>(level, field, sought, work);
  }
}

BoxView box_at(const Level& level, const FieldView& field, std::size_t box) noexcept {
  const std::size_t cell = box / level.anchors;
  return field.box(cell / level.columns, cell % level.columns, box % level.anchors);
}

// Appends a hit for each class that passes, or only for the first best one.
void push_passing(const std::vector<float>& scores, float factor, std::size_t box,
                  const ScoreFilter& filter, std::vector<Hit>& hits) {
  Hit best{static_cast<std::uint32_t>(box), -1, 0};
  for (std::size_t c = 0; c < scores.size(); ++c) {
    const float score = scores[c] * factor;
    if (!(score >= filter.threshold)) continue;
    const Hit hit{static_cast<std::uint32_t>(box), static_cast<std::int32_t>(c), score};
    if (filter.multi_label) {
      hits.push_back(hit);
    } else if (best.label < 0 || score > best.raw) {
      best = hit;
    }
  }
  if (best.label >= 0) hits.push_back(best);
}

// Real values of all classes of a box. The background is first if softmax counts it.
void read_logits(const Scoring& scoring, const FieldView& field, const BoxView& box,
                 std::vector<float>& out) {
  const std::size_t before = scoring.background ? 1 : 0;
  out.resize(field.count + before);
  field.values(
      {box.data - static_cast<std::ptrdiff_t>(before) * field.feature_stride, box.channel - before},
      out);
}

void take_shares(const Scoring& scoring, std::vector<float>& values) {
  softmax(values);
  if (scoring.background) values.erase(values.begin());
}

// Whether the background alone ensures that no class passes. A share of softmax is at most the
// sigmoid of the difference between its logit and any other. False if a logit is NaN.
bool is_background(std::span<const float> logits, float min_lead) noexcept {
  float best = logits[1];
  for (const float logit : logits.subspan(2))
    best = std::max(best, logit);
  return best - logits[0] < min_lead;
}

// Computes every box from the real values of all its classes. Boxes of the background, which are
// the majority, need no exponential.
void scan_shares(const HeadProgram& program, const Level& level, const LevelView& view,
                 const ScoreFilter& filter, Scratch& work) {
  const Scoring& scoring = program.scoring;
  const float min_lead = before_activation(filter.threshold, Activation::sigmoid);
  for (std::size_t box = 0; box < level.count(); ++box) {
    float factor = 1;
    if (view.objectness) factor = view.objectness.value(box_at(level, view.objectness, box), 0);
    if (!(factor >= filter.threshold)) continue;
    read_logits(scoring, view.scores, box_at(level, view.scores, box), work.numbers);
    if (scoring.background && !view.objectness && is_background(work.numbers, min_lead)) continue;
    take_shares(scoring, work.numbers);
    push_passing(work.numbers, factor, box, filter, work.hits);
  }
}

// Converts stored values of hits to real ones. Keeps the first best hit of a box unless boxes can
// have several labels. Done before the activation, after which different values can have equal
// scores.
void take_best(const Level& level, const FieldView& field, const ScoreFilter& filter,
               std::vector<Hit>& hits) {
  std::size_t kept = 0;
  for (Hit hit : hits) {
    const std::size_t channel =
        box_at(level, field, hit.anchor).channel + static_cast<std::size_t>(hit.label);
    hit.raw = field.real(hit.raw, channel);
    const bool is_another = kept == 0 || hits[kept - 1].anchor != hit.anchor;
    if (filter.multi_label || is_another) {
      hits[kept++] = hit;
    } else if (hit.raw > hits[kept - 1].raw) {
      hits[kept - 1] = hit;
    }
  }
  hits.resize(kept);
}

// Converts real values of hits to scores and keeps those that pass.
void activate(const HeadProgram& program, const ScoreFilter& filter, std::vector<Hit>& hits) {
  std::size_t kept = 0;
  for (Hit hit : hits) {
    hit.raw = activated(hit.raw, program.scoring.activation);
    if (hit.raw >= filter.threshold) hits[kept++] = hit;
  }
  hits.resize(kept);
}

// The hits hold stored values of objectness. Replaces them by hits with class scores.
void refine_by_objectness(const HeadProgram& program, const Level& level, const LevelView& view,
                          const ScoreFilter& filter, float minimum, Scratch& work) {
  const Activation activation = program.scoring.activation;
  const std::size_t count = work.hits.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Hit hit = work.hits[i];
    const BoxView box = box_at(level, view.objectness, hit.anchor);
    const float factor = activated(view.objectness.real(hit.raw, box.channel), activation);
    if (!(factor >= filter.threshold)) continue;
    work.numbers.resize(view.scores.count);
    view.scores.values(box_at(level, view.scores, hit.anchor), work.numbers);
    for (float& score : work.numbers) {
      // No factor is above 1: a score that is too low by itself needs no exponential.
      const bool fails = activation == Activation::sigmoid && score < minimum;
      score = fails ? std::numeric_limits<float>::quiet_NaN() : activated(score, activation);
    }
    push_passing(work.numbers, factor, hit.anchor, filter, work.hits);
  }
  work.hits.erase(work.hits.begin(), work.hits.begin() + static_cast<std::ptrdiff_t>(count));
}

// Reads the class index that the network gives, for each hit.
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

void read_scores(const HeadProgram& program, const FieldView& field, const BoxView& box,
                 std::vector<float>& out) {
  const Scoring& scoring = program.scoring;
  if (scoring.activation == Activation::softmax) {
    read_logits(scoring, field, box, out);
    return take_shares(scoring, out);
  }
  out.resize(field.count);
  field.values(box, out);
  for (float& score : out)
    score = activated(score, scoring.activation);
}

void scan_level(const HeadProgram& program, const Level& level, const LevelView& view,
                const ScoreFilter& filter, Scratch& work) {
  work.hits.clear();
  const Activation activation = program.scoring.activation;
  if (activation == Activation::softmax) {
    scan_shares(program, level, view, filter, work);
  } else {
    const FieldView& first = view.objectness ? view.objectness : view.scores;
    const float minimum = before_activation(filter.threshold, activation);
    const bool pairs = !has_order_of_stored(first) || (filter.multi_label && !view.objectness);
    scan_as_stored(level, first, {minimum, pairs}, work);
    if (view.objectness) {
      refine_by_objectness(program, level, view, filter, minimum, work);
    } else {
      take_best(level, view.scores, filter, work.hits);
      activate(program, filter, work.hits);
    }
  }
  if (view.classes) read_classes(level, view, work.hits);
}

}  // namespace halyard::decode
