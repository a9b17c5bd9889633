// SPDX-License-Identifier: Apache-2.0
// DMA-BUFs for tests of imports: real ones where the machine has a heap, else a memfd that claims
// to be one. llvmpipe of Mesa 25 imports both.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <utility>

#include "base/system/mapped.h"
#include "halyard/buffer.h"
#include "halyard/tensor.h"

namespace halyard::test {

class DmaStandIn final : public Buffer {
 public:
  /// With `object_bytes` the kernel's object has fewer bytes than the buffer tells.
  static std::shared_ptr<Buffer> create(std::size_t size_bytes, std::size_t object_bytes = 0) {
    Fd bytes = create_sealed_memory("dma-stand-in", size_bytes).value();
    MappedMemory mapped = MappedMemory::create(bytes.get(), size_bytes, true).value();
    Fd fd = object_bytes == 0 ? std::move(bytes)
                              : create_sealed_memory("dma-stand-in", object_bytes).value();
    return std::make_shared<DmaStandIn>(std::move(fd), std::move(mapped), size_bytes);
  }
  DmaStandIn(Fd fd, MappedMemory bytes, std::size_t size_bytes)
      : Buffer(size_bytes, Memory::dma), fd_(std::move(fd)), bytes_(std::move(bytes)) {
    set_address(bytes_.bytes().data());
  }
  ~DmaStandIn() override { release_attachments(); }
  int fd() const noexcept override { return fd_.get(); }

 private:
  Result<std::span<std::byte>> begin_access(Access) override { return bytes_.bytes(); }
  void end_access(Access) noexcept override {}
  Fd fd_;
  MappedMemory bytes_;
};

/// Zero-filled memory of at least `size_bytes`.
inline std::shared_ptr<Buffer> make_dma(std::size_t size_bytes) {
  auto real = allocate(size_bytes, Memory::dma);
  return real ? *real : DmaStandIn::create(size_bytes);
}

/// An image in DMA memory, whose rows are a multiple of `pitch` bytes.
inline Tensor make_dma_image(std::size_t width, std::size_t height, PixelFormat format,
                             DType dtype = DType::u8, std::size_t pitch = 64) {
  const Tensor tight = Tensor::create_image(width, height, format, dtype, Memory::mem).value();
  const std::size_t row = tight.image_plane(0)->row_bytes;
  const std::size_t stride = (row + pitch - 1) / pitch * pitch;
  // Generous: no format needs more than three times the rows, nor more than two strides each.
  const auto buffer = make_dma(stride * height * 6 + 4096);
  const Tensor::PlaneSource whole{buffer, 0, stride};
  return Tensor::wrap_image({&whole, 1}, width, height, format, dtype).value();
}

}  // namespace halyard::test
