// SPDX-License-Identifier: Apache-2.0
// Recycler: memory for frames that come and go at camera rate, without asking the kernel each time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "halyard/buffer.h"
#include "halyard/export.h"
#include "halyard/result.h"
#include "halyard/tensor.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

struct RecyclerOptions {
  /// Idle bytes kept at most; the longest idle go first. Looked after when something is allocated:
  /// no time passes here on its own.
  std::size_t max_idle_bytes = std::size_t{256} << 20;
  /// Recycle shared kinds (shm, dma) too. Off: another process may still look at what it was once
  /// sent, and would see the next frame's bytes.
  bool shared_kinds = false;
};

/// Allocates like allocate(), and takes a buffer again once nobody else holds it: same id(), same
/// attachments, same mapping, and the bytes of its last use (not zero). Thread-safe.
class Recycler {
 public:
  explicit Recycler(const RecyclerOptions& options = {});
  ~Recycler();
  Recycler(const Recycler&) = delete;
  Recycler& operator=(const Recycler&) = delete;

  /// A buffer of exactly this size and kind. Errors: those of allocate().
  Result<std::shared_ptr<Buffer>> allocate(std::size_t size_bytes, Memory memory = Memory::mem);
  /// Tensor::create_image() over such a buffer.
  Result<Tensor> create_image(std::size_t width, std::size_t height, PixelFormat format,
                              DType dtype = DType::u8, Memory memory = Memory::mem);

  struct Stats {
    std::uint64_t fresh = 0;     ///< allocations that went to the system
    std::uint64_t recycled = 0;  ///< allocations that did not
    std::size_t idle_buffers = 0;
    std::size_t idle_bytes = 0;
  };
  Stats stats() const;
  /// Lets go of everything idle.
  void trim();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace halyard
HALYARD_EXPORTS_END
