// SPDX-License-Identifier: Apache-2.0
// Worker: the thread that owns an OpenGL ES context and is the only one to use it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gl/display/context.h"
#include "halyard/device.h"

namespace halyard::gl {

/// Tries every display of this machine with a context of its own, on a thread of its own. Thread-
/// safe. Errors: those of load_libraries(), exhausted (no thread can be started).
Result<std::vector<GlDisplay>> try_displays(bool allow_software);

/// Owns the thread, the context and all objects in it. Buffers share ownership of it, so that it
/// lives as long as the last of them. Thread-safe.
class Worker final : public DeviceThread {
 public:
  /// The worker of this process, on the first display that can be used; starts it if none is alive
  /// with a good context.
  /// Errors: those of try_displays(), unsupported (no display can be used; the detail has each
  /// reason).
  static Result<std::shared_ptr<Worker>> shared(bool allow_software);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() override;

  /// As DeviceThread. Also device in a child of fork(), which lacks the thread, and no_memory.
  Status run(const std::function<Status()>& work) override;
  /// Runs `work` on the thread later, in order, and does not wait. After the thread has ended,
  /// nothing runs. For destroying objects of the context.
  void post(std::function<void()> work) noexcept;

  /// Tells that the context is lost, so that shared() starts another worker.
  void mark_lost() noexcept { is_lost_.store(true); }
  bool is_lost() const noexcept { return is_lost_.load(); }

  const Display& display() const noexcept { return *display_; }
  const Capabilities& capabilities() const noexcept { return capabilities_; }

 private:
  struct Queue;
  struct Start;
  explicit Worker(std::shared_ptr<Queue> queue) noexcept;
  static Result<std::shared_ptr<Worker>> start(bool allow_software);
  static void serve(const std::shared_ptr<Queue>& queue, Start& start);
  bool has_thread() const noexcept;

  std::shared_ptr<Queue> queue_;  ///< the thread shares it, because it may outlive this object
  std::thread thread_;
  std::uint32_t generation_;
  std::atomic<bool> is_lost_{false};
  const Display* display_ = nullptr;
  Capabilities capabilities_;
};

}  // namespace halyard::gl
