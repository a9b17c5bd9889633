// SPDX-License-Identifier: Apache-2.0
// Labels and fences of DMA-BUFs.
#include <linux/dma-buf.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>

#include "base/system/socket_message.h"
#include "base/text/format_error.h"
#include "halyard/dmabuf.h"
#include "halyard/trace.h"

// Both calls are of Linux 6.0; older headers lack them.
#ifndef DMA_BUF_IOCTL_EXPORT_SYNC_FILE
struct dma_buf_export_sync_file {
  __u32 flags;
  __s32 fd;
};
struct dma_buf_import_sync_file {
  __u32 flags;
  __s32 fd;
};
#define DMA_BUF_IOCTL_EXPORT_SYNC_FILE _IOWR(DMA_BUF_BASE, 2, struct dma_buf_export_sync_file)
#define DMA_BUF_IOCTL_IMPORT_SYNC_FILE _IOW(DMA_BUF_BASE, 3, struct dma_buf_import_sync_file)
#endif

namespace halyard {
namespace {

constexpr std::size_t max_label_bytes =
    31;  // DMA_BUF_NAME_LEN of the kernel, without the terminating zero

Status check_dma(const Buffer& buffer) {
  if (buffer.memory() == Memory::dma && buffer.fd() >= 0) return {};
  return fail(Errc::invalid_argument, "buffer: is not a DMA-BUF", "buffer {} of {}", buffer.id(),
              to_string(buffer.memory()));
}

__u32 sync_flags(Access access) noexcept {
  return static_cast<__u32>((can_read(access) ? DMA_BUF_SYNC_READ : 0) |
                            (can_write(access) ? DMA_BUF_SYNC_WRITE : 0));
}

// The error of a failed call for fences.
Error fence_error(int os_errno, const char* what) {
  if (os_errno == ENOTTY) {
    return make_error(Errc::unsupported, "sync file: this kernel does not pass them (before 6.0)",
                      {}, os_errno);
  }
  return fail_os(what, os_errno);
}

}  // namespace

Status set_label(const Buffer& buffer, std::string_view label) {
  HALYARD_RETURN_IF_ERROR(check_dma(buffer));
  if (label.size() > max_label_bytes || label.find('\0') != std::string_view::npos) {
    return fail(Errc::invalid_argument, "label: at most 31 bytes, none of them zero", "{} bytes",
                label.size());
  }
  const std::string text(label);
  if (::ioctl(buffer.fd(), DMA_BUF_SET_NAME_B, text.c_str()) != 0) {
    return fail_os("label: the kernel refuses it", errno, text);
  }
  return {};
}

Result<Fd> export_sync_file(const Buffer& buffer, Access access) {
  trace::Span span("tensor.export_sync_file");
  HALYARD_RETURN_IF_ERROR(check_dma(buffer));
  dma_buf_export_sync_file request = {sync_flags(access), -1};
  if (::ioctl(buffer.fd(), DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &request) != 0) {
    return fence_error(errno, "sync file: cannot be exported");
  }
  return Fd(request.fd);
}

Status import_sync_file(const Buffer& buffer, Access access, int sync_file) {
  trace::Span span("tensor.import_sync_file");
  HALYARD_RETURN_IF_ERROR(check_dma(buffer));
  if (sync_file < 0) {
    return fail(Errc::invalid_argument, "sync_file: must not be negative", "{}", sync_file);
  }
  dma_buf_import_sync_file request = {sync_flags(access), sync_file};
  if (::ioctl(buffer.fd(), DMA_BUF_IOCTL_IMPORT_SYNC_FILE, &request) == 0) return {};
  if (errno == EINVAL) {
    return make_error(Errc::invalid_argument, "sync_file: is not a sync file",
                      fmt::format("descriptor {}", sync_file), EINVAL);
  }
  return fence_error(errno, "sync file: cannot be imported");
}

Status wait_sync_file(int sync_file, std::chrono::milliseconds timeout) {
  trace::Span span("tensor.wait_sync_file");
  const Deadline deadline(std::max(timeout, std::chrono::milliseconds(0)));
  for (;;) {
    pollfd poll = {sync_file, POLLIN, 0};
    const int left_ms = deadline.left_ms();
    const int ready = sync_file < 0 ? 1 : ::poll(&poll, 1, left_ms);
    if (sync_file < 0 || (poll.revents & POLLNVAL) != 0) {
      return fail(Errc::invalid_argument, "sync_file: must be an open descriptor", "{}", sync_file);
    }
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return fail_os("sync_file: cannot be waited for", errno);
    if (ready == 0 && left_ms == 0)
      return fail(Errc::timeout, "sync_file: does not signal", "in {} ms", timeout.count());
  }
}

}  // namespace halyard
