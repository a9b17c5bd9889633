// SPDX-License-Identifier: Apache-2.0
// Tiles of a frame: their places, their pixels, and the detections in them.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/local.h"
#include "base/text/format_error.h"
#include "decode/tile/tile_merge_greedy.h"
#include "halyard/compat/tile.h"
#include "halyard/tiling.h"

namespace halyard::compat {
namespace {

constexpr std::size_t max_tiles = 65536;

Status check_config(const TilingConfig& config) {
  if (config.fit != Fit::stretch && config.fit != Fit::letterbox)
    return fail(Errc::invalid_argument, "fit: must be stretch or letterbox", "{}",
                static_cast<int>(config.fit));
  return {};
}

Result<std::vector<Tile>> planned(Size frame, Size tile, float overlap) {
  // A float 0.2 is 0.20000000298 as a double, so slightly more than a fifth of a tile overlaps.
  return halyard::plan_tiles(frame, {tile, static_cast<double>(overlap)});
}

TilePlacement placement_of(const Tile& tile, const TilingConfig& config) {
  const auto real = [](std::int32_t v) { return static_cast<float>(v); };
  const Region& region = tile.region;
  TilePlacement out{tile.index,
                    tile.count,
                    {real(region.x), real(region.y)},
                    {real(region.width), real(region.height)},
                    {real(tile.frame.width), real(tile.frame.height)},
                    {}};
  if (config.fit == Fit::letterbox) {
    const Region content = letterbox_region(Size{region.width, region.height}, config.tile);
    const float width = real(config.tile.width), height = real(config.tile.height);
    out.letterbox = {real(content.x) / width, real(content.y) / height,
                     real(content.x + content.width) / width,
                     real(content.y + content.height) / height};
  }
  return out;
}

RegionF crop_of(const TilePlacement& placement) noexcept {
  return {placement.origin[0], placement.origin[1], placement.crop_size[0], placement.crop_size[1]};
}

Convert tile_request(const Tensor& source, const Tensor& slot, const TilePlacement& placement,
                     const TilingConfig& config) {
  return {
      .src = source, .dst = slot, .crop = crop_of(placement), .fit = config.fit, .pad = config.pad};
}

}  // namespace

Result<std::vector<TileSpec>> tile_grid(Size frame, Size tile, float overlap) {
  HALYARD_TRY(const auto tiles, planned(frame, tile, overlap));
  std::vector<TileSpec> out;
  out.reserve(tiles.size());
  for (const Tile& each : tiles) {
    TileSpec spec{each.region, each.index, 0, 0};
    if (!out.empty()) {
      const TileSpec& last = out.back();
      const bool is_new_row = each.region.y != last.source.y;
      spec.row = last.row + (is_new_row ? 1 : 0);
      spec.col = is_new_row ? 0 : last.col + 1;
    }
    out.push_back(spec);
  }
  return out;
}

Result<std::vector<TilePlacement>> plan_tiles(Size frame, const TilingConfig& config) {
  HALYARD_RETURN_IF_ERROR(check_config(config));
  HALYARD_TRY(const auto tiles, planned(frame, config.tile, config.overlap));
  std::vector<TilePlacement> out;
  out.reserve(tiles.size());
  for (const Tile& tile : tiles)
    out.push_back(placement_of(tile, config));
  return out;
}

Result<Tensor> alloc_tile_batch(std::size_t count, const TilingConfig& config, PixelFormat format,
                                const ImageOptions& options) {
  HALYARD_RETURN_IF_ERROR(check_config(config));
  if (count == 0 || count > max_tiles || config.tile.width <= 0 || config.tile.height <= 0)
    return fail(Errc::invalid_argument, "tiles: must be 1..65536 of a size above 0",
                "{} of {} x {}", count, config.tile.width, config.tile.height);
  return Tensor::create_image(static_cast<std::size_t>(config.tile.width),
                              count * static_cast<std::size_t>(config.tile.height), format,
                              options);
}

Result<std::vector<TilePlacement>> tile_into(Processor& processor, const Tensor& source,
                                             const Tensor& batch, const TilingConfig& config) {
  HALYARD_TRY(auto placements, plan_tiles(source.upright_size(), config));
  const Size have = batch.size();
  const auto rows = static_cast<std::int64_t>(placements.size()) * config.tile.height;
  if (have.width != config.tile.width || have.height < rows)
    return fail(Errc::invalid_argument, "batch: must be as wide as a tile and hold all tiles",
                "{} x {}, {} tiles of {} x {}", have.width, have.height, placements.size(),
                config.tile.width, config.tile.height);
  std::vector<Convert> requests;
  for (const TilePlacement& each : placements) {
    const auto top = static_cast<std::int32_t>(each.index) * config.tile.height;
    HALYARD_TRY(const Tensor slot, batch.slice({0, top, config.tile.width, config.tile.height}));
    requests.push_back(tile_request(source, slot, each, config));
  }
  HALYARD_RETURN_IF_ERROR(processor.convert_all(requests));
  return placements;
}

Status tile_one(Processor& processor, const Tensor& source, const Tensor& slot,
                const TilePlacement& placement, const TilingConfig& config) {
  HALYARD_RETURN_IF_ERROR(check_config(config));
  const auto& [x, y, width, height] = crop_of(placement);
  for (const double number : {x, y, width, height})
    if (std::floor(number) != number)
      return fail(Errc::invalid_argument, "placement: must be whole pixels", "({}, {}) {} x {}", x,
                  y, width, height);
  HALYARD_RETURN_IF_ERROR(processor.convert(tile_request(source, slot, placement, config)));
  return {};
}

namespace {

halyard::TilePlacement lifting(const TilePlacement& placement) {
  std::optional<Box> letterbox;
  if (const auto& l = placement.letterbox) letterbox = Box{(*l)[0], (*l)[1], (*l)[2], (*l)[3]};
  auto out = halyard::TilePlacement::of_fractions(
      placement.index, placement.count, {placement.frame_dims[0], placement.frame_dims[1]},
      crop_of(placement), letterbox);
  out.is_clipped = letterbox.has_value();
  return out;
}

}  // namespace

void lift_tile_boxes(std::span<const Detection> boxes, const TilePlacement& placement,
                     std::vector<Detection>& out) {
  out.assign(boxes.begin(), boxes.end());
  halyard::lift(lifting(placement), out);
}

Result<std::vector<Detection>> merge_tiled_detections(std::span<const Detection> boxes,
                                                      const MergeConfig& config) {
  MergeOptions options{config.metric,
                       std::max(config.threshold, 0.0F),
                       MergeStrategy::merge_union,
                       config.class_agnostic,
                       config.max_det,
                       config.score_threshold};
  MergeOptions limited = options;
  limited.threshold = std::min(options.threshold, 1.0F);
  limited.score_threshold = std::clamp(options.score_threshold, 0.0F, 1.0F);
  HALYARD_RETURN_IF_ERROR(decode::check_merge_options(limited));
  HALYARD_TRY(auto merged, decode::merge_checked(boxes, options));
  if (config.max_det == 0) merged.clear();
  return merged;
}

struct HALYARD_LOCAL TileAccumulator::Impl {
  FrameSize frame;
  MergeConfig config;
  /// Indexed by tile, so that the order of arrival does not matter.
  std::vector<std::optional<std::vector<Detection>>> tiles;
  std::size_t remaining = 0;
};

TileAccumulator::TileAccumulator(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
TileAccumulator::TileAccumulator(TileAccumulator&&) noexcept = default;
TileAccumulator& TileAccumulator::operator=(TileAccumulator&&) noexcept = default;
TileAccumulator::~TileAccumulator() = default;

Result<TileAccumulator> TileAccumulator::create(std::array<float, 2> frame_dims,
                                                std::size_t tiles_total, const MergeConfig& config,
                                                std::size_t /*est_per_tile*/) {
  HALYARD_RETURN_IF_ERROR(merge_tiled_detections({}, config));
  if (tiles_total > max_tiles)
    return fail(Errc::invalid_argument, "tiles_total: must be at most 65536", "{}", tiles_total);
  const FrameSize frame{frame_dims[0], frame_dims[1]};
  return TileAccumulator(std::make_unique<Impl>(
      Impl{frame, config, std::vector<std::optional<std::vector<Detection>>>(tiles_total),
           tiles_total}));
}

bool TileAccumulator::push_tile(std::span<const Detection> boxes, const TilePlacement& placement) {
  auto& tiles = impl_->tiles;
  if (placement.count != tiles.size() || placement.index >= tiles.size()) return false;
  auto& tile = tiles[placement.index];
  if (tile) return false;
  lift_tile_boxes(boxes, placement, tile.emplace());
  --impl_->remaining;
  return true;
}

std::size_t TileAccumulator::remaining() const noexcept {
  return impl_->remaining;
}

std::vector<Detection> TileAccumulator::finalize() const {
  std::vector<Detection> all;
  for (const auto& tile : impl_->tiles)
    if (tile) all.insert(all.end(), tile->begin(), tile->end());
  auto out = merge_tiled_detections(all, impl_->config);
  return out ? *std::move(out) : std::vector<Detection>();
}

std::vector<Detection> TileAccumulator::finalize_normalized() const {
  std::vector<Detection> out = finalize();
  to_fractions(impl_->frame, out);
  return out;
}

}  // namespace halyard::compat
