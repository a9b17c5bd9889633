// SPDX-License-Identifier: Apache-2.0
// DmaAttach: a DMA-BUF held by the GPU's device, so that the kernel keeps caches for it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace halyard {

/// A heap keeps caches coherent for the devices that are attached to the buffer, and for none when
/// there is none: SYNC would do nothing. So buffers that we allocate from heaps are attached to the
/// first GPU. Not so those of udmabuf, which is a device of its own and synchronises for itself,
/// nor imported ones, whose owner attaches what it needs. A DMA-BUF that is attached more than once
/// stays attached until the last of them goes. Move-only.
class DmaAttach {
 public:
  DmaAttach() = default;
  /// Attaches; empty when there is no such node or its driver declines, which is no error. The node
  /// is open as long as something is attached, once for all.
  static DmaAttach create(int dma_buf, const std::string& render_node);
  DmaAttach(DmaAttach&& other) noexcept;
  DmaAttach& operator=(DmaAttach&& other) noexcept;
  DmaAttach(const DmaAttach&) = delete;
  DmaAttach& operator=(const DmaAttach&) = delete;
  ~DmaAttach();

  explicit operator bool() const noexcept { return node_ != nullptr; }

 private:
  struct Node;
  std::shared_ptr<Node> node_;
  std::uint32_t handle_ = 0;
};

}  // namespace halyard
