// SPDX-License-Identifier: Apache-2.0
// halyard.ImageProcessor, for other files of the extension.
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

/// Python's ImageProcessor. It serves one call at a time; others wait, with the interpreter
/// released.
struct PyProcessor {
  PyProcessor() = default;
  PyProcessor(const PyProcessor&) = delete;
  PyProcessor& operator=(const PyProcessor&) = delete;
  /// Ending a backend's threads may need the interpreter's lock.
  ~PyProcessor() {
    const InterpreterReleased release;
    processor.reset();
  }
  PyMutex mutex;
  PyPainter painter;                   ///< has a mutex of its own
  std::optional<Processor> processor;  ///< none after close()
};
/// The class of halyard.edgefirst, whose images are halyard.edgefirst.Tensors.
struct PyReferenceProcessor : PyProcessor {};
using ProcessorClass = nb::class_<PyProcessor>;
using ReferenceProcessorClass = nb::class_<PyReferenceProcessor, PyProcessor>;

/// 'auto', 'cpu', 'g2d' or 'opengl'.
ComputeBackend backend_from(nb::handle object);

/// Below this many bytes of pixels a call keeps the interpreter's lock: releasing it costs more.
inline constexpr std::size_t small_work_bytes = 65536;

/// The Result of `call(Processor&)`, which uses no Python object and holds copies of the
/// tensors that it needs. `work_bytes`: about the size of the pixels that it reads and writes.
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

// The methods of the class, one file for each subject.
void add_convert(ProcessorClass& cls);  // convert.cpp

}  // namespace halyard::python
