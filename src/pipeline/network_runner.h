// SPDX-License-Identifier: Apache-2.0
// NetworkRunner: runs all networks on the frames of a group of lanes.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/system/ranked_mutex.h"
#include "halyard/image.h"
#include "halyard/pipeline.h"
#include "pipeline/lane.h"
#include "pipeline/stage_record.h"
#include "pipeline/tile_runner.h"

namespace halyard::pipeline {

/// The decoders of all models, which the program may replace at any time. Thread-safe.
class Decoders {
 public:
  explicit Decoders(std::span<const PipelineModel> models);
  std::shared_ptr<const Decoder> get(std::size_t model) const;
  /// Errors: invalid_argument (no such model), those of Decoder::create().
  Status set_options(std::size_t model, const DecodeOptions& options);

 private:
  mutable RankedMutex<LockRank::leaf> mutex_;
  std::vector<std::shared_ptr<const Decoder>> decoders_;
};

/// Frames that the engine's input takes at once.
std::size_t batch_size(const PipelineModel& model) noexcept;

/// The memory of one worker thread. Allocates nothing for a frame after the first ones.
class NetworkRunner {
 public:
  /// What is the same for all workers; outlives the runner.
  struct Shared {
    std::span<const PipelineModel> models;
    const Decoders& decoders;
    NetworkRecords& records;
    bool is_only_runner = false;  ///< it may use inputs that an engine has once
  };
  /// Errors: those of Processor::create() and Tensor::create().
  static Result<NetworkRunner> create(const Shared& shared);

  /// Fills the results of each lane, or its error. Lanes that skip networks, and models that do
  /// not see a lane's source, get empty results.
  void run(std::span<Lane* const> lanes);

 private:
  /// Of one model.
  struct Memory {
    Tensor input;
    std::vector<Tensor> items;  ///< one image each, of the input
    Tensor rgb;                 ///< the frame before it is resized, if the preset asks for it
    Fit fit = Fit::letterbox;   ///< of the frame into the input
    TileRunner tiles;
  };

  NetworkRunner(const Shared& shared, Processor processor)
      : shared_(shared), processor_(std::move(processor)) {}
  Status add_memory(const PipelineModel& model);
  void choose(std::span<Lane* const> lanes, std::size_t model);
  /// chosen_[first, first + count) as one batch.
  void run_batch(std::size_t model, std::size_t first, std::size_t count);
  Status convert(std::size_t model, Lane& lane, const Tensor& item, NetworkTimes& spent);
  Status infer(std::size_t model, std::size_t first, std::size_t count);
  Status decode(std::size_t model, Lane& lane, std::size_t item, NetworkTimes& spent);
  void count(std::size_t model, const Lane& lane, const NetworkTimes& spent);
  void run_in_tiles(std::size_t model);

  Shared shared_;
  Processor processor_;
  std::vector<Memory> memories_;  ///< as the models
  std::vector<Lane*> chosen_;
  std::vector<NetworkTimes> spent_;  ///< as chosen_
  std::vector<Tensor> outputs_;
};

}  // namespace halyard::pipeline
