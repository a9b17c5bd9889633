// SPDX-License-Identifier: Apache-2.0
// SemanticMapper: processes the target rows between two rows of scores together. A cell with four
// equal corners is filled; the others are computed.
#include "halyard/semantic.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "decode/head/threshold.h"
#include "decode/mask/mask_sample.h"
#include "decode/semantic/semantic_classes.h"
#include "decode/semantic/semantic_kernels.h"
#include "decode/semantic/semantic_plan.h"
#include "decode/semantic/semantic_staged.h"
#include "halyard/trace.h"

namespace halyard {
namespace {

using namespace decode;

void fill_nearest(const AxisMap& map, std::vector<std::int32_t>& out) {
  out.resize(static_cast<std::size_t>(map.target));
  const double last = map.source - 1;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double at = std::floor(map.offset + (static_cast<double>(i) + 0.5) * map.step);
    out[i] = static_cast<std::int32_t>(std::clamp(at, 0.0, last));
  }
}

// out[i] = row[index[i]]
template <class T>
void pick(const std::uint16_t* row, const std::int32_t* index, std::size_t count, T* out) {
  for (std::size_t i = 0; i < count; ++i)
    out[i] = static_cast<T>(row[index[i]]);
}

// Calls `use` for each group of target rows whose samples lie between source rows `low` and low +
// 1.
template <class Use>
void for_each_band(const AxisSamples& y, const Use& use) {
  for (std::int32_t row = 0; row < y.map.target;) {
    const std::int32_t low = y.low[static_cast<std::size_t>(row)];
    std::int32_t end = row + 1;
    while (end < y.map.target && y.low[static_cast<std::size_t>(end)] == low)
      ++end;
    use(low, std::min(low + 1, y.map.source - 1), PixelRange{row, end});
    row = end;
  }
}

// Class map of interpolated scores, for several classes.
template <class T>
class AccurateMap {
 public:
  AccurateMap(const SemanticPlan& plan, StagedScores& staged, SemanticWorkspace& work,
              TargetPlane out)
      : plan_(plan), staged_(staged), work_(work), out_(out) {
    hold(work.mixed, plan.scores.width + 2 * block_cells);
    hold(work.masks, plan.scores.channels);
    hold(work.classes, plan.scores.channels);
    hold(work.rivals, plan.scores.channels);
    hold(work.plane, plan.scores.channels * block_cells);
  }
  void run() {
    for_each_band(work_.y, [&](std::int32_t low, std::int32_t high, PixelRange rows) {
      staged_.need(low);
      staged_.need(high);
      band(low, high, rows);
    });
  }

 private:
  void band(std::int32_t low, std::int32_t high, PixelRange rows);
  bool find_mixed(const std::uint16_t* a, const std::uint16_t* b);
  void compute_block(std::int32_t cell);
  void compute_run(PixelRange cells, std::uint16_t lanes);
  // Target columns whose left source sample is a cell of the range.
  PixelRange columns_of(PixelRange cells) const noexcept {
    const auto* first = work_.x.low.data();
    const auto* last = first + work_.x.map.target;
    const auto* begin = std::lower_bound(first, last, cells.begin);
    const auto* end = std::lower_bound(begin, last, cells.end);
    return {static_cast<std::int32_t>(begin - first), static_cast<std::int32_t>(end - first)};
  }

