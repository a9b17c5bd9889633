// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stages.h"

#include <utility>

#include "results/decoder.h"

namespace halyard::python {
namespace {

/// Python's state of one of the pipeline's threads, kept from its first call of Python to its end,
/// so that threading.local works in stages.
class ThreadState {
 public:
  ~ThreadState() {
    if (state_ == nullptr || Py_IsInitialized() == 0) return;
    take_interpreter(state_);
    PyGILState_Release(outer_);
  }
  void enter() noexcept {
    if (state_ != nullptr) return take_interpreter(state_);
    outer_ = PyGILState_Ensure();
  }
  void leave() { state_ = PyEval_SaveThread(); }

 private:
  PyThreadState* state_ = nullptr;
  PyGILState_STATE outer_ = PyGILState_UNLOCKED;
};

thread_local ThreadState thread_state;

/// Holds the interpreter's lock on a thread of the pipeline.
class Interpreter {
 public:
  Interpreter() { thread_state.enter(); }
  ~Interpreter() { thread_state.leave(); }
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;
};

// "ValueError: text".
std::string described(nb::python_error& raised) {
  return text_of(raised.type().attr("__name__")) + ": " + text_of(raised.value());
}

PyItem& item_in(const nb::object& object) {
  return *nb::inst_ptr<PyItem>(object);
}

// The stage has kept the result: it gets its own copy of everything, because the frame's memory is
// used again.
void detach(const nb::object& result, PyItem& item) {
  try {
    result.attr("_detach")();
  } catch (nb::python_error& raised) {
    raised.discard_as_unraisable("halyard.Pipeline");
  }
  item.frame = nullptr;
}

}  // namespace

PythonStages::PythonStages(std::shared_ptr<const PipelineFacts> facts, nb::object make,
                           nb::object on_error)
    : facts_(std::move(facts)),
      make_(std::move(make)),
      on_error_(std::move(on_error)),
      has_on_error_(!on_error_.is_none()) {}

std::size_t PythonStages::add(std::string name, nb::object function) {
  names_.push_back(std::make_unique<std::string>(std::move(name)));
  functions_.push_back(std::move(function));
  return functions_.size() - 1;
}

void PythonStages::ensure(Slot& slot) const {
  if (slot.result.is_valid()) return;
  slot.item = make_instance<PyItem>();
  item_in(slot.item).facts = facts_;
  slot.result = make_(slot.item);
}

Status PythonStages::call(std::size_t stage, Slot& slot) const {
  try {
    functions_[stage](slot.result);
    return {};
  } catch (nb::python_error& raised) {
    Error error = make_error(Errc::cancelled, "stage: raised an exception", described(raised));
    slot.result.attr("_raised") = nb::borrow(raised.value());
    return error;
  }
}

Status PythonStages::run(std::size_t stage, PipelineFrame& frame) {
  const Interpreter lock;
  Slot& slot = slots_[frame.lane];
  try {
    ensure(slot);
    PyItem& item = item_in(slot.item);
    const bool is_attached = !nb::cast<bool>(slot.result.attr("_is_detached"));
    if (is_attached) item.frame = &frame;
    const Status done = call(stage, slot);
    if (is_attached && Py_REFCNT(slot.result.ptr()) > 1) detach(slot.result, item);
    item.frame = nullptr;
    return done;
  } catch (nb::python_error& raised) {
    return make_error(Errc::cancelled, "stage: raised an exception", described(raised));
  }
}

void PythonStages::report(std::string_view what, const Error& error) {
  const Interpreter lock;
  if (!on_error_.is_valid()) return;
  try {
    on_error_(str_of(what), exception_of(error));
  } catch (nb::python_error& raised) {
    raised.discard_as_unraisable("halyard.Pipeline");
  }
}

nb::object PythonStages::result_of(Pipeline::Taken taken) {
  Slot& own = slots_[taken->lane];
  Slot slot = std::exchange(own, {});
  ensure(slot);
  if (nb::cast<bool>(slot.result.attr("_is_detached"))) return slot.result;
  PyItem& item = item_in(slot.item);
  item.frame = &*taken;
  item.taken.emplace(std::move(taken));
  return slot.result;
}

void PythonStages::close() {
  is_closed_ = true;
  drop();
}

void PythonStages::drop() {
  if (takings_ != 0) return;
  // Dropping an object may run code of the program, which may call close().
  const auto functions = std::exchange(functions_, {});
  const auto slots = std::exchange(slots_, {});
  const auto make = std::exchange(make_, {});
  const auto on_error = std::exchange(on_error_, {});
}

}  // namespace halyard::python
