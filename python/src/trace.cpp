// SPDX-License-Identifier: Apache-2.0
// Sessions and spans of the trace for halyard/_tracing.py, which documents them.
#include "halyard/trace.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_set>
#include <variant>
#include <vector>

#include "args.h"
#include "bindings.h"

namespace halyard::python {
namespace {

// The trace keeps pointers to names; these stay until the process ends. A program that makes a new
// name for every frame would fill memory, so after `maximum` names all are "python.span".
const char* kept_name(std::string_view name) {
  constexpr std::size_t maximum = 4096;
  static std::mutex mutex;
  static auto& names = *new std::unordered_set<std::string>;
  const std::lock_guard lock(mutex);
  if (const auto found = names.find(std::string(name)); found != names.end()) return found->c_str();
  return names.size() < maximum ? names.emplace(name).first->c_str() : "python.span";
}

// An argument of a span, with its own text.
struct SpanArg {
  const char* key;
  std::variant<std::int64_t, double, std::string> value;
};

SpanArg span_arg(nb::handle key, nb::handle value) {
  SpanArg arg{kept_name(text_of(key)), {}};
  std::int64_t number = 0;
  if (PyFloat_Check(value.ptr()))
    arg.value = number_from(value, arg.key);
  else if (PyLong_Check(value.ptr()) && nb::try_cast(value, number))
    arg.value = number;
  else
    arg.value = text_of(value);
  return arg;
}

// A span that a `with` statement opens and closes; bound to its thread while it is open.
class PythonSpan {
 public:
  PythonSpan(nb::handle name, nb::dict args) : name_(text_of(name)), args_(std::move(args)) {}

  void enter() {
    if (span_) throw nb::value_error("span: it is open already");
    if (!trace::is_active()) return;
    // First, and from a copy: converting an argument to text runs Python code, which may change
    // the arguments, and open or close this span.
    const std::vector<SpanArg> args = arguments();
    if (span_) throw nb::value_error("span: it is open already");
    thread_ = std::this_thread::get_id();
    span_.emplace(kept_name(name_));
    for (const SpanArg& arg : args)
      std::visit([&](const auto& value) { span_->arg(arg.key, value); }, arg.value);
  }
  void exit() {
    if (!span_) return;
    if (thread_ != std::this_thread::get_id())
      throw nb::value_error("span: it must be closed by the thread that opened it");
    span_.reset();
  }
  /// For the garbage collector.
  nb::object& args() { return args_; }

 private:
  std::vector<SpanArg> arguments() const {
    std::vector<SpanArg> made;
    if (!args_.is_valid()) return made;
    const nb::object items = nb::steal(PyDict_Items(args_.ptr()));
    if (!items.is_valid()) throw nb::python_error();
    for (const nb::handle item : items)
      made.push_back(span_arg(nb::object(item[0]), nb::object(item[1])));
    return made;
  }

  std::string name_;
  nb::object args_;
  std::optional<trace::Span> span_;
  std::thread::id thread_;
};

int span_traverse(PyObject* self, visitproc visit, void* arg) noexcept {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<PythonSpan>(self)->args().ptr());
  return 0;
}
int span_clear(PyObject* self) noexcept {
  if (nb::inst_ready(self)) nb::inst_ptr<PythonSpan>(self)->args().reset();
  return 0;
}
PyType_Slot span_slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(&span_traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(&span_clear)},
    {0, nullptr},
};

}  // namespace

void bind_trace(nb::module_& m) {
  m.def("_trace_start", [](nb::handle path) {
    const std::string name = path_from(path, "path");
    check(released([&] { return trace::start(name); }));
  });
  m.def("_trace_stop", [] { check(released([] { return trace::stop(); })); });
  m.def("is_tracing_active", &trace::is_active, "True while a Tracing session records.");
  nb::class_<PythonSpan>(m, "_Span", nb::type_slots(span_slots))
      .def(nb::init<nb::handle, nb::dict>())
      .def("__enter__", &PythonSpan::enter)
      .def("__exit__", [](PythonSpan& span, const nb::args&) { span.exit(); });
}

}  // namespace halyard::python
