// SPDX-License-Identifier: Apache-2.0
// Samples, bytes and arrays of messages, for all of their classes.
#include "ipc/messages.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "kept.h"

namespace halyard::python {
namespace {

template <class T>
void append(std::vector<std::byte>& bytes, const T& value) {
  const auto* at = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), at, at + sizeof value);
}

void append_sample(std::vector<std::byte>& bytes, nb::handle item, const char* argument,
                   DType dtype) {
  switch (dtype) {
    case DType::u8:
      return append(bytes, static_cast<std::uint8_t>(size_from(item, argument, UINT8_MAX)));
    case DType::u16:
      return append(bytes, static_cast<std::uint16_t>(size_from(item, argument, UINT16_MAX)));
    default:
      return append(bytes, static_cast<float>(number_from(item, argument)));
  }
}

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

nb::object sample_at(const std::byte* from, DType dtype) {
  switch (dtype) {
    case DType::u8:
      return nb::int_(load<std::uint8_t>(from));
    case DType::u16:
      return nb::int_(load<std::uint16_t>(from));
    default:
      return nb::float_(load<float>(from));
  }
}

}  // namespace

Tensor packed_tensor(nb::handle array, const char* argument) {
  static PyObject* place = nullptr;
  if (const PyTensor* tensor = try_tensor_object(array)) return tensor->value;
  Tensor seen = tensor_to_read(array, argument);
  if (seen.layout().is_contiguous()) return seen;
  const nb::object packed = kept_attribute(place, "numpy", "ascontiguousarray")(array);
  return tensor_to_read(packed, argument);
}

std::vector<std::byte> samples_from(nb::handle object, const char* argument, DType dtype,
                                    std::size_t maximum) {
  std::vector<std::byte> bytes;
  if (PyBytes_Check(object.ptr()) != 0 || PyByteArray_Check(object.ptr()) != 0) {
    const BytesArg given(object, argument);
    bytes.assign(given.bytes().begin(), given.bytes().end());
    return bytes;
  }
  const bool is_number = PyNumber_Check(object.ptr()) != 0 && PySequence_Check(object.ptr()) == 0;
  if (is_number) {
    append_sample(bytes, object, argument, dtype);
    return bytes;
  }
  const std::size_t count = for_each_item(
      object, argument, "numbers, or bytes", maximum,
      [&](nb::handle item, std::size_t) { append_sample(bytes, item, argument, dtype); });
  if (count > maximum)
    raise(Errc::invalid_argument,
          std::string(argument) + ": must have at most " + std::to_string(maximum) + " numbers");
  return bytes;
}

nb::object samples_result(std::span<const std::byte> bytes, DType dtype) {
  nb::list samples;
  for (std::size_t at = 0; at + size_of(dtype) <= bytes.size(); at += size_of(dtype))
    samples.append(sample_at(bytes.data() + at, dtype));
  return nb::tuple(samples);
}

nb::object packed_bytes_result(const Tensor& tensor) {
  const std::size_t size = packed_bytes(tensor);
  nb::object made = nb::steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
  if (!made.is_valid()) throw nb::python_error();
  // No other code has the object yet.
  const std::span<std::byte> to(reinterpret_cast<std::byte*>(PyBytes_AsString(made.ptr())), size);
  const Tensor from = tensor;
  check(released([&] { return copy_packed(from, to); }));
  return made;
}

nb::object ask_tensor(const Tensor& tensor, const char* method, const nb::kwargs& keywords) {
  return handle_result(Tensor(tensor)).attr(method)(**keywords);
}

}  // namespace halyard::python
