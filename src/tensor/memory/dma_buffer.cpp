// SPDX-License-Identifier: Apache-2.0
// DMA-BUF memory: mapped once, synchronised by every map.
#include <atomic>
#include <cerrno>

#include "base/system/mapped.h"
#include "base/system/ranked_mutex.h"
#include "base/text/format_error.h"
#include "base/text/log_format.h"
#include "halyard/dmabuf.h"
#include "tensor/memory/buffer_kinds.h"
#include "tensor/memory/dma_attach.h"
#include "tensor/memory/dma_heap.h"
#include "tensor/memory/dma_sync.h"

namespace halyard {
namespace {

class DmaBuffer final : public Buffer {
 public:
  DmaBuffer(Fd fd, std::size_t size, bool writable, DmaAttach attach = {}) noexcept
      : Buffer(size, Memory::dma, writable), fd_(std::move(fd)), attach_(std::move(attach)) {}
  ~DmaBuffer() override { release_attachments(); }
  int fd() const noexcept override { return fd_.get(); }
  Status sync_error() const override;
  std::uint64_t sync_failures() const noexcept override {
    return failed_ends_.load(std::memory_order_acquire);
  }

 private:
  Result<std::span<std::byte>> begin_access(Access access) override;
  void end_access(Access access) noexcept override;

  Fd fd_;
  DmaAttach attach_;
  /// Held during the SYNC calls too: a thread that joins a map must find its START done.
  RankedForkMutex<LockRank::leaf> mutex_;
  MappedMemory mapped_;  ///< from the first map on
  DmaSync sync_;
  std::atomic<int> end_errno_{
      0};  ///< of the latest END that failed; only the first failure is logged
  std::atomic<std::uint64_t> failed_ends_{0};
};

Result<std::span<std::byte>> DmaBuffer::begin_access(Access access) {
  const RankedForkLock lock(mutex_);
  if (!lock)
    return fail(Errc::busy, "buffer: was locked by another thread when this process was forked");
  if (!mapped_.bytes().empty()) {
    HALYARD_RETURN_IF_ERROR(sync_.begin(fd_.get(), access));
    return mapped_.bytes();
  }
  HALYARD_TRY(MappedMemory mapped, MappedMemory::create(fd_.get(), size_bytes(), is_writable()));
  HALYARD_RETURN_IF_ERROR(sync_.begin(fd_.get(), access));
  mapped_ = std::move(mapped);
  set_address(mapped_.bytes().data());
  return mapped_.bytes();
}

void DmaBuffer::end_access(Access access) noexcept {
  Status ended;
  {
    const RankedForkLock lock(mutex_);
    if (!lock) return;
    ended = sync_.end(fd_.get(), access);
  }
  if (ended) return;
  const int os_errno = ended.error().os_errno;
  end_errno_.store(os_errno != 0 ? os_errno : EIO, std::memory_order_release);
  if (failed_ends_.fetch_add(1, std::memory_order_acq_rel) != 0) return;
  HALYARD_LOG(LogLevel::warn, "tensor", "buffer {}: {}", id(), ended.error().message());
}

Status DmaBuffer::sync_error() const {
  const int os_errno = end_errno_.load(std::memory_order_acquire);
  if (os_errno == 0) return {};
  return fail_os("dma: DMA_BUF_IOCTL_SYNC(END) failed", os_errno, fmt::format("buffer {}", id()));
}

}  // namespace

Result<std::shared_ptr<Buffer>> adopt_dma_buffer(Fd fd, std::size_t size_bytes, bool writable) {
  if (!fd) return fail(Errc::invalid_argument, "fd: is empty");
  if (size_bytes == 0) return fail(Errc::invalid_argument, "size: a DMA-BUF has at least 1 byte");
  return std::shared_ptr<Buffer>(std::make_shared<DmaBuffer>(std::move(fd), size_bytes, writable));
}

Result<std::shared_ptr<Buffer>> make_dma_buffer(std::size_t size_bytes,
                                                const AllocateOptions& options) {
  return make_dma_buffer(size_bytes, options, DmaNodes{});
}

Result<std::shared_ptr<Buffer>> make_dma_buffer(std::size_t size_bytes,
                                                const AllocateOptions& options,
                                                const DmaNodes& nodes) {
  const std::string label = options.label.substr(0, 31);
  HALYARD_TRY(DmaMemory memory,
              allocate_dma(size_bytes, dma_heap_order(options.dma_heaps), label, nodes));
  DmaAttach attach;
  if (memory.heap != udmabuf_name) attach = DmaAttach::create(memory.fd.get(), nodes.render);
  if (options.attached && !attach && memory.heap != udmabuf_name)
    return fail(Errc::unsupported, "attached: no render node takes the DMA-BUF", "heap {}, node {}",
                memory.heap, nodes.render);
  auto buffer =
      std::make_shared<DmaBuffer>(std::move(memory.fd), size_bytes, true, std::move(attach));
  if (!label.empty()) {
    // The label is only informative: memory without one works as well.
    const auto labelled = set_label(*buffer, label);
    if (!labelled) HALYARD_LOG(LogLevel::debug, "tensor", "{}", labelled.error().message());
  }
  return std::shared_ptr<Buffer>(std::move(buffer));
}

}  // namespace halyard
