// SPDX-License-Identifier: Apache-2.0
// The buffer protocol. A view has its own shape and strides, so later changes of a tensor do
// not affect it.
#include "tensor/buffers.h"

#include <array>
#include <span>
#include <string>
#include <utility>

#include "enums.h"
#include "tensor/array_view.h"

namespace halyard::python {
namespace {

// Codes of the struct module, by DType; bfloat16 has none.
constexpr std::array<const char*, 13> codes = {"B", "b", "H", "h", "I",     "i", "Q",
                                               "q", "e", "f", "d", nullptr, "?"};

struct Exported {
  explicit Exported(std::shared_ptr<SharedMap> shared) : map(std::move(shared)) { ++map->views; }
  ~Exported() { --map->views; }
  Exported(const Exported&) = delete;
  Exported& operator=(const Exported&) = delete;
  std::shared_ptr<SharedMap> map;
  std::array<Py_ssize_t, max_rank> shape{};
  std::array<Py_ssize_t, max_rank> strides{};
};

int refuse(const char* why) noexcept {
  PyErr_SetString(PyExc_BufferError, why);
  return -1;
}

bool is_fortran_contiguous(const Layout& layout) {
  std::size_t step = size_of(layout.dtype);
  for (std::size_t i = 0; i < layout.rank; ++i) {
    if (layout.shape[i] != 1 && layout.stride_bytes[i] != static_cast<std::ptrdiff_t>(step))
      return false;
    step *= layout.shape[i];
  }
  return true;
}

// Whether elements follow one another in C order, with or without gaps. Then the bytes from the
// first one on, as many as all elements have, are within the reach of the elements. False if a
// stride is negative or 0, or if an outer axis steps less than an inner one.
bool has_rows_in_order(const Layout& layout) {
  if (layout.element_count() == 0) return true;
  std::size_t within = size_of(layout.dtype);
  for (std::size_t i = layout.rank; i-- > 0;) {
    if (layout.shape[i] == 1) continue;
    if (layout.stride_bytes[i] < 0 || static_cast<std::size_t>(layout.stride_bytes[i]) < within)
      return false;
    within += static_cast<std::size_t>(layout.stride_bytes[i]) * (layout.shape[i] - 1);
  }
  return true;
}

// Why these flags cannot be satisfied; null: they can.
const char* why_not(const TensorMap& map, int flags, const char* code) {
  const Layout& layout = map.layout();
  if ((flags & PyBUF_WRITABLE) != 0 && map.writable() == nullptr)
    return "tensor: its memory is read-only";
  if (!map.planes_adjacent()) return "tensor: its planes lie in several places";
  const bool is_c = layout.is_contiguous();
  if ((flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS && !is_c)
    return "tensor: its rows are padded; take a strided view (numpy.asarray)";
  if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && !is_fortran_contiguous(layout))
    return "tensor: not in Fortran order";
  if ((flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS && !is_c &&
      !is_fortran_contiguous(layout))
    return "tensor: not contiguous";
  if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES && !is_c)
    return "tensor: its rows are padded; take a strided view (numpy.asarray)";
  if ((flags & PyBUF_FORMAT) != 0 && code == nullptr)
    return "tensor: bfloat16 has no buffer format; use numpy.asarray with ml_dtypes";
  return nullptr;
}

void fill_common(PyObject* exporter, Py_buffer* view, const TensorMap& map) {
  view->obj = exporter;
  Py_INCREF(exporter);
  view->buf = const_cast<std::byte*>(map.data());
  view->readonly = map.writable() == nullptr ? 1 : 0;
  view->suboffsets = nullptr;
}

// Runs `fill`, which may throw only bad_alloc.
template <class F>
int guarded(Py_buffer* view, F&& fill) noexcept {
  if (view == nullptr) return refuse("view: is null");
  view->obj = nullptr;
  try {
    return fill();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
    return -1;
  }
}

}  // namespace

int fill_view(PyObject* exporter, Py_buffer* view, int flags, const std::shared_ptr<SharedMap>& map,
              bool bits) noexcept {
  return guarded(view, [&] {
    const Layout& layout = map->map.layout();
    const DType shown = bits && layout.dtype == DType::bf16 ? DType::u16 : layout.dtype;
    const char* const code = codes[static_cast<std::size_t>(shown)];
    if (const char* why = why_not(map->map, flags, code)) return refuse(why);
    auto* exported = new Exported(map);
    for (std::size_t i = 0; i < layout.rank; ++i) {
      exported->shape[i] = static_cast<Py_ssize_t>(layout.shape[i]);
      exported->strides[i] = layout.stride_bytes[i];
    }
    fill_common(exporter, view, map->map);
    view->itemsize = static_cast<Py_ssize_t>(size_of(layout.dtype));
    view->len = static_cast<Py_ssize_t>(layout.size_bytes());
    view->format = (flags & PyBUF_FORMAT) != 0 ? const_cast<char*>(code) : nullptr;
    const bool has_shape = (flags & PyBUF_ND) != 0;
    view->ndim = has_shape ? layout.rank : 1;
    view->shape = has_shape ? exported->shape.data() : nullptr;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? exported->strides.data() : nullptr;
    view->internal = exported;
    return 0;
  });
}

int fill_flat_view(PyObject* exporter, Py_buffer* view, int flags,
                   const std::shared_ptr<SharedMap>& map) noexcept {
  return guarded(view, [&] {
    const bool is_writable = map->map.writable() != nullptr;
    if ((flags & PyBUF_WRITABLE) != 0 && !is_writable)
      return refuse("tensor: its memory is read-only");
    if (!map->map.planes_adjacent()) return refuse("tensor: its planes lie in several places");
    if (!has_rows_in_order(map->map.layout()))
      return refuse("tensor: its elements do not follow one another; take numpy.asarray");
    auto* exported = new Exported(map);
    const auto size = static_cast<Py_ssize_t>(map->map.layout().size_bytes());
    exported->shape[0] = size;
    exported->strides[0] = 1;
    fill_common(exporter, view, map->map);
    view->itemsize = 1;
    view->len = size;
    view->format = (flags & PyBUF_FORMAT) != 0 ? const_cast<char*>("B") : nullptr;
    view->ndim = 1;
    view->shape = (flags & PyBUF_ND) != 0 ? exported->shape.data() : nullptr;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? exported->strides.data() : nullptr;
    view->internal = exported;
    return 0;
  });
}

void release_view(PyObject*, Py_buffer* view) noexcept {
  delete static_cast<Exported*>(view->internal);
  view->internal = nullptr;
}

std::shared_ptr<SharedMap> map_shared(const Tensor& tensor) {
  const bool is_writable = !tensor.is_empty() && tensor.buffer()->is_writable();
  return std::make_shared<SharedMap>(tensor, is_writable ? Access::read_write : Access::read);
}

namespace {

// Holds an export until the last user of the bytes is gone, on any thread.
struct Held {
  ArrayView array;
  ~Held() {
    if (!array.is_open()) return;
    PyGILState_STATE state;
    if (enter_interpreter(state)) {
      array.close();
      PyGILState_Release(state);
    } else {
      array.abandon();
    }
  }
};

// Attached to a buffer over an array that may be in a cycle: names the owner of the memory. The
// release function of the buffer holds `held`, and runs after this is gone.
struct Lender final : Attachment {
  explicit Lender(const Held& of) : held(of) {}
  const Held& held;
};
constexpr char lender_key = 0;

// bfloat16 of ml_dtypes has no buffer, but its bits have one.
Tensor wrap_bfloat16(nb::handle object, const char* argument, bool to_write) {
  const nb::object dtype = nb::getattr(object, "dtype", nb::none());
  if (dtype.is_none() || dtype_from(dtype, argument) != DType::bf16)
    raise(Errc::unsupported, std::string(argument) + ": its memory cannot be seen as a buffer");
  const nb::object bits = object.attr("view")("uint16");
  Tensor tensor = wrap_buffer(bits, argument, to_write);
  Layout layout = tensor.layout();
  if (layout.dtype != DType::u16)
    raise(Errc::invalid_argument, std::string(argument) + ": its bits must be uint16");
  layout.dtype = DType::bf16;
  return take(Tensor::wrap(tensor.buffer(), layout, tensor.offset_bytes()));
}

}  // namespace

Tensor wrap_buffer(nb::handle object, const char* argument, bool to_write) {
  const auto held = std::make_shared<Held>();
  ArrayView& array = held->array;
  if (!array.open(object, argument, ArrayUse::read))
    return wrap_bfloat16(object, argument, to_write);
  if (to_write && array.is_read_only())
    raise(Errc::permission, std::string(argument) + ": its memory is read-only");
  if (to_write && array.overlaps_itself())
    raise(Errc::permission,
          std::string(argument) + ": its elements share bytes, so it cannot be written to");
  const Layout layout = array.layout(argument);
  const std::span<const std::byte> bytes = array.bytes();
  // A write to one of several elements on the same bytes changes all of them.
  const bool is_constant = array.is_read_only() || array.overlaps_itself();
  auto buffer =
      is_constant
          ? take(wrap_memory(static_cast<const void*>(bytes.data()), bytes.size(), [held] {}))
          : take(wrap_memory(const_cast<std::byte*>(bytes.data()), bytes.size(), [held] {}));
  // An object that the collector does not know, such as a plain ndarray, is in no cycle.
  if ((PyType_GetFlags(Py_TYPE(array.exporter())) & Py_TPFLAGS_HAVE_GC) != 0)
    buffer->attach(&lender_key, std::make_unique<Lender>(*held));
  return take(
      Tensor::wrap(std::move(buffer), layout, 0 - static_cast<std::size_t>(array.reach().lowest)));
}

PyObject* lender_of(const Buffer& buffer) noexcept {
  const auto* lender = static_cast<const Lender*>(buffer.attachment(&lender_key));
  return lender == nullptr ? nullptr : lender->held.array.exporter();
}

}  // namespace halyard::python
