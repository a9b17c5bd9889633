// SPDX-License-Identifier: Apache-2.0
// What every file of the extension starts from: nanobind, errors, and who binds what.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <utility>

#include "halyard/result.h"

namespace halyard::python {

namespace nb = nanobind;

/// Raises what `error` says as halyard.Error or one of its kinds; see errors.cpp.
[[noreturn]] void raise(const Error& error);
/// The same from a text that names the argument and its limit.
[[noreturn]] void raise(Errc code, const std::string& message);
/// Raises TypeError: "argument: must be `wanted`, not the type of `got`".
[[noreturn]] void raise_wrong_type(const char* argument, const char* wanted, nb::handle got);
/// Raises TypeError: an instance of this class whose `__init__` has not run.
[[noreturn]] void raise_not_made(nb::handle self);

/// The value, or the exception.
template <class T>
T take(Result<T> result) {
  if (!result) raise(result.error());
  return *std::move(result);
}
inline void check(const Status& status) {
  if (!status) raise(status.error());
}

/// The C++ object in an instance of the bound class T. Raises TypeError where `__init__` has not
/// run.
template <class T>
T& instance_of(nb::handle self) {
  if (!nb::inst_ready(self)) raise_not_made(self);
  return *nb::inst_ptr<T>(self);
}

/// tp_new of classes that only calls of the library make: raises TypeError.
PyObject* refuse_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) noexcept;

/// Gives the interpreter's lock up while it lives. At the interpreter's end it keeps its thread
/// from coming back, for Python would end the thread in the middle of C++ then.
class InterpreterReleased {
 public:
  InterpreterReleased() noexcept : state_(PyEval_SaveThread()) {}
  ~InterpreterReleased();
  InterpreterReleased(const InterpreterReleased&) = delete;
  InterpreterReleased& operator=(const InterpreterReleased&) = delete;

 private:
  PyThreadState* state_;
};

/// Runs `call`, which gives a Result and touches no Python object, with the interpreter released.
template <class F>
auto released(F&& call) {
  const InterpreterReleased release;
  return std::forward<F>(call)();
}

// One function a file, in the order in which module.cpp calls them.
void bind_errors(nb::module_& m);
void bind_enums(nb::module_& m);
void bind_buffers(nb::module_& m);
void bind_values(nb::module_& m);
void bind_tensor_map(nb::module_& m);
void bind_tensor(nb::module_& m);
void bind_codec(nb::module_& m);
void bind_placement(nb::module_& m);
void bind_processor(nb::module_& m);
void bind_system(nb::module_& m);
void bind_trace(nb::module_& m);
void bind_tracks(nb::module_& m);
void bind_outputs(nb::module_& m);
void bind_decoder(nb::module_& m);
void bind_tiles(nb::module_& m);
void bind_drawing(nb::module_& m);

}  // namespace halyard::python
