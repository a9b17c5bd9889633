// SPDX-License-Identifier: Apache-2.0
// Lifts boxes of tiles into the frame, and accumulates the detections of a frame.
#include "halyard/tile_merge.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/box_math.h"
#include "base/local.h"
#include "base/text/format_error.h"
#include "decode/tile/tile_merge_greedy.h"
#include "halyard/trace.h"

namespace halyard {
namespace {

// Limits of one plan, see plan_tiles().
constexpr std::size_t max_tiles = std::size_t{1} << 16;
constexpr std::size_t max_per_tile = std::size_t{1} << 16;

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

bool is_extent(double value) noexcept {
  return std::isfinite(value) && value > 0;
}

bool is_usable(const TilePlacement& tile) noexcept {
  const auto is_finite = [](double v) { return std::isfinite(v); };
  return is_extent(tile.crop.width) && is_extent(tile.crop.height) && is_finite(tile.crop.x) &&
         is_finite(tile.crop.y) &&
         std::all_of(tile.to_frame.m.begin(), tile.to_frame.m.end(), is_finite);
}

// Maps one axis from fractions of the input to frame pixels.
struct MergedAxis {
  double scale = 1;
  double offset = 0;
};

MergedAxis merged_axis(double begin, double extent, double from, double to) noexcept {
  const double span = to == from ? 1 : to - from;
  const double scale = extent / span;
  return {scale, begin - from * scale};
}

struct Interval {
  double low = 0;
  double high = 0;
};

Interval clipped(Interval v, double begin, double extent) noexcept {
  return {std::clamp(v.low, begin, begin + extent), std::clamp(v.high, begin, begin + extent)};
}

// The interval of a x + b y + c over all corners, for any order of the corners.
Interval mapped_interval(const double* row, const Box& b) noexcept {
  const auto [x_low, x_high] = std::minmax({row[0] * b.x1, row[0] * b.x2});
  const auto [y_low, y_high] = std::minmax({row[1] * b.y1, row[1] * b.y2});
  return {x_low + y_low + row[2], x_high + y_high + row[2]};
}

}  // namespace

TilePlacement TilePlacement::of(std::size_t index, std::size_t count,
                                const Placement& placement) noexcept {
  return {index, count, placement.source(), placement.crop(), placement.backward()};
}

TilePlacement TilePlacement::of_fractions(std::size_t index, std::size_t count, FrameSize frame,
                                          const RegionF& crop,
                                          const std::optional<Box>& letterbox) noexcept {
  const Box shown = letterbox.value_or(Box{0, 0, 1, 1});
  const MergedAxis x = merged_axis(crop.x, crop.width, shown.x1, shown.x2);
  const MergedAxis y = merged_axis(crop.y, crop.height, shown.y1, shown.y2);
  return {index, count, frame, crop, Affine{{x.scale, 0, x.offset, 0, y.scale, y.offset}}};
}

Box lift(const TilePlacement& tile, const Box& box) noexcept {
  if (!is_finite(box)) return {not_a_number, not_a_number, not_a_number, not_a_number};
  const auto& m = tile.to_frame.m;
  Interval x = mapped_interval(m.data(), box);
  Interval y = mapped_interval(m.data() + 3, box);
  if (tile.is_clipped) {
    x = clipped(x, tile.crop.x, tile.crop.width);
    y = clipped(y, tile.crop.y, tile.crop.height);
  }
  return {static_cast<float>(x.low), static_cast<float>(y.low), static_cast<float>(x.high),
          static_cast<float>(y.high)};
}

void lift(const TilePlacement& tile, std::span<Detection> detections) noexcept {
  for (Detection& detection : detections)
    detection.box = lift(tile, detection.box);
}

void to_fractions(FrameSize frame, std::vector<Detection>& detections) noexcept {
  if (!is_extent(frame.width) || !is_extent(frame.height)) return detections.clear();
  for (Detection& d : detections) {
    d.box = {d.box.x1 / frame.width, d.box.y1 / frame.height, d.box.x2 / frame.width,
             d.box.y2 / frame.height};
  }
}

Result<std::vector<Detection>> merge_detections(std::span<const Detection> detections,
                                                const MergeOptions& options) {
  HALYARD_RETURN_IF_ERROR(decode::check_merge_options(options));
  return decode::merge_checked(detections, options);
}

struct HALYARD_LOCAL TileAccumulator::Impl {
  FrameSize frame;
  MergeOptions options;
  std::vector<bool> has_tile;
  std::size_t missing = 0;
  std::vector<Detection> detections;  // admitted, in frame pixels
  std::vector<TileOrigin> origins;    // one each
  std::vector<TileOrigin> kept_origins;
  std::vector<TileOrigin> members;         // of all kept detections, consecutively
  std::vector<std::size_t> first_members;  // index of the first member of each, and the end
  decode::Merger merger;

