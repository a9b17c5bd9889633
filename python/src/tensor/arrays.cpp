// SPDX-License-Identifier: Apache-2.0
#include "tensor/arrays.h"

#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <string>

#include "args.h"
#include "kept.h"
#include "tensor/array_view.h"
#include "tensor/tensor.h"

namespace halyard::python {
namespace {

nb::object as_array(nb::handle value, const char* argument, const char* dtype) {
  static PyObject* place = nullptr;
  const nb::handle asarray = kept_attribute(place, "numpy", "asarray");
  try {
    return dtype == nullptr ? asarray(value) : asarray(value, nb::str(dtype));
  } catch (nb::python_error& error) {
    // NumPy's own errors. Any other exception was raised by code of the value.
    if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_ValueError)) throw;
    const std::string text = std::string(argument) + ": no array can be made of it";
    nb::raise_from(error, PyExc_TypeError, "%s", text.c_str());
  }
}

// 512 MB of detections; no frame has more.
constexpr std::size_t max_detections = std::size_t{1} << 24;

[[noreturn]] void raise_type(const char* argument, const std::string& what) {
  throw nb::type_error((std::string(argument) + ": " + what).c_str());
}

// Numbers of an array, or of an object that NumPy converts, with `axes` axes. Python code may run
// while this is made, but not later.
class ResultView {
 public:
  ResultView(nb::handle value, const char* argument, std::size_t axes) {
    if (!array_.open(value, argument, ArrayUse::read))
      open_or_raise(as_array(value, argument, nullptr), argument);
    if (dtype() == DType::f16) {
      const nb::object floats = as_array(value, argument, "float32");
      open_or_raise(floats, argument);
    }
    if (array_.rank() == 1 && array_.extent(0) == 0) return;  // [] means no rows of any width
    if (array_.rank() != axes)
      raise_type(argument, "must have " + std::to_string(axes) + (axes == 1 ? " axis" : " axes") +
                               " (" + std::to_string(array_.rank()) + ")");
  }
  std::size_t size(std::size_t axis) const {
    return axis < array_.rank() ? array_.extent(axis) : 0;
  }
  std::ptrdiff_t stride(std::size_t axis) const {
    return axis < array_.rank() ? array_.stride(axis) : 0;
  }
  const std::byte* data() const { return array_.data(); }
  std::optional<DType> dtype() const { return array_.dtype(); }
  bool is_swapped() const { return array_.is_swapped(); }

 private:
  void open_or_raise(const nb::object& array, const char* argument) {
    if (!array_.open(array, argument, ArrayUse::read))
      raise_type(argument, "must be an array of numbers");
  }
  ArrayView array_;
};

template <class T, class To>
To read_as(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return static_cast<To>(value);
}

template <class To>
using Read = To (*)(const std::byte*);

// Reads an element as an integer; null for other kinds.
template <class To>
Read<To> integer_reader(std::optional<DType> dtype) {
  if (!dtype) return nullptr;
  switch (*dtype) {
    case DType::u8:
      return read_as<std::uint8_t, To>;
    case DType::i8:
      return read_as<std::int8_t, To>;
    case DType::u16:
      return read_as<std::uint16_t, To>;
    case DType::i16:
      return read_as<std::int16_t, To>;
    case DType::u32:
      return read_as<std::uint32_t, To>;
    case DType::i32:
      return read_as<std::int32_t, To>;
    case DType::u64:
      return read_as<std::uint64_t, To>;
    case DType::i64:
      return read_as<std::int64_t, To>;
    default:
      return nullptr;
  }
}

[[noreturn]] void raise_wrong_dtype(const char* argument, const ResultView& view,
                                    const char* wanted) {
  const char* order = view.is_swapped() ? ", in this machine's byte order" : "";
  raise_type(argument, std::string("elements must be ") + wanted + order);
}

Read<float> float_reader(const ResultView& view, const char* argument) {
  if (view.dtype() == DType::f32) return read_as<float, float>;
  if (view.dtype() == DType::f64) return read_as<double, float>;
  if (const auto reader = integer_reader<float>(view.dtype())) return reader;
  raise_wrong_dtype(argument, view, "float32 or float64");
}

// The reader wraps values above 2^63 to negative numbers, which are refused.
Read<std::int64_t> label_reader(const ResultView& view, const char* argument) {
  if (const auto reader = integer_reader<std::int64_t>(view.dtype())) return reader;
  if (view.size(0) == 0) return read_as<std::int64_t, std::int64_t>;
  raise_wrong_dtype(argument, view, "integers");
}

[[noreturn]] void raise_length(const char* argument, std::size_t length, const char* other,
                               std::size_t rows) {
  raise(Errc::invalid_argument, std::string(argument) + ": must have a value for each row of " +
                                    other + " (" + std::to_string(length) + " of " +
                                    std::to_string(rows) + ")");
}

void read_boxes(nb::handle boxes, const char* argument, std::vector<Detection>& out) {
  const ResultView box(boxes, argument, 2);
  const auto read = float_reader(box, argument);
  const std::size_t rows = box.size(0);
  if (box.size(1) != 4 && (rows != 0 || box.size(1) != 0))
    raise(Errc::invalid_argument, std::string(argument) + ": must be (N, 4), not (" +
                                      std::to_string(rows) + ", " + std::to_string(box.size(1)) +
                                      ")");
  // A view that repeats one row needs as much memory as a real array of its shape.
  if (rows > max_detections)
    raise(Errc::invalid_argument, std::string(argument) + ": must have at most " +
                                      std::to_string(max_detections) + " rows (" +
                                      std::to_string(rows) + ")");
  out.resize(rows);
  const std::ptrdiff_t step = box.stride(1);
  for (std::size_t i = 0; i < rows; ++i) {
    const std::byte* at = box.data() + static_cast<std::ptrdiff_t>(i) * box.stride(0);
    out[i].box = {read(at), read(at + step), read(at + 2 * step), read(at + 3 * step)};
  }
}

