// SPDX-License-Identifier: Apache-2.0
// Capsules of DLPack: their names, their owners, and the errors of exports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "args.h"
#include "bindings.h"
#include "halyard/dlpack.h"

// The heads of DLPack's structs, as far as a capsule needs them.
struct DLManagedTensorVersioned {
  std::uint32_t version[2];
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned*);
  std::uint64_t flags;
};
struct DLManagedTensor {
  std::byte tensor[48];
  void* manager_ctx;
  void (*deleter)(DLManagedTensor*);
};

namespace halyard::python {

template <class Managed>
inline constexpr const char* capsule_name = "dltensor";
template <>
inline constexpr const char* capsule_name<DLManagedTensorVersioned> = "dltensor_versioned";
template <class Managed>
inline constexpr const char* used_name = "used_dltensor";
template <>
inline constexpr const char* used_name<DLManagedTensorVersioned> = "used_dltensor_versioned";

// Capsules that nobody took release the tensor.
template <class Managed>
void drop(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, capsule_name<Managed>) == 0) return;
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, capsule_name<Managed>));
  managed->deleter(managed);
}

template <class Managed>
nb::object capsule_of(Managed* managed) {
  PyObject* capsule = PyCapsule_New(managed, capsule_name<Managed>, &drop<Managed>);
  if (capsule == nullptr) {
    managed->deleter(managed);
    throw nb::python_error();
  }
  return nb::steal(capsule);
}

// Consumers expect BufferError if a tensor cannot be exported as requested.
template <class T>
T take_or_buffer_error(Result<T> result) {
  if (!result) throw nb::buffer_error(result.error().message().c_str());
  return *std::move(result);
}

/// Whether the consumer takes the form of DLPack 1.0.
inline bool is_versioned(nb::handle max_version) {
  return !max_version.is_none() && int_from(nb::borrow(max_version)[0], "max_version") >= 1;
}

}  // namespace halyard::python
