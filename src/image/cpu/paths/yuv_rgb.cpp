// SPDX-License-Identifier: Apache-2.0
// YUV-to-RGB path: 4:2:0 and 4:2:2 images to RGB or grey bytes, neither resampled nor rotated.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "image/cpu/cpu_program.h"
#include "image/cpu/kernels/yuv_rgb.h"
#include "image/cpu/store/pad.h"

namespace halyard::image {
namespace {

using Feed = YuvRgbJob::Feed;
using Store = YuvRgbJob::Store;

bool places_as_is(const Plan& plan) noexcept {
  // Without resampling, crops lie on whole pixels; column pairs must be those of the source.
  return !plan.resampled && plan.orientation == Orientation{} && std::fmod(plan.crop.x, 2) == 0;
}

bool reads(const Plan& plan) noexcept {
  if (plan.src.channels == nullptr || plan.src.dtype != DType::u8) return false;
  return plan.color.from == ColorModel::yuv && plan.src.channels->sites[1].shift_x == 1 &&
         (plan.replicates_chroma || plan.color.to == ColorModel::grey);
}

bool writes(const Plan& plan) noexcept {
  const bool grey = plan.color.to == ColorModel::grey;
  if (!grey && plan.color.to != ColorModel::rgb) return false;
  const bool packed = plan.dst.channels->sites[0].step > 1;
  switch (plan.values.kind) {
    case ValueMap::Kind::identity:
      return plan.dst.dtype == DType::u8;
    case ValueMap::Kind::flip_sign:
      return plan.dst.dtype == DType::i8 && !packed;
    case ValueMap::Kind::affine:
      break;
  }
  return false;
}

Feed feed_of(const ChannelMap& map) noexcept {
  if (map.sites[0].step == 1) return Feed::luma_and_pairs;
  return map.sites[0].offset == 0 ? Feed::luma_low : Feed::luma_high;
}

Store store_of(const ChannelMap& map) noexcept {
  if (map.count == 1) return Store::grey;
  if (map.sites[0].step == 1) return Store::planes;
  return map.sites[0].step == 3 ? Store::packed3 : Store::packed4;
}

YuvRgbMatrix matrix_of(const YuvToRgb& m, bool v_first) noexcept {
  const auto chroma = [](double c) { return static_cast<std::int16_t>(std::lround(c * 8192)); };
  YuvRgbMatrix out;
  out.y_offset = static_cast<std::uint8_t>(std::lround(m.y_offset));
  out.y_scale = static_cast<std::uint16_t>(std::lround(m.y_scale * 16384));
  // 32.5 of 64: makes up for the truncation of the product, which should be rounded.
  out.y_half = static_cast<std::uint8_t>(std::min(std::lround(32.5 * 65536 / out.y_scale), 255L));
  out.first = chroma(m.bu);
  out.second = chroma(m.rv);
  out.first_green = chroma(m.gu);
  out.second_green = chroma(m.gv);
  if (v_first) {
    std::swap(out.first, out.second);
    std::swap(out.first_green, out.second_green);
  }
  return out;
}

/// Size of the last-level cache in bytes; 0: unknown.
std::size_t cache_bytes() noexcept {
#ifdef _SC_LEVEL3_CACHE_SIZE
  static std::atomic<long> once{-2};
  long bytes = once.load(std::memory_order_relaxed);
  if (bytes == -2) {
    bytes = std::max({::sysconf(_SC_LEVEL3_CACHE_SIZE), ::sysconf(_SC_LEVEL2_CACHE_SIZE), -1L});
    once.store(bytes, std::memory_order_relaxed);
  }
  return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
#else
  return 0;
#endif
}

class YuvRgbProgram final : public CpuProgram {
 public:
  explicit YuvRgbProgram(const Plan& plan)
      : map_(*plan.src.channels),
        content_(plan.content),
        size_(plan.dst.size),
        crop_x_(static_cast<std::int32_t>(plan.crop.x)),
        crop_y_(static_cast<std::int32_t>(plan.crop.y)),
        shift_y_(map_.sites[1].shift_y),
        has_alpha_(plan.dst.channels->count == 4) {
    const ChannelSite& u = map_.sites[1];
    const ChannelSite& v = map_.sites[2];
    // Chroma of two planes is interleaved first, with U in front.
    v_first_ = u.plane == v.plane && v.offset < u.offset;
    joins_planes_ = u.plane != v.plane;
    job_.feed = feed_of(map_);
    job_.store = store_of(*plan.dst.channels);
    job_.flip = plan.values.kind == ValueMap::Kind::flip_sign ? 0x80 : 0;
    job_.width = content_.width;
    job_.matrix = matrix_of(plan.color.from_yuv, v_first_);
    const std::size_t row_bytes = static_cast<std::size_t>(size_.width) * plan.dst.channels->count;
    job_.streams =
        cache_bytes() != 0 && row_bytes * static_cast<std::size_t>(size_.height) > cache_bytes();
    if (plan.pads()) pad_.emplace(plan, content_);
  }

  // Pairs of destination rows, counted from one that begins a pair of source rows.
  std::int32_t units() const noexcept override { return (size_.height + lead() + 1) / 2; }

