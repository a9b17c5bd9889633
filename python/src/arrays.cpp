// SPDX-License-Identifier: Apache-2.0
#include "arrays.h"

#include <cstring>
#include <limits>
#include <string>

#include "tensor.h"

namespace halyard::python {
namespace {

// One attribute of numpy, looked up once and kept until the process ends.
nb::handle numpy(const char* name) {
  return nb::object(nb::module_::import_("numpy").attr(name)).release();
}

nb::object as_array(nb::handle value, const char* argument, const char* dtype) {
  static const nb::handle asarray = numpy("asarray");
  try {
    return dtype == nullptr ? asarray(value) : asarray(value, nb::str(dtype));
  } catch (nb::python_error& error) {
    const std::string text = std::string(argument) + ": no array can be made of it";
    nb::raise_from(error, PyExc_TypeError, "%s", text.c_str());
  }
}

struct Buffer {
  Py_buffer view{};
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { close(); }
  void close() {
    if (view.obj != nullptr) PyBuffer_Release(&view);
  }
};

// Memory of an array, held as long as this lives.
class View {
 public:
  View(nb::handle value, const char* argument, std::size_t axes) {
    if (!open(value)) open_or_raise(as_array(value, argument, nullptr), argument);
    if (kind() == 'e') reopen(value, argument, "float32");
    if (view_.ndim == 1 && view_.shape[0] == 0) return;  // [] stands for no rows of any width
    if (static_cast<std::size_t>(view_.ndim) != axes) {
      const std::string text = std::string(argument) + ": must have " + std::to_string(axes) +
                               (axes == 1 ? " axis" : " axes") + " (" + std::to_string(view_.ndim) +
                               ")";
      throw nb::type_error(text.c_str());
    }
  }
  std::size_t size(int axis) const {
    return axis < view_.ndim ? static_cast<std::size_t>(view_.shape[axis]) : 0;
  }
  std::ptrdiff_t stride(int axis) const { return axis < view_.ndim ? view_.strides[axis] : 0; }
  const char* data() const { return static_cast<const char*>(view_.buf); }
  std::size_t item_bytes() const { return static_cast<std::size_t>(view_.itemsize); }
  // The letter of struct's format, without its byte order; '?' where there are several letters.
  char kind() const {
    const char* format = view_.format == nullptr ? "B" : view_.format;
    if (*format == '@' || *format == '=' || *format == '<') ++format;
    return format[0] != '\0' && format[1] == '\0' ? format[0] : '?';
  }
  bool is_swapped() const {
    return view_.format != nullptr && (*view_.format == '>' || *view_.format == '!');
  }

 private:
  bool open(nb::handle value) {
    if (!PyObject_CheckBuffer(value.ptr())) return false;
    if (PyObject_GetBuffer(value.ptr(), &view_, PyBUF_RECORDS_RO) == 0) return true;
    PyErr_Clear();
    return false;
  }
  void open_or_raise(nb::handle value, const char* argument) {
    if (!open(value))
      throw nb::type_error((std::string(argument) + ": must be an array of numbers").c_str());
  }
  void reopen(nb::handle value, const char* argument, const char* dtype) {
    const nb::object array = as_array(value, argument, dtype);
    buffer_.close();
    open_or_raise(array, argument);
  }
  Buffer buffer_;
  Py_buffer& view_ = buffer_.view;
};

template <class T, class To>
To read_as(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return static_cast<To>(value);
}

template <class To>
using Read = To (*)(const char*);

// How an element of integers is read, by its size; null for other kinds.
template <class To>
Read<To> integer_reader(const View& view) {
  const bool is_signed = std::strchr("bhilqn", view.kind()) != nullptr;
  if (!is_signed && std::strchr("BHILQN", view.kind()) == nullptr) return nullptr;
  switch (view.item_bytes()) {
    case 1:
      return is_signed ? read_as<std::int8_t, To> : read_as<std::uint8_t, To>;
    case 2:
      return is_signed ? read_as<std::int16_t, To> : read_as<std::uint16_t, To>;
    case 4:
      return is_signed ? read_as<std::int32_t, To> : read_as<std::uint32_t, To>;
    case 8:
      return is_signed ? read_as<std::int64_t, To> : read_as<std::uint64_t, To>;
    default:
      return nullptr;
  }
}

[[noreturn]] void raise_wrong_dtype(const char* argument, const View& view, const char* wanted) {
  const char* order = view.is_swapped() ? ", in this machine's byte order" : "";
  throw nb::type_error((std::string(argument) + ": elements must be " + wanted + order).c_str());
}

Read<float> float_reader(const View& view, const char* argument) {
  if (!view.is_swapped()) {
    if (view.kind() == 'f') return read_as<float, float>;
    if (view.kind() == 'd') return read_as<double, float>;
    if (const auto reader = integer_reader<float>(view)) return reader;
  }
  raise_wrong_dtype(argument, view, "float32 or float64");
}

// The reader wraps what is above 2^63 to a negative number, which is refused as such.
Read<std::int64_t> label_reader(const View& view, const char* argument) {
  if (const auto reader = view.is_swapped() ? nullptr : integer_reader<std::int64_t>(view))
    return reader;
  if (view.size(0) == 0) return read_as<std::int64_t, std::int64_t>;
  raise_wrong_dtype(argument, view, "integers");
}

[[noreturn]] void raise_length(const char* argument, std::size_t length, const char* other,
                               std::size_t rows) {
  raise(Errc::invalid_argument, std::string(argument) + ": must have a value for each row of " +
                                    other + " (" + std::to_string(length) + " of " +
                                    std::to_string(rows) + ")");
}

}  // namespace

void detections_from(nb::handle boxes, nb::handle scores, nb::handle classes,
                     const DetectionNames& names, std::vector<Detection>& out) {
  const View box(boxes, names.boxes, 2);
  const View score(scores, names.scores, 1);
  const View label(classes, names.classes, 1);
  const auto read_box = float_reader(box, names.boxes);
  const auto read_score = float_reader(score, names.scores);
  const auto read_label = label_reader(label, names.classes);
  const std::size_t rows = box.size(0);
  if (box.size(1) != 4 && (rows != 0 || box.size(1) != 0)) {
    raise(Errc::invalid_argument, std::string(names.boxes) + ": must be (N, 4), not (" +
                                      std::to_string(rows) + ", " + std::to_string(box.size(1)) +
                                      ")");
  }
  if (score.size(0) != rows) raise_length(names.scores, score.size(0), names.boxes, rows);
  if (label.size(0) != rows) raise_length(names.classes, label.size(0), names.boxes, rows);
  out.resize(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    const auto n = static_cast<std::ptrdiff_t>(i);
    const char* at = box.data() + n * box.stride(0);
    const std::ptrdiff_t step = box.stride(1);
    const std::int64_t wide = read_label(label.data() + n * label.stride(0));
    if (wide < 0 || wide > std::numeric_limits<std::int32_t>::max()) {
      raise(Errc::invalid_argument, std::string(names.classes) +
                                        ": must be in 0..2147483647 (element " + std::to_string(i) +
                                        ")");
    }
    out[i] = {.box = {read_box(at), read_box(at + step), read_box(at + 2 * step),
                      read_box(at + 3 * step)},
              .score = read_score(score.data() + n * score.stride(0)),
              .label = static_cast<std::int32_t>(wide)};
  }
}

nb::object new_array(ArrayType type, std::span<const std::size_t> shape, void** data) {
  static const nb::handle empty = numpy("empty");
  static const std::array types{nb::object(nb::handle(numpy("dtype"))("float32")).release(),
                                nb::object(nb::handle(numpy("dtype"))("uintp")).release(),
                                nb::object(nb::handle(numpy("dtype"))("uint8")).release()};
  const nb::object extents = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(shape.size())));
  for (std::size_t i = 0; i < shape.size(); ++i)
    PyTuple_SetItem(extents.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromSize_t(shape[i]));
  nb::object array = empty(extents, types[static_cast<std::size_t>(type)]);
  Py_buffer view;
  if (PyObject_GetBuffer(array.ptr(), &view, PyBUF_WRITABLE) != 0) throw nb::python_error();
  *data = view.buf;
  PyBuffer_Release(&view);
  return array;
}

