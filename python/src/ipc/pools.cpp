// SPDX-License-Identifier: Apache-2.0
// TensorPool and its statistics.
#include "ipc/pools.h"

#include <nanobind/stl/string.h>

#include <cmath>
#include <string>
#include <utility>

#include "args.h"
#include "enums.h"
#include "words.h"

namespace halyard::python {
namespace {

using PoolClass = nb::class_<PyPool>;

constexpr const char* pool_doc =
    "Memory for tensors that processes share, identified by a number.\n\n"
    "Each process allocates from memory that only it can write; the others map it read-only.\n"
    "The memory that a process held is free at once when it ends, however it ends. In one process "
    "all\n"
    "objects of one number are the same pool. A context manager: the end of ``with`` releases\n"
    "the pool; live tensors keep their memory.\n\n"
    "Args:\n"
    "    pool_id: the pool's number; the pool is made if no process has it, else opened.\n"
    "    size_mb: MiB of all live tensors, in all processes; also a fraction.\n"
    "    max_slots: maximum number of live tensors, 1..1048576.\n"
    "    slot_alignment: bytes, a power of two, 64..4096.\n"
    "    scrub: when the bytes of a freed tensor are set to zero: \"never\", \"on_handover\" "
    "(before\n"
    "        another process gets them) or \"on_free\".\n"
    "    prefault, lock_memory, huge_pages: how this process allocates memory of the system.\n\n"
    "Raises halyard.Error: a wrong limit (the message names it), or other limits than those that\n"
    "the pool has. Thread-safe. A child of fork() must open the pool again.";

TensorPool& pool_of(const PyPool& self) {
  if (!self.pool) raise(Errc::invalid_argument, "pool: is closed");
  return *self.pool;
}

// For calls that work on the pool. A child of fork() may ask its parent's object only for facts.
std::shared_ptr<TensorPool> kept_pool(const PyPool& self) {
  TensorPool& pool = pool_of(self);
  if (self.process != ::getpid())
    raise(Errc::unsupported, "pool: belongs to the process that forked this one");
  return pool.shared_from_this();
}

std::uint64_t bytes_of_mb(nb::handle size_mb) {
  const double size = number_from(size_mb, "size_mb");
  if (!(size > 0) || size > double(1ULL << 40U))
    raise(Errc::invalid_argument,
          "size_mb: must be above 0 and below 2^40 (" + std::to_string(size) + ")");
  return static_cast<std::uint64_t>(std::llround(size * double(1U << 20U)));
}

std::uint32_t number_of_32(nb::handle object, const char* argument) {
  return static_cast<std::uint32_t>(size_from(object, argument, UINT32_MAX));
}

// An empty shape, which other tensors cannot have, means one element.
Shape pool_shape_from(nb::handle shape) {
  if (PyTuple_Check(shape.ptr()) == 0 && PyList_Check(shape.ptr()) == 0)
    return shape_from(shape, "shape");
  return nb::len(shape) == 0 ? Shape() : shape_from(shape, "shape");
}

// Allocates; waits for free space if `timeout` is a number of seconds.
nb::object alloc(const PyPool& self, nb::handle shape, nb::handle dtype, nb::handle device,
                 nb::handle timeout) {
  const auto pool = kept_pool(self);
  const Shape extents = pool_shape_from(shape);
  const DType type = dtype_from(dtype, "dtype");
  const Device where = device_from(device, "device");
  if (timeout.is_none())
    return handle_result(take(released([&] { return pool->alloc(extents.dims(), type, where); })));
  return handle_result(take(call_in_slices(
      timeout, [&](auto slice) { return pool->alloc_for(extents.dims(), type, where, slice); })));
}

nb::object alloc_image(const PyPool& self, nb::handle width, nb::handle height, nb::handle format,
                       nb::handle dtype) {
  const auto pool = kept_pool(self);
  const std::size_t columns = size_from(width, "width");
  const std::size_t rows = size_from(height, "height");
  const auto pixels = enum_from<PixelFormat>(format, "format");
  const DType type = dtype_from(dtype, "dtype");
  return handle_result(
      take(released([&] { return pool->alloc_image(columns, rows, pixels, type); })));
}

nb::object alloc_frame(const PyPool& self, nb::handle timeout) {
  const auto pool = kept_pool(self);
  if (timeout.is_none()) return handle_result(take(released([&] { return pool->alloc_frame(); })));
  return handle_result(
      take(call_in_slices(timeout, [&](auto slice) { return pool->alloc_frame(slice); })));
}

nb::object attach(const PyPool& self, nb::handle descriptor) {
  const auto pool = kept_pool(self);
  const TensorDescriptor named = descriptor_from(descriptor, "descriptor");
  return handle_result(take(released([&] { return pool->attach(named); })));
}

TensorPoolConfig make_config(nb::handle size_mb, nb::handle max_slots, nb::handle slot_alignment,
                             nb::handle scrub, bool prefault, bool lock_memory, bool huge_pages) {
  TensorPoolConfig config;
  config.pool_size = bytes_of_mb(size_mb);
  config.max_slots = number_of_32(max_slots, "max_slots");
  config.slot_alignment = number_of_32(slot_alignment, "slot_alignment");
  config.scrub = word_from<Scrub>(scrub, "scrub", "way to scrub");
  config.prefault = prefault;
  config.lock_memory = lock_memory;
  config.huge_pages = huge_pages;
  return config;
}

void bind_config(nb::module_& m) {
  using Config = TensorPoolConfig;
  nb::class_<Config>(m, "TensorPoolConfig",
                     "Limits of a pool, as those of TensorPool: a topic's own pool is made\n"
                     "with.")
      .def(
          "__init__",
          [](Config* self, nb::handle size_mb, nb::handle max_slots, nb::handle slot_alignment,
             nb::handle scrub, bool prefault, bool lock_memory, bool huge_pages) {
            new (self) Config(make_config(size_mb, max_slots, slot_alignment, scrub, prefault,
                                          lock_memory, huge_pages));
          },
          nb::arg("size_mb") = 1024, nb::arg("max_slots") = 1024, nb::kw_only(),
          nb::arg("slot_alignment") = 64, nb::arg("scrub") = "on_handover",
          nb::arg("prefault") = false, nb::arg("lock_memory") = false,
          nb::arg("huge_pages") = false,
          nb::sig("def __init__(self, size_mb: float = 1024, max_slots: int = 1024, *, "
                  "slot_alignment: int = 64, scrub: str = 'on_handover', prefault: bool = False, "
                  "lock_memory: bool = False, huge_pages: bool = False) -> None"))
      .def_ro("pool_size", &Config::pool_size, "Maximum bytes of all live tensors.")
      .def_ro("max_slots", &Config::max_slots, "Maximum number of live tensors.")
      .def_ro("slot_alignment", &Config::slot_alignment, "Bytes.")
      .def_static("small", &Config::small, "64 MiB and 256 slots.")
      .def_static("large", &Config::large, "4 GiB and 4096 slots.");
}

void add_making(PoolClass& cls) {
  cls.def(
         "__init__",
         [](PyPool* self, nb::handle pool_id, nb::handle size_mb, nb::handle max_slots,
            nb::handle slot_alignment, nb::handle scrub, bool prefault, bool lock_memory,
            bool huge_pages) {
           const TensorPoolConfig config = make_config(size_mb, max_slots, slot_alignment, scrub,
                                                       prefault, lock_memory, huge_pages);
           const std::uint32_t id = number_of_32(pool_id, "pool_id");
           new (self) PyPool{take(released([&] { return TensorPool::create(id, config); }))};
         },
         nb::arg("pool_id") = 1, nb::arg("size_mb") = 1024, nb::arg("max_slots") = 1024,
         nb::kw_only(), nb::arg("slot_alignment") = 64, nb::arg("scrub") = "on_handover",
         nb::arg("prefault") = false, nb::arg("lock_memory") = false, nb::arg("huge_pages") = false,
         nb::sig("def __init__(self, pool_id: int = 1, size_mb: float = 1024, max_slots: int = "
                 "1024, *, slot_alignment: int = 64, scrub: str = 'on_handover', prefault: bool = "
                 "False, lock_memory: bool = False, huge_pages: bool = False) -> None"))
      .def_static(
          "open",
          [](nb::handle pool_id) {
            const std::uint32_t id = number_of_32(pool_id, "pool_id");
            return pool_result(take(released([&] { return TensorPool::open(id); })));
          },
          nb::arg("pool_id"), nb::sig("def open(pool_id: int) -> TensorPool"),
          "A pool that a process has open, with its limits. Raises MissingFileError\n"
          "if there is none.");
}

void add_allocating(PoolClass& cls) {
  cls.def("alloc", &alloc, nb::arg("shape"), nb::arg("dtype") = "float32",
          nb::arg("device") = "cpu", nb::kw_only(), nb::arg("timeout") = nb::none(),
          nb::sig("def alloc(self, shape: Sequence[int], dtype: DTypeLike = 'float32', device: "
                  "Device | str = 'cpu', *, timeout: float | None = None) -> TensorHandle"),
          "A tensor with the bytes that the slot held before; an empty shape is one element.\n"
          "`timeout`: seconds to wait for free space; None: does not wait. Raises CapacityError "
          "(no\n"
          "free space; the message tells which limit), WaitTimeoutError, UnsupportedError (a "
          "device\n"
          "other than the CPU; a child of fork()), InvalidArgumentError (the shape).")
      .def("alloc_image", &alloc_image, nb::arg("width"), nb::arg("height"), nb::arg("format"),
           nb::arg("dtype") = "uint8",
           nb::sig("def alloc_image(self, width: int, height: int, format: PixelFormatLike, dtype: "
                   "DTypeLike = 'uint8') -> TensorHandle"),
           "An image with the layout of Tensor.image(). Raises as alloc().")
      .def("alloc_frame", &alloc_frame, nb::kw_only(), nb::arg("timeout") = nb::none(),
           nb::sig("def alloc_frame(self, *, timeout: float | None = None) -> TensorHandle"),
           "A frame of a pool that Reconciled.pool() made: its image, else its tensor, as all\n"
           "parties agreed. Raises UnsupportedError (the pool has no frames), and as alloc().")
      .def("attach", &attach, nb::arg("descriptor"),
           nb::sig("def attach(self, descriptor: TensorDescriptor | Buffer) -> TensorHandle"),
           "The tensor that a descriptor names, of any process of the pool: read-only. Raises\n"
           "InvalidArgumentError (another pool), MissingFileError (the tensor is gone), DataError\n"
           "(malformed bytes).")
      .def(
          "validate",
          [](const PyPool& self, nb::handle descriptor) {
            const auto pool = kept_pool(self);
            const TensorDescriptor named = descriptor_from(descriptor, "descriptor");
            check(released([&] { return pool->validate(named); }));
          },
          nb::arg("descriptor"),
          nb::sig("def validate(self, descriptor: TensorDescriptor | Buffer) -> None"),
          "Raises the errors of attach().");
}

void add_state(PoolClass& cls) {
  cls.def(
         "stats",
         [](const PyPool& self) {
           const auto pool = kept_pool(self);
           return released([&] { return pool->stats(); });
         },
         "Counts over all processes of the pool.")
      .def(
          "close", [](PyPool& self) { released([pool = std::exchange(self.pool, nullptr)] {}); },
          "Releases the pool; a second call does nothing. Live tensors stay valid.")
      .def_prop_ro(
          "pool_id", [](const PyPool& self) { return pool_of(self).pool_id(); },
          "The pool's number.")
      .def_prop_ro(
          "is_owner", [](const PyPool& self) { return pool_of(self).is_owner(); },
          "Whether this process made the pool.")
      .def_prop_ro(
          "max_slots", [](const PyPool& self) { return pool_of(self).config().max_slots; },
          "Maximum number of live tensors.")
      .def_prop_ro(
          "pool_size", [](const PyPool& self) { return pool_of(self).config().pool_size; },
          "Maximum bytes of all live tensors.")
      .def_prop_ro(
          "slot_alignment",
          [](const PyPool& self) { return pool_of(self).config().slot_alignment; },
          "Alignment of each tensor in bytes.")
      .def_prop_ro(
          "frame",
          [](const PyPool& self) -> nb::object {
            const auto& frame = pool_of(self).config().frame;
            return frame ? str_of(frame->describe()) : nb::none();
          },
          nb::sig("def frame(self) -> str | None"),
          "A text that describes the frames of alloc_frame(); None: the pool has no frames.");
}

void add_protocols(PoolClass& cls) {
  cls.def(
         "__enter__",
         [](nb::handle_t<PyPool> self) {
           pool_of(instance_of<PyPool>(self));
           return nb::borrow(self);
         },
         nb::sig("def __enter__(self) -> TensorPool"))
      .def(
          "__exit__",
          [](nb::handle_t<PyPool> self, nb::handle, nb::handle, nb::handle) {
            self.attr("close")();
          },
          nb::arg("exc_type").none(), nb::arg("exc").none(), nb::arg("traceback").none())
      .def(
          "__eq__",
          [](const PyPool& self, nb::handle other) {
            const PyPool* pool = nullptr;
            return nb::try_cast(other, pool) && pool != nullptr && pool->pool == self.pool;
          },
          nb::arg("other").none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__",
           [](const PyPool& self) { return std::hash<const TensorPool*>()(self.pool.get()); })
      .def("__repr__", [](const PyPool& self) {
        return self.pool ? "TensorPool(" + std::to_string(self.pool->pool_id()) + ")"
                         : std::string("TensorPool(closed)");
      });
}

void bind_stats(nb::module_& m) {
  using Stats = TensorPoolStats;
  nb::class_<Stats>(m, "TensorPoolStats", nb::type_slots(made_by_calls),
                    "Counts over all processes of a pool; exact if nobody allocates meanwhile.")
      .def_ro("pool_id", &Stats::pool_id)
      .def_ro("max_slots", &Stats::max_slots)
      .def_ro("pool_size", &Stats::pool_size, "Bytes.")
      .def_ro("allocated_slots", &Stats::allocated_slots)
      .def_ro("processes", &Stats::processes, "Processes that have the pool open.")
      .def_ro("total_refcount", &Stats::total_refcount,
              "Handles, frames in topics' windows, and borrowing processes.")
      .def_ro("used_bytes", &Stats::used_bytes)
      .def_ro("free_bytes", &Stats::free_bytes, "pool_size less used_bytes.")
      .def_ro("reserved_bytes", &Stats::reserved_bytes, "Memory allocated from the system.")
      .def_ro("peak_used_bytes", &Stats::peak_used_bytes, "Sum of the maxima of each process.")
      .def_ro("failed_allocations", &Stats::failed_allocations)
      .def_prop_ro("slot_utilization", &Stats::slot_utilization, "0..1.")
      .def_prop_ro("data_utilization", &Stats::data_utilization, "0..1.")
      .def_prop_ro("is_under_pressure", &Stats::is_under_pressure,
                   "More than 80 % of the slots or of the bytes are in use.")
      .def("summary", &Stats::summary, "One readable line.")
      .def("__repr__",
           [](const Stats& stats) { return "TensorPoolStats(" + stats.summary() + ")"; });
}

}  // namespace

nb::object pool_result(std::shared_ptr<TensorPool> pool) {
  return pool ? nb::cast(PyPool{std::move(pool)}) : nb::none();
}

std::shared_ptr<TensorPool> pool_from(nb::handle object, const char* argument) {
  if (object.is_none()) return nullptr;
  const PyPool* pool = nullptr;
  if (!nb::try_cast(object, pool) || pool == nullptr)
    raise_wrong_type(argument, "a TensorPool or None", object);
  return kept_pool(*pool);
}

TensorPoolConfig pool_config_from(nb::handle object, const char* argument) {
  const TensorPoolConfig* config = nullptr;
  if (!nb::try_cast(object, config) || config == nullptr)
    raise_wrong_type(argument, "a TensorPoolConfig or None", object);
  return *config;
}

std::chrono::nanoseconds timeout_from(nb::handle object, const char* argument) {
  constexpr double longest_s = 1e9;
  if (object.is_none()) return std::chrono::nanoseconds(-1);
  const double seconds = number_from(object, argument);
  if (!(seconds >= 0))
    raise(Errc::invalid_argument, std::string(argument) + ": must be 0 or more seconds, or None (" +
                                      std::to_string(seconds) + ")");
  if (seconds > longest_s) return std::chrono::nanoseconds(-1);
  return std::chrono::nanoseconds(std::llround(seconds * 1e9));
}

void check_signals() {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

void bind_pools(nb::module_& m) {
  bind_stats(m);
  bind_config(m);
  PoolClass cls(m, "TensorPool", nb::is_weak_referenceable(), pool_doc);
  add_making(cls);
  add_allocating(cls);
  add_state(cls);
  add_protocols(cls);
  m.def(
      "default_pool", [] { return pool_result(take(released([] { return default_pool(); }))); },
      nb::sig("def default_pool() -> TensorPool"),
      "This process's own pool, for messages without a pool.");
}

}  // namespace halyard::python
