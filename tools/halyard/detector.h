// SPDX-License-Identifier: Apache-2.0
// Detector: the part of the pipeline from a frame to detections in its upright pixels.
#pragma once

#include <string>
#include <vector>

#include "halyard/decode.h"
#include "halyard/model.h"
#include "job.h"

namespace halyard::tool {

struct DetectorOptions {
  std::string model;
  std::string labels;  ///< file of class names; empty: the model's own
  std::string config;  ///< model description; empty: from the model's outputs
  Engine::Options engine;
  DecodeOptions decode;
};

/// Thread-safe after creation: each job brings its own memory.
class Detector {
 public:
  /// Reports its error itself, naming the option. Nothing on failure.
  static std::optional<Detector> create(const DetectorOptions& options);

  /// An input tensor for one job. Errors: those of allocation.
  Result<Tensor> make_input() const { return Tensor::create(engine_.inputs()[0]); }
  /// Fills job.found. Errors: what the stages report.
  Status detect(Job& job);

  const std::vector<std::string>& labels() const noexcept { return labels_; }

 private:
  Detector(Engine engine, Decoder decoder, std::vector<std::string> labels)
      : engine_(std::move(engine)), decoder_(std::move(decoder)), labels_(std::move(labels)) {}
  Engine engine_;
  Decoder decoder_;
  std::vector<std::string> labels_;
};

/// Size of a frame as a viewer shows it.
Size upright_size(const Frame& frame) noexcept;

}  // namespace halyard::tool