DetectionArrays detection_arrays(std::span<const Detection> detections) {
  const std::size_t n = detections.size();
  void* at[3] = {};
  DetectionArrays arrays{new_array(ArrayType::f32, std::array<std::size_t, 2>{n, 4}, &at[0]),
                         new_array(ArrayType::f32, std::array{n}, &at[1]),
                         new_array(ArrayType::uintp, std::array{n}, &at[2])};
  auto* box = static_cast<float*>(at[0]);
  auto* score = static_cast<float*>(at[1]);
  auto* label = static_cast<std::size_t*>(at[2]);
  for (const Detection& found : detections) {
    *box++ = found.box.x1;
    *box++ = found.box.y1;
    *box++ = found.box.x2;
    *box++ = found.box.y2;
    *score++ = found.score;
    *label++ = static_cast<std::size_t>(found.label);
  }
  return arrays;
}

std::vector<Tensor> outputs_from(nb::handle outputs) {
  if (!PyList_Check(outputs.ptr()) && !PyTuple_Check(outputs.ptr()))
    raise_wrong_type("model_output", "a list or tuple of tensors", outputs);
  std::vector<Tensor> tensors;
  tensors.reserve(nb::len(outputs));
  for (const nb::handle output : outputs)
    tensors.push_back(tensor_to_read(output, "model_output"));
  return tensors;
}

std::uint64_t count_from(nb::handle value, const char* argument) {
  const nb::object number = nb::steal(PyNumber_Index(value.ptr()));
  if (!number.is_valid()) {
    PyErr_Clear();
    raise_wrong_type(argument, "an int", value);
  }
  const auto count = PyLong_AsUnsignedLongLong(number.ptr());
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    PyErr_Format(PyExc_OverflowError, "%s: must be in 0..2^64-1", argument);
    throw nb::python_error();
  }
  return count;
}

std::int32_t extent_from(nb::handle value, const char* argument) {
  const std::uint64_t number = count_from(value, argument);
  if (number > INT32_MAX)
    raise(Errc::invalid_argument, std::string(argument) + ": must be below 2^31");
  return static_cast<std::int32_t>(number);
}

void floats_from(nb::handle values, const char* argument, std::span<float> out) {
  const nb::object items = nb::steal(PySequence_Fast(values.ptr(), ""));
  if (!items.is_valid()) {
    PyErr_Clear();
    raise_wrong_type(argument, "a sequence of numbers", values);
  }
  if (nb::len(items) != out.size()) {
    raise(Errc::invalid_argument, std::string(argument) + ": must have " +
                                      std::to_string(out.size()) + " numbers (" +
                                      std::to_string(nb::len(items)) + ")");
  }
  std::size_t i = 0;
  for (const nb::handle item : items) {
    const double number = PyFloat_AsDouble(item.ptr());
    if (PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      raise_wrong_type(argument, "a sequence of numbers", values);
    }
    out[i++] = static_cast<float>(number);
  }
}

std::optional<std::array<float, 4>> letterbox_from(nb::handle value) {
  if (value.is_none()) return std::nullopt;
  std::array<float, 4> letterbox{};
  floats_from(value, "letterbox", letterbox);
  return letterbox;
}

}  // namespace halyard::python
