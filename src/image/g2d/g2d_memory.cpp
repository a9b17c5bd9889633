// SPDX-License-Identifier: Apache-2.0
// Asks the library, then the kernel, for physical addresses.
#include "image/g2d/g2d_memory.h"

#include <sys/ioctl.h>

#include <new>
#include <utility>

#include "base/system/ranked_mutex.h"

namespace halyard::image::g2d {
namespace {

// DMA_BUF_IOCTL_PHYS of NXP's kernels; the kernel's own headers lack it.
constexpr unsigned long physical_address_call = _IOW('b', 10, unsigned long);

// The most bytes that structs with int addresses reach.
constexpr std::uint64_t narrow_end = std::uint64_t{1} << 32;

class AddressOfBuffer final : public Attachment {
 public:
  explicit AddressOfBuffer(std::shared_ptr<G2dDevice> device) noexcept
      : device_(std::move(device)) {}
  ~AddressOfBuffer() override {
    if (memory_.handle != nullptr) device_->close_buffer(memory_.handle);
  }
  void set(const ReachedMemory& memory) noexcept { memory_ = memory; }
  const ReachedMemory& memory() const noexcept { return memory_; }

 private:
  std::shared_ptr<G2dDevice> device_;
  ReachedMemory memory_;
};

std::uint64_t ask_kernel(int fd) noexcept {
  unsigned long address = 0;
  return ::ioctl(fd, physical_address_call, &address) == 0 ? address : 0;
}

ReachedMemory find(const G2dDevice& device, const Buffer& buffer) noexcept {
  const auto fits = [&](std::uint64_t address) {
    return address != 0 && (device.library().is_wide() ||
                            (address < narrow_end && buffer.size_bytes() <= narrow_end - address));
  };
  if (device.opens_buffers()) {
    if (const auto opened = device.open_buffer(buffer.fd())) {
      if (fits(opened->address) && opened->size_bytes >= buffer.size_bytes())
        return {opened->address, opened->handle};
      device.close_buffer(opened->handle);
      return {};
    }
  }
  const std::uint64_t address = ask_kernel(buffer.fd());
  return {fits(address) ? address : 0, nullptr};
}

}  // namespace

ReachedMemory reach(const std::shared_ptr<G2dDevice>& device, Buffer& buffer) noexcept {
  // Two threads must not replace each other's answer: an answer in use would be destroyed.
  static RankedForkMutex<LockRank::g2d_addresses> finding;
  const void* const owner = &device->library();
  const auto known = [&] { return static_cast<const AddressOfBuffer*>(buffer.attachment(owner)); };
  if (const auto* answer = known()) return answer->memory();
  const RankedForkTakingLock lock(finding);
  if (const auto* answer = known()) return answer->memory();
  try {
    auto answer = std::make_unique<AddressOfBuffer>(device);
    const ReachedMemory memory = find(*device, buffer);
    answer->set(memory);
    buffer.attach(owner, std::move(answer));
    return memory;
  } catch (const std::bad_alloc&) {
    return {};
  }
}

}  // namespace halyard::image::g2d
