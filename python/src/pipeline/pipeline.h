// SPDX-License-Identifier: Apache-2.0
// The C++ part of halyard.Pipeline.
#pragma once

#include <memory>

#include "pipeline/stages.h"

namespace halyard::python {

/// Python's _PipelineCore.
struct PyPipeline {
  PipelineOptions options;  ///< until the pipeline is made
  std::shared_ptr<PythonStages> stages;
  std::shared_ptr<Pipeline> value;  ///< null before its first use

  PyPipeline() = default;
  PyPipeline(const PyPipeline&) = delete;
  PyPipeline& operator=(const PyPipeline&) = delete;
  /// Stops the pipeline with the interpreter released: its threads may wait for it.
  ~PyPipeline();
  /// Makes it at the first call; then stages are no longer added.
  const std::shared_ptr<Pipeline>& get();
};

/// Counts and times as dicts of Python.
nb::dict stats_of(PyPipeline& self);

/// Adds the methods that add the library's own stages.
void add_sinks(nb::class_<PyPipeline>& cls);

}  // namespace halyard::python
