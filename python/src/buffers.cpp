// SPDX-License-Identifier: Apache-2.0
// What buffers.h says. A view carries its own shape and strides, so later changes of a tensor do
// not reach it.
#include "buffers.h"

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "enums.h"

namespace halyard::python {
namespace {

std::atomic<bool> has_ended{false};
// Threads between the check of has_ended and the interpreter's lock.
std::atomic<int> returning{0};
std::atomic<PyThreadState*> ending_thread{nullptr};

// The last of the program that Python runs: who still wants the interpreter's lock gets it now, and
// nobody later.
void end() {
  ending_thread.store(PyGILState_GetThisThreadState());
  has_ended.store(true);
  PyThreadState* state = PyEval_SaveThread();
  for (int i = 0; i < 1000 && returning.load() > 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  PyEval_RestoreThread(state);
}

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

// Why these flags cannot be served; null: they can.
const char* why_not(const TensorMap& map, int flags) {
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
  if ((flags & PyBUF_FORMAT) != 0 && codes[static_cast<std::size_t>(layout.dtype)] == nullptr)
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

// Runs `fill`, which may throw bad_alloc alone.
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

int fill_view(PyObject* exporter, Py_buffer* view, int flags,
              const std::shared_ptr<SharedMap>& map) noexcept {
  return guarded(view, [&] {
    const Layout& layout = map->map.layout();
    if (const char* why = why_not(map->map, flags)) return refuse(why);
    auto* exported = new Exported(map);
    for (std::size_t i = 0; i < layout.rank; ++i) {
      exported->shape[i] = static_cast<Py_ssize_t>(layout.shape[i]);
      exported->strides[i] = layout.stride_bytes[i];
    }
    fill_common(exporter, view, map->map);
    view->itemsize = static_cast<Py_ssize_t>(size_of(layout.dtype));
    view->len = static_cast<Py_ssize_t>(layout.size_bytes());
    view->format = (flags & PyBUF_FORMAT) != 0
                       ? const_cast<char*>(codes[static_cast<std::size_t>(layout.dtype)])
                       : nullptr;
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

// The element type of a buffer's format; none when there is no such type here.
std::optional<DType> dtype_of_format(std::string_view format, std::size_t item_size) {
  if (!format.empty() && (format[0] == '@' || format[0] == '=' || format[0] == '<' ||
                          format[0] == '|' || format[0] == '^')) {
    format.remove_prefix(1);
  }
  if (format.size() != 1) return std::nullopt;
  const auto sized = [&](std::array<std::optional<DType>, 4> by_log2) {
    return std::has_single_bit(item_size) && item_size <= 8 ? by_log2[std::countr_zero(item_size)]
                                                            : std::nullopt;
  };
  switch (format[0]) {
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
    case 'N':
    case 'c':
      return sized({DType::u8, DType::u16, DType::u32, DType::u64});
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
    case 'n':
      return sized({DType::i8, DType::i16, DType::i32, DType::i64});
    case 'e':
    case 'f':
    case 'd':
      return sized({std::nullopt, DType::f16, DType::f32, DType::f64});
    case '?':
      return DType::boolean;
    default:
      return std::nullopt;
  }
}

// The bytes from the lowest element to behind the highest; offset of element 0 from the lowest.
struct Reach {
  std::ptrdiff_t lowest = 0;
  std::ptrdiff_t end = 0;
};
Reach reach_of(const Layout& layout) {
  if (layout.element_count() == 0) return {};
  Reach reach{0, static_cast<std::ptrdiff_t>(size_of(layout.dtype))};
  for (std::size_t i = 0; i < layout.rank; ++i) {
    const auto way = static_cast<std::ptrdiff_t>(layout.shape[i] - 1) * layout.stride_bytes[i];
    (way < 0 ? reach.lowest : reach.end) += way;
  }
  return reach;
}

// Holds an export until the last user of the bytes is gone, on whatever thread that happens.
struct Held {
  Py_buffer view{};
  bool is_held = false;
  ~Held() {
    if (!is_held) return;
    returning.fetch_add(1);
    if (is_python_alive()) {
      const PyGILState_STATE state = PyGILState_Ensure();
      returning.fetch_sub(1);
      PyBuffer_Release(&view);
      PyGILState_Release(state);
    } else {
      returning.fetch_sub(1);
    }
  }
};

}  // namespace

Layout buffer_layout(const Py_buffer& view, const char* argument) {
  std::string_view format = view.format == nullptr ? "B" : view.format;
  if (!format.empty() && (format[0] == '>' || format[0] == '!')) {
    if (view.itemsize > 1)
      raise(Errc::invalid_argument, std::string(argument) + ": must be in native byte order");
    format.remove_prefix(1);
  }
  const auto dtype = dtype_of_format(format, static_cast<std::size_t>(view.itemsize));
  if (!dtype)
    raise(Errc::invalid_argument,
          std::string(argument) + ": no element type of this format (" + std::string(format) + ")");
  if (view.suboffsets != nullptr)
    raise(Errc::unsupported, std::string(argument) + ": indirect buffers are not taken");
  if (view.ndim < 1 || view.ndim > static_cast<int>(max_rank))
    raise(Errc::invalid_argument,
          std::string(argument) + ": must have 1 to 8 axes (" + std::to_string(view.ndim) + ")");
  Layout layout;
  layout.dtype = *dtype;
  layout.rank = static_cast<std::uint8_t>(view.ndim);
  for (std::size_t i = 0; i < layout.rank; ++i) {
    layout.shape[i] = static_cast<std::size_t>(view.shape[i]);
    layout.stride_bytes[i] = view.strides[i];
  }
  return layout;
}

Tensor wrap_buffer(nb::handle object, const char* argument, bool to_write) {
  const auto held = std::make_shared<Held>();
  Py_buffer& view = held->view;
  if (PyObject_GetBuffer(object.ptr(), &view, PyBUF_FULL_RO) != 0) {
    // bfloat16 of ml_dtypes has no buffer, its bits have.
    PyErr_Clear();
    const nb::object dtype = nb::getattr(object, "dtype", nb::none());
    if (dtype.is_none() || dtype_from(dtype, argument) != DType::bf16)
      raise(Errc::unsupported, std::string(argument) + ": its memory cannot be seen as a buffer");
    const nb::object bits = object.attr("view")("uint16");
    Tensor tensor = wrap_buffer(bits, argument, to_write);
    Layout layout = tensor.layout();
    layout.dtype = DType::bf16;
    return take(Tensor::wrap(tensor.buffer(), layout, tensor.offset_bytes()));
  }
  held->is_held = true;
  if (to_write && view.readonly != 0)
    raise(Errc::permission, std::string(argument) + ": its memory is read-only");
  const Layout layout = buffer_layout(view, argument);
  const Reach reach = reach_of(layout);
  auto* lowest = static_cast<std::byte*>(view.buf) + reach.lowest;
  const auto size = static_cast<std::size_t>(reach.end - reach.lowest);
  auto buffer = view.readonly != 0
                    ? take(wrap_memory(static_cast<const void*>(lowest), size, [held] {}))
                    : take(wrap_memory(static_cast<void*>(lowest), size, [held] {}));
  return take(Tensor::wrap(std::move(buffer), layout, static_cast<std::size_t>(-reach.lowest)));
}

InterpreterReleased::~InterpreterReleased() {
  returning.fetch_add(1);
  if (has_ended.load()) {
    returning.fetch_sub(1);
    // The thread that ends the interpreter itself may come back.
    if (PyGILState_GetThisThreadState() != ending_thread.load())
      while (true)
        std::this_thread::sleep_for(std::chrono::hours(1));
    PyEval_RestoreThread(state_);
    return;
  }
  PyEval_RestoreThread(state_);
  returning.fetch_sub(1);
}

bool is_python_alive() noexcept {
  return !has_ended.load(std::memory_order_acquire) && Py_IsInitialized() != 0;
}

void bind_buffers(nb::module_& m) {
  m.def("_ending", &end);
  nb::module_::import_("atexit").attr("register")(m.attr("_ending"));
}

}  // namespace halyard::python
