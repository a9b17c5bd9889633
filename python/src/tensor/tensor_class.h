// SPDX-License-Identifier: Apache-2.0
// The parts of the Python class Tensor, one file for each subject.
#pragma once

#include "bindings.h"
#include "tensor/tensor.h"

namespace halyard::python {

using TensorClass = nb::class_<PyTensor>;
using NativeTensorClass = nb::class_<PyNativeTensor, PyTensor>;
using ReferenceTensorClass = nb::class_<PyReferenceTensor, PyTensor>;

/// The type slots of tensors: buffers, the garbage collector (tensor_slots.cpp).
PyType_Slot* tensor_slots() noexcept;
/// The same for a TensorHandle, which only calls make.
PyType_Slot* tensor_handle_slots() noexcept;

// Parts that both classes share.
void add_properties(TensorClass& cls);    // tensor_properties.cpp
void add_quantization(TensorClass& cls);  // tensor_quantization.cpp
void add_formats(TensorClass& cls);       // tensor_parts.cpp
void add_mapping(TensorClass& cls);       // tensor_map.cpp
void add_cuda_map(TensorClass& cls);      // cuda_map.cpp
void add_exchange(TensorClass& cls);      // tensor_exchange.cpp: NumPy, DLPack
void add_descriptors(TensorClass& cls);   // tensor_descriptors.cpp: descriptors, pickles
void add_codec(TensorClass& cls);         // tensor_codec.cpp
void add_copies(TensorClass& cls);        // from_numpy.cpp
void add_normalize(TensorClass& cls);     // normalize.cpp

// Parts that differ, and parts that make a tensor of the same class. Defined for both classes.
template <class Class>
void add_sizes(Class& cls);  // tensor_properties.cpp
template <class Class>
void add_parts(Class& cls);  // tensor_parts.cpp: views, shapes, copies
template <class Class>
void add_imports(Class& cls);  // tensor_exchange.cpp: arrays, DLPack
template <class Class>
void add_shared(Class& cls);  // tensor_descriptors.cpp
template <class Class>
void add_loading(Class& cls);  // tensor_codec.cpp

/// NumPy's type for bfloat16. Raises UnsupportedError without the package ml_dtypes.
nb::object bfloat16_type();
/// The result of __array__(dtype, copy). Raises ValueError if another dtype needs a copy and
/// `copy` is False.
nb::object array_result(const nb::object& array, nb::handle dtype, nb::handle copy);

/// The arguments of Tensor.image() and ImageProcessor.create_image().
struct ImageArgs {
  std::size_t width = 0;
  std::size_t height = 0;
  PixelFormat format = PixelFormat::rgba;
  DType dtype = DType::u8;
  nb::handle memory;                     ///< a TensorMemory or None
  nb::handle access;                     ///< none, read, write, readwrite
  nb::handle compression;                ///< None, or one of any ubwc afbc pvric dcc
  Memory preferred = Memory::automatic;  ///< of the processor that makes it; pbo is tried first
};
/// None: DMA if it can be allocated, else the heap; shared memory is never chosen.
Tensor make_image(const ImageArgs& args);

}  // namespace halyard::python
