// SPDX-License-Identifier: Apache-2.0
// Makes the SYNC calls that belong to the begin and end of maps.
#include "tensor/memory/dma_sync.h"

#include <linux/dma-buf.h>
#include <sys/ioctl.h>

#include <cerrno>

#include "base/text/format_error.h"

namespace halyard {
namespace {

Status sync(int fd, std::uint64_t flags, const char* what) {
  dma_buf_sync call = {};
  call.flags = flags;
  // The kernel's contract: repeat calls that were interrupted or put off until they are done.
  while (::ioctl(fd, DMA_BUF_IOCTL_SYNC, &call) != 0) {
    if (errno != EINTR && errno != EAGAIN) return fail_os(what, errno);
  }
  return {};
}

Status start(int fd, std::uint64_t direction) {
  return sync(fd, DMA_BUF_SYNC_START | direction, "dma: DMA_BUF_IOCTL_SYNC(START) failed");
}

Status stop(int fd, std::uint64_t direction) {
  return sync(fd, DMA_BUF_SYNC_END | direction, "dma: DMA_BUF_IOCTL_SYNC(END) failed");
}

}  // namespace

Status DmaSync::begin(int fd, Access access) {
  const bool writes = can_write(access);
  if (writers_ == 0) {
    HALYARD_RETURN_IF_ERROR(start(fd, writes ? DMA_BUF_SYNC_RW : DMA_BUF_SYNC_READ));
  }
  ++(writes ? writers_ : readers_);
  return {};
}

Status DmaSync::end(int fd, Access access) {
  const bool writes = can_write(access);
  --(writes ? writers_ : readers_);
  if (writers_ != 0) return {};
  if (writes) return stop(fd, readers_ == 0 ? DMA_BUF_SYNC_RW : DMA_BUF_SYNC_WRITE);
  return readers_ == 0 ? stop(fd, DMA_BUF_SYNC_READ) : Status();
}

}  // namespace halyard
