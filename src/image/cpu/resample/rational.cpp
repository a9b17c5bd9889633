// SPDX-License-Identifier: Apache-2.0
// Runs rows through the integer-ratio kernels. rational_bind.cpp derives the tables from a plan.
#include "image/cpu/resample/rational.h"

#include <algorithm>
#include <cstring>

namespace halyard::image {

RationalSampler::Workspace RationalSampler::lay_out(std::byte* workspace) const noexcept {
  WorkspaceCursor cursor(workspace);
  Workspace at;
  cursor.take<Workspace>(1);
  at.rows.end = columns();
  for (std::size_t g = 0; g < groups_; ++g) {
    const Group& group = group_[g];
    at.state[g] = cursor.take<State>(1);
    at.carry[g] = cursor.take<std::int16_t>(8 * static_cast<std::size_t>(group.table.blocks));
    at.copies[g] =
        cursor.take<std::uint8_t>(copy_bytes(group) * static_cast<std::size_t>(group.y.taps));
    for (std::size_t k = 0; k < group.members; ++k) {
      std::int16_t* const out = cursor.take<std::int16_t>(padded_row(columns()));
      at.out[g][k] = out;
      at.rows.channel[group.channel[k]] = out;
    }
  }
  at.bytes = cursor.used_bytes();
  return at;
}

void RationalSampler::begin(std::byte* workspace) const {
  const Workspace at = lay_out(workspace);
  *reinterpret_cast<Workspace*>(workspace) = at;
  for (std::size_t g = 0; g < groups_; ++g)
    *at.state[g] = State();
}

SampleRows RationalSampler::row(const MappedImages& frame, std::int32_t row,
                                std::byte* workspace) const {
  const Workspace& at = *reinterpret_cast<const Workspace*>(workspace);
  for (std::size_t g = 0; g < groups_; ++g) {
    const Group& group = group_[g];
    if (group.at_once) {
      const std::uint8_t* from = bytes_of(frame, group, group.y.first_of(row), at.copies[g]);
      rational_samples(group.table, from, group.inner.shift, at.out[g]);
    } else {
      make_row(frame, g, row, at);
    }
  }
  return at.rows;
}

// Returns the bytes of a row from byte `begin` on. Where the kernels read past the row's ends,
// those bytes must belong to the image's rows before and behind it; else the row is copied.
const std::uint8_t* RationalSampler::bytes_of(const MappedImages& frame, const Group& group,
                                              std::int32_t row, std::uint8_t* copy) const noexcept {
  const SourceChannel& plane = frame.source[group.lead];
  const auto from = reinterpret_cast<const std::uint8_t*>(plane.row(row) - group.site.offset);
  const bool dense = plane.stride_bytes == static_cast<std::size_t>(group.row_bytes);
  const bool before = group.begin >= 0 || (dense && row > 0 && group.begin >= -group.row_bytes);
  const bool behind = group.end <= group.row_bytes ||
                      (dense && row + 1 < plane.rows && group.end <= 2 * group.row_bytes);
  if (before && behind) return from + group.begin;
  const std::int32_t first = std::max(group.begin, 0);
  const std::int32_t last = std::min(group.end, group.row_bytes);
  std::memcpy(copy + (first - group.begin), from + first, static_cast<std::size_t>(last - first));
  return copy;
}

namespace {

/// The source rows of one output row, ascending.
struct RationalRowRange {
  std::size_t count = 0;
  std::array<std::int32_t, RationalAxis::max_taps> source{};
  std::array<std::int16_t, RationalAxis::max_taps> weight{};

