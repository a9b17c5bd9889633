// SPDX-License-Identifier: Apache-2.0
// NegotiatedBuffer: tensors over memory that parties agreed on, and locks for its use.
#include "halyard/negotiated_buffer.h"

#include <nanobind/stl/string.h>
#include <sys/types.h>

#include <optional>
#include <string>

#include "args.h"
#include "halyard/buffer_exchange.h"
#include "ipc/pools.h"
#include "reconcile/negotiation.h"
#include "words.h"

namespace halyard::python {
namespace {

using BufferClass = nb::class_<NegotiatedBuffer>;

constexpr const char* buffer_doc =
    "Memory that serves all parties; made by Reconciled.allocate() and import_buffer().\n\n"
    "lock() orders the CPU and the engines of this process: many readers, one writer, and none\n"
    "during an operation that submit() began. Maps of tensor() and image() do not wait. Other\n"
    "processes must be ordered by messages. Thread-safe.";
constexpr const char* lock_doc =
    "CPU access to all bytes of a NegotiatedBuffer until unlock(), the end of ``with``, or the\n"
    "object's end. A buffer of bytes: ``numpy.asarray(lock)``; read-only if it is for reading.\n"
    "Views that outlive the lock keep the memory alive, but must not be used. Belongs to the\n"
    "thread that locked.";
constexpr const char* operation_doc =
    "One use of a buffer by an engine, until finish() or fail(). The end of ``with`` finishes it, "
    "or\n"
    "fails it if an exception is raised. An object that is destroyed before that counts as failed.";

/// Keeps the bytes for views, beyond the lock.
struct PyBufferLock {
  NegotiatedBuffer buffer;
  BufferLock lock;
};

int refuse_bytes(Py_buffer* view, const char* why) noexcept {
  if (view != nullptr) view->obj = nullptr;
  PyErr_SetString(PyExc_BufferError, why);
  return -1;
}

int lock_getbuffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  if (!nb::inst_ready(self)) return refuse_bytes(view, "BufferLock: has not been made");
  const BufferLock& lock = nb::inst_ptr<PyBufferLock>(self)->lock;
  const auto bytes = lock.bytes();
  if (bytes.data() == nullptr) return refuse_bytes(view, "BufferLock: is unlocked");
  return PyBuffer_FillInfo(view, self, const_cast<std::byte*>(bytes.data()),
                           static_cast<Py_ssize_t>(bytes.size()), can_write(lock.access()) ? 0 : 1,
                           flags);
}

PyType_Slot lock_slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(&refuse_new)},
    {Py_bf_getbuffer, reinterpret_cast<void*>(&lock_getbuffer)},
    {0, nullptr},
};

nb::object lock_buffer(const NegotiatedBuffer& self, nb::handle access, nb::handle timeout) {
  const Access wanted = word_from<Access>(access, "access", "access");
  NegotiatedBuffer buffer = self;
  auto held = call_in_slices(timeout, [&](auto slice) { return buffer.lock(wanted, slice); });
  return nb::cast(PyBufferLock{std::move(buffer), take(std::move(held))});
}

void bind_lock(nb::module_& m) {
  nb::class_<PyBufferLock>(m, "BufferLock", nb::type_slots(lock_slots), lock_doc)
      .def(
          "unlock", [](PyBufferLock& self) { check(released([&] { return self.lock.unlock(); })); },
          "Hands the bytes over to engines. Raises InvalidArgumentError (unlocked already),\n"
          "AccessError (another thread's; the lock is kept), SystemCallError (devices were not\n"
          "notified).")
      .def(
          "sync_range",
          [](PyBufferLock& self, nb::handle offset, nb::handle size) {
            const std::size_t from = size_from(offset, "offset_bytes");
            const std::size_t bytes = size_from(size, "size_bytes");
            check(released([&] { return self.lock.sync_range(from, bytes); }));
          },
          nb::arg("offset_bytes"), nb::arg("size_bytes"),
          nb::sig("def sync_range(self, offset_bytes: int, size_bytes: int) -> None"),
          "Hands a range over and keeps the lock. Raises as unlock(), and for a range past the "
          "end.")
      .def_prop_ro(
          "size_bytes", [](const PyBufferLock& self) { return self.lock.bytes().size(); },
          "Bytes of the buffer; 0 once it is unlocked.")
      .def(
          "__enter__",
          [](nb::handle_t<PyBufferLock> self) {
            if (instance_of<PyBufferLock>(self).lock.bytes().data() == nullptr)
              raise(Errc::invalid_argument, "lock: is unlocked");
            return nb::borrow(self);
          },
          nb::sig("def __enter__(self) -> BufferLock"))
      .def(
          "__exit__",
          [](PyBufferLock& self, nb::handle, nb::handle, nb::handle) {
            if (self.lock.bytes().data() == nullptr) return;  // unlock() came before
            check(released([&] { return self.lock.unlock(); }));
          },
          nb::arg("exc_type").none(), nb::arg("exc").none(), nb::arg("traceback").none());
}

