// SPDX-License-Identifier: Apache-2.0
// A machine with the fake libg2d and DMA-BUFs that it reaches, whose caches are not coherent.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "conformance/fake_dma.h"
#include "image/images.h"
#include "support/fake_g2d.h"
#include "support/result.h"
#include "support/variable.h"
#include "tensor/memory/buffer_kinds.h"
#include "test_paths.h"

namespace halyard::test {

/// One of the fake libraries: "int", "long", "phys" (no g2d_buf_from_fd), "old_text" (a version of
/// another form), "no_version", "no_blit".
inline std::string fake_library(const std::string& variant) {
  std::string path = HALYARD_BINARY_DIR "/tests/fake_g2d/libg2d_";
  path += variant;
  return path += ".so";
}

class G2dMachine {
 public:
  explicit G2dMachine(const std::string& variant)
      : library_("HALYARD_G2D_LIBRARY", fake_library(variant)) {
    void* const handle = ::dlopen(fake_library(variant).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) throw std::runtime_error(::dlerror());
    fake_ = reinterpret_cast<FakeG2d* (*)()>(::dlsym(handle, "fake_g2d"))();
    fake_->faults() = {};
    fake_->place_next_memory(0x90000000);  // negative as an int
    fake_->take_calls();
    fake_->take_violations();
    before_ = fake_->counts();
  }
  G2dMachine(const G2dMachine&) = delete;
  G2dMachine& operator=(const G2dMachine&) = delete;
  ~G2dMachine() { EXPECT_EQ(fake_->take_violations(), ""); }

  FakeG2d& fake() { return *fake_; }
  /// Counts since this machine was made.
  FakeG2dCounts counts() const {
    FakeG2dCounts now = fake_->counts();
    now.opened -= before_.opened;
    now.closed -= before_.closed;
    now.buffers_opened -= before_.buffers_opened;
    now.buffers_closed -= before_.buffers_closed;
    now.blits -= before_.blits;
    now.clears -= before_.clears;
    now.finishes -= before_.finishes;
    return now;
  }

  /// A DMA-BUF that the blitter reaches.
  std::shared_ptr<Buffer> buffer(std::size_t size) {
    static const int owner = 0;
    auto memory = std::make_unique<DeviceMemory>(*fake_, size);
    auto made = adopt_dma_buffer(memory->bytes.fd(), size, true).value();
    made->attach(&owner, std::move(memory));
    return made;
  }
  /// An image of random bytes whose rows have the device's alignment and `extra` units more.
  Tensor image(Random& random, Size size, PixelFormat format, std::size_t extra = 0,
               std::size_t offset = 0) {
    const auto width = static_cast<std::size_t>(size.width);
    const auto height = static_cast<std::size_t>(size.height);
    const std::size_t unit = format == PixelFormat::rgb ? 48 : 64;
    const std::size_t tight = tight_stride(format, DType::u8, width).value();
    const std::size_t stride = ((tight + unit - 1) / unit + extra) * unit;
    const std::size_t bytes = image_bytes(format, DType::u8, width, height, stride).value();
    auto memory = buffer(offset + bytes + 128);
    fill_random(random, *memory, DType::u8);
    const Tensor::PlaneSource whole{memory, offset, stride, 0};
    return Tensor::wrap_image({&whole, 1}, width, height, format).value();
  }
  /// A u8 image with these pixels and properties, whose rows have the device's alignment.
  Tensor copy_of(const Tensor& image) {
    Random unused;
    Tensor out = this->image(unused, image.size(), *image.format());
    EXPECT_OK(copy(image, out));
    out.set_colorimetry(image.colorimetry());
    out.set_orientation(image.orientation());
    return out;
  }

 private:
  struct DeviceMemory final : Attachment {
    DeviceMemory(FakeG2d& fake, std::size_t size) : bytes(size), fake_(fake) {
      const Fd fd = bytes.fd();
      const FdIdentity identity = fd.identity().value();
      physical_ = fake_.add_memory(identity.device, identity.inode, bytes.device().data(), size);
    }
    ~DeviceMemory() override { fake_.remove_memory(physical_); }
    conformance::FakeDmaBuf bytes;

   private:
    FakeG2d& fake_;
    std::uint64_t physical_;
  };

  Variable library_;
  Variable no_opengl_{"HALYARD_DISABLE_GL", "1"};  ///< which may be chosen before G2D
  FakeG2d* fake_ = nullptr;
  FakeG2dCounts before_;
};

/// A kernel that knows DMA_BUF_IOCTL_PHYS, as long as it lives.
class PhysKernel {
 public:
  explicit PhysKernel(FakeG2d& fake)
      : hook_([&fake, this](int fd, unsigned long request, void* out) -> std::optional<int> {
          if (request != _IOW('b', 10, unsigned long)) return std::nullopt;
          ++calls_;
          const auto identity = fd_identity(fd);
          const std::uint64_t address =
              identity ? fake.address_of(identity->device, identity->inode) : 0;
          if (address == 0) return -EINVAL;
          *static_cast<unsigned long*>(out) = address;
          return 0;
        }) {}
  int calls() const { return calls_; }

 private:
  int calls_ = 0;
  conformance::IoctlHook hook_;
};

}  // namespace halyard::test