void read_scores(nb::handle scores, const DetectionNames& names, std::vector<Detection>& out) {
  const ResultView score(scores, names.scores, 1);
  const auto read = float_reader(score, names.scores);
  if (score.size(0) != out.size())
    raise_length(names.scores, score.size(0), names.boxes, out.size());
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i].score = read(score.data() + static_cast<std::ptrdiff_t>(i) * score.stride(0));
}

void read_labels(nb::handle classes, const DetectionNames& names, std::vector<Detection>& out) {
  const ResultView label(classes, names.classes, 1);
  const auto read = label_reader(label, names.classes);
  if (label.size(0) != out.size())
    raise_length(names.classes, label.size(0), names.boxes, out.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t wide = read(label.data() + static_cast<std::ptrdiff_t>(i) * label.stride(0));
    if (wide < 0 || wide > std::numeric_limits<std::int32_t>::max())
      raise(Errc::invalid_argument, std::string(names.classes) +
                                        ": must be in 0..2147483647 (element " + std::to_string(i) +
                                        ")");
    out[i].label = static_cast<std::int32_t>(wide);
  }
}

}  // namespace

// The arrays are opened, read and closed one after the other: opening one may run Python code,
// which then finds no memory of the others in use.
void detections_from(nb::handle boxes, nb::handle scores, nb::handle classes,
                     const DetectionNames& names, std::vector<Detection>& out) {
  read_boxes(boxes, names.boxes, out);
  read_scores(scores, names, out);
  read_labels(classes, names, out);
}

constexpr std::size_t item_bytes(ArrayType type) {
  return type == ArrayType::f32 ? sizeof(float) : type == ArrayType::u8 ? 1 : sizeof(std::size_t);
}

nb::object new_array(ArrayType type, std::span<const std::size_t> shape, void** data) {
  static constexpr std::array names{"float32", "uintp", "uint8"};
  static std::array<PyObject*, names.size()> dtypes{};
  static PyObject* place = nullptr;
  const nb::handle empty = kept_attribute(place, "numpy", "empty");
  const auto index = static_cast<std::size_t>(type);
  const nb::handle dtype = kept(dtypes[index], [&]() -> nb::object {
    return nb::module_::import_("numpy").attr("dtype")(names[index]);
  });
  const nb::object extents = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(shape.size())));
  for (std::size_t i = 0; i < shape.size(); ++i)
    PyTuple_SetItem(extents.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromSize_t(shape[i]));
  nb::object array = empty(extents, dtype);
  ArrayView view;
  const bool is_open = view.open(array, "numpy.empty", ArrayUse::bytes);
  const std::size_t size =
      std::accumulate(shape.begin(), shape.end(), item_bytes(type), std::multiplies<>());
  if (!is_open || view.is_read_only() || view.bytes().size() != size)
    raise(Errc::invalid_argument, "numpy.empty: gives no array of the size that was asked for");
  *data = view.writable();
  return array;
}

DetectionArrays detection_arrays(std::span<const Detection> detections) {
  // Each array is filled before the next one is made.
  const std::size_t n = detections.size();
  void* at = nullptr;
  DetectionArrays arrays;
  arrays.boxes = new_array(ArrayType::f32, std::array<std::size_t, 2>{n, 4}, &at);
  auto* box = static_cast<float*>(at);
  for (const Detection& found : detections) {
    *box++ = found.box.x1;
    *box++ = found.box.y1;
    *box++ = found.box.x2;
    *box++ = found.box.y2;
  }
  arrays.scores = new_array(ArrayType::f32, std::array{n}, &at);
  auto* score = static_cast<float*>(at);
  for (const Detection& found : detections)
    *score++ = found.score;
  arrays.classes = new_array(ArrayType::uintp, std::array{n}, &at);
  auto* label = static_cast<std::size_t*>(at);
  for (const Detection& found : detections)
    *label++ = static_cast<std::size_t>(found.label);
  return arrays;
}

std::vector<Tensor> outputs_from(nb::handle outputs) {
  if (!PyList_Check(outputs.ptr()) && !PyTuple_Check(outputs.ptr()))
    raise_wrong_type("model_output", "a list or tuple of tensors", outputs);
  // A copy: converting an output to a tensor may change the list.
  const nb::object fixed = nb::steal(PySequence_Tuple(outputs.ptr()));
  if (!fixed.is_valid()) throw nb::python_error();
  std::vector<Tensor> tensors;
  tensors.reserve(nb::len(fixed));
  for (const nb::handle output : fixed)
    tensors.push_back(tensor_to_read(output, "model_output"));
  return tensors;
}

std::uint64_t count_from(nb::handle value, const char* argument) {
  static_assert(sizeof(std::size_t) == sizeof(std::uint64_t));
  return size_from(value, argument);
}

std::int32_t extent_from(nb::handle value, const char* argument) {
  const std::uint64_t number = count_from(value, argument);
  if (number > INT32_MAX)
    raise(Errc::invalid_argument, std::string(argument) + ": must be below 2^31");
  return static_cast<std::int32_t>(number);
}

std::optional<std::array<float, 4>> letterbox_from(nb::handle value) {
  if (value.is_none()) return std::nullopt;
  std::array<float, 4> letterbox{};
  floats_from(value, "letterbox", letterbox);
  return letterbox;
}

}  // namespace halyard::python