/// Null after the end.
struct PyBufferOperation {
  std::optional<BufferOperation> operation;
};

void end_operation(PyBufferOperation& self, std::optional<std::int32_t> code) {
  if (!self.operation) raise(Errc::invalid_argument, "operation: must not have ended before");
  if (code) {
    self.operation->fail(*code);
  } else {
    self.operation->finish();
  }
  self.operation.reset();
}

void bind_operation(nb::module_& m) {
  nb::class_<PyBufferOperation>(m, "BufferOperation", nb::type_slots(made_by_calls), operation_doc)
      .def(
          "finish", [](PyBufferOperation& self) { end_operation(self, std::nullopt); },
          "The engine is done. Raises InvalidArgumentError: the operation is over.")
      .def(
          "fail",
          [](PyBufferOperation& self, nb::handle code) {
            end_operation(self, int_from(code, "code"));
          },
          nb::arg("code"), nb::sig("def fail(self, code: int) -> None"),
          "The engine has failed; `code` is shown by status(). Raises as finish().")
      .def(
          "__enter__",
          [](nb::handle_t<PyBufferOperation> self) {
            instance_of<PyBufferOperation>(self);
            return nb::borrow(self);
          },
          nb::sig("def __enter__(self) -> BufferOperation"))
      .def(
          "__exit__",
          [](PyBufferOperation& self, nb::handle type, nb::handle, nb::handle) {
            if (!self.operation) return;
            if (type.is_none()) return end_operation(self, std::nullopt);
            self.operation.reset();
          },
          nb::arg("exc_type").none(), nb::arg("exc").none(), nb::arg("traceback").none());
}

void bind_operation_status(nb::module_& m) {
  nb::class_<OperationStatus>(m, "OperationStatus", nb::type_slots(made_by_calls),
                              "The state of the latest use of a buffer by an engine.")
      .def_prop_ro(
          "state", [](const OperationStatus& s) { return str_of(to_string(s.state)); },
          nb::sig("def state(self) -> str"), "\"none\", \"pending\", \"done\" or \"failed\".")
      .def_prop_ro(
          "seconds",
          [](const OperationStatus& s) {
            return std::chrono::duration<double>(s.duration).count();
          },
          "Duration of the operation; while it is pending, until now.")
      .def_ro("code", &OperationStatus::code, "The code of fail(), or the fence's error.")
      .def_ro("is_poisoned", &OperationStatus::is_poisoned,
              "A lock's end could not hand the bytes over to devices.");
}

void submit_fence(NegotiatedBuffer& self, nb::handle fence) {
  Fd own = take(Fd::duplicate(int_from(fence, "fence")));
  check(released([&] { return self.submit(std::move(own)); }));
}

OperationStatus status_of(const NegotiatedBuffer& self, nb::handle timeout) {
  const NegotiatedBuffer buffer = self;
  const bool waits = timeout_from(timeout, "timeout").count() != 0;
  return take(call_in_slices(timeout, [&](auto slice) {
    // status() of 0 returns a pending state instead of a timeout: a wait takes 1 ns at least.
    return buffer.status(waits ? std::max(slice, std::chrono::nanoseconds(1)) : slice);
  }));
}

