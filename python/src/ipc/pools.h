// SPDX-License-Identifier: Apache-2.0
// TensorPool, TensorHandle and their names, for other files of the extension.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "halyard/pool.h"
#include "tensor/tensor.h"

namespace halyard::python {

/// Python's TensorHandle: a Tensor whose buffer is a slot of a pool.
struct PyTensorHandle : PyNativeTensor {};

/// Python's TensorPool; null once it is closed.
struct PyPool {
  std::shared_ptr<TensorPool> pool;
  pid_t process = ::getpid();
};

/// A new Python TensorHandle; a Tensor if the memory is in no pool.
nb::object handle_result(Tensor&& tensor);
/// A new Python TensorPool; None for null.
nb::object pool_result(std::shared_ptr<TensorPool> pool);
/// The pool of an argument; null for None. Raises TypeError, and InvalidArgumentError if it is
/// closed.
std::shared_ptr<TensorPool> pool_from(nb::handle object, const char* argument);

/// A TensorPoolConfig. Raises TypeError.
TensorPoolConfig pool_config_from(nb::handle object, const char* argument);

/// A Device, or its name: "cpu", "cuda:1".
Device device_from(nb::handle object, const char* argument);
/// A TensorDescriptor, or the 168 bytes of one.
TensorDescriptor descriptor_from(nb::handle object, const char* argument);

/// Seconds; negative for None and for times that no clock can count: forever. Raises TypeError, and
/// InvalidArgumentError for a negative number and NaN.
std::chrono::nanoseconds timeout_from(nb::handle object, const char* argument);

/// How long a call waits before it checks for signals of the program (Ctrl-C) again.
inline constexpr std::chrono::nanoseconds signal_slice = std::chrono::milliseconds(50);

/// The remaining time of a wait, in slices.
class WaitSlices {
 public:
  /// Negative: forever.
  WaitSlices(std::chrono::nanoseconds timeout, std::chrono::nanoseconds slice)
      : slice_(slice),
        is_endless_(timeout.count() < 0),
        end_(Clock::now() + (is_endless_ ? slice : timeout)) {}
  bool is_over() const { return !is_endless_ && Clock::now() >= end_; }
  /// Duration of the next wait; never negative.
  std::chrono::nanoseconds next() const {
    if (is_endless_) return slice_;
    const auto left = std::chrono::nanoseconds(end_ - Clock::now());
    return std::clamp(left, std::chrono::nanoseconds(0), slice_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::chrono::nanoseconds slice_;
  bool is_endless_;
  Clock::time_point end_;
};

/// Runs the handlers of pending signals; raises what they raise. Needs the interpreter's lock.
void check_signals();

/// Calls `call(slice)` with the interpreter released until it returns something other than
/// Errc::timeout, or the time of a Python argument `timeout` is over. Signals are handled
/// meanwhile.
template <class Call>
auto call_in_slices(nb::handle timeout, Call&& call) {
  const WaitSlices slices(timeout_from(timeout, "timeout"), signal_slice);
  for (;;) {
    auto result = released([&] { return call(slices.next()); });
    if (result || result.error().code != Errc::timeout || slices.is_over()) return result;
    check_signals();
  }
}

}  // namespace halyard::python
