// SPDX-License-Identifier: Apache-2.0
// The kinds of writers, and the choice of one for a destination.
#include "image/cpu/store/writer.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "image/cpu/kernels/store.h"
#include "image/cpu/store/store_value.h"

namespace halyard::image {
namespace {

// ---- one sample of each channel per pixel ----

// The channel of the frame's target at each site.
std::size_t channel_at(const Plan& plan, std::size_t site) {
  return plan.bgr && site != 1 && site != 3 ? 2 - site : site;
}

// Whether the results of all channels fit 16 bits before they are clamped.
bool is_narrow(const Plan& plan) {
  const float lowest = plan.dst.dtype == DType::u16 ? 0 : -32768;
  const float highest = plan.dst.dtype == DType::u16 ? 65535 : 32767;
  for (std::size_t c = 0; c < plan.dst.channels->count; ++c) {
    const float bias = plan.values.bias[c];
    const float end = 255 * plan.values.scale[c] + bias;
    if (!(std::min(bias, end) >= lowest && std::max(bias, end) <= highest)) return false;
  }
  return true;
}

class RowWriter final : public Writer {
 public:
  RowWriter(const Plan& plan, int fraction) : Writer(1, 1), dtype_(plan.dst.dtype) {
    codes_ = writes_codes(plan);
    const float unit = std::ldexp(1.0F, -fraction);
    for (std::size_t s = 0; s < plan.dst.channels->count; ++s) {
      const ChannelSite& site = plan.dst.channels->sites[s];
      const std::size_t c = channel_at(plan, s);
      TargetPlane& plane = planes_[site.plane];
      plane.job.narrow = is_narrow(plan);
      plane_count_ = std::max<std::size_t>(plane_count_, site.plane + 1U);
      ++plane.job.channels;
      plane.channel[site.offset] = static_cast<std::uint8_t>(c);
      if (plan.values.kind == ValueMap::Kind::flip_sign && c != 3)
        plane.job.flip[site.offset] = 0x80;
      plane.job.scale[site.offset] = plan.values.scale[c] * unit;
      plane.job.bias[site.offset] = plan.values.bias[c];
    }
  }

  bool wants_codes() const noexcept override { return codes_; }

  void store(const MappedImages& frame, const Piece& piece) const noexcept override {
    const ResultRows& row = piece.rows.front();
    for (std::size_t p = 0; p < plane_count_; ++p) {
      const TargetPlane& plane = planes_[p];
      const TargetChannel& target = frame.target[plane.channel[0]];
      StoreJob job = plane.job;
      job.width = piece.width;
      job.out = target.row(piece.y) + static_cast<std::size_t>(piece.x) * target.step_bytes;
      for (std::size_t k = 0; k < job.channels; ++k) {
        job.codes[k] = row.codes[plane.channel[k]];
        job.values[k] = row.values[plane.channel[k]];
      }
      codes_ ? store_codes(job) : store_values(job, dtype_);
    }
  }

 private:
  struct TargetPlane {
    StoreJob job{.channels = 0};
    std::array<std::uint8_t, 4> channel{};  // in the order of memory
  };
  std::array<TargetPlane, 4> planes_;
  std::size_t plane_count_ = 0;
  DType dtype_;
  bool codes_ = false;
};

// Whether the unit of the fixed point can be multiplied into the scale without loss.
bool folds(float scale, int fraction) {
  return scale == 0 || std::isnormal(std::ldexp(scale, -fraction));
}

// For destinations where every pixel has its own sample of each channel: packed, planar or in
// between; null for others.
std::unique_ptr<const Writer> make_row_writer(const Plan& plan, int fraction) {
  const FormatInfo& to = info(plan.dst.format);
  if (to.chroma_shift_x != 0 || to.chroma_shift_y != 0) return nullptr;
  if (!writes_codes(plan)) {
    if (to.model == ColorModel::yuv) return nullptr;
    for (std::size_t c = 0; c < plan.dst.channels->count; ++c)
      if (!folds(plan.values.scale[c], fraction)) return nullptr;
  }
  return std::make_unique<RowWriter>(plan, fraction);
}

// ---- chroma shared by pixels ----

class BlockWriter final : public Writer {
 public:
  BlockWriter(const Plan& plan, int fraction)
      : Writer(2, 1 << info(plan.dst.format).chroma_shift_y), fraction_(fraction) {
    const auto& sites = plan.dst.channels->sites;
    if (sites[0].plane == sites[1].plane) layout_ = ChromaLayout::packed;
    if (sites[0].plane != sites[1].plane && sites[1].plane == sites[2].plane)
      layout_ = ChromaLayout::pairs;
    first_ = sites[1].plane == sites[2].plane && sites[2].offset < sites[1].offset ? 2 : 1;
    luma_at_ = sites[0].offset;
    chroma_at_ = {sites[first_].offset, sites[3 - first_].offset};
  }

  bool wants_codes() const noexcept override { return false; }

