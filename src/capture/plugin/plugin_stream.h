// SPDX-License-Identifier: Apache-2.0
// PluginStream: the buffers of a plugin's camera that runs, and which of them images hold.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/local.h"
#include "base/system/ranked_mutex.h"
#include "capture/plugin/plugin_camera.h"
#include "halyard/threads.h"

namespace halyard::capture {

/// Shared by the Camera and its frames, which may outlive it. lend(), its end, camera(), held() and
/// is_starved() are thread-safe; the others serve one thread at a time.
class HALYARD_LOCAL PluginStream : public std::enable_shared_from_this<PluginStream> {
 public:
  PluginStream() = default;
  PluginStream(const PluginStream&) = delete;
  PluginStream& operator=(const PluginStream&) = delete;
  ~PluginStream() { stop(); }

  /// Starts a camera that was configured.
  Status start(std::unique_ptr<PluginCamera> camera, std::vector<PluginBuffer> buffers);
  /// Closes the camera. Images keep their memory.
  void stop() noexcept;
  /// Null while it does not run.
  std::shared_ptr<const PluginCamera> camera() const {
    const RankedForkLock lock(mutex_);
    return lock ? camera_ : nullptr;
  }

  /// nullopt: no frame is ready. Errors: device.
  Result<std::optional<FilledBuffer>> take(bool is_joined);
  Status put_back(std::uint32_t index);
  const PluginBuffer& buffer(std::uint32_t index) const { return *slots_[index].buffer; }
  /// As CameraStream::lend().
  std::shared_ptr<void> lend(std::uint32_t index);
  std::uint32_t held() const noexcept { return held_.load(std::memory_order_relaxed); }
  bool is_starved() const noexcept;

 private:
  struct Slot {
    std::shared_ptr<const PluginBuffer> buffer;
    bool is_taken = false;  ///< protected by mutex_, as is the next
    bool is_lent = false;
  };
  class Lease;
  void give_back(std::uint32_t index, std::uint64_t run) noexcept;
  bool is_forked() const noexcept { return fork_generation() != process_; }

  const std::uint32_t process_ = fork_generation();
  std::vector<Slot> slots_;
  std::atomic<std::uint32_t> held_{0};
  /// Protects all below, and the camera against its end.
  mutable RankedForkMutex<LockRank::camera_plugin> mutex_;
  std::shared_ptr<const PluginCamera> camera_;
  std::uint64_t run_ = 0;   ///< counts starts
  std::uint32_t lent_ = 0;  ///< buffers of this run that images hold
};

}  // namespace halyard::capture
