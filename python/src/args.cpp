// SPDX-License-Identifier: Apache-2.0
// Converts arguments of Python calls to C++ values.
#include "args.h"

#include <limits>

namespace halyard::python {
namespace {

// The result of __index__.
nb::object index_of(nb::handle object, const char* argument) {
  PyObject* index = PyNumber_Index(object.ptr());
  if (index == nullptr) replace_type_error(argument, "an int", object);
  return nb::steal(index);
}

[[noreturn]] void raise_overflow(const std::string& text) {
  PyErr_SetObject(PyExc_OverflowError, str_of(text).ptr());
  throw nb::python_error();
}

[[noreturn]] void raise_count(const char* argument, const std::string& wanted, std::size_t count,
                              std::size_t maximum) {
  raise(Errc::invalid_argument,
        std::string(argument) + ": must have " + wanted + " (" + count_text(count, maximum) + ")");
}

template <class T>
nb::object tuple_of(std::span<const T> numbers, PyObject* (*int_of)(T)) {
  nb::object made = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(numbers.size())));
  if (!made.is_valid()) throw nb::python_error();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    PyObject* item = int_of(numbers[i]);
    if (item == nullptr) throw nb::python_error();
    if (PyTuple_SetItem(made.ptr(), static_cast<Py_ssize_t>(i), item) != 0)
      throw nb::python_error();
  }
  return made;
}

}  // namespace

Items::Items(nb::handle object, const char* argument, const char* wanted) {
  if (PyUnicode_Check(object.ptr()) || PyBytes_Check(object.ptr()))
    raise_wrong_type(argument, wanted, object);
  PyObject* iterator = PyObject_GetIter(object.ptr());
  if (iterator == nullptr) replace_type_error(argument, wanted, object);
  iterator_ = nb::steal(iterator);
}

nb::object Items::next() {
  PyObject* item = PyIter_Next(iterator_.ptr());
  if (item == nullptr && PyErr_Occurred() != nullptr) throw nb::python_error();
  return nb::steal(item);
}

std::string count_text(std::size_t count, std::size_t maximum) {
  return count > maximum ? "more than " + std::to_string(maximum) : std::to_string(count);
}

std::size_t size_from(nb::handle object, const char* argument) {
  const nb::object index = index_of(object, argument);
  const std::size_t value = PyLong_AsSize_t(index.ptr());
  if (value == static_cast<std::size_t>(-1) && PyErr_Occurred() != nullptr) {
    forget_error(PyExc_OverflowError);
    raise_overflow(std::string(argument) + ": must be 0 or more, and below 2^64");
  }
  return value;
}

std::size_t size_from(nb::handle object, const char* argument, std::size_t maximum) {
  const std::size_t value = size_from(object, argument);
  if (value > maximum)
    raise_overflow(std::string(argument) + ": must be at most " + std::to_string(maximum) + " (" +
                   std::to_string(value) + ")");
  return value;
}

std::string text_from(nb::handle object, const char* argument) {
  if (!PyUnicode_Check(object.ptr())) raise_wrong_type(argument, "a str", object);
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(object.ptr(), &size);
  if (text == nullptr) throw nb::python_error();
  return {text, static_cast<std::size_t>(size)};
}

bool truth_from(nb::handle object) {
  const int truth = PyObject_IsTrue(object.ptr());
  if (truth < 0) throw nb::python_error();
  return truth != 0;
}

std::int32_t int_from(nb::handle object, const char* argument) {
  const nb::object index = index_of(object, argument);
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  if (overflow != 0 || value < std::numeric_limits<std::int32_t>::min() ||
      value > std::numeric_limits<std::int32_t>::max())
    raise_overflow(std::string(argument) + ": does not fit 32 bits");
  return static_cast<std::int32_t>(value);
}

double number_from(nb::handle object, const char* argument) {
  const double value = PyFloat_AsDouble(object.ptr());
  if (value == -1.0 && PyErr_Occurred() != nullptr)
    replace_type_error(argument, "a number", object);
  return value;
}

Shape shape_from(nb::handle object, const char* argument) {
  Shape shape;
  if (PyLong_Check(object.ptr())) {
    shape.extent[0] = size_from(object, argument);
    shape.rank = 1;
    return shape;
  }
  const std::size_t count = for_each_item(
      object, argument, "a sequence of ints", max_rank,
      [&](nb::handle item, std::size_t i) { shape.extent[i] = size_from(item, argument); });
  if (count == 0 || count > max_rank)
    raise_count(argument, "1 to " + std::to_string(max_rank) + " axes", count, max_rank);
  shape.rank = count;
  return shape;
}

std::array<std::uint8_t, 4> color_from(nb::handle object, const char* argument) {
  std::array<std::uint8_t, 4> color{};
  const std::size_t count = for_each_item(
      object, argument, "a sequence of 4 ints", color.size(), [&](nb::handle item, std::size_t i) {
        color[i] = static_cast<std::uint8_t>(size_from(item, argument, 255));
      });
  if (count != color.size()) raise_count(argument, "4 values, R G B A", count, color.size());
  return color;
}

Color drawn_color_from(nb::handle object, const char* argument) {
  const auto rgba = color_from(object, argument);
  return {rgba[0], rgba[1], rgba[2], rgba[3]};
}

void floats_from(nb::handle values, const char* argument, std::span<float> out) {
  const std::size_t count = for_each_item(
      values, argument, "a sequence of numbers", out.size(), [&](nb::handle item, std::size_t i) {
        out[i] = static_cast<float>(number_from(item, argument));
      });
  if (count != out.size())
    raise_count(argument, std::to_string(out.size()) + " numbers", count, out.size());
}

std::vector<float> float_list_from(nb::handle values, const char* argument, std::size_t maximum) {
  std::vector<float> list;
  const std::size_t count = for_each_item(
      values, argument, "a sequence of numbers", maximum, [&](nb::handle item, std::size_t) {
        list.push_back(static_cast<float>(number_from(item, argument)));
      });
  if (count > maximum) raise_count(argument, "at most " + std::to_string(maximum), count, maximum);
  return list;
}

std::vector<std::int32_t> int_list_from(nb::handle values, const char* argument,
                                        std::size_t maximum) {
  std::vector<std::int32_t> list;
  const std::size_t count = for_each_item(
      values, argument, "a sequence of ints", maximum,
      [&](nb::handle item, std::size_t) { list.push_back(int_from(item, argument)); });
  if (count > maximum) raise_count(argument, "at most " + std::to_string(maximum), count, maximum);
  return list;
}

std::string path_from(nb::handle object, const char* argument) {
  PyObject* path = PyOS_FSPath(object.ptr());
  if (path == nullptr) replace_type_error(argument, "a str or os.PathLike", object);
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
  return nb::steal(PySequence_List(shape_tuple(shape).ptr()));
}

nb::object shape_tuple(std::span<const std::size_t> shape) {
  return tuple_of(shape, &PyLong_FromSize_t);
}

nb::object stride_tuple(std::span<const std::ptrdiff_t> strides) {
  return tuple_of(strides, &PyLong_FromSsize_t);
}

}  // namespace halyard::python
