// SPDX-License-Identifier: Apache-2.0
// Takes, lends and gives back the buffers of a plugin's camera.
#include "capture/plugin/plugin_stream.h"

#include <algorithm>
#include <utility>

#include "base/text/format_error.h"

namespace halyard::capture {
namespace {

// Arrival, for cameras that do not tell the time of the capture.
std::chrono::nanoseconds capture_time(std::int64_t told_ns) {
  if (told_ns > 0) return std::chrono::nanoseconds(told_ns);
  return std::chrono::steady_clock::now().time_since_epoch();
}

FilledBuffer filled_of(const hal_capture_frame& frame, const PluginBuffer& buffer, bool is_joined) {
  FilledBuffer filled;
  filled.index = frame.index;
  filled.sequence = frame.sequence;
  filled.timestamp = capture_time(frame.timestamp_ns);
  filled.is_damaged = (frame.flags & HAL_CAPTURE_FRAME_DAMAGED) != 0;
  for (std::size_t i = 0; i < buffer.memory.size(); ++i) {
    filled.offset_bytes[i] = buffer.offset_bytes[i];
    if (frame.used[i] == 0) continue;
    // A count beyond the buffer's end is that of the whole buffer.
    const std::size_t room = buffer.memory[i]->size_bytes();
    const std::size_t begin = std::min(buffer.offset_bytes[i], room);
    filled.end_bytes[i] = begin + std::min(frame.used[i], room - begin);
  }
  // Of joined planes each must be whole; the first one's count tells nothing of the last.
  if (is_joined) {
    const std::size_t used = frame.used[buffer.pixel_planes - 1];
    const std::size_t room = buffer.memory[0]->size_bytes();
    const std::size_t begin = std::min(buffer.last_offset_bytes, room);
    filled.end_bytes[0] = used == 0 ? 0 : begin + std::min(used, room - begin);
  }
  return filled;
}

}  // namespace

/// Returns a buffer to the camera at its end.
class HALYARD_LOCAL PluginStream::Lease {
 public:
  Lease(std::shared_ptr<PluginStream> stream, std::shared_ptr<const PluginBuffer> buffer,
        std::uint32_t index, std::uint64_t run) noexcept
      : stream_(std::move(stream)), buffer_(std::move(buffer)), index_(index), run_(run) {}
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease() { stream_->give_back(index_, run_); }

 private:
  std::shared_ptr<PluginStream> stream_;
  std::shared_ptr<const PluginBuffer> buffer_;  ///< the stream may let go of it before
  std::uint32_t index_;
  std::uint64_t run_;
};

Status PluginStream::start(std::unique_ptr<PluginCamera> camera,
                           std::vector<PluginBuffer> buffers) {
  const RankedForkLock lock(mutex_);
  if (!lock) return fail(Errc::busy, "camera: another thread held it at fork()");
  ++run_;
  lent_ = 0;
  slots_.clear();
  for (PluginBuffer& buffer : buffers)
    slots_.push_back({std::make_shared<const PluginBuffer>(std::move(buffer))});
  camera_ = std::move(camera);
  Status done = camera_->start();
  if (!done) {
    camera_.reset();
    slots_.clear();
  }
  return done;
}

void PluginStream::stop() noexcept {
  std::shared_ptr<const PluginCamera> ended;
  std::vector<Slot> slots;
  {
    const RankedForkLock lock(mutex_);
    if (!lock) return;
    ended = std::move(camera_);
    slots.swap(slots_);
  }
  // A child leaves its parent's camera alone, for ever.
  if (ended != nullptr && is_forked()) new std::shared_ptr<const PluginCamera>(std::move(ended));
}

Result<std::optional<FilledBuffer>> PluginStream::take(bool is_joined) {
  HALYARD_TRY(const auto frame, camera_->take());
  if (!frame) return std::optional<FilledBuffer>();
  const RankedForkLock lock(mutex_);
  if (!lock) return fail(Errc::busy, "camera: another thread held it at fork()");
  if (frame->index >= slots_.size() || slots_[frame->index].is_taken)
    return fail(Errc::device, "camera plugin: gives a buffer that it does not have", "{}: {}",
                camera_->path(), frame->index);
  slots_[frame->index].is_taken = true;
  return std::optional(filled_of(*frame, *slots_[frame->index].buffer, is_joined));
}

Status PluginStream::put_back(std::uint32_t index) {
  {
    const RankedForkLock lock(mutex_);
    if (!lock) return fail(Errc::busy, "camera: another thread held it at fork()");
    slots_[index].is_taken = false;
  }
  return camera_->give_back(index);
}

std::shared_ptr<void> PluginStream::lend(std::uint32_t index) {
  const RankedForkLock lock(mutex_);
  ++lent_;
  held_.fetch_add(1, std::memory_order_relaxed);
  slots_[index].is_lent = true;
  return std::make_shared<Lease>(shared_from_this(), slots_[index].buffer, index, run_);
}

void PluginStream::give_back(std::uint32_t index, std::uint64_t run) noexcept {
  if (is_forked()) return;
  const RankedForkLock lock(mutex_);
  if (!lock) return;
  held_.fetch_sub(1, std::memory_order_relaxed);
  if (camera_ == nullptr || run != run_) return;
  --lent_;
  slots_[index].is_lent = false;
  slots_[index].is_taken = false;
  // A failure means that the camera is gone; next() finds the same.
  camera_->give_back(index).has_value();
}

bool PluginStream::is_starved() const noexcept {
  const RankedForkLock lock(mutex_);
  return lock && !slots_.empty() && lent_ == slots_.size();
}

}  // namespace halyard::capture
