// SPDX-License-Identifier: Apache-2.0
// Device memory: buffers that only one thread can map (OpenGL), and addresses on a device (CUDA).
// The layers that add such devices implement these interfaces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "halyard/buffer.h"
#include "halyard/export.h"
#include "halyard/result.h"
#include "halyard/threads.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// The one thread that owns a device context. Implementations run work there, in order. Buffers
/// share ownership of this object, so its destructor may run on the thread itself.
class DeviceThread {
 public:
  virtual ~DeviceThread() = default;
  /// Runs `work` on the thread and waits for it; if called on the thread itself, runs it at once.
  /// Errors: device (the thread has ended; `work` did not run), those of `work`. Thread-safe.
  virtual Status run(const std::function<Status()>& work) = 0;
};

/// A buffer that is mapped and unmapped on a DeviceThread, whichever thread its user runs on (a GL
/// pixel buffer). It is mapped only once at a time: further maps within the access of the first
/// share that mapping; a wider access is refused (busy), and so is every map while a device holds
/// the bytes. After the thread has ended, map() fails with `device` and unmapping does nothing: the
/// memory was freed with the context, and bytes of maps that are still open must not be accessed.
/// The destructor of a derived class first calls release_attachments(), then frees its memory
/// through thread(); it runs on the thread of the last owner.
class DeviceThreadBuffer : public Buffer {
 public:
  /// Refuses CPU maps until release_from_device() is called as often; for work of the device thread
  /// itself. Errors: busy (mapped by the CPU, or held alone).
  Status hold_for_device();
  /// The same, and refuses other holds; for attachments that exclude the CPU. Errors: busy (mapped
  /// by the CPU, or held).
  Status hold_alone();
  void release_from_device() noexcept;

 protected:
  DeviceThreadBuffer(std::size_t size_bytes, Memory memory,
                     std::shared_ptr<DeviceThread> thread) noexcept;
  DeviceThread& thread() const noexcept { return *thread_; }

 private:
  /// Called on the thread; returns all bytes. Every success is paired with one unmap_on_thread(),
  /// unless the thread ends before. Neither function may map or unmap this buffer.
  virtual Result<std::span<std::byte>> map_on_thread(Access access) = 0;
  virtual void unmap_on_thread() noexcept = 0;

  Result<std::span<std::byte>> begin_access(Access access) final;
  void end_access(Access access) noexcept final;

  Status hold(bool alone);
  Result<std::span<std::byte>> share_or_map(Access access);
  void unshare(bool on_thread) noexcept;

  std::shared_ptr<DeviceThread> thread_;
  ForkMutex mutex_;  ///< never held while waiting for the thread
  std::span<std::byte> mapped_;
  Access mapped_access_ = Access::read;
  std::size_t maps_ = 0;
  std::size_t device_holds_ = 0;
  bool held_alone_ = false;
  bool lost_ = false;  ///< the thread ended while a map was open
};

/// Makes a zero-filled buffer of Memory::pbo of at least one byte.
using PixelBufferMaker = Result<std::shared_ptr<Buffer>> (*)(std::size_t size_bytes);
/// Sets what allocate() calls for Memory::pbo; null: nothing makes them. The OpenGL of this library
/// sets its own when the library is loaded. Thread-safe.
void set_pixel_buffer_maker(PixelBufferMaker maker) noexcept;

/// Devices with their own address space; values are DLPack's device codes.
enum class DeviceKind : std::uint8_t { cuda = 2, opencl = 4, vulkan = 7, rocm = 10 };
std::string_view to_string(DeviceKind device) noexcept;

/// Makes a buffer's bytes addressable on a device: a CUDA registration of a GL buffer, a CUDA
/// import of a DMA-BUF. attach_device() attaches it to the buffer; its destructor undoes the
/// registration.
class DeviceAttachment : public Attachment {
 public:
  virtual DeviceKind device() const noexcept = 0;
  /// Returns the device address of byte 0; accesses are ordered after earlier work of `stream`
  /// (null: the default stream). Not called again before end(); every success is paired with one
  /// end() on the same stream.
  virtual Result<void*> begin(void* stream) = 0;
  virtual void end(void* stream) noexcept = 0;
  /// Waits until the work in `stream` that the device was given so far is done.
  virtual Status wait(void* stream) {
    static_cast<void>(stream);
    return {};
  }
  /// True if the CPU must not map the buffer between begin() and end() (GL buffers); false if it
  /// may (DMA-BUF).
  virtual bool excludes_cpu() const noexcept = 0;
  /// Number of the device among those of its kind; known after the first success of begin().
  virtual int device_number() const noexcept { return 0; }
};

