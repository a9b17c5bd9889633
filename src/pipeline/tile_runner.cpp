// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tile_runner.h"

#include <algorithm>

#include "halyard/trace.h"

namespace halyard::pipeline {

Status TileRunner::run(const Network& network, Lane& lane, ModelResult& result,
                       NetworkTimes& spent) {
  HALYARD_RETURN_IF_ERROR(plan(*network.model.tiles, lane.frame.frame.image.upright_size()));
  HALYARD_TRY(const Tensor image, source(network, lane));
  merger_->clear();
  const std::span<const Tile> tiles(tiles_);
  for (std::size_t first = 0; first < tiles.size(); first += network.items.size()) {
    const std::size_t count = std::min(network.items.size(), tiles.size() - first);
    HALYARD_RETURN_IF_ERROR(run_batch(network, lane, image, tiles.subspan(first, count), spent));
  }
  const LaneTimer timer(lane, "merge", spent.decode);
  merger_->finalize(result.detections);
  return {};
}

Status TileRunner::plan(const PipelineTiles& options, Size frame) {
  if (merger_ && frame == frame_) return {};
  HALYARD_TRY(tiles_, plan_tiles(frame, options.tiles));
  HALYARD_TRY(merger_, TileAccumulator::create(frame, tiles_.size(), options.merge));
  frame_ = frame;
  return {};
}

// The frame itself, or an RGB copy, which all tiles share.
Result<Tensor> TileRunner::source(const Network& network, const Lane& lane) {
  const Tensor& image = lane.frame.frame.image;
  if (!network.model.preset.is_rgb_first) return image;
  if (rgb_.is_empty() || rgb_.size() != frame_) {
    HALYARD_TRY(rgb_, Tensor::create_image(frame_, PixelFormat::rgb));
  }
  Convert request;
  request.src = image;
  request.dst = rgb_;
  request.chroma = Chroma::bilinear;
  HALYARD_RETURN_IF_ERROR(network.processor.convert(request));
  return rgb_;
}

Status TileRunner::convert(const Network& network, const Tensor& source,
                           std::span<const Tile> tiles) {
  placements_.clear();
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    Convert request;
    request.src = source;
    request.dst = network.items[i];
    request.crop = RegionF(tiles[i].region);
    request.fit = Fit::letterbox;
    request.letterbox = network.model.preset.letterbox;
    HALYARD_TRY(const auto placed, network.processor.convert(request));
    placements_.push_back(placed);
  }
  return {};
}

Status TileRunner::run_batch(const Network& network, Lane& lane, const Tensor& source,
                             std::span<const Tile> tiles, NetworkTimes& spent) {
  {
    const trace::Span span("pipeline.convert");
    const LaneTimer timer(lane, "convert", spent.convert);
    HALYARD_RETURN_IF_ERROR(convert(network, source, tiles));
  }
  std::vector<Tensor> outputs;
  {
    const trace::Span span("pipeline.model");
    const LaneTimer timer(lane, "model", spent.model);
    HALYARD_TRY(outputs, network.model.engine->run(network.input));
  }
  const trace::Span span("pipeline.decode");
  const LaneTimer timer(lane, "decode", spent.decode);
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    HALYARD_RETURN_IF_ERROR(network.decoder.decode_into(outputs, decoded_, i));
    const auto placed = TilePlacement::of(tiles[i].index, tiles[i].count, placements_[i]);
    // Each tile comes once and belongs to this frame: only its number of detections has a limit.
    if (merger_->push(placed, decoded_.detections) == TilePush::full)
      return make_error(Errc::exhausted, "tiles: a frame has at most 2^24 detections");
  }
  decoded_.masks.prototypes = {};  // the engine's memory
  return {};
}

}  // namespace halyard::pipeline
