// SPDX-License-Identifier: Apache-2.0
// Buffers that one thread maps, and maps for devices.
#include "halyard/device.h"

#include <array>
#include <atomic>
#include <utility>

#include "base/assert.h"
#include "base/runtime/cuda_runtime.h"
#include "base/system/ranked_mutex.h"
#include "base/text/format_error.h"
#include "halyard/threads.h"
#include "halyard/trace.h"
#include "tensor/device/cuda_import.h"
#include "tensor/memory/buffer_kinds.h"

namespace halyard {
namespace {

constexpr bool covers(Access wide, Access narrow) noexcept {
  return (static_cast<unsigned>(narrow) & ~static_cast<unsigned>(wide)) == 0;
}

// The attachments of all devices of one buffer. It is made once and stays until the buffer dies. An
// attachment is replaced only while no device map uses it. After fork(), a child sees devices that
// the parent had mapped as busy.
class DeviceSlots final : public Attachment {
 public:
  struct Slot {
    DeviceKind device;
    std::unique_ptr<DeviceAttachment> attachment;
    bool mapped = false;
  };

  Status put(std::unique_ptr<DeviceAttachment> attachment) {
    const DeviceKind device = attachment->device();
    std::unique_ptr<DeviceAttachment>
        replaced;  // destroyed after the lock is released: it may call back
    const RankedForkTakingLock lock(mutex_);
    Slot* const slot = find(device);
    if (slot == nullptr) return add(std::move(attachment));
    if (slot->mapped) return busy(device);
    replaced = std::exchange(slot->attachment, std::move(attachment));
    return {};
  }

  // Keeps the attachment that is there, if another thread was faster.
  Status offer(std::unique_ptr<DeviceAttachment> attachment) {
    const RankedForkTakingLock lock(mutex_);
    if (find(attachment->device()) != nullptr) return {};
    return add(std::move(attachment));
  }

  bool has(DeviceKind device) {
    const RankedForkTakingLock lock(mutex_);
    return find(device) != nullptr;
  }

  Result<DeviceAttachment*> take(DeviceKind device) {
    const RankedForkTakingLock lock(mutex_);
    Slot* slot = find(device);
    HALYARD_ASSERT(slot != nullptr);
    if (slot->mapped) return busy(device);
    slot->mapped = true;
    return slot->attachment.get();
  }

  // The attachment of a device that take() has returned. An attachment is never removed.
  DeviceAttachment* taken(DeviceKind device) {
    const RankedForkTakingLock lock(mutex_);
    return find(device)->attachment.get();
  }

  void give_back(DeviceKind device) {
    const RankedForkTakingLock lock(mutex_);
    find(device)->mapped = false;
  }

 private:
  static Error busy(DeviceKind device) {
    return fail(Errc::busy, "device: has the buffer mapped already", "{}", to_string(device));
  }
  Status add(std::unique_ptr<DeviceAttachment> attachment) {
    const DeviceKind device = attachment->device();
    for (Slot& slot : slots_) {
      if (slot.attachment) continue;
      slot = {device, std::move(attachment), false};
      return {};
    }
    return fail(Errc::exhausted, "attachment: too many devices on one buffer");
  }
  Slot* find(DeviceKind device) noexcept {
    for (Slot& slot : slots_)
      if (slot.attachment && slot.device == device) return &slot;
    return nullptr;
  }

