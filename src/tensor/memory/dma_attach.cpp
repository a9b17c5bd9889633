// SPDX-License-Identifier: Apache-2.0
// The two DRM calls that attach and detach.
#include "tensor/memory/dma_attach.h"

#include <sys/ioctl.h>

#include <map>
#include <utility>

#include "base/system/ranked_mutex.h"
#include "halyard/threads.h"
#include "tensor/memory/dma_node.h"

namespace halyard {
namespace {

// From the kernel's drm.h, which comes with libdrm. Two calls do not justify a dependency.
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
  std::uint32_t generation = fork_generation();
  RankedForkMutex<LockRank::leaf> mutex{};
  std::map<std::uint32_t, std::size_t> users{};  ///< count of users by handle

  Node(std::string name, Fd opened) : path(std::move(name)), fd(std::move(opened)) {}

  /// Returns the handle, or 0 if the driver declines. The driver has one handle for each DMA-BUF.
  std::uint32_t attach(int dma_buf) {
    const RankedForkLock lock(mutex);
    PrimeHandle request = {0, 0, dma_buf};
    if (!lock || ::ioctl(fd.get(), prime_fd_to_handle, &request) != 0) return 0;
    ++users[request.handle];
    return request.handle;
  }
  void detach(std::uint32_t handle) noexcept {
    // A child of fork() has its parent's handles, which the parent still uses.
    if (generation != fork_generation()) return;
    const RankedForkLock lock(mutex);
    const auto found = users.find(handle);
    if (!lock || found == users.end() || --found->second != 0) return;
    users.erase(found);
    GemClose request = {handle, 0};
    // A failure is ignored: the handle is closed with the node at the latest.
    (void)::ioctl(fd.get(), gem_close, &request);
  }

  static std::shared_ptr<Node> open(const std::string& path) {
    static RankedForkMutex<LockRank::leaf> mutex;
    static constinit std::weak_ptr<Node> last;
    const RankedForkLock lock(mutex);
    auto node = lock ? last.lock() : nullptr;
    if (node && node->path == path && node->generation == fork_generation()) return node;
    auto fd = open_node(path);
    if (!fd) return nullptr;
    node = std::make_shared<Node>(path, *std::move(fd));
    if (lock) last = node;  // after a fork that left the lock held, a child shares no node
    return node;
  }
};

DmaAttach DmaAttach::create(int dma_buf, const std::string& render_node) {
  DmaAttach attach;
  auto node = Node::open(render_node);
  attach.handle_ = node ? node->attach(dma_buf) : 0;
  if (attach.handle_ != 0) attach.node_ = std::move(node);
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
  if (node_) node_->detach(handle_);
}

}  // namespace halyard
