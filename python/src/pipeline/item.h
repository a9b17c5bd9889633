// SPDX-License-Identifier: Apache-2.0
// A frame of a pipeline, as the Python class PipelineResult reads it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "bindings.h"
#include "halyard/pipeline.h"
#include "halyard/uuid.h"

namespace halyard::python {

/// What is the same for all frames of a pipeline.
struct PipelineFacts {
  struct Model {
    bool has_instances = false;
    bool has_angles = false;
    bool is_tiled = false;
  };
  std::vector<Model> models;
  std::vector<UuidSeed> seeds;  ///< one for each source and model: source * models + model
  bool has_tracker = false;
};

/// Python's _PipelineItem. `frame` is null when the frame belongs to the pipeline again.
struct PyItem {
  std::shared_ptr<const PipelineFacts> facts;
  PipelineFrame* frame = nullptr;
  std::optional<Pipeline::Taken> taken;

  void release() noexcept {
    frame = nullptr;
    taken.reset();
  }
};

/// An error of the library as an exception.
nb::object exception_of(const Error& error);

}  // namespace halyard::python