nb::object export_to(const NegotiatedBuffer& self, nb::handle party, nb::handle permission) {
  const std::string name = text_from(party, "party");
  const auto wanted = permission_from(permission, "permission");
  ExportedBuffer made = take(released([&] { return export_buffer(self, name, wanted); }));
  const nb::bytes blob = bytes_of(made.blob);
  return nb::make_tuple(blob, made.fd.release());
}

nb::object attach_lists(const NegotiatedBuffer& self, nb::handle lists) {
  const auto given = lists_from(lists, "lists");
  Conflict conflict;
  auto more = released([&] { return attach(self, pointers_to(given), &conflict); });
  return negotiated_result(take(std::move(more), conflict));
}

AxisOrder order_from(nb::handle object) {
  constexpr Word<AxisOrder> words[] = {
      {"NCHW", AxisOrder::nchw}, {"NHWC", AxisOrder::nhwc}, {"NCxHWx", AxisOrder::nc_hwx}};
  return word_from(object, "order", "order of axes", words);
}

void copy_from(const NegotiatedBuffer& self, nb::handle source, nb::handle order,
               nb::handle timeout) {
  const Tensor tensor = tensor_to_read(source, "source");
  const AxisOrder axes = order_from(order);
  NegotiatedBuffer buffer = self;
  check(call_in_slices(timeout, [&](auto slice) { return buffer.copy_from(tensor, axes, slice); }));
}

void copy_to(const NegotiatedBuffer& self, nb::handle destination, nb::handle order,
             nb::handle timeout) {
  Tensor tensor = tensor_to_write(destination, "destination");
  const AxisOrder axes = order_from(order);
  NegotiatedBuffer buffer = self;
  check(call_in_slices(timeout, [&](auto slice) { return buffer.copy_to(tensor, axes, slice); }));
}

void add_access(BufferClass& cls) {
  cls.def(
         "tensor", [](const NegotiatedBuffer& self) { return tensor_result(take(self.tensor())); },
         nb::sig("def tensor(self) -> Tensor"),
         "The tensor in the buffer, without a copy. Raises UnsupportedError: there is none.")
      .def(
          "image", [](const NegotiatedBuffer& self) { return tensor_result(take(self.image())); },
          nb::sig("def image(self) -> Tensor"),
          "The image in the buffer, without a copy. Raises UnsupportedError: there is none.")
      .def("copy_from", &copy_from, nb::arg("source"), nb::arg("order") = "NCHW", nb::kw_only(),
           nb::arg("timeout") = nb::none(),
           nb::sig("def copy_from(self, source: Tensor | ArrayLike, order: str = 'NCHW', *, "
                   "timeout: float | None = None) -> None"),
           "Copies an array into the buffer's tensor, whatever its order of axes. `order` of\n"
           "the array: \"NCHW\", \"NHWC\", or \"NCxHWx\" ([N, C/x rounded up, H, W, x]). Padding\n"
           "channels get the padding value of the parties; without one they stay. Raises\n"
           "UnsupportedError (no tensor), InvalidArgumentError (another type or extents), and as\n"
           "lock().")
      .def("copy_to", &copy_to, nb::arg("destination"), nb::arg("order") = "NCHW", nb::kw_only(),
           nb::arg("timeout") = nb::none(),
           nb::sig("def copy_to(self, destination: Tensor | ArrayLike, order: str = 'NCHW', *, "
                   "timeout: float | None = None) -> None"),
           "The reverse. Raises as copy_from().")
      .def("lock", &lock_buffer, nb::arg("access") = "read_write", nb::arg("timeout") = nb::none(),
           nb::sig("def lock(self, access: str = 'read_write', timeout: float | None = None) -> "
                   "BufferLock"),
           "Waits until the buffer is free, at most `timeout` seconds, and makes the bytes ready\n"
           "for the CPU. `access`: \"read\", \"write\" or \"read_write\". Raises UnsupportedError\n"
           "(no CPU may see the memory), AccessError (more than the party asked for), BusyError\n"
           "(this thread holds a lock), WaitTimeoutError, CapacityError (64 threads hold locks).");
}

