// SPDX-License-Identifier: Apache-2.0
// Python's TensorMap.
#pragma once

#include <memory>

#include "bindings.h"
#include "tensor/buffers.h"

namespace halyard::python {

/// An open map; null when it was closed. Views hold the map too, each on its own.
struct PyTensorMap {
  std::shared_ptr<SharedMap> map;
};

}  // namespace halyard::python
