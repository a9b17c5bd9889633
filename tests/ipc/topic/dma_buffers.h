// SPDX-License-Identifier: Apache-2.0
// Tensors in DMA-BUFs. Where the system gives none, shared memory that says it is one takes their
// place: it has a descriptor, which is all that topics need of it.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/system/mapped.h"
#include "halyard/tensor.h"

namespace halyard::ipc::testing {

class StandIn final : public Buffer {
 public:
  StandIn(Fd fd, MappedMemory mapped)
      : Buffer(mapped.bytes().size(), Memory::dma), fd_(std::move(fd)), mapped_(std::move(mapped)) {
    set_address(mapped_.bytes().data());
  }
  ~StandIn() override { release_attachments(); }
  int fd() const noexcept override { return fd_.get(); }

 private:
  Result<std::span<std::byte>> begin_access(Access) override { return mapped_.bytes(); }
  void end_access(Access) noexcept override {}
  Fd fd_;
  MappedMemory mapped_;
};

inline std::shared_ptr<Buffer> dma_buffer(std::size_t bytes) {
  if (memory_available(Memory::dma)) return *allocate(bytes, Memory::dma);
  Fd fd(::memfd_create("stand-in", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(::ftruncate(fd.get(), static_cast<off_t>(bytes)), 0);
  auto mapped = *MappedMemory::create(fd.get(), bytes, true);
  return std::make_shared<StandIn>(std::move(fd), std::move(mapped));
}

inline Tensor dma_tensor(std::size_t bytes) {
  const std::size_t shape[] = {bytes};
  return *Tensor::wrap(dma_buffer(bytes), *Layout::contiguous(DType::u8, shape));
}

inline void fill(Tensor& tensor, int value) {
  const auto map = *tensor.map(Access::write);
  const auto bytes = *map.flat<std::uint8_t>();
  std::fill(bytes.begin(), bytes.end(), static_cast<std::uint8_t>(value));
}
inline int first_byte(const Tensor& tensor) {
  const auto map = tensor.map(Access::read);
  if (!map) return -1;
  const auto bytes = map->flat<const std::uint8_t>();
  return bytes && !bytes->empty() ? (*bytes)[0] : -1;
}

}  // namespace halyard::ipc::testing
