// SPDX-License-Identifier: Apache-2.0
// Included by every file of the extension: nanobind, errors, and the functions that bind classes.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "halyard/result.h"

namespace halyard::python {

namespace nb = nanobind;

/// Raises `error` as halyard.Error or one of its subclasses; see errors.cpp.
[[noreturn]] void raise(const Error& error);
/// The same from a text that names the argument and its limit.
[[noreturn]] void raise(Errc code, const std::string& message);
/// Raises TypeError: "argument: must be `wanted`, not the type of `got`".
[[noreturn]] void raise_wrong_type(const char* argument, const char* wanted, nb::handle got);
/// Raises TypeError for an instance of this class whose `__init__` has not run.
[[noreturn]] void raise_not_made(nb::handle self);
/// Replaces the exception that a conversion of `got` has set if it is a TypeError: the new text is
/// that of raise_wrong_type(), the cause is kept. Any other exception is passed on: it is the
/// program's own (KeyboardInterrupt, MemoryError, an exception of __index__ or __getitem__).
[[noreturn]] void replace_type_error(const char* argument, const char* wanted, nb::handle got);
/// Clears the current exception if it is one of `kinds`, a class or a tuple of classes; throws any
/// other.
void forget_error(nb::handle kinds);
/// Whether the object has this attribute. Exceptions other than AttributeError are passed on.
bool has_attribute(nb::handle object, const char* name);

/// A str of any bytes: bytes that are not UTF-8 become \xff.
nb::str str_of(std::string_view text);
/// str(object) as UTF-8: characters that UTF-8 cannot hold (lone surrogates) become \udcff.
std::string text_of(nb::handle object);

/// The value, or the exception.
template <class T>
T take(Result<T> result) {
  if (!result) raise(result.error());
  return *std::move(result);
}
inline void check(const Status& status) {
  if (!status) raise(status.error());
}

/// The C++ object in an instance of the bound class T. Raises TypeError if `__init__` has not
/// run.
template <class T>
T& instance_of(nb::handle self) {
  if (!nb::inst_ready(self)) raise_not_made(self);
  return *nb::inst_ptr<T>(self);
}

/// tp_new of classes that only the library instantiates: raises TypeError.
PyObject* refuse_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) noexcept;
/// The slots of such a class.
extern PyType_Slot made_by_calls[];

/// PyGILState_Ensure(), from any thread. False once the program ends: Python may be gone, and its
/// objects are left to the system.
bool enter_interpreter(PyGILState_STATE& state) noexcept;

/// PyEval_RestoreThread() that never unwinds (interpreter.cpp), also where the frames below are not
/// of this module.
void take_interpreter(PyThreadState* state) noexcept;

/// Releases the interpreter's lock while it lives.
class InterpreterReleased {
 public:
  InterpreterReleased() noexcept : state_(PyEval_SaveThread()) {}
  ~InterpreterReleased() { take_interpreter(state_); }
  PyThreadState* state() const noexcept { return state_; }
  InterpreterReleased(const InterpreterReleased&) = delete;
  InterpreterReleased& operator=(const InterpreterReleased&) = delete;

 private:
  PyThreadState* state_;
};

/// Runs `call`, which returns a Result and uses no Python object, with the interpreter released.
template <class F>
auto released(F&& call) {
  const InterpreterReleased release;
  return std::forward<F>(call)();
}

/// For long calls that poll for cancellation: lets signals of the program (Ctrl-C) be handled
/// meanwhile. Made with the interpreter released.
class SignalCheck {
 public:
  explicit SignalCheck(PyThreadState* released) noexcept : released_(released) {}
  /// Whether a signal has raised an exception, which then is set. Checks about 20 times a second.
  bool operator()() noexcept;

 private:
  PyThreadState* released_;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now();
  bool has_raised_ = false;
};

/// released() for a call that takes a polled function bool(), true: stop. Raises what a signal's
/// handler raises, whatever the call has returned.
template <class F>
auto released_with_signals(F&& call) {
  auto result = [&] {
    const InterpreterReleased release;
    SignalCheck check(release.state());
    return std::forward<F>(call)([&check] { return check(); });
  }();
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  return result;
}

// One function for each file, in the order in which module.cpp calls them.
void bind_errors(nb::module_& m);
void bind_enums(nb::module_& m);
void bind_interpreter(nb::module_& m);
void bind_values(nb::module_& m);
void bind_tensor_map(nb::module_& m);
void bind_cuda_map(nb::module_& m);
void bind_tensor(nb::module_& m);
void bind_tensor_names(nb::module_& m);
void bind_pools(nb::module_& m);
void bind_attribute_list(nb::module_& m);
void bind_tensor_handle(nb::module_& m);
void bind_image_message(nb::module_& m);
void bind_point_cloud(nb::module_& m);
void bind_depth_image(nb::module_& m);
void bind_topics(nb::module_& m);
void bind_wait_set(nb::module_& m);
void bind_limits(nb::module_& m);
void bind_codec(nb::module_& m);
void bind_placement(nb::module_& m);
void bind_processor(nb::module_& m);
void bind_system(nb::module_& m);
void bind_trace(nb::module_& m);
void bind_tracks(nb::module_& m);
void bind_tracker(nb::module_& m);
void bind_exports(nb::module_& m);
void bind_engine(nb::module_& m);
void bind_describe(nb::module_& m);
void bind_evaluate(nb::module_& m);
void bind_overlay(nb::module_& m);
void bind_frames(nb::module_& m);
void bind_cameras(nb::module_& m);
void bind_video_codecs(nb::module_& m);
void bind_pipeline(nb::module_& m);
void bind_pipeline_feed(nb::module_& m);
void bind_pipeline_item(nb::module_& m);
void bind_outputs(nb::module_& m);
void bind_decoder(nb::module_& m);
void bind_tiles(nb::module_& m);
void bind_drawing(nb::module_& m);
/// After all of them: calls whose arguments do not fit raise TypeError in Python's wording.
void reword_wrong_calls(nb::module_& m);

}  // namespace halyard::python
