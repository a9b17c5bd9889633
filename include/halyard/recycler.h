// SPDX-License-Identifier: Apache-2.0
// Recycler: reuses the memory of frames at camera rate, without a call to the kernel for each
// frame.
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
  /// Maximum of idle bytes kept; the buffers that are idle longest are released first. Checked only
  /// when something is allocated: there is no timer.
  std::size_t max_idle_bytes = std::size_t{256} << 20;
  /// Recycles shared kinds (shm, dma) too. False is safer: another process may still read a buffer
  /// that was once sent to it, and would see the bytes of the next frame.
  bool shared_kinds = false;
};

/// Allocates like allocate(), and reuses a buffer once nobody else holds it. A reused buffer has
/// the same id(), attachments and mapping, and the bytes of its last use (not zero). Thread-safe.
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

  /// A contiguous copy of a tensor that is no image, without its name and quantization. Errors:
  /// those of allocate() and of halyard::copy() (which refuses an image).
  Result<Tensor> copy(const Tensor& from, Memory memory = Memory::mem);

  struct Stats {
    std::uint64_t fresh = 0;     ///< allocations from the system
    std::uint64_t recycled = 0;  ///< allocations that reused a buffer
    std::size_t idle_buffers = 0;
    std::size_t idle_bytes = 0;
  };
  Stats stats() const;
  /// Releases everything idle.
  void trim();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace halyard
HALYARD_EXPORTS_END
