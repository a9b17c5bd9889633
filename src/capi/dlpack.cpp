// SPDX-License-Identifier: Apache-2.0
// DLPack in C.
#include "halyard/dlpack.h"

#include <memory>

#include "capi/error.h"
#include "capi/handles.h"

using halyard::Result;
using halyard::Tensor;
using halyard::capi::guarded;
using halyard::capi::tensor_of;

namespace {

// The handle is allocated first: nothing may fail after the tensor is taken.
template <class Managed>
Result<hal_tensor*> take(Managed* managed) {
  // The struct is not defined here. It begins with pointers, or members of the same alignment.
  HALYARD_RETURN_IF_ERROR(halyard::capi::aligned(reinterpret_cast<void**>(managed), "managed"));
  auto handle = std::make_unique<hal_tensor>();
  HALYARD_TRY(handle->tensor, halyard::from_dlpack(managed));
  return handle.release();
}

}  // namespace

DLManagedTensor* hal_tensor_to_dlpack(const hal_tensor* tensor) {
  return guarded<DLManagedTensor*>(nullptr, [&]() -> Result<DLManagedTensor*> {
    HALYARD_TRY(const Tensor* const found, tensor_of(tensor));
    return halyard::to_dlpack_unversioned(*found);
  });
}

DLManagedTensorVersioned* hal_tensor_to_dlpack_versioned(const hal_tensor* tensor, bool read_only) {
  return guarded<DLManagedTensorVersioned*>(nullptr, [&]() -> Result<DLManagedTensorVersioned*> {
    HALYARD_TRY(const Tensor* const found, tensor_of(tensor));
    return halyard::to_dlpack(*found, {.read_only = read_only});
  });
}

hal_tensor* hal_tensor_from_dlpack(DLManagedTensor* managed) {
  return guarded<hal_tensor*>(nullptr, [&] { return take(managed); });
}

hal_tensor* hal_tensor_from_dlpack_versioned(DLManagedTensorVersioned* managed) {
  return guarded<hal_tensor*>(nullptr, [&] { return take(managed); });
}
