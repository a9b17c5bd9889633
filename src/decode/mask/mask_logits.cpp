// SPDX-License-Identifier: Apache-2.0
// Computes logits row by row, and prepares coefficients for the dot products.
#include "decode/mask/mask_logits.h"

#include <algorithm>
#include <cstdlib>

#include "decode/head/threshold.h"

namespace halyard::decode {
namespace {

std::size_t padded(std::size_t count, std::size_t multiple) noexcept {
  return (count + multiple - 1) / multiple * multiple;
}

// The largest magnitude of a stored value minus `zero_point`.
std::int64_t reach(DType dtype, std::int64_t zero_point) noexcept {
  const StoredRange range = stored_range(dtype);
  return std::max(std::abs(range.lowest - zero_point), std::abs(range.highest - zero_point));
}

// Whether coefficients minus their zero point fit 16 bits, and sums fit 32 bits.
bool fits_integers(const PrototypeGrid& grid, const MaskPrototypes& p) {
  if (!is_integer(grid.dtype) || p.stored.size() != p.coefficients.size()) return false;
  const auto& quantization = p.prototypes.quantization();
  if (!quantization || !quantization->is_per_tensor()) return false;
  const StoredRange range = stored_range(p.stored_dtype);
  const std::int64_t coefficient = reach(p.stored_dtype, p.stored_zero_point);
  const std::int64_t prototype = std::max(reach(grid.dtype, integer_bias(grid.dtype)),
                                          reach(grid.dtype, quantization->zero_point_at(0)));
  const auto channels = static_cast<std::int64_t>(padded(grid.channels, channel_padding));
  // Factor 2: the sum itself, and the offset for the zero point.
  return range.lowest - p.stored_zero_point >= -32768 &&
         range.highest - p.stored_zero_point <= 32767 && channels <= 4096 &&
         2 * channels * coefficient * prototype < (std::int64_t{1} << 31);
}

}  // namespace

void LogitEngine::take_scales(const MaskPrototypes& prototypes) {
  channel_scale_.assign(grid_.channels, 1);
  channel_zero_point_.assign(grid_.channels, 0);
  const auto& quantization = prototypes.prototypes.quantization();
  if (!is_integer(grid_.dtype) || !quantization) return;
  for (std::size_t k = 0; k < grid_.channels; ++k) {
    channel_scale_[k] = quantization->scale_at(k);
    channel_zero_point_[k] = static_cast<float>(quantization->zero_point_at(k));
  }
}

void LogitEngine::take_real(const MaskPrototypes& prototypes) {
  const std::size_t channels = grid_.channels;
  real_.assign(prototypes.size() * padded_channels_, 0);
  for (std::size_t i = 0; i < prototypes.size(); ++i) {
    std::copy_n(prototypes.coefficients.data() + i * channels, channels,
                real_.data() + i * padded_channels_);
  }
}

void LogitEngine::take_integers(const MaskPrototypes& prototypes) {
  const Quantization& quantization = *prototypes.prototypes.quantization();
  const std::int32_t difference = integer_bias(grid_.dtype) - quantization.zero_point_at(0);
  const std::size_t channels = grid_.channels;
  stored_.assign(prototypes.size() * padded_channels_, 0);
  offsets_.assign(prototypes.size(), 0);
  for (std::size_t i = 0; i < prototypes.size(); ++i) {
    std::int32_t sum = 0;
    for (std::size_t k = 0; k < channels; ++k) {
      const std::int32_t value = prototypes.stored[i * channels + k] - prototypes.stored_zero_point;
      stored_[i * padded_channels_ + k] = static_cast<std::int16_t>(value);
      sum += value;
    }
    offsets_[i] = sum * difference;
  }
  scale_ = prototypes.stored_scale * quantization.scale_at(0);
}

void LogitEngine::begin(const PrototypeGrid& grid, const MaskPrototypes& prototypes) {
  grid_ = grid;
  scale_ = 1;
  padded_channels_ = padded(grid.channels, channel_padding);
  integers_ = fits_integers(grid, prototypes);
  packed_ = static_cast<std::size_t>(grid.channel_stride_bytes) == size_of(grid.dtype) &&
            packs(grid.dtype, integers_, grid.channels);
  if (integers_) {
    take_integers(prototypes);
  } else {
    take_scales(prototypes);
    take_real(prototypes);
  }
}

void LogitEngine::run(std::span<LogitJob> jobs) {
  std::sort(jobs.begin(), jobs.end(), [](const LogitJob& a, const LogitJob& b) {
    return a.rows.begin != b.rows.begin ? a.rows.begin < b.rows.begin : a.index < b.index;
  });
  active_.clear();
  std::size_t next = 0;
  std::int32_t y = 0;
  while (next < jobs.size() || !active_.empty()) {
    if (active_.empty()) y = std::max(y, jobs[next].rows.begin);
    for (; next < jobs.size() && jobs[next].rows.begin <= y; ++next)
      active_.push_back(static_cast<std::uint32_t>(next));
    run_row(jobs, y);
    ++y;
    std::erase_if(active_, [&](std::uint32_t i) { return jobs[i].rows.end <= y; });
  }
}

void LogitEngine::run_row(std::span<const LogitJob> jobs, std::int32_t y) {
  if (!packed_) {
    PixelRange columns = jobs[active_[0]].columns;
    for (const std::uint32_t i : active_) {
      columns.begin = std::min(columns.begin, jobs[i].columns.begin);
      columns.end = std::max(columns.end, jobs[i].columns.end);
    }
    stage(columns, y);
  }
  for (const std::uint32_t i : active_)
    compute(jobs[i], y);
}

void LogitEngine::stage(PixelRange columns, std::int32_t y) {
  StoredRow row;
  row.data = grid_.data + y * grid_.row_stride_bytes + columns.begin * grid_.pixel_stride_bytes;
  row.pixel_stride_bytes = grid_.pixel_stride_bytes;
  row.channel_stride_bytes = grid_.channel_stride_bytes;
  row.pixels = static_cast<std::size_t>(columns.length());
  row.channels = grid_.channels;
  row.dtype = grid_.dtype;
  // For most widths not a multiple of 4096 bytes, so that channels do not evict each other from the
  // cache.
  staged_stride_ = padded(row.pixels, 16) + pixel_padding + 16;
  staged_left_ = columns.begin;
  const std::size_t floats = staged_stride_ * padded(grid_.channels, 2);
  if (integers_) {
    if (staged_pairs_.size() < floats) staged_pairs_.resize(floats);
    stage_pairs(row, staged_pairs_.data(), staged_stride_);
  } else {
    if (staged_real_.size() < floats) staged_real_.resize(floats);
    stage_real(row, {channel_scale_.data(), channel_zero_point_.data()}, staged_real_.data(),
               staged_stride_);
  }
}

void LogitEngine::compute(const LogitJob& job, std::int32_t y) {
  const auto count = static_cast<std::size_t>(job.columns.length());
  float* out = job.out + static_cast<std::size_t>(y - job.rows.begin) * job.stride;
  const std::size_t first = job.index * padded_channels_;  // one of the two vectors is empty
  const float* real = integers_ ? nullptr : real_.data() + first;
  const std::int16_t* stored = integers_ ? stored_.data() + first : nullptr;
  if (packed_) {
    const PackedRow row{
        grid_.data + y * grid_.row_stride_bytes + job.columns.begin * grid_.pixel_stride_bytes,
        grid_.pixel_stride_bytes, grid_.channels};
    if (integers_) {
      dot_packed(row, grid_.dtype, stored, offsets_[job.index], count, out);
    } else {
      dot_packed(row, grid_.dtype, real, count, out);
    }
  } else {
    const auto at = static_cast<std::size_t>(job.columns.begin - staged_left_);
    if (integers_) {
      dot_pairs(staged_pairs_.data() + 2 * at, staged_stride_, padded(grid_.channels, 2) / 2,
                stored, offsets_[job.index], count, out);
    } else {
      dot_planar(staged_real_.data() + at, staged_stride_, grid_.channels, real, count, out);
    }
  }
  out[count] = 0;
}

}  // namespace halyard::decode