  RationalRowRange(const RationalAxis& y, std::int32_t row) noexcept {
    if (row >= y.outputs) return;
    const std::int32_t first = y.first_of(row);
    for (std::int32_t t = 0; t < y.taps; ++t) {
      const std::int16_t each = y.weights_of(row)[static_cast<std::size_t>(t)];
      const std::int32_t from = std::clamp(first + t, y.lowest, y.highest - 1);
      if (each == 0 || (from != first + t && !y.repeats)) continue;
      if (count == 0 || source[count - 1] != from) source[count++] = from;
      std::int16_t& sum = weight[count - 1];
      sum = static_cast<std::int16_t>(sum + each);
    }
  }
  std::int16_t weight_of(std::int32_t row) const noexcept {
    for (std::size_t i = 0; i < count; ++i) {
      if (source[i] == row) return weight[i];
    }
    return 0;
  }
};

}  // namespace

// `done`: the source rows before this one were added already.
RationalSampler::Step RationalSampler::step_of(const Group& group, std::int32_t row,
                                               std::int32_t done) noexcept {
  const RationalRowRange rows(group.y, row);
  const RationalRowRange later(group.y, group.carries ? row + 1 : group.y.outputs);
  Step step;
  for (std::size_t i = 0; i < rows.count; ++i) {
    if (rows.source[i] < done) continue;
    const std::size_t n = step.count++;
    step.source[n] = rows.source[i];
    step.now[n] = rows.weight[i];
    step.next[n] = later.weight_of(rows.source[i]);
    if (step.next[n] == 0) step.alone = n + 1;
  }
  step.end = rows.source[rows.count - 1] + 1;
  step.sum = group.y.sum_of(row) * group.x.sum;
  step.scale = scale_of(step.sum);
  return step;
}

void RationalSampler::make_row(const MappedImages& frame, std::size_t g, std::int32_t row,
                               const Workspace& at) const noexcept {
  const Group& group = group_[g];
  State& state = *at.state[g];
  const std::int32_t period = group.y.period;
  const bool goes_on = group.carries && state.row == row;
  const bool inner = goes_on && row >= period && row + 2 < group.y.outputs;
  const std::int32_t moved = inner ? (row / period - 1) * group.y.stride : 0;
  const std::int32_t done = goes_on ? state.done : group.y.lowest;
  const Step made = inner ? Step() : step_of(group, row, done);
  const Step& step = inner ? group.steps[static_cast<std::size_t>(row % period)] : made;
  Ends ends = goes_on ? state.ends : Ends();
  Ends next_ends{};
  if (!goes_on) std::fill_n(at.carry[g], 8 * group.table.blocks, std::int16_t{0});
  RationalRows job;
  for (std::size_t i = 0; i < step.count; ++i) {
    const std::uint8_t* bytes =
        bytes_of(frame, group, step.source[i] + moved, at.copies[g] + i * copy_bytes(group));
    job.rows[i] = bytes;
    for (const Patch& patch : group.patches) {
      ends[patch.end] += patch.weight * bytes[patch.byte] * step.now[i];
      next_ends[patch.end] += patch.weight * bytes[patch.byte] * step.next[i];
    }
  }
  job.now = step.now.data();
  job.next = step.next.data();
  job.count = step.count;
  job.alone = step.alone;
  job.shift = step.scale.shift;
  job.scale = step.scale.scale;
  job.carry = at.carry[g];
  job.out = &at.out[g];
  rational_rows(group.table, job);
  if (!group.patches.empty()) mend_ends(group, ends, step.sum, at.out[g]);
  state.row = row + 1;
  state.done = step.end + moved;
  state.ends = next_ends;
}

// Corrects the first and last samples. `sum`: the sum of the weights of one sample. A sample is its
// weighted sum times 128 / `sum`.
void RationalSampler::mend_ends(const Group& group, const Ends& ends, std::int32_t sum,
                                const std::array<std::int16_t*, 4>& out) const noexcept {
  const std::size_t place[] = {0, static_cast<std::size_t>(columns() - 1)};
  for (std::size_t e = 0; e < 2; ++e) {
    const std::int32_t factor = group.edge[e];
    const std::int32_t of_sums = (128 * factor + sum / 2) / sum;
    for (std::size_t k = 0; k < group.members; ++k) {
      std::int16_t& sample = out[k][place[e]];
      const std::int32_t whole = sample * factor + ends[2 * k + e] * of_sums;
      sample = static_cast<std::int16_t>((whole + (1 << (edge_bits - 1))) >> edge_bits);
    }
  }
}

}  // namespace halyard::image