  RankedForkMutex<LockRank::leaf> mutex_;
  std::array<Slot, 4> slots_{};
};

// The key under which every buffer holds its DeviceSlots.
constexpr char slots_owner = 0;

DeviceSlots* slots_of(const Buffer& buffer) {
  return static_cast<DeviceSlots*>(buffer.attachment(&slots_owner));
}

DeviceSlots& make_slots(Buffer& buffer) {
  // Two threads that attach at the same time must get the same slots.
  static RankedForkMutex<LockRank::device_slots> mutex;
  const RankedForkTakingLock lock(mutex);
  if (DeviceSlots* slots = slots_of(buffer)) return *slots;
  auto made = std::make_unique<DeviceSlots>();
  DeviceSlots& slots = *made;
  buffer.attach(&slots_owner, std::move(made));
  return slots;
}

}  // namespace

std::string_view to_string(DeviceKind device) noexcept {
  switch (device) {
    case DeviceKind::cuda:
      return "cuda";
    case DeviceKind::opencl:
      return "opencl";
    case DeviceKind::vulkan:
      return "vulkan";
    case DeviceKind::rocm:
      return "rocm";
  }
  return "unknown";
}

DeviceThreadBuffer::DeviceThreadBuffer(std::size_t size_bytes, Memory memory,
                                       std::shared_ptr<DeviceThread> thread) noexcept
    : Buffer(size_bytes, memory), thread_(std::move(thread)) {}

Status DeviceThreadBuffer::hold(bool alone) {
  const HeldRank<LockRank::device_buffer> rank;
  const ForkTakingLock lock(mutex_);
  if (maps_ > 0) {
    return fail(Errc::busy, "device: the CPU has the buffer mapped", "buffer {}", id());
  }
  if (held_alone_ || (alone && device_holds_ > 0)) {
    return fail(Errc::busy, "device: another device uses the buffer", "buffer {}", id());
  }
  ++device_holds_;
  held_alone_ = alone;
  return {};
}

Status DeviceThreadBuffer::hold_for_device() {
  return hold(false);
}

Status DeviceThreadBuffer::hold_alone() {
  return hold(true);
}

void DeviceThreadBuffer::release_from_device() noexcept {
  const HeldRank<LockRank::device_buffer> rank;
  const ForkTakingLock lock(mutex_);
  --device_holds_;
  held_alone_ = false;
}

Result<std::span<std::byte>> DeviceThreadBuffer::share_or_map(Access access) {
  const HeldRank<LockRank::device_buffer> rank;
  const ForkTakingLock lock(mutex_);
  // A request that the thread took before it ended may still run.
  if (lost_) return fail(Errc::device, "device: its thread has ended", "buffer {}", id());
  if (device_holds_ > 0) {
    return fail(Errc::busy, "access: a device has exclusive use of the buffer", "buffer {}", id());
  }
  if (maps_ == 0) {
    HALYARD_TRY(mapped_, map_on_thread(access));
    mapped_access_ = access;
  } else if (!covers(mapped_access_, access)) {
    return fail(Errc::busy, "access: must not be wider than that of the buffer's open map",
                "buffer {}", id());
  }
  ++maps_;
  return mapped_;
}

void DeviceThreadBuffer::unshare(bool on_thread) noexcept {
  const HeldRank<LockRank::device_buffer> rank;
  const ForkTakingLock lock(mutex_);
  lost_ = lost_ || !on_thread;
  if (--maps_ > 0) return;
  mapped_ = {};
  if (on_thread) unmap_on_thread();
}

Result<std::span<std::byte>> DeviceThreadBuffer::begin_access(Access access) {
  // Every map asks the thread, also one that is shared: its answer proves that the memory exists.
  std::span<std::byte> bytes;
  HALYARD_RETURN_IF_ERROR(thread_->run([this, access, &bytes]() -> Status {
    HALYARD_TRY(bytes, share_or_map(access));
    return {};
  }));
  return bytes;
}

void DeviceThreadBuffer::end_access(Access) noexcept {
  const Status ran = thread_->run([this]() -> Status {
    unshare(true);
    return {};
  });
  if (!ran) unshare(false);
}

namespace {
constinit std::atomic<PixelBufferMaker> pixel_buffer_maker{nullptr};
}

void set_pixel_buffer_maker(PixelBufferMaker maker) noexcept {
  pixel_buffer_maker = maker;
}

Result<std::shared_ptr<Buffer>> make_pixel_buffer(std::size_t size_bytes) {
  const PixelBufferMaker maker = pixel_buffer_maker;
  if (maker != nullptr) return maker(size_bytes);
  return fail(Errc::unsupported, "memory: pbo needs OpenGL, which is not built into this library");
}

namespace {

constinit std::atomic<PixelBufferAttacher> pixel_buffer_attacher{nullptr};

Status check_exclusion(const Buffer& buffer, const DeviceAttachment& attachment) {
  if (!attachment.excludes_cpu() || dynamic_cast<const DeviceThreadBuffer*>(&buffer) != nullptr)
    return {};
  return fail(Errc::unsupported,
              "attachment: excludes the CPU, which this kind of buffer cannot do",
              "buffer {} of {}", buffer.id(), to_string(buffer.memory()));
}

Result<std::unique_ptr<DeviceAttachment>> make_attachment(Buffer& buffer, DeviceKind device) {
  const PixelBufferAttacher attach = pixel_buffer_attacher;
  if (buffer.memory() == Memory::pbo && attach != nullptr) return attach(buffer, device);
  if (buffer.memory() == Memory::dma && device == DeviceKind::cuda) return make_cuda_import(buffer);
  return fail(Errc::unsupported, "device: the buffer is not attached to it",
              "{} has no address in {}", to_string(buffer.memory()), to_string(device));
}

// The slots of a buffer that has an attachment for the device.
Result<DeviceSlots*> attached_slots(Buffer& buffer, DeviceKind device) {
  DeviceSlots* const known = slots_of(buffer);
  if (known != nullptr && known->has(device)) return known;
  HALYARD_TRY(auto attachment, make_attachment(buffer, device));
  HALYARD_RETURN_IF_ERROR(check_exclusion(buffer, *attachment));
  DeviceSlots& slots = make_slots(buffer);
  HALYARD_RETURN_IF_ERROR(slots.offer(std::move(attachment)));
  return &slots;
}

}  // namespace

void set_pixel_buffer_attacher(PixelBufferAttacher attacher) noexcept {
  pixel_buffer_attacher = attacher;
}

Status attach_device(Buffer& buffer, std::unique_ptr<DeviceAttachment> attachment) {
  if (!attachment) return fail(Errc::invalid_argument, "attachment: is null");
  HALYARD_RETURN_IF_ERROR(check_exclusion(buffer, *attachment));
  return make_slots(buffer).put(std::move(attachment));
}

Status device_available(DeviceKind device) {
  if (device == DeviceKind::cuda) {
    HALYARD_RETURN_IF_ERROR(cuda_runtime());
    return {};
  }
  return fail(Errc::unsupported, "device: the library does not use this kind", "{}",
              to_string(device));
}

Result<DeviceMap> map_device(const std::shared_ptr<Buffer>& buffer, DeviceKind device,
                             void* stream) {
  trace::Span span("tensor.map_device");
  if (!buffer) return fail(Errc::invalid_argument, "buffer: is null");
  if (device == DeviceKind::cuda &&
      reinterpret_cast<std::uintptr_t>(stream) == cuda_abi::per_thread_stream) {
    return fail(Errc::invalid_argument,
                "stream: must not be cudaStreamPerThread, which is another one on each thread");
  }
  HALYARD_TRY(DeviceSlots* const slots, attached_slots(*buffer, device));
  HALYARD_TRY(DeviceAttachment* const attachment, slots->take(device));
  auto* exclusive =
      attachment->excludes_cpu() ? static_cast<DeviceThreadBuffer*>(buffer.get()) : nullptr;
  Status held = exclusive != nullptr ? exclusive->hold_alone() : Status();
  if (!held) {
    slots->give_back(device);
    return held.error();
  }
  auto address = attachment->begin(stream);
  if (address) return DeviceMap(buffer, *attachment, stream, *address);
  if (exclusive != nullptr) exclusive->release_from_device();
  slots->give_back(device);
  return std::move(address).error();
}

DeviceMap::DeviceMap(std::shared_ptr<Buffer> buffer, const DeviceAttachment& attachment,
                     void* stream, void* address) noexcept
    : buffer_(std::move(buffer)),
      stream_(stream),
      address_(address),
      device_(attachment.device()),
      device_number_(attachment.device_number()) {}

DeviceMap::DeviceMap(DeviceMap&& other) noexcept
    : buffer_(std::move(other.buffer_)),
      stream_(other.stream_),
      address_(std::exchange(other.address_, nullptr)),
      device_(other.device_),
      device_number_(other.device_number_) {}

DeviceMap& DeviceMap::operator=(DeviceMap&& other) noexcept {
  if (this == &other) return *this;
  end();
  buffer_ = std::move(other.buffer_);
  stream_ = other.stream_;
  address_ = std::exchange(other.address_, nullptr);
  device_ = other.device_;
  device_number_ = other.device_number_;
  return *this;
}

DeviceMap::~DeviceMap() {
  end();
}

std::size_t DeviceMap::size_bytes() const noexcept {
  return buffer_ ? buffer_->size_bytes() : 0;
}

Status DeviceMap::wait() const {
  if (!buffer_) return fail(Errc::invalid_argument, "map: was moved from");
  return slots_of(*buffer_)->taken(device_)->wait(stream_);
}

void DeviceMap::end() noexcept {
  if (!buffer_) return;
  DeviceSlots* slots = slots_of(*buffer_);
  DeviceAttachment* attachment = slots->taken(device_);
  attachment->end(stream_);
  if (attachment->excludes_cpu()) {
    static_cast<DeviceThreadBuffer*>(buffer_.get())->release_from_device();
  }
  slots->give_back(device_);
  buffer_.reset();
  address_ = nullptr;
}

}  // namespace halyard
