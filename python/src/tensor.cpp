// SPDX-License-Identifier: Apache-2.0
// Python's Tensor: how it is made and what it says of itself.
#include "tensor.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <atomic>
#include <optional>
#include <string>
#include <utility>

#include "args.h"
#include "buffers.h"
#include "enums.h"
#include "halyard/import.h"
#include "tensor_class.h"
#include "values.h"

namespace halyard::python {
namespace {

constexpr const char* class_doc =
    "Elements in memory that devices share, possibly a picture.\n\n"
    "A tensor has a dtype, a shape and a kind of memory; a picture also has a format, width,\n"
    "height, row stride and colorimetry. View it as a NumPy array without a copy by\n"
    "``numpy.asarray(t)``, or hand it to others by DLPack; both see padded rows as strides.\n"
    "Views (``view``, ``batch``, ``t[n]``) share the bytes.\n\n"
    "Args:\n"
    "    shape: extents, outermost first, 1 to 8 of them.\n"
    "    dtype: element type: a name, or anything that ``numpy.dtype`` takes.\n"
    "    mem: kind of memory; None: DMA-BUF where it can be had, else the heap.\n"
    "    name: for messages; None: one is made up.\n\n"
    "All bytes start as 0. Raises RuntimeError (halyard.Error) when the shape is empty or the\n"
    "memory is not to be had. A Tensor may be used by several threads; who writes the same bytes\n"
    "at the same time is the program's business.";

// The first kind of memory of DMA and heap that gives what `make` wants.
template <class F>
Tensor in_best_memory(nb::handle memory, F&& make) {
  if (!memory.is_none()) return take(make(enum_from<Memory>(memory, "mem")));
  // Two threads that come first may both ask, and find the same.
  static std::atomic<signed char> has_dma{-1};
  if (has_dma < 0) has_dma = memory_available(Memory::dma).has_value() ? 1 : 0;
  // automatic would choose shared memory before the heap; it is asked only whether heap is forced.
  if (has_dma > 0) {
    Result<Tensor> made = make(Memory::automatic);
    if (made && made->memory() != Memory::shm) return *std::move(made);
  }
  return take(make(Memory::mem));
}

Tensor make_tensor(nb::handle shape, nb::handle dtype, nb::handle memory, nb::handle name) {
  const Shape extents = shape_from(shape, "shape");
  const DType type = dtype_from(dtype, "dtype");
  if (extents.rank > 0 && Layout::contiguous(type, extents.dims()))
    for (const std::size_t extent : extents.dims())
      if (extent == 0) raise(Errc::invalid_argument, "shape: must not hold 0");
  Tensor made = in_best_memory(
      memory, [&](Memory kind) { return Tensor::create(type, extents.dims(), kind); });
  if (!name.is_none()) made.set_name(text_from(name, "name"));
  return made;
}

nb::str name_of(const PyTensor& self) {
  if (!self.value.name().empty() || self.value.is_empty()) return str_of(self.value.name());
  return str_of("tensor-" + std::to_string(self.value.buffer()->id()));
}

nb::object strides_of(const PyTensor& self) {
  const Layout& layout = self.value.layout();
  nb::object list = nb::steal(PyList_New(layout.rank));
  for (std::size_t i = 0; i < layout.rank; ++i)
    PyList_SetItem(list.ptr(), static_cast<Py_ssize_t>(i),
                   PyLong_FromSsize_t(layout.stride_bytes[i]));
  return list;
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

std::string text_of(const PyTensor& self) {
  const Tensor& t = self.value;
  std::string text = std::string("Tensor(dtype=") + dtype_name(t.dtype()) + ", shape=[";
  for (std::size_t i = 0; i < t.rank(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(t.shape()[i]);
  return text + "], memory=" + memory_text(t.memory()) + ")";
}

std::string repr_of(const PyTensor& self) {
  const Tensor& t = self.value;
  std::string text = text_of(self);
  if (!t.is_image()) return text;
  text.pop_back();
  return text + ", format=" + std::string(to_string(*t.format())) + ", " +
         std::to_string(t.width()) + "x" + std::to_string(t.height()) + ")";
}

void add_sizes(TensorClass& cls) {
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
          "nbytes", [](const PyTensor& t) { return t.value.size_bytes(); }, "The same as size.")
      .def_prop_ro(
          "ndim", [](const PyTensor& t) { return t.value.rank(); }, "Count of axes.")
      .def_prop_ro(
          "itemsize", [](const PyTensor& t) { return size_of(t.value.dtype()); },
          "Bytes of one element.")
      .def_prop_ro("strides", &strides_of, nb::sig("def strides(self) -> list[int]"),
                   "Bytes from one index of each axis to the next.")
      .def("__len__",
           [](const PyTensor& t) { return t.value.rank() > 0 ? t.value.shape()[0] : 0; });
}

void add_picture(TensorClass& cls) {
  cls.def_prop_ro(
         "memory", [](const PyTensor& t) { return enum_to(t.value.memory()); },
         nb::sig("def memory(self) -> TensorMemory"), "Kind of memory.")
      .def_prop_ro("name", &name_of, "For messages.")
      .def_prop_ro(
          "format",
          [](const PyTensor& t) {
            return t.value.format() ? enum_to(*t.value.format()) : nb::none();
          },
          nb::sig("def format(self) -> PixelFormat | None"), "None for what is no picture.")
      .def_prop_ro(
          "width",
          [](const PyTensor& t) { return number_or_none(t.value.is_image(), t.value.width()); },
          nb::sig("def width(self) -> int | None"), "Columns; None for what is no picture.")
      .def_prop_ro(
          "height",
          [](const PyTensor& t) { return number_or_none(t.value.is_image(), t.value.height()); },
          nb::sig("def height(self) -> int | None"), "Rows; None for what is no picture.")
      .def_prop_ro(
          "row_stride",
          [](const PyTensor& t) {
            return number_or_none(t.value.is_image(), t.value.row_stride_bytes());
          },
          nb::sig("def row_stride(self) -> int | None"),
          "Bytes between rows of the first plane; None for what is no picture.")
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
          "What the numbers mean as colours. Decoding a file sets it; assign None to clear it.")
      .def_prop_rw(
          "orientation",
          [](const PyTensor& t) { return orientation_result(t.value.orientation()); },
          [](PyTensor& t, nb::handle value) {
            t.value.set_orientation(orientation_from(value, "orientation"));
          },
          nb::arg("value").none(), nb::sig("def orientation(self) -> tuple[Flip, Rotation]"),
          "What shows the picture upright: flip, then clockwise rotation. load() sets it to what "
          "the\n"
          "file says, convert() applies it; assign None to clear it.")
      .def_prop_ro(
          "upright_size",
          [](const PyTensor& t) {
            return nb::make_tuple(t.value.upright_size().width, t.value.upright_size().height);
          },
          nb::sig("def upright_size(self) -> tuple[int, int]"),
          "Width and height once the orientation is applied.")
      .def("__str__", &text_of)
      .def("__repr__", &repr_of);
}

// Runs `fill`; what it throws becomes a BufferError.
template <class F>
int guarded_export(Py_buffer* view, F&& fill) noexcept {
  try {
    return fill();
  } catch (const nb::python_error& error) {
    if (view != nullptr) view->obj = nullptr;
    PyErr_Format(PyExc_BufferError, "%S", error.value().ptr());
  } catch (const std::exception&) {
    if (view != nullptr) view->obj = nullptr;
    PyErr_NoMemory();
  }
  return -1;
}

int tensor_getbuffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  return guarded_export(view, [&] {
    PyTensor& tensor = instance_of<PyTensor>(self);
    const int done = fill_view(self, view, flags, map_shared(tensor.value));
    if (done != 0) return done;
    const std::uint64_t id = tensor.value.buffer()->id();
    if (tensor.exports++ == 0)
      tensor.exported_id = id;
    else if (tensor.exported_id != id)
      tensor.exported_id = 0;
    return 0;
  });
}

void tensor_releasebuffer(PyObject* self, Py_buffer* view) noexcept {
  release_view(self, view);
  --nb::inst_ptr<PyTensor>(self)->exports;
}

// References to the buffer of its first plane that the tensor itself has.
long own_references(const Tensor& tensor) {
  if (!tensor.is_image() || info(*tensor.format()).kind != FormatKind::semi_planar) return 1;
  const auto chroma = tensor.image_plane(1);
  return chroma && chroma->buffer == tensor.buffer() ? 2 : 1;
}

// The Python object whose memory the tensor shows, where this object and buffers that it exported
// are all that holds it: then its reference is this object's, for the garbage collector. Null where
// another tensor, a map or C++ holds the memory too, which the collector does not see.
PyObject* sole_lender(PyObject* self) noexcept {
  if (!nb::inst_ready(self)) return nullptr;
  const PyTensor& tensor = *nb::inst_ptr<PyTensor>(self);
  const std::shared_ptr<Buffer>& buffer = tensor.value.buffer();
  if (buffer == nullptr || (tensor.exports > 0 && tensor.exported_id != buffer->id()))
    return nullptr;
  PyObject* lender = lender_of(*buffer);
  if (lender == nullptr) return nullptr;
  const long known = own_references(tensor.value) + static_cast<long>(tensor.exports);
  return buffer.use_count() == known ? lender : nullptr;
}

int tensor_traverse(PyObject* self, visitproc visit, void* arg) noexcept {
  PyObject* lender = sole_lender(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(lender);
  return 0;
}

// Views that are still out keep their own maps; the memory goes with the last of them.
int tensor_clear(PyObject* self) noexcept {
  if (sole_lender(self) == nullptr) return 0;
  Tensor last;
  std::swap(last, nb::inst_ptr<PyTensor>(self)->value);
  return 0;
}

PyType_Slot tensor_slots[] = {
    {Py_bf_getbuffer, reinterpret_cast<void*>(&tensor_getbuffer)},
    {Py_bf_releasebuffer, reinterpret_cast<void*>(&tensor_releasebuffer)},
    {Py_tp_traverse, reinterpret_cast<void*>(&tensor_traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(&tensor_clear)},
    {0, nullptr},
};
PyType_Slot handle_slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(&refuse_new)},
    {Py_bf_getbuffer, reinterpret_cast<void*>(&tensor_getbuffer)},
    {Py_bf_releasebuffer, reinterpret_cast<void*>(&tensor_releasebuffer)},
    {Py_tp_traverse, reinterpret_cast<void*>(&tensor_traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(&tensor_clear)},
    {0, nullptr},
};

CpuAccess access_from(const std::string& text) {
  if (text == "none") return CpuAccess::none;
  if (text == "read") return CpuAccess::read;
  if (text == "write") return CpuAccess::write;
  if (text == "readwrite") return CpuAccess::read_write;
  raise(Errc::invalid_argument, "access: must be none, read, write or readwrite (" + text + ")");
}

Compression compression_from(nb::handle object) {
  if (object.is_none()) return Compression::none;
  const std::string name = text_from(object, "compression");
  for (const Compression scheme : {Compression::any, Compression::ubwc, Compression::afbc,
                                   Compression::pvric, Compression::dcc})
    if (to_string(scheme) == name) return scheme;
  raise(Errc::invalid_argument,
        "compression: must be any, ubwc, afbc, pvric or dcc (" + name + ")");
}

nb::object image(nb::handle width, nb::handle height, nb::handle format, nb::handle mem,
                 nb::handle access, nb::handle dtype) {
  return tensor_result(
      make_image({size_from(width, "width"), size_from(height, "height"),
                  enum_from<PixelFormat>(format, "format"), dtype_from(dtype, "dtype"), mem,
                  text_from(access, "access"), nb::none()}));
}

}  // namespace

Tensor make_image(const ImageArgs& args) {
  ImageOptions options;
  options.dtype = args.dtype;
  options.compression = compression_from(args.compression);
  const CpuAccess access = access_from(args.access);
  if (options.compression != Compression::none && access != CpuAccess::none)
    raise(Errc::invalid_argument, "compression: needs access \"none\" (" + args.access + ")");
  return in_best_memory(args.memory, [&](Memory kind) {
    options.memory = kind;
    // The declaration steers caches of device memory; heap and shared memory have none to steer.
    const bool is_device = kind == Memory::dma || kind == Memory::automatic;
    options.cpu_access =
        is_device || options.compression != Compression::none ? access : CpuAccess::read_write;
    return Tensor::create_image(args.width, args.height, args.format, options);
  });
}

PyType_Slot* tensor_handle_slots() noexcept {
  return handle_slots;
}

PyTensor* try_tensor_object(nb::handle object) noexcept {
  PyTensor* tensor = nullptr;
  return nb::try_cast(object, tensor) ? tensor : nullptr;
}

PyTensor& tensor_object(nb::handle object, const char* argument) {
  PyTensor* tensor = try_tensor_object(object);
  if (tensor == nullptr) raise_wrong_type(argument, "a Tensor", object);
  return *tensor;
}

nb::object tensor_result(Tensor&& tensor) {
  nb::object made = nb::inst_alloc(nb::type<PyTensor>());
  new (nb::inst_ptr<PyTensor>(made)) PyTensor{std::move(tensor)};
  nb::inst_mark_ready(made);
  return made;
}

void add_properties(TensorClass& cls) {
  cls.def(
         "__init__",
         [](PyTensor* self, nb::handle shape, nb::handle dtype, nb::handle mem, nb::handle name) {
           new (self) PyTensor{make_tensor(shape, dtype, mem, name)};
         },
         nb::arg("shape"), nb::arg("dtype") = "float32", nb::arg("mem") = nb::none(),
         nb::arg("name") = nb::none(),
         nb::sig("def __init__(self, shape: Sequence[int], dtype: DTypeLike = 'float32', mem: "
                 "TensorMemory | None = None, name: str | None = None) -> None"))
      .def_static(
          "image", &image, nb::arg("width"), nb::arg("height"), nb::arg("format"),
          nb::arg("mem") = nb::none(), nb::arg("access") = "none", nb::arg("dtype") = "uint8",
          nb::sig("def image(width: int, height: int, format: PixelFormat | str, mem: "
                  "TensorMemory | None = None, access: str = 'none', dtype: DTypeLike = 'uint8') "
                  "-> Tensor"),
          "A picture of zeros. Shape: packed [H,W,C], planar [C,H,W], NV12 [H+ceil(H/2),W], NV16\n"
          "[2H,W], NV24 [3H,W]; odd sizes are legal. `access` says what the CPU will do with\n"
          "device memory: none, read, write or readwrite; a hint, all access works.");
  add_sizes(cls);
  add_picture(cls);
  add_labels(cls);
}

void bind_tensor(nb::module_& m) {
  TensorClass cls(m, "Tensor", nb::type_slots(tensor_slots), nb::is_weak_referenceable(),
                  class_doc);
  add_properties(cls);
  add_parts(cls);
  add_quantization(cls);
  add_mapping(cls);
  add_exchange(cls);
  add_descriptors(cls);
  add_codec(cls);
  add_copies(cls);
  add_normalize(cls);
}

}  // namespace halyard::python