  // About 25 us of work.
  std::int32_t grain() const noexcept override {
    constexpr std::int32_t min_pixels = 1 << 17;
    return std::max(min_pixels / (2 * size_.width), 1);
  }

  std::size_t workspace_bytes() const noexcept override {
    return joins_planes_ ? padded_row(content_.width) : 0;
  }

  void run(const MappedImages& frame, std::int32_t begin, std::int32_t end,
           std::byte* workspace) const override {
    for (std::int32_t unit = begin; unit < end; ++unit) {
      const std::int32_t first = std::max(2 * unit - lead(), 0);
      const std::int32_t last = std::min(2 * unit - lead() + 2, size_.height);
      if (pad_) pad_->fill(frame, first, last);
      const std::int32_t top = std::max(first, content_.y);
      const std::int32_t bottom = std::min(last, content_.y + content_.height);
      if (top < bottom) convert(frame, top, bottom, reinterpret_cast<std::uint8_t*>(workspace));
    }
    if (job_.streams) finish_yuv_rgb_streams();
  }

 private:
  std::int32_t source_row(std::int32_t y) const noexcept { return y - content_.y + crop_y_; }
  /// 1 if destination row 0 is the second row of a pair.
  std::int32_t lead() const noexcept { return source_row(0) & 1; }

  /// Converts destination rows [top, bottom): one row, or two rows with the same chroma row.
  void convert(const MappedImages& frame, std::int32_t top, std::int32_t bottom,
               std::uint8_t* joined) const {
    YuvRgbJob job = job_;
    const bool red_first = frame.target[0].base < frame.target[2].base;
    job.first_leads = red_first == v_first_;
    const bool together = shift_y_ == 1 && job.store != Store::grey && bottom - top == 2;
    job.rows = together ? 2 : 1;
    for (std::int32_t y = top; y < bottom; y += job.rows) {
      for (std::int32_t r = 0; r < job.rows; ++r)
        point_at(frame, y + r, static_cast<std::size_t>(r), job);
      if (job.feed == Feed::luma_and_pairs && job.store != Store::grey)
        job.pairs = pairs_of(frame, source_row(y) >> shift_y_, joined);
      yuv_rgb_rows(job);
      if (has_alpha_ && job.store == Store::planes) fill_alpha(frame, y, job.rows);
    }
  }

  void point_at(const MappedImages& frame, std::int32_t y, std::size_t r, YuvRgbJob& job) const {
    const SourceChannel& luma = frame.source[0];
    const auto* row = reinterpret_cast<const std::uint8_t*>(luma.row(source_row(y)));
    const auto x = static_cast<std::size_t>(crop_x_);
    // The first byte of packed YUV may be chroma.
    job.luma[r] = row + x * luma.step_bytes - (job.feed == Feed::luma_high ? 1 : 0);
    if (job.store == Store::planes) {
      const std::size_t first = v_first_ ? 0 : 2;
      job.out[r] = {target(frame, first, y), target(frame, 1, y), target(frame, 2 - first, y)};
    } else {
      job.out[r][0] = target(frame, 0, y);
      if (job.store != Store::grey) job.out[r][0] = std::min(job.out[r][0], target(frame, 2, y));
    }
  }

  std::uint8_t* target(const MappedImages& frame, std::size_t c, std::int32_t y) const noexcept {
    const TargetChannel& channel = frame.target[c];
    return reinterpret_cast<std::uint8_t*>(channel.row(y)) +
           static_cast<std::size_t>(content_.x) * channel.step_bytes;
  }

  const std::uint8_t* pairs_of(const MappedImages& frame, std::int32_t row,
                               std::uint8_t* joined) const {
    const auto x = static_cast<std::size_t>(crop_x_ / 2);
    const auto at = [&](std::size_t c) {
      const SourceChannel& chroma = frame.source[c];
      return reinterpret_cast<const std::uint8_t*>(chroma.row(row)) + x * chroma.step_bytes;
    };
    if (!joins_planes_) return at(v_first_ ? 2 : 1);
    const std::uint8_t* const u = at(1);
    const std::uint8_t* const v = at(2);
    for (std::size_t i = 0; i < static_cast<std::size_t>(content_.width + 1) / 2; ++i) {
      joined[2 * i] = u[i];
      joined[2 * i + 1] = v[i];
    }
    return joined;
  }

  void fill_alpha(const MappedImages& frame, std::int32_t y, std::int32_t rows) const {
    for (std::int32_t r = 0; r < rows; ++r)
      std::memset(target(frame, 3, y + r), 255, static_cast<std::size_t>(content_.width));
  }

  ChannelMap map_;
  Region content_;
  Size size_;
  std::int32_t crop_x_;
  std::int32_t crop_y_;
  std::uint8_t shift_y_;
  bool has_alpha_;
  bool v_first_ = false;
  bool joins_planes_ = false;
  YuvRgbJob job_;  // all but the pointers of a row
  std::optional<PadWriter> pad_;
};

}  // namespace

ProgramPtr compile_yuv_rgb(const Plan& plan) {
  if (plan.exact || !places_as_is(plan) || !reads(plan) || !writes(plan)) return nullptr;
  return std::make_unique<YuvRgbProgram>(plan);
}

}  // namespace halyard::image
