// SPDX-License-Identifier: Apache-2.0
// A network that ONNX Runtime has prepared.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "halyard/result.h"
#include "model/onnxruntime/ort_api.h"
#include "model/onnxruntime/ort_ports.h"
#include "model/runtime.h"

namespace halyard::model::ort {

/// The session of a file and the shapes that are run with it.
struct Prepared {
  explicit Prepared(const Library& from) : library(&from), session(from.api.release_session) {}
  const Library* library;
  Owned<Session> session;
  std::vector<Shape> inputs;
  std::vector<Shape> outputs;
};

/// Runs zeros to find the shapes of outputs that the model leaves open. Its inputs are fixed.
/// Errors: device, no_memory.
halyard::Status find_output_shapes(Prepared& prepared);

std::unique_ptr<RuntimeSession> make_session(std::shared_ptr<const Prepared> prepared);

}  // namespace halyard::model::ort