void add_operations(BufferClass& cls) {
  cls.def(
         "submit",
         [](NegotiatedBuffer& self) {
           return PyBufferOperation{take(released([&] { return self.submit(); }))};
         },
         "An engine begins to use the buffer. Raises BusyError: locked, or an operation is under\n"
         "way.")
      .def("submit_fence", &submit_fence, nb::arg("fence"),
           nb::sig("def submit_fence(self, fence: int) -> None"),
           "The same, until a descriptor becomes readable (a sync_file, an eventfd), which is\n"
           "duplicated. Raises as submit(), and halyard.Error if it is not a descriptor.")
      .def("status", &status_of, nb::arg("timeout").none() = 0.0,
           nb::sig("def status(self, timeout: float | None = 0.0) -> OperationStatus"),
           "Waits for the end of the latest operation; 0 does not wait, None waits for\n"
           "ever. Raises WaitTimeoutError.");
}

void add_sharing(BufferClass& cls) {
  cls.def("export", &export_to, nb::arg("party"), nb::arg("permission") = nb::none(),
          nb::sig("def export(self, party: str, permission: str | None = None) -> tuple[bytes, "
                  "int]"),
          "Bytes and a descriptor for the process of a party; the caller closes the descriptor.\n"
          "`permission`: \"read\" or \"read_write\"; None: what the party asked for. Raises\n"
          "MissingFileError (no such party), UnsupportedError (memory without a descriptor),\n"
          "AccessError (more than the party asked for).")
      .def("attach", &attach_lists, nb::arg("lists"),
           nb::sig("def attach(self, lists: Iterable[AttributeList]) -> NegotiatedBuffer"),
           "The same buffer, also for parties that come late. Raises ConflictError if it does\n"
           "not serve them unchanged, SystemCallError if a party of that name took part.")
      .def_prop_ro(
          "attributes", [](const NegotiatedBuffer& self) { return self.attributes(); },
          "What the parties agreed on.")
      .def_prop_ro(
          "size_bytes", [](const NegotiatedBuffer& self) { return self.buffer()->size_bytes(); },
          "Bytes of the memory.")
      .def_prop_ro(
          "heap", [](const NegotiatedBuffer& self) { return str_of(to_string(self.heap())); },
          nb::sig("def heap(self) -> str"), "The kind of memory: \"memfd\".")
      .def_prop_ro(
          "permission",
          [](const NegotiatedBuffer& self) { return str_of(enumerator_name(self.permission())); },
          "What this process may do: \"read\" or \"read_write\".")
      .def_prop_ro(
          "enforcement",
          [](const NegotiatedBuffer& self) { return str_of(to_string(self.enforcement())); },
          nb::sig("def enforcement(self) -> str"),
          "What keeps readers from writing: \"none\" (not needed), \"advisory\", \"hard\".")
      .def("__repr__", [](const NegotiatedBuffer& self) {
        return str_of("NegotiatedBuffer(" + std::string(to_string(self.heap())) + ", " +
                      std::to_string(self.buffer()->size_bytes()) + " bytes)");
      });
}

}  // namespace

std::string party_from(nb::handle object, const char* argument) {
  return object.is_none() ? std::string() : text_from(object, argument);
}

std::optional<Permission> permission_from(nb::handle object, const char* argument) {
  if (object.is_none()) return std::nullopt;
  return word_from<Permission>(object, argument, "permission");
}

nb::object negotiated_result(NegotiatedBuffer&& buffer) {
  return nb::cast(std::move(buffer));
}

NegotiatedBuffer& negotiated_from(nb::handle object, const char* argument) {
  NegotiatedBuffer* buffer = nullptr;
  if (!nb::try_cast(object, buffer) || buffer == nullptr)
    raise_wrong_type(argument, "a NegotiatedBuffer", object);
  return *buffer;
}

void bind_negotiated_buffer(nb::module_& m) {
  bind_lock(m);
  bind_operation(m);
  bind_operation_status(m);
  BufferClass cls(m, "NegotiatedBuffer", nb::type_slots(made_by_calls), buffer_doc);
  add_access(cls);
  add_operations(cls);
  add_sharing(cls);
}

}  // namespace halyard::python
