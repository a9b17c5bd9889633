// SPDX-License-Identifier: Apache-2.0
// What the opaque handles of the C interface hold, and checks of what C callers pass.
#pragma once

#include "halyard/hal.h"
#include "halyard/tensor.h"

struct hal_tensor {
  halyard::Tensor tensor;
};

struct hal_tensor_map {
  halyard::TensorMap map;
};

namespace halyard::capi {

inline Error null_argument(const char* what) {
  return make_error(Errc::invalid_argument, what);
}

/// The tensor behind a handle. Errors: invalid_argument (null).
inline Result<const Tensor*> tensor_of(const hal_tensor* handle) {
  if (handle == nullptr) return null_argument("tensor: is NULL");
  return &handle->tensor;
}

}  // namespace halyard::capi
