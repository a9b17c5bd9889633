// SPDX-License-Identifier: Apache-2.0
// CameraStream: the buffers of a queue that runs, which of them the driver has, and which frames
// hold.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/local.h"
#include "base/system/ranked_mutex.h"
#include "capture/v4l2/camera_buffers.h"
#include "capture/v4l2/camera_device.h"
#include "capture/v4l2/camera_wait.h"
#include "halyard/buffer.h"
#include "halyard/camera.h"
#include "halyard/tensor.h"
#include "halyard/threads.h"

namespace halyard::capture {

/// Makes an image for a frame of the format. Errors: those of TensorPool::alloc_image().
using ImageMaker = std::function<Result<Tensor>(const DriverFormat& format)>;

/// Shared by the Camera or codec and its frames, which may outlive it. lend() and give_back() are
/// thread-safe; the others serve one thread at a time, which is that of Camera::next().
class HALYARD_LOCAL CameraStream : public std::enable_shared_from_this<CameraStream> {
 public:
  /// What serves as memory. `images` are those of CameraOptions. `make_image`: for each frame
  /// another image, if the driver can write into it; empty: none.
  CameraStream(std::vector<Tensor> images, ImageMaker make_image)
      : images_(std::move(images)), make_image_(std::move(make_image)) {
    is_held_.resize(images_.size());
  }
  /// Of a codec. `wait` is woken when a buffer comes back. Where the driver reads the buffers, they
  /// begin with the caller and return to the caller.
  CameraStream(std::shared_ptr<CameraWait> wait, bool is_read_by_driver)
      : is_read_by_driver_(is_read_by_driver), wait_(std::move(wait)) {}
  CameraStream(const CameraStream&) = delete;
  CameraStream& operator=(const CameraStream&) = delete;
  ~CameraStream() { stop(); }

  /// Makes the buffers of a device whose format is set, hands them to the driver and starts it.
  /// `must_map`: the pixels are read by the CPU, so the driver's buffers are mapped, not exported.
  Status start(std::unique_ptr<CameraDevice> device, const DriverFormat& format,
               std::uint32_t buffers, bool must_map);
  /// Stops the driver and releases its buffers. Frames keep theirs.
  void stop() noexcept;
  bool is_running() const noexcept { return device_ != nullptr; }
  /// Takes all buffers from the driver, what it was about to fill is lost, and hands those to it
  /// that no frame holds. Errors: device.
  Status restart();
  /// Null while it does not run. Thread-safe.
  std::shared_ptr<const CameraDevice> device() const {
    const RankedForkLock lock(mutex_);
    return lock ? device_ : nullptr;
  }
  /// How many the driver has if no frame holds one.
  std::uint32_t buffer_count() const noexcept { return buffers_; }
  /// Whether the driver writes into images that were made for it.
  bool fills_made_images() const noexcept { return memory_kind_ == V4L2_MEMORY_USERPTR; }
  /// Whether buffers are mapped because the driver cannot export them, or because they must be.
  bool is_mapped() const noexcept { return !slots_.empty() && !slots_[0].memory->maps.empty(); }

  /// nullopt: no frame is ready. Errors: device.
  Result<std::optional<FilledBuffer>> take();
  /// Hands a buffer that was taken to the driver again. Errors: device.
  Status put_back(std::uint32_t index);
  /// Hands a buffer with bytes to a driver that reads it, after lend() and until take(). Errors:
  /// device.
  Status submit(std::uint32_t index, std::span<const std::size_t> used_bytes,
                std::chrono::nanoseconds timestamp);
  /// A buffer that neither the driver nor a lease has; nullopt: none.
  std::optional<std::uint32_t> free_index() const;

  /// The memory of a buffer that was taken, one for each memory plane; until put_back().
  const std::vector<MappedMemory>& maps(std::uint32_t index) const {
    return slots_[index].memory->maps;
  }
  const std::vector<std::shared_ptr<Buffer>>& memory(std::uint32_t index) const {
    return slots_[index].memory->buffers;
  }
  const Tensor& image(std::uint32_t index) const { return images_[index]; }
  /// The made image of a buffer that was taken. It is the caller's; the driver gets another one,
  /// now or, if none can be made, at a later take().
  Tensor take_image(std::uint32_t index);
  bool has_images() const noexcept { return !images_.empty(); }
  /// Lends a buffer that was taken to a frame: pointers to its memory that share the result own the
  /// buffer, and the last one gives it back.
  std::shared_ptr<void> lend(std::uint32_t index);
  /// Number of buffers that frames hold.
  std::uint32_t held() const noexcept { return held_.load(std::memory_order_relaxed); }
  /// Whether the driver has no buffer to fill.
  bool is_starved() const noexcept;

 private:
  struct Slot {
    struct Memory {
      std::vector<std::shared_ptr<Buffer>> buffers;  ///< exported by the driver
      std::vector<MappedMemory> maps;                ///< or mapped
    };
    std::shared_ptr<Memory> memory = std::make_shared<Memory>();
    std::vector<QueuedPlane> planes;  ///< or the caller's
    Tensor image;                     ///< or made; empty: the driver has none here
    TensorMap map;                    ///< of it
    bool is_lent = false;             ///< protected by mutex_
  };
  class Lease;
  Status make_memory(const DriverFormat& format, std::uint32_t buffers, bool must_map);
  Status make_slots(const DriverFormat& format, std::uint32_t buffers, bool must_map);
  Status use_images(const DriverFormat& format);
  Status use_made_images(const DriverFormat& format, std::uint32_t buffers);
  Status make_image();
  Status make_missing_images();
  std::uint32_t place_for(const std::byte* address) const;
  Status export_slot(std::uint32_t index, Slot& slot);
  Status queue_all();
  int queue(std::uint32_t index) const;
  void give_back(std::uint32_t index, std::uint64_t run) noexcept;
  bool is_forked() const noexcept { return fork_generation() != process_; }

  const std::uint32_t process_ = fork_generation();
  const bool is_read_by_driver_ = false;
  const std::shared_ptr<CameraWait> wait_;
  std::vector<Tensor> images_;
  const ImageMaker make_image_;
  DriverFormat format_;     ///< of made images
  std::size_t planes_ = 1;  ///< memory planes of the format
  std::uint32_t memory_kind_ = V4L2_MEMORY_MMAP;
  std::vector<Slot> slots_;
  std::uint32_t buffers_ = 0;
  std::atomic<std::uint32_t> held_{0};
  /// Protects all below, and the device against its end.
  mutable RankedForkMutex<LockRank::camera_stream> mutex_;
  std::shared_ptr<const CameraDevice> device_;
  std::uint64_t run_ = 0;      ///< counts starts
  std::uint32_t lent_ = 0;     ///< buffers of this run that frames hold; images that are missing
  std::vector<bool> is_held_;  ///< by image, over all runs
};

}  // namespace halyard::capture