  void forget_kept() noexcept {
    kept_origins.clear();
    members.clear();
    first_members.clear();
  }
};

Result<TileAccumulator> TileAccumulator::create(FrameSize frame, std::size_t tiles,
                                                const MergeOptions& options,
                                                std::size_t detections_per_tile) {
  HALYARD_RETURN_IF_ERROR(decode::check_merge_options(options));
  if (!is_extent(frame.width) || !is_extent(frame.height))
    return fail(Errc::invalid_argument, "frame: extents must be above 0 and finite", "{}x{}",
                frame.width, frame.height);
  if (tiles < 1 || tiles > max_tiles)
    return fail(Errc::invalid_argument, "tiles: must be 1..65536", "{}", tiles);
  if (detections_per_tile > max_per_tile)
    return fail(Errc::invalid_argument, "detections_per_tile: must be at most 65536", "{}",
                detections_per_tile);
  auto impl = std::make_unique<Impl>();
  impl->frame = frame;
  impl->options = options;
  impl->has_tile.resize(tiles);
  impl->missing = tiles;
  const std::size_t expected = std::min(tiles * detections_per_tile, decode::max_detections);
  impl->detections.reserve(expected);
  impl->origins.reserve(expected);
  return TileAccumulator(std::move(impl));
}

TileAccumulator::TileAccumulator(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
TileAccumulator::TileAccumulator(TileAccumulator&&) noexcept = default;
TileAccumulator& TileAccumulator::operator=(TileAccumulator&&) noexcept = default;
TileAccumulator::~TileAccumulator() = default;

TilePush TileAccumulator::push(const TilePlacement& tile, std::span<const Detection> detections) {
  Impl& s = *impl_;
  if (tile.count != s.has_tile.size() || tile.frame != s.frame) return TilePush::foreign;
  if (tile.index >= tile.count) return TilePush::out_of_range;
  if (!is_usable(tile)) return TilePush::unusable;
  if (s.has_tile[tile.index]) return TilePush::duplicate;
  if (detections.size() > decode::max_detections - s.detections.size()) return TilePush::full;
  for (std::size_t i = 0; i < detections.size(); ++i) {
    Detection d = detections[i];
    d.box = lift(tile, d.box);
    if (!decode::admit(d, s.options)) continue;
    s.detections.push_back(d);
    s.origins.push_back({static_cast<std::uint32_t>(tile.index), static_cast<std::uint32_t>(i)});
  }
  s.has_tile[tile.index] = true;
  --s.missing;
  return TilePush::accepted;
}

std::size_t TileAccumulator::remaining() const noexcept {
  return impl_->missing;
}

void TileAccumulator::finalize(std::vector<Detection>& out) {
  Impl& s = *impl_;
  trace::Span span("decode.merge_tiles");
  span.arg("detections", s.detections.size());
  out.clear();
  s.forget_kept();
  for (const auto& kept : s.merger.merge(s.detections, s.origins, s.options)) {
    out.push_back(s.detections[kept.place]);
    out.back().box = kept.box;
    s.kept_origins.push_back(s.origins[kept.place]);
    s.first_members.push_back(s.members.size());
    s.members.push_back(s.origins[kept.place]);
    for (const auto& part : s.merger.parts_of(kept))
      s.members.push_back(s.origins[part.place]);
  }
  s.first_members.push_back(s.members.size());
}

void TileAccumulator::finalize_normalized(std::vector<Detection>& out) {
  finalize(out);
  to_fractions(impl_->frame, out);
}

std::vector<Detection> TileAccumulator::finalize() {
  std::vector<Detection> out;
  finalize(out);
  return out;
}

std::span<const TileOrigin> TileAccumulator::origins() const noexcept {
  return impl_->kept_origins;
}

std::span<const TileOrigin> TileAccumulator::members(std::size_t index) const noexcept {
  const Impl& s = *impl_;
  if (index >= s.kept_origins.size()) return {};
  const std::size_t first = s.first_members[index];
  return std::span(s.members).subspan(first, s.first_members[index + 1] - first);
}

void TileAccumulator::clear() noexcept {
  Impl& s = *impl_;
  s.detections.clear();
  s.origins.clear();
  s.forget_kept();
  std::fill(s.has_tile.begin(), s.has_tile.end(), false);
  s.missing = s.has_tile.size();
}

FrameSize TileAccumulator::frame() const noexcept {
  return impl_->frame;
}

const MergeOptions& TileAccumulator::options() const noexcept {
  return impl_->options;
}

}  // namespace halyard
