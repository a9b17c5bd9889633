// SPDX-License-Identifier: Apache-2.0
// The properties of a tensor.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>
#include <type_traits>

#include "args.h"
#include "enums.h"
#include "tensor/tensor_class.h"
#include "values.h"

namespace halyard::python {
namespace {

nb::str name_of(const PyTensor& self) {
  if (!self.value.name().empty() || self.value.is_empty()) return str_of(self.value.name());
  return str_of("tensor-" + std::to_string(self.value.buffer()->id()));
}

std::span<const std::ptrdiff_t> strides_of(const PyTensor& self) {
  const Layout& layout = self.value.layout();
  return std::span(layout.stride_bytes).first(layout.rank);
}

nb::object number_or_none(bool has, std::size_t value) {
  return has ? nb::cast(value) : nb::none();
}

const char* memory_text(Memory memory) {
  switch (memory) {
    case Memory::dma:
      return "Dma";
    case Memory::shm:
      return "Shm";
    case Memory::pbo:
      return "Pbo";
    default:
      return "Mem";
  }
}

std::string extents_of(const Tensor& t) {
  std::string text;
  for (std::size_t i = 0; i < t.rank(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(t.shape()[i]);
  return text;
}

// str() of EdgeFirst HAL.
std::string property_text(const PyTensor& self) {
  const Tensor& t = self.value;
  return std::string("Tensor(dtype=") + dtype_name(t.dtype()) + ", shape=[" + extents_of(t) +
         "], memory=" + memory_text(t.memory()) + ")";
}

std::string image_text(const Tensor& t) {
  if (!t.is_image()) return ")";
  return ", format=" + std::string(to_string(*t.format())) + ", " + std::to_string(t.width()) +
         "x" + std::to_string(t.height()) + ")";
}

std::string reference_repr(const PyTensor& self) {
  std::string text = property_text(self);
  text.pop_back();
  return text + image_text(self.value);
}

std::string native_repr(nb::handle self) {
  const Tensor& t = instance_of<PyTensor>(self).value;
  return nb::cast<std::string>(self.type().attr("__name__")) + "(shape=(" + extents_of(t) +
         (t.rank() == 1 ? ",), dtype=" : "), dtype=") + dtype_name(t.dtype()) +
         ", memory=" + std::string(to_string(t.memory())) + image_text(t);
}

void add_image(TensorClass& cls) {
  cls.def_prop_ro(
         "memory", [](const PyTensor& t) { return enum_to(t.value.memory()); },
         nb::sig("def memory(self) -> TensorMemory"), "Kind of memory.")
      .def_prop_ro("name", &name_of, "For messages.")
      .def_prop_ro(
          "format",
          [](const PyTensor& t) {
            return t.value.format() ? enum_to(*t.value.format()) : nb::none();
          },
          nb::sig("def format(self) -> PixelFormat | None"), "None if it is not an image.")
      .def_prop_ro(
          "width",
          [](const PyTensor& t) { return number_or_none(t.value.is_image(), t.value.width()); },
          nb::sig("def width(self) -> int | None"), "Columns; None if it is not an image.")
      .def_prop_ro(
          "height",
          [](const PyTensor& t) { return number_or_none(t.value.is_image(), t.value.height()); },
          nb::sig("def height(self) -> int | None"), "Rows; None if it is not an image.")
      .def_prop_ro(
          "row_stride",
          [](const PyTensor& t) {
            return number_or_none(t.value.is_image(), t.value.row_stride_bytes());
          },
          nb::sig("def row_stride(self) -> int | None"),
          "Bytes between rows of the first plane; None if it is not an image.")
      .def_prop_ro(
          "is_planar",
          [](const PyTensor& t) {
            return t.value.is_image() && info(*t.value.format()).kind == FormatKind::planar;
          },
          "True for formats with one full plane per channel (not for NV12 and the like).");
}

nb::object compression_of_tensor(const PyTensor& self) {
  const Compression scheme = compression_of(self.value.modifier());
  return scheme == Compression::none ? nb::none() : nb::cast(std::string(to_string(scheme)));
}

void add_labels(TensorClass& cls) {
  cls.def_prop_ro("compression", &compression_of_tensor,
                  nb::sig("def compression(self) -> str | None"),
                  "Scheme of compressed device memory, as \"afbc\"; None: linear.")
      .def_prop_rw(
          "colorimetry",
          [](const PyTensor& t) { return colorimetry_result(t.value.colorimetry()); },
          [](PyTensor& t, nb::handle value) {
            t.value.set_colorimetry(colorimetry_from(value, "colorimetry"));
          },
          nb::arg("value").none(), nb::sig("def colorimetry(self) -> Colorimetry | None"),
          "The meaning of the samples as colours. Decoding a file sets it; assign None to clear "
          "it.")
      .def_prop_rw(
          "orientation",
          [](const PyTensor& t) { return orientation_result(t.value.orientation()); },
          [](PyTensor& t, nb::handle value) {
            t.value.set_orientation(orientation_from(value, "orientation"));
          },
          nb::arg("value").none(), nb::sig("def orientation(self) -> tuple[Flip, Rotation]"),
          "Makes the image upright: flip, then clockwise rotation. load() sets it from "
          "the\n"
          "file, convert() applies it; assign None to clear it.")
      .def_prop_ro(
          "upright_size",
          [](const PyTensor& t) {
            return nb::make_tuple(t.value.upright_size().width, t.value.upright_size().height);
          },
          nb::sig("def upright_size(self) -> tuple[int, int]"),
          "Width and height after the orientation is applied.");
}

// NumPy's properties.
void def_sizes(NativeTensorClass& cls) {
  cls.def_prop_ro(
         "dtype", [](const PyTensor& t) { return numpy_dtype(t.value.dtype()); },
         nb::sig("def dtype(self) -> numpy.dtype[Any]"),
         "Element type, a numpy.dtype, equal to its name, \"uint8\". Raises UnsupportedError\n"
         "for bfloat16 without the package ml_dtypes.")
      .def_prop_ro(
          "shape", [](const PyTensor& t) { return shape_tuple(t.value.shape()); },
          nb::sig("def shape(self) -> tuple[int, ...]"), "Extents, outermost first.")
      .def_prop_ro(
          "size", [](const PyTensor& t) { return t.value.element_count(); },
          "Count of elements; nbytes has their bytes.")
      .def_prop_ro(
          "strides", [](const PyTensor& t) { return stride_tuple(strides_of(t)); },
          nb::sig("def strides(self) -> tuple[int, ...]"),
          "Bytes from one index of each axis to the next.")
      .def("__repr__", &native_repr);
}

// EdgeFirst HAL's properties.
void def_sizes(ReferenceTensorClass& cls) {
  cls.def_prop_ro(
         "dtype", [](const PyTensor& t) { return dtype_str(t.value.dtype()); },
         nb::sig("def dtype(self) -> str"), "Element type by NumPy's name, \"uint8\".")
      .def_prop_ro(
          "shape", [](const PyTensor& t) { return shape_list(t.value.shape()); },
          nb::sig("def shape(self) -> list[int]"), "Extents, outermost first.")
      .def_prop_ro(
          "size", [](const PyTensor& t) { return t.value.size_bytes(); },
          "Bytes of the elements alone, without padding.")
      .def_prop_ro(
          "strides", [](const PyTensor& t) { return nb::list(stride_tuple(strides_of(t))); },
          nb::sig("def strides(self) -> list[int]"),
          "Bytes from one index of each axis to the next.")
      .def("__str__", &property_text)
      .def("__repr__", &reference_repr);
}

}  // namespace

template <class Class>
void add_sizes(Class& cls) {
  def_sizes(cls);
}
template void add_sizes(NativeTensorClass& cls);
template void add_sizes(ReferenceTensorClass& cls);

void add_properties(TensorClass& cls) {
  cls.def_prop_ro(
         "nbytes", [](const PyTensor& t) { return t.value.size_bytes(); },
         "Bytes of the elements alone, without padding.")
      .def_prop_ro(
          "ndim", [](const PyTensor& t) { return t.value.rank(); }, "Count of axes.")
      .def_prop_ro(
          "itemsize", [](const PyTensor& t) { return size_of(t.value.dtype()); },
          "Bytes of one element.")
      .def_prop_ro(
          "is_writable",
          [](const PyTensor& t) { return !t.value.is_empty() && t.value.buffer()->is_writable(); },
          "False for read-only arrays, for what was published, and for tensors of other\n"
          "processes.")
      .def("__len__",
           [](const PyTensor& t) { return t.value.rank() > 0 ? t.value.shape()[0] : 0; });
  add_image(cls);
  add_labels(cls);
}

}  // namespace halyard::python
