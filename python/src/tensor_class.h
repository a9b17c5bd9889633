// SPDX-License-Identifier: Apache-2.0
// The parts of the Python class Tensor, one file a subject.
#pragma once

#include "bindings.h"
#include "tensor.h"

namespace halyard::python {

using TensorClass = nb::class_<PyTensor>;

void add_properties(TensorClass& cls);    // tensor.cpp
void add_parts(TensorClass& cls);         // tensor_parts.cpp: views, shapes, formats, copies
void add_quantization(TensorClass& cls);  // tensor_parts.cpp
void add_mapping(TensorClass& cls);       // tensor_map.cpp
void add_exchange(TensorClass& cls);      // tensor_exchange.cpp: NumPy, DLPack
void add_descriptors(TensorClass& cls);   // tensor_descriptors.cpp: descriptors, pickles
void add_codec(TensorClass& cls);         // tensor_codec.cpp
void add_copies(TensorClass& cls);        // from_numpy.cpp
void add_normalize(TensorClass& cls);     // normalize.cpp

/// NumPy's type for bfloat16. Raises UnsupportedError without the package ml_dtypes.
nb::object bfloat16_type();
/// An array as __array__(dtype, copy) gives it. Raises ValueError: no copy, and another dtype.
nb::object array_result(const nb::object& array, nb::handle dtype, nb::handle copy);

/// What the interpreter asks of a TensorHandle: as of a Tensor, but that only calls make it.
PyType_Slot* tensor_handle_slots() noexcept;

/// What Tensor.image() and ImageProcessor.create_image() are told.
struct ImageArgs {
  std::size_t width = 0;
  std::size_t height = 0;
  PixelFormat format = PixelFormat::rgba;
  DType dtype = DType::u8;
  nb::handle memory;       ///< a TensorMemory or None
  std::string access;      ///< none, read, write, readwrite
  nb::handle compression;  ///< None, or one of any ubwc afbc pvric dcc
};
/// None: DMA where it can be had, else the heap; shared memory is never chosen.
Tensor make_image(const ImageArgs& args);

}  // namespace halyard::python
