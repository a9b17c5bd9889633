// SPDX-License-Identifier: Apache-2.0
// DmaAttach: a DMA-BUF attached to the GPU's device, so that the kernel keeps caches coherent for
// it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace halyard {

/// A heap keeps caches coherent for the devices that are attached to the buffer. Without one, SYNC
/// does nothing. So buffers that the library allocates from heaps are attached to the first GPU.
/// Buffers of udmabuf are not: it is a device itself and synchronises alone. Imported buffers are
/// not: their owner attaches what it needs. A DMA-BUF that is attached more than once stays
/// attached until the last attachment ends. Move-only.
class DmaAttach {
 public:
  DmaAttach() = default;
  /// Attaches. Empty if there is no such node or its driver declines, which is not an error. All
  /// attachments share one open node, which is closed with the last of them.
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