  void store(const MappedImages& frame, const Piece& piece) const noexcept override {
    BlockJob job;
    job.width = piece.width;
    job.fraction = fraction_;
    const std::size_t order[] = {first_, 3 - first_};
    for (std::size_t k = 0; k < 2; ++k)
      job.rows[k] = {piece.rows.front().values[order[k]], piece.rows.back().values[order[k]]};
    job.out = at(frame.target[first_], piece, 0);
    if (layout_ == ChromaLayout::packed) {
      job.out -= chroma_at_[0];
      return store_packed(job, piece.rows.front().values[0], luma_at_, chroma_at_);
    }
    for (std::size_t r = 0; r < piece.rows.size(); ++r) {
      store_luma(piece.rows[r].values[0], fraction_, piece.width,
                 at(frame.target[0], piece, static_cast<std::int32_t>(r)));
    }
    if (layout_ == ChromaLayout::pairs) return store_chroma_pairs(job);
    store_chroma(job);
    job.rows[0] = job.rows[1];
    job.out = at(frame.target[order[1]], piece, 0);
    store_chroma(job);
  }

 private:
  enum class ChromaLayout : std::uint8_t { planes, pairs, packed };

  static std::byte* at(const TargetChannel& target, const Piece& piece, std::int32_t row) {
    return target.row((piece.y + row) >> target.shift_y) +
           static_cast<std::size_t>(piece.x >> target.shift_x) * target.step_bytes;
  }

  ChromaLayout layout_ = ChromaLayout::planes;
  int fraction_;
  std::size_t first_ = 1;  // the chroma channel that comes first in memory
  int luma_at_ = 0;        // bytes within a packed block
  std::array<int, 2> chroma_at_{};
};

// For YUV destinations whose pixels share chroma: stores luma of every pixel, and the code of the
// mean chroma of pairs of columns or of 2 x 2 blocks; null for others.
std::unique_ptr<const Writer> make_block_writer(const Plan& plan, int fraction) {
  constexpr int max_fraction = 7;  // sums of two values fit 16 bits
  const bool codes = plan.values.kind == ValueMap::Kind::identity;
  if (info(plan.dst.format).chroma_shift_x != 1 || !codes || fraction > max_fraction)
    return nullptr;
  return std::make_unique<BlockWriter>(plan, fraction);
}

// ---- every destination ----

// Stores one value after the other. For rare destinations: quantized YUV, and scales at the edge of
// single precision.
class PlainWriter final : public Writer {
 public:
  PlainWriter(const Plan& plan, int fraction)
      : Writer(1 << info(plan.dst.format).chroma_shift_x,
               1 << info(plan.dst.format).chroma_shift_y),
        values_(plan.values),
        dtype_(plan.dst.dtype),
        channels_(plan.dst.channels->count),
        unit_(1.0F / static_cast<float>(1 << fraction)),
        codes_(writes_codes(plan)) {}

  bool wants_codes() const noexcept override { return codes_; }

  void store(const MappedImages& frame, const Piece& piece) const noexcept override {
    for (std::size_t c = 0; c < channels_; ++c)
      store_channel(frame.target[c], piece, c);
  }

 private:
  float at(const ResultRows& row, std::size_t c, std::int32_t x) const noexcept {
    return codes_ ? static_cast<float>(row.codes[c][x])
                  : static_cast<float>(row.values[c][x]) * unit_;
  }

  void store_channel(const TargetChannel& target, const Piece& piece,
                     std::size_t c) const noexcept {
    const std::int32_t wide = 1 << target.shift_x;
    const std::int32_t high = 1 << target.shift_y;
    const auto rows = static_cast<std::int32_t>(piece.rows.size());
    for (std::int32_t y = 0; y < rows; y += high) {
      std::byte* to = target.row((piece.y + y) >> target.shift_y);
      for (std::int32_t x = 0; x < piece.width; x += wide) {
        const std::int32_t column = (piece.x + x) >> target.shift_x;
        if (column >= target.columns) break;  // the last Cr of a packed row of odd width
        float sum = 0;
        int count = 0;
        for (std::int32_t j = y; j < std::min(y + high, rows); ++j) {
          for (std::int32_t i = x; i < std::min(x + wide, piece.width); ++i, ++count)
            sum += at(piece.rows[static_cast<std::size_t>(j)], c, i);
        }
        store_value(values_, dtype_, c, sum / static_cast<float>(count),
                    to + static_cast<std::size_t>(column) * target.step_bytes);
      }
    }
  }

  ValueMap values_;
  DType dtype_;
  std::size_t channels_;
  float unit_;
  bool codes_;
};

}  // namespace

bool writes_codes(const Plan& plan) noexcept {
  const FormatInfo& to = info(plan.dst.format);
  return plan.values.kind != ValueMap::Kind::affine && to.chroma_shift_x == 0 &&
         to.chroma_shift_y == 0;
}

std::unique_ptr<const Writer> make_writer(const Plan& plan, int fraction) {
  if (auto rows = make_row_writer(plan, fraction)) return rows;
  if (auto blocks = make_block_writer(plan, fraction)) return blocks;
  return std::make_unique<PlainWriter>(plan, fraction);
}

}  // namespace halyard::image
