// SPDX-License-Identifier: Apache-2.0
// Tensor: to and from file descriptors; the state of a pickle for another process.
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "args.h"
#include "enums.h"
#include "halyard/import.h"
#include "tensor/tensor_class.h"
#include "values.h"

namespace halyard::python {
namespace {

template <class Kind>
nb::object from_fd(nb::handle fd, nb::handle shape, nb::handle dtype, nb::handle name,
                   bool require_sealed) {
  const std::int32_t number = int_from(fd, "fd");
  if (number < 0) raise(Errc::invalid_argument, "fd: must not be negative");
  const Shape extents = shape_from(shape, "shape");
  const Layout layout = take(Layout::contiguous(dtype_from(dtype, "dtype"), extents.dims()));
  ImportOptions options;
  options.size_bytes = layout.size_bytes();
  options.require_sealed = require_sealed;
  Tensor made = take(Tensor::wrap(take(Importer::shared().import_buffer(number, options)), layout));
  if (!name.is_none()) made.set_name(text_from(name, "name"));
  return tensor_result<Kind>(std::move(made));
}

int descriptor_of(const PyTensor& self, bool must_be_dma) {
  const Tensor& tensor = self.value;
  if (tensor.is_empty() || (must_be_dma && tensor.memory() != Memory::dma))
    raise(Errc::unsupported, "tensor: its memory is not a DMA-BUF");
  return take(tensor.buffer()->clone_fd()).release();
}

// The position of the elements in the memory of the descriptor, for another process. None if they
// are in several buffers, or in memory without a descriptor.
nb::object shared_state(const PyTensor& self) {
  const Tensor& t = self.value;
  if (t.is_empty() || t.buffer()->fd() < 0 || t.modifier() != drm_modifier_linear)
    return nb::none();
  nb::list planes;
  for (std::size_t i = 0; i < t.plane_count() && t.is_image(); ++i) {
    const ImagePlane plane = take(t.image_plane(i));
    if (plane.buffer != t.buffer()) return nb::none();
    planes.append(nb::make_tuple(plane.offset_bytes, plane.stride_bytes));
  }
  nb::list strides;
  for (std::size_t i = 0; i < t.rank(); ++i)
    strides.append(t.layout().stride_bytes[i]);
  return nb::make_tuple(dtype_str(t.dtype()), shape_list(t.shape()), strides, t.offset_bytes(),
                        t.width(), t.height(), t.format() ? enum_to(*t.format()) : nb::none(),
                        planes);
}

// Reads the state that shared_state() has written. Anybody may have changed it since, so each value
// is checked here, and against the memory when the tensor is made.
struct SharedState {
  explicit SharedState(const nb::tuple& state);
  DType dtype = DType::u8;
  Layout layout;
  std::size_t offset_bytes = 0;
  std::size_t width = 0;
  std::size_t height = 0;
  std::optional<PixelFormat> format;
  std::vector<std::pair<std::size_t, std::size_t>> planes;  // offset and stride

