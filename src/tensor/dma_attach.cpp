// SPDX-License-Identifier: Apache-2.0
// The two DRM calls that attach and let go.
#include "tensor/dma_attach.h"

#include <sys/ioctl.h>

#include <utility>

#include "halyard/threads.h"
#include "tensor/dma_node.h"

namespace halyard {
namespace {

// From the kernel's drm.h, whose headers come with libdrm; two calls do not earn a dependency.
struct PrimeHandle {
  std::uint32_t handle;
  std::uint32_t flags;
  std::int32_t fd;
};
struct GemClose {
  std::uint32_t handle;
  std::uint32_t pad;
};
constexpr unsigned long prime_fd_to_handle = _IOWR('d', 0x2e, PrimeHandle);
constexpr unsigned long gem_close = _IOW('d', 0x09, GemClose);

}  // namespace

struct DmaAttach::Node {
  std::string path;
  Fd fd;

  static std::shared_ptr<Node> open(const std::string& path) {
    static ForkMutex mutex;
    static constinit std::weak_ptr<Node> last;
    const ForkLock lock(mutex);
    auto node = lock ? last.lock() : nullptr;
    if (node && node->path == path) return node;
    auto fd = open_node(path);
    if (!fd) return nullptr;
    node = std::make_shared<Node>(Node{path, *std::move(fd)});
    if (lock) last = node;  // a child whose parent was here shares none
    return node;
  }
};

DmaAttach DmaAttach::create(int dma_buf, const std::string& render_node) {
  DmaAttach attach;
  auto node = Node::open(render_node);
  PrimeHandle request = {0, 0, dma_buf};
  if (!node || ::ioctl(node->fd.get(), prime_fd_to_handle, &request) != 0) return attach;
  attach.node_ = std::move(node);
  attach.handle_ = request.handle;
  return attach;
}

DmaAttach::DmaAttach(DmaAttach&& other) noexcept
    : node_(std::move(other.node_)), handle_(other.handle_) {}

DmaAttach& DmaAttach::operator=(DmaAttach&& other) noexcept {
  std::swap(node_, other.node_);
  std::swap(handle_, other.handle_);
  return *this;
}

DmaAttach::~DmaAttach() {
  if (!node_) return;
  GemClose request = {handle_, 0};
  // Nothing can be done about a failure: the handle goes with the node at the latest.
  (void)::ioctl(node_->fd.get(), gem_close, &request);
}

}  // namespace halyard
