// SPDX-License-Identifier: Apache-2.0
// PboBuffer: a pixel buffer object as a Buffer. The GPU reads and writes it without the CPU, and
// the CPU maps it through the worker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "gl/display/worker.h"
#include "halyard/device.h"

namespace halyard::gl {

class PboBuffer final : public DeviceThreadBuffer {
 public:
  /// Zero-filled. Errors: no_memory (also: larger than OpenGL can count), device.
  static Result<std::shared_ptr<PboBuffer>> create(std::shared_ptr<Worker> worker,
                                                   std::size_t size_bytes);
  /// Only create() can name the key.
  class Key;
  PboBuffer(Key, std::shared_ptr<Worker> worker, std::size_t size_bytes,
            std::uint32_t name) noexcept;
  ~PboBuffer() override;

  /// The buffer object, valid in the worker's context.
  std::uint32_t name() const noexcept { return name_; }
  bool belongs_to(const Worker& worker) const noexcept { return worker_.get() == &worker; }

 private:
  Result<std::span<std::byte>> map_on_thread(Access access) override;
  void unmap_on_thread() noexcept override;

  std::shared_ptr<Worker> worker_;
  std::uint32_t name_;
};

/// Buffer objects of pixel buffers that exist in this process. For tests of leaks.
std::size_t live_pixel_buffers() noexcept;

}  // namespace halyard::gl
