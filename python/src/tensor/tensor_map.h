// SPDX-License-Identifier: Apache-2.0
// Python's TensorMap.
#pragma once

#include <memory>

#include "bindings.h"
#include "tensor/buffers.h"

namespace halyard::python {

/// An open map; null when it is closed. Each view holds the map too.
struct PyTensorMap {
  std::shared_ptr<SharedMap> map;
};

}  // namespace halyard::python