/// Makes the attachment of `device` for a buffer of Memory::pbo; it costs nothing before its first
/// begin(). Errors: unsupported (the device, a pixel buffer of another maker, no runtime).
using PixelBufferAttacher = Result<std::unique_ptr<DeviceAttachment>> (*)(Buffer& buffer,
                                                                          DeviceKind device);
/// Sets what map_device() calls for a pixel buffer that has no attachment for the device; null:
/// nothing. The OpenGL of this library sets its own when the library is loaded. Thread-safe.
void set_pixel_buffer_attacher(PixelBufferAttacher attacher) noexcept;

/// Attaches it to the buffer and replaces the device's earlier attachment. Errors: invalid_argument
/// (null), unsupported (it excludes the CPU, but the buffer is not a DeviceThreadBuffer, which can
/// refuse CPU maps), busy (the earlier attachment is mapped). Thread-safe.
Status attach_device(Buffer& buffer, std::unique_ptr<DeviceAttachment> attachment);

/// Access to a buffer from a device, from map_device() until destruction; keeps the buffer alive.
/// Move-only. May be destroyed on another thread.
class DeviceMap {
 public:
  DeviceMap(DeviceMap&& other) noexcept;
  DeviceMap& operator=(DeviceMap&& other) noexcept;
  DeviceMap(const DeviceMap&) = delete;
  DeviceMap& operator=(const DeviceMap&) = delete;
  ~DeviceMap();

  void* address() const noexcept { return address_; }  ///< on the device
  std::size_t size_bytes() const noexcept;
  DeviceKind device() const noexcept { return device_; }
  /// Number of the device among those of its kind.
  int device_number() const noexcept { return device_number_; }
  /// As given to map_device().
  void* stream() const noexcept { return stream_; }
  /// Waits until the work in stream() that was given so far is done, also what the map waits for:
  /// afterwards any other stream may access the bytes. Errors: device, unsupported (forked),
  /// invalid_argument (moved from). Thread-safe.
  Status wait() const;
  /// Null for a map that was moved from.
  const std::shared_ptr<Buffer>& buffer() const noexcept { return buffer_; }

 private:
  friend Result<DeviceMap> map_device(const std::shared_ptr<Buffer>& buffer, DeviceKind device,
                                      void* stream);
  DeviceMap(std::shared_ptr<Buffer> buffer, const DeviceAttachment& attachment, void* stream,
            void* address) noexcept;
  void end() noexcept;
  std::shared_ptr<Buffer> buffer_;
  void* stream_ = nullptr;
  void* address_ = nullptr;
  DeviceKind device_ = DeviceKind::cuda;
  int device_number_ = 0;
};

/// Maps a buffer on a device. Without an attachment for the device it makes one where it can: CUDA
/// maps pixel buffers of OpenGL and DMA-BUFs through NVIDIA's runtime (libcudart), which is loaded
/// then. Work of the device must be in `stream`, or ordered before the end of the map by other
/// means. Errors: invalid_argument (null buffer; a CUDA stream that is cudaStreamPerThread, since
/// maps end on any thread), unsupported (the buffer has no address on this device: always so for
/// mem and shm; no runtime; the runtime refuses this memory, with the reason), busy (already mapped
/// on the device; mapped by the CPU, if the attachment excludes it), no_memory, device.
/// Thread-safe.
Result<DeviceMap> map_device(const std::shared_ptr<Buffer>& buffer, DeviceKind device,
                             void* stream = nullptr);

/// Whether this process can use a device of this kind; the error gives the reason. For CUDA the
/// runtime must be found and must report a device. Asked once, then cached. Thread-safe.
Status device_available(DeviceKind device);

}  // namespace halyard
HALYARD_EXPORTS_END