 private:
  void read_strides(nb::handle strides);
  void read_planes(nb::handle list);
};

SharedState::SharedState(const nb::tuple& state) {
  if (nb::len(state) != 8)
    raise(Errc::invalid_argument,
          "state: must be a tuple of 8 values (" + std::to_string(nb::len(state)) + ")");
  dtype = dtype_from(state[0], "state.dtype");
  layout = take(Layout::contiguous(dtype, shape_from(state[1], "state.shape").dims()));
  read_strides(state[2]);
  offset_bytes = size_from(state[3], "state.offset", PTRDIFF_MAX);
  width = size_from(state[4], "state.width");
  height = size_from(state[5], "state.height");
  const nb::object named = state[6];
  if (!named.is_none()) format = enum_from<PixelFormat>(named, "state.format");
  read_planes(state[7]);
}

void SharedState::read_strides(nb::handle strides) {
  const std::size_t count = for_each_item(strides, "state.strides", "a sequence of ints",
                                          layout.rank, [&](nb::handle item, std::size_t i) {
                                            layout.stride_bytes[i] = PyLong_AsSsize_t(item.ptr());
                                            if (PyErr_Occurred() != nullptr)
                                              replace_type_error("state.strides", "ints", item);
                                          });
  if (count != layout.rank)
    raise(Errc::invalid_argument, "state.strides: must be as many as axes, " +
                                      std::to_string(layout.rank) + " (" +
                                      count_text(count, layout.rank) + ")");
}

void SharedState::read_planes(nb::handle list) {
  constexpr const char* wanted = "a sequence of (offset, stride)";
  const std::size_t expected = format ? info(*format).planes : 0;
  const std::size_t count =
      for_each_item(list, "state.planes", wanted, expected, [&](nb::handle plane, std::size_t) {
        std::array<std::size_t, 2> pair{};
        const auto add = [&](nb::handle item, std::size_t i) {
          pair[i] = size_from(item, "state.planes", PTRDIFF_MAX);
        };
        if (for_each_item(plane, "state.planes", wanted, 2, add) != 2)
          raise_wrong_type("state.planes", wanted, plane);
        planes.emplace_back(pair[0], pair[1]);
      });
  if (count != expected)
    raise(Errc::invalid_argument, "state.planes: must be " + std::to_string(expected) + " (" +
                                      count_text(count, expected) + ")");
}

Tensor image_from_planes(const std::shared_ptr<Buffer>& buffer, const SharedState& state) {
  std::vector<Tensor::PlaneSource> sources;
  for (const auto& [offset, stride] : state.planes)
    sources.push_back({buffer, offset, stride, 0});
  if (info(*state.format).kind == FormatKind::planar && sources.size() > 1) {
    if (sources[1].offset_bytes <= sources[0].offset_bytes)
      raise(Errc::invalid_argument, "state.planes: their offsets must increase");
    sources[0].plane_stride_bytes = sources[1].offset_bytes - sources[0].offset_bytes;
    sources.resize(1);
  }
  return take(Tensor::wrap_image(sources, state.width, state.height, *state.format, state.dtype));
}

// The descriptor stays the caller's, even if the call fails.
template <class Kind>
nb::object from_shared(nb::handle fd, const nb::tuple& state) {
  const std::int32_t number = int_from(fd, "fd");
  if (number < 0) raise(Errc::invalid_argument, "fd: must not be negative");
  const SharedState checked(state);
  const auto buffer = take(Importer::shared().import_buffer(number));
  if (checked.format) return tensor_result<Kind>(image_from_planes(buffer, checked));
  return tensor_result<Kind>(take(Tensor::wrap(buffer, checked.layout, checked.offset_bytes)));
}

template <class Kind>
void def_shared(nb::class_<Kind, PyTensor>& cls) {
  cls.def_static(
         "from_fd", &from_fd<Kind>, nb::arg("fd"), nb::arg("shape"), nb::arg("dtype") = "float32",
         nb::arg("name") = nb::none(), nb::kw_only(), nb::arg("require_sealed") = false,
         nb::sig("def from_fd(fd: int, shape: Sequence[int], dtype: DTypeLike = 'float32', name: "
                 "str | None = None, *, require_sealed: bool = False) -> Tensor"),
         "A tensor over a DMA-BUF or shared memory. The descriptor is duplicated: close yours.\n"
         "With `require_sealed`, memory that its owner can shrink is sealed, or refused: a read "
         "of\n"
         "removed memory ends the process. Raises RuntimeError for other\n"
         "descriptors and for memory that is too small.")
      .def_static(
          "from_iosurface",
          [](nb::handle, nb::handle, nb::handle, nb::handle) -> nb::object {
            raise(Errc::unsupported, "from_iosurface: there are no IOSurfaces on this system");
          },
          nb::arg("surface_ref"), nb::arg("shape"), nb::arg("dtype") = "uint8",
          nb::arg("name") = nb::none(), "Raises RuntimeError: IOSurfaces are Apple's.")
      .def_static("_from_shared", &from_shared<Kind>, nb::arg("fd"), nb::arg("state"),
                  nb::sig("def _from_shared(fd: int, state: tuple[Any, ...]) -> Tensor"));
}

}  // namespace

template <class Class>
void add_shared(Class& cls) {
  def_shared(cls);
}
template void add_shared(NativeTensorClass& cls);
template void add_shared(ReferenceTensorClass& cls);

void add_descriptors(TensorClass& cls) {
  cls.def_prop_ro(
         "fd", [](const PyTensor& t) { return descriptor_of(t, false); },
         "A new descriptor of the memory each time, yours to close. Raises RuntimeError\n"
         "for memory without one (the heap).")
      .def(
          "dmabuf_clone", [](const PyTensor& t) { return descriptor_of(t, true); },
          "A new descriptor of the DMA-BUF, yours to close. Raises RuntimeError for other memory.")
      .def_prop_ro(
          "iosurface_id", [](const PyTensor&) { return nb::none(); },
          "None: IOSurfaces are Apple's.")
      .def_prop_ro(
          "iosurface_ref", [](const PyTensor&) { return nb::none(); },
          "None: IOSurfaces are Apple's.")
      .def_prop_ro(
          "_borrowed_fd",
          [](const PyTensor& t) { return t.value.is_empty() ? -1 : t.value.buffer()->fd(); })
      .def_prop_ro(
          "_dtype_name", [](const PyTensor& t) { return dtype_str(t.value.dtype()); },
          nb::sig("def _dtype_name(self) -> str"))
      .def("_shared_state", &shared_state)
      .def("_set_name",
           [](PyTensor& t, nb::handle name) { t.value.set_name(text_from(name, "name")); });
}

}  // namespace halyard::python
