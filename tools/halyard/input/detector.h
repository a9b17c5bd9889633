// SPDX-License-Identifier: Apache-2.0
// Detector: the part of the pipeline from a frame to detections in its upright pixels.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "halyard/decode.h"
#include "halyard/model.h"
#include "halyard/preset.h"
#include "job.h"

namespace halyard::tool {

struct DetectorOptions {
  std::string model;
  std::string labels;  ///< file of class names; empty: the model's own
  std::string config;  ///< model description; empty: from the model's outputs
  Engine::Options engine;
  Preset preset;
  /// Makes masks by this rule, of a size with the upright image, whatever the preset has. The model
  /// must give them.
  std::optional<MaskRule> mask_rule = {};
  /// Leaves job.decoded.masks as the head gave them. Who is done with them drops the prototypes:
  /// the engine's memory is in use for as long.
  bool keeps_prototypes = false;
};

/// Thread-safe after creation: each job brings its own memory.
class Detector {
 public:
  /// Reports its error itself, naming the option. Nothing on failure.
  static std::optional<Detector> create(const DetectorOptions& options);

  /// An input tensor for one job. Errors: those of allocation.
  Result<Tensor> make_input() const { return Tensor::create(engine_.inputs()[0]); }
  /// Fills job.found and the record's seen and classes, and of a model with masks what the options
  /// ask for: job.masks; job.decoded.masks with job.content. Errors: what the stages report.
  Status detect(Job& job);

  const std::vector<std::string>& labels() const noexcept { return labels_; }
  std::size_t class_count() const noexcept { return decoder_.class_count(); }
  bool gives_masks() const noexcept;
  /// From here on detect() makes masks by this rule, or none.
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