  const SemanticPlan& plan_;
  StagedScores& staged_;
  SemanticWorkspace& work_;
  TargetPlane out_;
  const float* upper_ = nullptr;
  const float* lower_ = nullptr;
  PixelRange rows_;
  std::size_t rivals_ = 0;  ///< classes that can win somewhere in the block
};

template <class T>
void AccurateMap<T>::band(std::int32_t low, std::int32_t high, PixelRange rows) {
  const auto width = static_cast<std::size_t>(plan_.target.width);
  const std::uint16_t* a = staged_.labels(low);
  pick(a, work_.x.low.data(), width, out_.row<T>(rows.begin));
  for (std::int32_t y = rows.begin + 1; y < rows.end; ++y)
    std::memcpy(out_.row<T>(y), out_.row<T>(rows.begin), width * sizeof(T));
  if (!find_mixed(a, staged_.labels(high))) return;
  upper_ = staged_.row(low);
  lower_ = staged_.row(high);
  rows_ = rows;
  const auto cells = static_cast<std::int32_t>(plan_.scores.width);
  for (std::int32_t cell = 0; cell < cells; cell += block_cells)
    compute_block(cell);
}

// Marks the cells whose four corners differ. Returns whether there are any.
template <class T>
bool AccurateMap<T>::find_mixed(const std::uint16_t* a, const std::uint16_t* b) {
  const std::size_t cells = plan_.scores.width;
  std::uint8_t* mixed = work_.mixed.data();
  unsigned any = 0;
  for (std::size_t i = 0; i + 1 < cells; ++i) {
    const unsigned differs = (a[i] ^ a[i + 1]) | (a[i] ^ b[i]) | (a[i] ^ b[i + 1]);
    mixed[i] = differs != 0;
    any |= differs;
  }
  mixed[cells - 1] = a[cells - 1] != b[cells - 1];
  std::fill_n(mixed + cells, block_cells, std::uint8_t{0});
  return (any | mixed[cells - 1]) != 0;
}

template <class T>
void AccurateMap<T>::compute_block(std::int32_t cell) {
  const std::uint8_t* mixed = work_.mixed.data() + cell;
  unsigned lanes = 0;
  for (std::size_t i = 0; i < block_cells; ++i)
    lanes |= static_cast<unsigned>(mixed[i]) << i;
  if (lanes == 0) return;
  prune_classes(upper_ + cell, lower_ + cell, staged_.stride(), plan_.scores.channels,
                work_.plane.data(), work_.masks.data());
  const std::int32_t last = static_cast<std::int32_t>(plan_.scores.width) - 1 - cell;
  if (last < static_cast<std::int32_t>(block_cells)) {
    // There is nothing to compare with to the right of the last cell.
    for (std::size_t k = 0; k < plan_.scores.channels; ++k)
      work_.masks[k] = static_cast<std::uint16_t>(work_.masks[k] | 1U << last);
  }
  rivals_ = 0;
  for (std::size_t k = 0; k < plan_.scores.channels; ++k) {
    work_.rivals[rivals_] = static_cast<std::uint16_t>(k);
    rivals_ += (work_.masks[k] & lanes) != 0;
  }
  while (lanes != 0) {
    const int begin = std::countr_zero(lanes);
    const int length = std::countr_one(lanes >> begin);
    const unsigned run = ((1U << length) - 1) << begin;
    compute_run({cell + begin, cell + begin + length}, static_cast<std::uint16_t>(run));
    lanes &= ~run;
  }
}

template <class T>
void AccurateMap<T>::compute_run(PixelRange cells, std::uint16_t lanes) {
  const PixelRange columns = columns_of(cells);
  if (columns.is_empty()) return;
  std::size_t count = 0;
  for (std::size_t i = 0; i < rivals_; ++i) {
    work_.classes[count] = work_.rivals[i];
    count += (work_.masks[work_.rivals[i]] & lanes) != 0;
  }
  const auto width = static_cast<std::size_t>(columns.length());
  const auto height = static_cast<std::size_t>(rows_.length());
  const std::size_t stride = width + AxisSamples::padding;
  hold(work_.scratch, contest_floats(width, height));
  hold(work_.labels, stride * height + AxisSamples::padding);
  const Contest where{upper_ + cells.begin,
                      lower_ + cells.begin,
                      staged_.stride(),
                      cells.begin,
                      &work_.x,
                      &work_.y,
                      columns,
                      rows_};
  contest(where, work_.classes.data(), count, work_.scratch.data(), work_.labels.data(), stride);
  for (std::size_t y = 0; y < height; ++y) {
    const std::int32_t* from = work_.labels.data() + y * stride;
    T* to = out_.row<T>(rows_.begin + static_cast<std::int32_t>(y)) + columns.begin;
    for (std::size_t i = 0; i < width; ++i)
      to[i] = static_cast<T>(from[i]);
  }
}

// Interpolates one plane to the size of the target. `use` receives each row.
template <class Row, class Use>
void blend_all(const SemanticPlan& plan, SemanticWorkspace& work, const Row& row, const Use& use) {
  const auto width = static_cast<std::size_t>(plan.target.width);
  const std::size_t stride = width + AxisSamples::padding;
  hold(work.scratch, line_floats(width));
  for_each_band(work.y, [&](std::int32_t low, std::int32_t high, PixelRange rows) {
    hold(work.plane, stride * static_cast<std::size_t>(rows.length()) + AxisSamples::padding);
    const auto [upper, lower] = row(low, high);
    blend_plane({upper, lower, 0, 0, &work.x, &work.y, {0, plan.target.width}, rows},
                work.scratch.data(), work.plane.data(), stride);
    for (std::int32_t y = rows.begin; y < rows.end; ++y)
      use(y, work.plane.data() + static_cast<std::size_t>(y - rows.begin) * stride);
  });
}

// The score that a single class must reach. For integers this is a stored value.
float half_of(DType dtype) noexcept {
  if (!is_integer(dtype)) return 0.5F;
  const StoredRange range = stored_range(dtype);
  return static_cast<float>((range.lowest + range.highest + 1) / 2);
}

template <class T>
void map_foreground(const SemanticPlan& plan, StagedScores& staged, SemanticWorkspace& work,
                    TargetPlane out) {
  const float half = half_of(plan.scores.dtype);
  const auto rows = [&](std::int32_t low, std::int32_t high) {
    staged.need(low);
    staged.need(high);
    return std::pair(staged.row(low), staged.row(high));
  };
  blend_all(plan, work, rows, [&](std::int32_t y, const float* values) {
    T* to = out.row<T>(y);
    for (std::int32_t i = 0; i < plan.target.width; ++i)
      to[i] = static_cast<T>(values[i] >= half);
  });
}

template <class T>
void map_nearest(const SemanticPlan& plan, StagedScores& staged, SemanticWorkspace& work,
                 TargetPlane out) {
  const float half = half_of(plan.scores.dtype);
  const auto width = static_cast<std::size_t>(plan.target.width);
  std::int32_t before = -1;
  for (std::int32_t y = 0; y < plan.target.height; ++y) {
    const std::int32_t from = work.nearest_y[static_cast<std::size_t>(y)];
    T* to = out.row<T>(y);
    if (from == before) {
      std::memcpy(to, out.row<T>(y - 1), width * sizeof(T));
      continue;
    }
    before = from;
    staged.need(from);
    if (plan.scores.channels == 1) {
      const float* row = staged.row(from);
      for (std::size_t i = 0; i < width; ++i)
        to[i] = static_cast<T>(row[work.nearest_x[i]] >= half);
    } else {
      pick(staged.labels(from), work.nearest_x.data(), width, to);
    }
  }
}

// Computes values or probabilities of the best classes at the size of the scores, then
// interpolates.
void map_confidence(const SemanticPlan& plan, const SemanticOptions& options,
                    decode::Dequantization affine, SemanticWorkspace& work, TargetPlane out) {
  const std::size_t pixels = plan.scores.width * plan.scores.height;
  const bool softmax = options.confidence == SemanticConfidence::softmax;
  for (std::size_t i = 0; i < pixels; ++i)
    work.best[i] = softmax ? 1 / work.sum[i] : dequantize(work.best[i], affine);
  std::fill_n(work.best.data() + pixels, AxisSamples::padding, 0.0F);
  const auto rows = [&](std::int32_t low, std::int32_t high) {
    return std::pair(work.best.data() + static_cast<std::size_t>(low) * plan.scores.width,
                     work.best.data() + static_cast<std::size_t>(high) * plan.scores.width);
  };
  blend_all(plan, work, rows, [&](std::int32_t y, const float* values) {
    const auto width = static_cast<std::size_t>(plan.target.width);
    if (*plan.confidence == DType::f32) {
      std::copy_n(values, width, out.row<float>(y));
      return;
    }
    auto* to = out.row<std::uint8_t>(y);
    for (std::size_t i = 0; i < width; ++i)
      to[i] = static_cast<std::uint8_t>(std::clamp(values[i], 0.0F, 1.0F) * 255 + 0.5F);
  });
}

// Per-channel scales. Empty if they cannot change which class is the largest.
ChannelScales scales_of(const Tensor& scores, std::size_t classes, SemanticWorkspace& work) {
  const auto& q = scores.quantization();
  if (!is_integer(scores.dtype()) || !q || q->is_per_tensor()) return {};
  hold(work.channel_scale, classes);
  hold(work.channel_zero_point, classes);
  for (std::size_t k = 0; k < classes; ++k) {
    work.channel_scale[k] = q->scale_at(k);
    work.channel_zero_point[k] = static_cast<float>(q->zero_point_at(k));
  }
  return {work.channel_scale.data(), work.channel_zero_point.data()};
}

// The map from staged to real values.
decode::Dequantization affine_of(const Tensor& scores, const ChannelScales& scales) {
  const auto& q = scores.quantization();
  if (!is_integer(scores.dtype()) || !q || scales.scale != nullptr) return {};
  return {q->scale_at(0), q->zero_point_at(0)};
}

template <class T>
void map_scores(const SemanticPlan& plan, const SemanticOptions& options, StagedScores& staged,
                SemanticWorkspace& work, TargetPlane out) {
  if (options.mode == SemanticMode::fast) {
    map_nearest<T>(plan, staged, work, out);
  } else if (plan.scores.channels == 1) {
    map_foreground<T>(plan, staged, work, out);
  } else {
    AccurateMap<T>(plan, staged, work, out).run();
  }
}

TargetPlane plane_of(const TensorMap& map) noexcept {
  return {map.writable(), map.layout().stride_bytes[0]};
}

}  // namespace

