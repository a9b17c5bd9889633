// SPDX-License-Identifier: Apache-2.0
// Tries one heap after the other, and collects the reasons of failures.
#include "tensor/memory/dma_heap.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/dma-heap.h>
#include <linux/udmabuf.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <memory>
#include <utility>

#include "base/checked.h"
#include "base/env.h"
#include "base/system/mapped.h"
#include "base/text/format_error.h"

namespace halyard {
namespace {

std::string node_of(std::string_view heap, const DmaNodes& nodes) {
  return heap == udmabuf_name ? nodes.udmabuf : fmt::format("{}/{}", nodes.heaps, heap);
}

Result<Fd> allocate_from_heap(const std::string& node, std::size_t whole_bytes) {
  HALYARD_TRY(const Fd heap, open_node(node));
  dma_heap_allocation_data request = {};
  request.len = whole_bytes;
  request.fd_flags = O_RDWR | O_CLOEXEC;
  if (::ioctl(heap.get(), DMA_HEAP_IOCTL_ALLOC, &request) != 0) {
    return fail_os("refused", errno, fmt::format("{} bytes", whole_bytes));
  }
  return Fd(static_cast<int>(request.fd));
}

// The kernel reports a size above its limit only as EINVAL.
Error explain_udmabuf(int os_errno, std::size_t whole_bytes, const DmaNodes& nodes) {
  std::size_t limit_mb = 0;
  if (os_errno == EINVAL && std::ifstream(nodes.udmabuf_limit_mb) >> limit_mb &&
      whole_bytes >> 20U > limit_mb) {
    return make_error(Errc::no_memory, "above the kernel's limit",
                      fmt::format("{} bytes, size_limit_mb is {}; raise it in {}", whole_bytes,
                                  limit_mb, nodes.udmabuf_limit_mb),
                      os_errno);
  }
  return fail_os("refused", os_errno, fmt::format("{} bytes", whole_bytes));
}

Result<Fd> allocate_from_udmabuf(std::size_t whole_bytes, std::string_view label,
                                 const DmaNodes& nodes) {
  HALYARD_TRY(const Fd device, open_node(nodes.udmabuf));
  HALYARD_TRY(const Fd pages, create_sealed_memory(label.empty() ? "halyard" : label, whole_bytes));
  udmabuf_create request = {};
  request.memfd = static_cast<__u32>(pages.get());
  request.flags = UDMABUF_FLAGS_CLOEXEC;
  request.size = whole_bytes;
  const int fd = ::ioctl(device.get(), UDMABUF_CREATE, &request);
  if (fd < 0) return explain_udmabuf(errno, whole_bytes, nodes);
  return Fd(fd);
}

// Collects why no heap could allocate, and the error code of the whole.
class Refusals {
 public:
  explicit Refusals(const DmaNodes& nodes) : nodes_(nodes) {}

  void add(const std::string& heap, const Error& error) {
    if (error.code == Errc::not_found) {
      absent_ += absent_.empty() ? heap : " " + heap;
      return;
    }
    told_.push_back({heap, error});
    // An error that the user can fix has priority.
    if (told_.size() == 1 || (error.code == Errc::permission && code_ != Errc::permission)) {
      code_ = error.code;
      errno_ = error.os_errno;
    }
  }

  Error whole() const {
    if (told_.empty()) {
      return fail(Errc::unsupported, "memory: no DMA-BUF heap exists",
                  "looked for {}; heaps are nodes of {}, udmabuf is {}", absent_, nodes_.heaps,
                  nodes_.udmabuf);
    }
    std::string text;
    for (const auto& [heap, error] : told_)
      text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", heap, reason(error));
    if (!absent_.empty()) text += "; absent: " + absent_;
    return make_error(code_, "memory: no DMA-BUF heap can allocate", std::move(text), errno_);
  }

 private:
  // The text of the whole error ends with its errno, so an equal errno is left out here.
  std::string reason(Error error) const {
    if (error.os_errno == errno_) error.os_errno = 0;
    return error.message();
  }

  const DmaNodes& nodes_;
  std::vector<std::pair<std::string, Error>> told_;
  std::string absent_;
  Errc code_ = Errc::unsupported;
  int errno_ = 0;
};

Status check_heap_name(const std::string& heap) {
  if (!heap.empty() && heap[0] != '.' && heap.find_first_of({"/\0", 2}) == std::string::npos) {
    return {};
  }
  return fail(Errc::invalid_argument, "dma_heaps: must be file names in /dev/dma_heap", "'{}'",
              heap);
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), ::closedir);
  if (!open) return names;
  while (const dirent* entry = ::readdir(open.get())) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

std::vector<std::string> dma_heap_order(const std::vector<std::string>& asked) {
  if (!asked.empty()) return asked;
  if (!environment().tensor_dma_heap.empty()) return environment().tensor_dma_heap;
  return {"linux,cma", "default_cma_region",     "reserved", "cma",
          "system",    std::string(udmabuf_name)};
}

Result<DmaMemory> allocate_dma(std::size_t size_bytes, std::span<const std::string> order,
                               std::string_view label, const DmaNodes& nodes) {
  const auto whole =
      checked_round_up(size_bytes, static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
  if (!whole) {
    return fail(Errc::no_memory, "size: more than can be addressed", "{} bytes", size_bytes);
  }
  // The kernel's system heap allocates as long as it finds pages. It may run out of memory, and the
  // process that the kernel then kills may be this one.
  if (*whole > system_memory_bytes()) {
    return fail(Errc::no_memory, "size: more than this machine has",
                "{} bytes, RAM and swap are {}", size_bytes, system_memory_bytes());
  }
  Refusals refusals(nodes);
  for (const std::string& heap : order) {
    HALYARD_RETURN_IF_ERROR(check_heap_name(heap));
    auto fd = heap == udmabuf_name ? allocate_from_udmabuf(*whole, label, nodes)
                                   : allocate_from_heap(node_of(heap, nodes), *whole);
    if (fd) return DmaMemory{*std::move(fd), heap};
    refusals.add(heap, fd.error());
  }
  return refusals.whole();
}

std::vector<DmaHeap> find_dma_heaps(const DmaNodes& nodes) {
  std::vector<std::string> names = dma_heap_order({});
  const auto add = [&names](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const std::string& name : names_in(nodes.heaps))
    add(name);
  add(std::string(udmabuf_name));
  std::vector<DmaHeap> found;
  for (const std::string& name : names) {
    if (!check_heap_name(name)) continue;
    std::string node = node_of(name, nodes);
    const auto opened = open_node(node);
    if (!opened && opened.error().code == Errc::not_found) continue;
    found.push_back({name, std::move(node), opened ? Status() : Status(opened.error())});
  }
  return found;
}

std::vector<DmaHeap> dma_heaps() {
  return find_dma_heaps({});
}

}  // namespace halyard
