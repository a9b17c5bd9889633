// SPDX-License-Identifier: Apache-2.0
// halyard.ImageProcessor as other files of the extension see it.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <utility>

#include "bindings.h"
#include "fork_mutex.h"
#include "halyard/image.h"
#include "results/drawing.h"

namespace halyard::python {

/// Python's ImageProcessor. One call at a time works with it; others wait, with the interpreter
/// released.
struct PyProcessor {
  PyProcessor() = default;
  PyProcessor(const PyProcessor&) = delete;
  PyProcessor& operator=(const PyProcessor&) = delete;
  /// Threads of a backend may need the interpreter's lock to end.
  ~PyProcessor() {
    const InterpreterReleased release;
    processor.reset();
  }
  PyMutex mutex;
  PyPainter painter;                   ///< has a mutex of its own
  std::optional<Processor> processor;  ///< none after close()
};
/// That of halyard.edgefirst, whose images are halyard.edgefirst.Tensors.
struct PyReferenceProcessor : PyProcessor {};
using ProcessorClass = nb::class_<PyProcessor>;
using ReferenceProcessorClass = nb::class_<PyReferenceProcessor, PyProcessor>;

/// Below this many bytes of pixels a call keeps the interpreter's lock: handing it over costs more.
inline constexpr std::size_t small_work_bytes = 65536;

/// Gives the Result of `call(Processor&)`, which touches no Python object and holds copies of the
/// tensors that it needs. `work_bytes`: the pixels that it reads and writes, about.
template <class F>
auto with_processor(PyProcessor& self, std::size_t work_bytes, F&& call)
    -> decltype(call(*self.processor)) {
  const auto run = [&]() -> decltype(call(*self.processor)) {
    if (!self.processor) return make_error(Errc::invalid_argument, "ImageProcessor: is closed");
    return call(*self.processor);
  };
  if (work_bytes < small_work_bytes) {
    const std::unique_lock lock(self.mutex, std::try_to_lock);
    if (lock) return run();
  }
  const InterpreterReleased release;
  const std::lock_guard lock(self.mutex);
  return run();
}

/// A new Python Placement.
nb::object placement_result(const Placement& placement);

// The methods of the class, one file a subject.
void add_convert(ProcessorClass& cls);  // convert.cpp

}  // namespace halyard::python
