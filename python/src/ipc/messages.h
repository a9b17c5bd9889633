// SPDX-License-Identifier: Apache-2.0
// The common part of Image, PointCloud and DepthImage in Python: a tensor with a header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "args.h"
#include "enums.h"
#include "halyard/sensor_message.h"
#include "ipc/pools.h"

namespace halyard::python {

/// A NumPy array or another array as a contiguous tensor in C order: copied if a message cannot
/// have its strides. Raises as tensor_to_read().
Tensor packed_tensor(nb::handle array, const char* argument);
/// The samples of one pixel as bytes: a number, a sequence of `maximum` numbers at most, or bytes.
/// Raises TypeError, OverflowError and InvalidArgumentError naming `argument`.
std::vector<std::byte> samples_from(nb::handle object, const char* argument, DType dtype,
                                    std::size_t maximum);
/// The reverse: a tuple of ints or floats.
nb::object samples_result(std::span<const std::byte> bytes, DType dtype);
/// The bytes of the elements without gaps.
nb::object packed_bytes_result(const Tensor& tensor);
/// Calls a method of the message's tensor with these keywords.
nb::object ask_tensor(const Tensor& tensor, const char* method, const nb::kwargs& keywords);

/// Runs a call that uses a copy of the message, with the interpreter released.
template <class T, class F>
auto released_on(const T& message, F&& call) {
  T copy = message;
  return released([&] { return call(copy); });
}

template <class T>
void add_header(nb::class_<T>& cls) {
  cls.def_prop_rw(
         "frame_id", [](const T& self) { return str_of(self.frame_id()); },
         [](T& self, nb::handle value) { check(self.set_frame_id(text_from(value, "frame_id"))); },
         nb::sig("def frame_id(self) -> str"), "Coordinate frame: at most 31 bytes of UTF-8.")
      .def_prop_rw(
          "timestamp_ns", [](const T& self) { return self.timestamp_ns(); },
          [](T& self, nb::handle value) {
            self.set_timestamp_ns(size_from(value, "timestamp_ns"));
          },
          nb::sig("def timestamp_ns(self) -> int"),
          "Time of the measurement, by the sender's clock.")
      .def_prop_ro(
          "dtype", [](const T& self) { return numpy_dtype(self.dtype()); },
          nb::sig("def dtype(self) -> numpy.dtype[Any]"), "Element type of the tensor.")
      .def_prop_ro(
          "shape", [](const T& self) { return shape_tuple(self.tensor().shape()); },
          nb::sig("def shape(self) -> tuple[int, ...]"), "Extents of the tensor.")
      .def_prop_ro("nbytes", &T::nbytes, "Bytes of the elements without padding.")
      .def_prop_ro(
          "is_writable",
          [](const T& self) {
            return !self.tensor().is_empty() && self.tensor().buffer()->is_writable();
          },
          "False for published messages and for messages of other processes.");
}

template <class T>
void add_arrays(nb::class_<T>& cls) {
  cls.def_prop_ro(
         "tensor", [](const T& self) { return handle_result(Tensor(self.tensor())); },
         nb::sig("def tensor(self) -> Tensor"),
         "The elements as a tensor that shares the bytes; a TensorHandle in a pool's memory.")
      .def(
          "numpy", [](const T& self) { return ask_tensor(self.tensor(), "numpy", nb::kwargs()); },
          nb::sig("def numpy(self) -> numpy.ndarray"),
          "The tensor's elements as a NumPy array, without a copy; read-only once published.")
      .def(
          "__array__",
          [](const T& self, nb::handle dtype, nb::handle copy) {
            nb::dict keywords;
            keywords["dtype"] = dtype;
            keywords["copy"] = copy;
            return ask_tensor(self.tensor(), "__array__", nb::borrow<nb::kwargs>(keywords));
          },
          nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none(),
          nb::sig("def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) "
                  "-> numpy.ndarray"))
      .def(
          "__dlpack__",
          [](const T& self, const nb::kwargs& keywords) {
            return ask_tensor(self.tensor(), "__dlpack__", keywords);
          },
          nb::sig("def __dlpack__(self, **kwargs: Any) -> Any"), "As Tensor.__dlpack__().")
      .def(
          "__dlpack_device__", [](const T&) { return nb::make_tuple(1, 0); }, "(1, 0): the CPU.");
}

template <class T>
void add_copies(nb::class_<T>& cls) {
  cls.def(
         "copy_from",
         [](T& self, nb::handle data) {
           const BytesArg bytes(data, "data");
           check(released_on(self, [&](T& message) { return message.copy_from(bytes.bytes()); }));
         },
         nb::arg("data"), nb::sig("def copy_from(self, data: Buffer) -> None"),
         "Fills the message with `nbytes` contiguous bytes. Raises InvalidArgumentError for\n"
         "another length, AccessError if it is read-only.")
      .def(
          "tobytes", [](const T& self) { return packed_bytes_result(self.tensor()); },
          nb::sig("def tobytes(self) -> bytes"), "A copy of the elements without gaps.");
}

template <class T>
void add_message(nb::class_<T>& cls) {
  add_header(cls);
  add_arrays(cls);
  add_copies(cls);
}

}  // namespace halyard::python
