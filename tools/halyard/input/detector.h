// SPDX-License-Identifier: Apache-2.0
// Detector: the stage of the pipeline from a frame to detections in its upright pixels.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "halyard/decode.h"
#include "halyard/model.h"
#include "halyard/preset.h"
#include "job.h"

namespace CLI {
class App;
}

namespace halyard::tool {

/// `--engine`, `--device` and `--threads`, for commands that run a network.
void add_engine_options(CLI::App& sub, EngineOptions& engine);

struct DetectorOptions {
  std::string model;
  std::string labels;  ///< file of class names; empty: the model's own
  std::string config;  ///< model description; empty: from the model's outputs
  EngineOptions engine;
  Preset preset;
  /// Makes masks by this rule, in the size of the upright image, instead of the preset's rule. The
  /// model must have masks.
  std::optional<MaskRule> mask_rule = {};
  /// Keeps the prototypes in job.decoded.masks. The caller must drop them after use: they hold the
  /// engine's memory.
  bool keeps_prototypes = false;
};

/// Thread-safe after creation: each job has its own memory.
class Detector {
 public:
  /// Reports its own errors, with the option's name. Nullopt on failure.
  static std::optional<Detector> create(const DetectorOptions& options);

  /// Makes the input tensor of one job. Errors: those of allocation.
  Result<Tensor> make_input() const { return Tensor::create(engine_.inputs()[0]); }
  /// Fills job.found and the record's objects; for a model with masks also job.masks, or
  /// job.decoded.masks and job.content, by the options. Errors: those of the stages.
  Status detect(Job& job);

  const std::vector<std::string>& labels() const noexcept { return labels_; }
  std::size_t class_count() const noexcept { return decoder_.class_count(); }
  bool gives_masks() const noexcept;
  /// Sets the rule by which detect() makes masks from now on; nullopt: no masks.
  void set_mask_rule(std::optional<MaskRule> rule) noexcept { mask_rule_ = rule; }

 private:
  Detector(Engine engine, Decoder decoder, std::vector<std::string> labels,
           const DetectorOptions& options)
      : engine_(std::move(engine)),
        decoder_(std::move(decoder)),
        labels_(std::move(labels)),
        preset_(options.preset),
        mask_rule_(options.mask_rule),
        keeps_prototypes_(options.keeps_prototypes) {}
  Status decode(std::span<const Tensor> outputs, const Placement& placement, Job& job);
  Status make_masks(const Placement& placement, Job& job);

  Engine engine_;
  Decoder decoder_;
  std::vector<std::string> labels_;
  Preset preset_;
  std::optional<MaskRule> mask_rule_;
  bool keeps_prototypes_;
};

}  // namespace halyard::tool
