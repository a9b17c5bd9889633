// SPDX-License-Identifier: Apache-2.0
// The interpreter's lock, signals, and the end of the program.
#include <unwind.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "bindings.h"

namespace halyard::python {
namespace {

std::atomic<bool> has_ended{false};
// Threads between the check of has_ended and taking the interpreter's lock.
std::atomic<int> entering{0};

// Runs when the program ends: enter_interpreter() returns false from now on, because Python may be
// gone soon. Threads that are about to enter get the interpreter's lock first.
void end() {
  has_ended.store(true);
  PyThreadState* state = PyEval_SaveThread();
  for (int i = 0; i < 1000 && entering.load() > 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  PyEval_RestoreThread(state);
}

}  // namespace

bool enter_interpreter(PyGILState_STATE& state) noexcept {
  entering.fetch_add(1);
  const bool is_alive = !has_ended.load() && Py_IsInitialized() != 0;
  if (is_alive) state = PyGILState_Ensure();
  entering.fetch_sub(1);
  return is_alive;
}

void take_interpreter(PyThreadState* state) noexcept {
  PyEval_RestoreThread(state);
}

bool SignalCheck::operator()() noexcept {
  const auto now = std::chrono::steady_clock::now();
  if (has_raised_ || now < next_) return has_raised_;
  next_ = now + std::chrono::milliseconds(50);
  take_interpreter(released_);
  has_raised_ = PyErr_CheckSignals() != 0;
  PyEval_SaveThread();
  return has_raised_;
}

void bind_interpreter(nb::module_& m) {
  m.def("_ending", &end);
  nb::module_::import_("atexit").attr("register")(m.attr("_ending"));
}

}  // namespace halyard::python

// While the interpreter shuts down, Python before 3.14 calls pthread_exit() in every other thread
// that asks for its lock, also in Python code that a function of ours has called. That unwinds the
// thread as an exception does, and objects of Python would be released without the lock. Instead
// the thread stays where it is until the process ends, as from Python 3.14 on. The linker gives all
// frames of the module the second function for the first (CMakeLists.txt).
extern "C" {
_Unwind_Reason_Code __real___gxx_personality_v0(int version, _Unwind_Action actions,
                                                _Unwind_Exception_Class kind,
                                                _Unwind_Exception* exception,
                                                _Unwind_Context* context);
decltype(__real___gxx_personality_v0) __wrap___gxx_personality_v0;
_Unwind_Reason_Code __wrap___gxx_personality_v0(int version, _Unwind_Action actions,
                                                _Unwind_Exception_Class kind,
                                                _Unwind_Exception* exception,
                                                _Unwind_Context* context) {
  while ((actions & _UA_FORCE_UNWIND) != 0)
    std::this_thread::sleep_for(std::chrono::hours(1));
  return __real___gxx_personality_v0(version, actions, kind, exception, context);
}
}
