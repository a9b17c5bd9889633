// SPDX-License-Identifier: Apache-2.0
// TileRunner: runs a network on the tiles of one frame, and merges what they show.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "halyard/image.h"
#include "halyard/pipeline.h"
#include "pipeline/lane.h"

namespace halyard::pipeline {

/// The memory of one worker thread for one model. Allocates nothing for a frame whose size is that
/// of the frame before.
class TileRunner {
 public:
  struct Network {
    const PipelineModel& model;
    const Decoder& decoder;
    Processor& processor;
    const Tensor& input;
    std::span<const Tensor> items;  ///< one image each, of the input
  };
  /// Fills the detections of the lane's result, `model.tiles` being set.
  Status run(const Network& network, Lane& lane, ModelResult& result, NetworkTimes& spent);

 private:
  Status plan(const PipelineTiles& options, Size frame);
  Result<Tensor> source(const Network& network, const Lane& lane);
  Status convert(const Network& network, const Tensor& source, std::span<const Tile> tiles);
  Status run_batch(const Network& network, Lane& lane, const Tensor& source,
                   std::span<const Tile> tiles, NetworkTimes& spent);

  Size frame_;
  std::vector<Tile> tiles_;
  std::optional<TileAccumulator> merger_;
  std::vector<Placement> placements_;  ///< of the tiles of one batch
  Decoded decoded_;                    ///< of one tile
  Tensor rgb_;                         ///< the frame, if the preset asks for it
};

}  // namespace halyard::pipeline