SemanticMapper::SemanticMapper() noexcept = default;
SemanticMapper::SemanticMapper(SemanticMapper&&) noexcept = default;
SemanticMapper& SemanticMapper::operator=(SemanticMapper&&) noexcept = default;
SemanticMapper::~SemanticMapper() = default;

Status SemanticMapper::map(const Tensor& scores, const SemanticOptions& options, Tensor& out,
                           Tensor* confidence) {
  trace::Span span("decode.semantic");
  HALYARD_TRY(SemanticPlan plan, plan_semantic(scores, options, out, confidence));
  HALYARD_TRY(const TensorMap from, scores.map(Access::read));
  HALYARD_TRY(const TensorMap to, out.map(Access::write));
  plan.scores.data =
      from.data() + static_cast<std::ptrdiff_t>(options.batch) * from.layout().stride_bytes[0];
  if (!workspace_) workspace_ = std::make_unique<SemanticWorkspace>();
  SemanticWorkspace& work = *workspace_;
  const bool is_wide = plan.out == DType::u16;
  fill_nearest(plan.x, work.nearest_x);
  fill_nearest(plan.y, work.nearest_y);
  if (options.layout == SemanticLayout::class_map) {
    return resample_class_map(plan, work, plane_of(to));
  }
  work.x.prepare(plan.x);
  work.y.prepare(plan.y);
  const ChannelScales scales = scales_of(scores, plan.scores.channels, work);
  const decode::Dequantization affine = affine_of(scores, scales);
  const bool softmax = confidence != nullptr && options.confidence == SemanticConfidence::softmax;
  StagedScores staged(plan.scores, scales, softmax, affine.scale, work);
  if (is_wide) {
    map_scores<std::uint16_t>(plan, options, staged, work, plane_of(to));
  } else {
    map_scores<std::uint8_t>(plan, options, staged, work, plane_of(to));
  }
  if (confidence == nullptr) return {};
  if (options.mode == SemanticMode::fast) {
    // Interpolation also reads pixels that the nearest rule does not.
    for_each_band(work.y, [&](std::int32_t low, std::int32_t high, PixelRange) {
      staged.need(low);
      staged.need(high);
    });
  }
  HALYARD_TRY(const TensorMap plane, confidence->map(Access::write));
  map_confidence(plan, options, affine, work, plane_of(plane));
  return {};
}

Status semantic_map(const Tensor& scores, const SemanticOptions& options, Tensor& out,
                    Tensor* confidence) {
  return SemanticMapper().map(scores, options, out, confidence);
}

}  // namespace halyard
