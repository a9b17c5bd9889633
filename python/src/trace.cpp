// SPDX-License-Identifier: Apache-2.0
// Sessions and spans of the trace for halyard/_tracing.py, which says what they are.
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

#include "bindings.h"

namespace halyard::python {
namespace {

// The trace keeps pointers to names; these stay until the process ends. Programs that make a new
// name for every frame would fill memory, so after `most` of them names become "python.span".
const char* kept(std::string_view name) {
  constexpr std::size_t most = 4096;
  static std::mutex mutex;
  static auto& names = *new std::unordered_set<std::string>;
  const std::lock_guard lock(mutex);
  if (const auto found = names.find(std::string(name)); found != names.end()) return found->c_str();
  return names.size() < most ? names.emplace(name).first->c_str() : "python.span";
}

void add(trace::Span& span, const char* key, nb::handle value) {
  if (PyFloat_Check(value.ptr())) {
    span.arg(key, nb::cast<double>(value));
    return;
  }
  std::int64_t number = 0;
  if (PyLong_Check(value.ptr()) && nb::try_cast(value, number)) {
    span.arg(key, number);
    return;
  }
  const nb::str text(value);
  span.arg(key, std::string_view(text.c_str()));
}

// A span that a `with` statement opens and closes; thread-bound while it is open.
class PythonSpan {
 public:
  PythonSpan(std::string name, nb::dict args) : name_(std::move(name)), args_(std::move(args)) {}

  void enter() {
    if (span_) throw nb::value_error("span: it is open already");
    if (!trace::is_active()) return;
    thread_ = std::this_thread::get_id();
    span_.emplace(kept(name_));
    for (const auto [key, value] : args_)
      add(*span_, kept(nb::cast<std::string_view>(key)), value);
  }
  void exit() {
    if (!span_) return;
    if (thread_ != std::this_thread::get_id())
      throw nb::value_error("span: it must be closed by the thread that opened it");
    span_.reset();
  }

 private:
  std::string name_;
  nb::dict args_;
  std::optional<trace::Span> span_;
  std::thread::id thread_;
};

}  // namespace

void bind_trace(nb::module_& m) {
  m.def("_trace_start",
        [](const std::string& path) { check(released([&] { return trace::start(path); })); });
  m.def("_trace_stop", [] { check(released([] { return trace::stop(); })); });
  m.def("is_tracing_active", &trace::is_active, "True while a Tracing session records.");
  nb::class_<PythonSpan>(m, "_Span")
      .def(nb::init<std::string, nb::dict>())
      .def("__enter__", &PythonSpan::enter)
      .def("__exit__", [](PythonSpan& span, const nb::args&) { span.exit(); });
}

}  // namespace halyard::python
