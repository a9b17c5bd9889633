// SPDX-License-Identifier: Apache-2.0
// What args.h says.
#include "args.h"

#include <limits>

namespace halyard::python {
namespace {

// A sequence that is neither text nor bytes, as a list or tuple.
nb::object sequence_from(nb::handle object, const char* argument, const char* wanted) {
  const bool is_text = PyUnicode_Check(object.ptr()) || PyBytes_Check(object.ptr());
  PyObject* fast = is_text ? nullptr : PySequence_List(object.ptr());
  if (fast == nullptr) {
    PyErr_Clear();
    raise_wrong_type(argument, wanted, object);
  }
  return nb::steal(fast);
}

}  // namespace

std::size_t size_from(nb::handle object, const char* argument) {
  PyObject* index = PyNumber_Index(object.ptr());
  if (index == nullptr) {
    PyErr_Clear();
    raise_wrong_type(argument, "an int", object);
  }
  const nb::object held = nb::steal(index);
  const std::size_t value = PyLong_AsSize_t(index);
  if (value == static_cast<std::size_t>(-1) && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    const nb::str text(held);
    PyErr_Format(PyExc_OverflowError, "%s: must be 0 or more, and fit a size (%s)", argument,
                 text.c_str());
    throw nb::python_error();
  }
  return value;
}

std::size_t size_from(nb::handle object, const char* argument, std::size_t most) {
  const std::size_t value = size_from(object, argument);
  if (value > most) {
    PyErr_Format(PyExc_OverflowError, "%s: must be at most %zu (%zu)", argument, most, value);
    throw nb::python_error();
  }
  return value;
}

std::int32_t int_from(nb::handle object, const char* argument) {
  PyObject* index = PyNumber_Index(object.ptr());
  if (index == nullptr) {
    PyErr_Clear();
    raise_wrong_type(argument, "an int", object);
  }
  const nb::object held = nb::steal(index);
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(index, &overflow);
  if (overflow != 0 || value < std::numeric_limits<std::int32_t>::min() ||
      value > std::numeric_limits<std::int32_t>::max()) {
    PyErr_Format(PyExc_OverflowError, "%s: does not fit 32 bits", argument);
    throw nb::python_error();
  }
  return static_cast<std::int32_t>(value);
}

double number_from(nb::handle object, const char* argument) {
  const double value = PyFloat_AsDouble(object.ptr());
  if (value == -1.0 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    raise_wrong_type(argument, "a number", object);
  }
  return value;
}

Shape shape_from(nb::handle object, const char* argument) {
  Shape shape;
  if (PyLong_Check(object.ptr())) {
    shape.extent[0] = size_from(object, argument);
    shape.rank = 1;
    return shape;
  }
  const nb::object list = sequence_from(object, argument, "a sequence of ints");
  shape.rank = static_cast<std::size_t>(nb::len(list));
  if (shape.rank == 0 || shape.rank > max_rank)
    raise(Errc::invalid_argument, std::string(argument) + ": must have 1 to " +
                                      std::to_string(max_rank) + " axes (" +
                                      std::to_string(shape.rank) + ")");
  for (std::size_t i = 0; i < shape.rank; ++i)
    shape.extent[i] = size_from(list[i], argument);
  return shape;
}

std::array<std::uint8_t, 4> color_from(nb::handle object, const char* argument) {
  const nb::object list = sequence_from(object, argument, "a sequence of 4 ints");
  const std::size_t count = nb::len(list);
  if (count != 4)
    throw nb::value_error(
        (std::string(argument) + ": must have 4 values, R G B A (" + std::to_string(count) + ")")
            .c_str());
  std::array<std::uint8_t, 4> color{};
  for (std::size_t i = 0; i < count; ++i)
    color[i] = static_cast<std::uint8_t>(size_from(list[i], argument, 255));
  return color;
}

std::string path_from(nb::handle object, const char* argument) {
  PyObject* path = PyOS_FSPath(object.ptr());
  if (path == nullptr) {
    PyErr_Clear();
    raise_wrong_type(argument, "a str or os.PathLike", object);
  }
  const nb::object held = nb::steal(path);
  PyObject* encoded = nullptr;
  if (PyUnicode_FSConverter(path, &encoded) == 0) throw nb::python_error();
  const nb::object bytes = nb::steal(encoded);
  char* data = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(encoded, &data, &size) != 0) throw nb::python_error();
  return {data, static_cast<std::size_t>(size)};
}

BytesArg::BytesArg(nb::handle object, const char* argument) {
  if (PyUnicode_Check(object.ptr()) || PyObject_CheckBuffer(object.ptr()) == 0)
    raise_wrong_type(argument, "bytes, or an object with a buffer", object);
  if (!view_.open(object, argument, ArrayUse::bytes))
    raise(Errc::invalid_argument, std::string(argument) + ": its buffer must be contiguous");
}

nb::object shape_list(std::span<const std::size_t> shape) {
  const nb::object list = nb::steal(PyList_New(static_cast<Py_ssize_t>(shape.size())));
  if (!list.is_valid()) throw nb::python_error();
  for (std::size_t i = 0; i < shape.size(); ++i) {
    PyObject* item = PyLong_FromSize_t(shape[i]);
    if (item == nullptr) throw nb::python_error();
    if (PyList_SetItem(list.ptr(), static_cast<Py_ssize_t>(i), item) != 0) throw nb::python_error();
  }
  return list;
}

}  // namespace halyard::python
