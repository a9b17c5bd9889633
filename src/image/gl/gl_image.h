// SPDX-License-Identifier: Apache-2.0
// GlImage: an image of a job, and the way by which its pixels reach the GPU or come back.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "gl/display/worker.h"
#include "gl/memory/pbo_buffer.h"
#include "halyard/moved.h"
#include "halyard/tensor.h"

namespace halyard::image {

/// How pixels reach the GPU or come back.
enum class GlTransfer : std::uint8_t {
  dma_buf,       ///< the GPU reads or writes the DMA-BUF itself
  pixel_buffer,  ///< the GPU copies between its texture and the pixel buffer
  copy,          ///< the CPU copies between a texture and the mapped bytes
};
/// For people.
std::string_view to_string(GlTransfer transfer) noexcept;

/// HALYARD_FORCE_TRANSFER.
struct GlTransferRules {
  bool imports = true;        ///< DMA-BUFs
  bool pixel_buffers = true;  ///< those of Memory::pbo
  /// Copies pass through pixel buffers of the library, so that several can be in flight. Unset:
  /// except for renderers that run on the CPU, which would only copy once more.
  std::optional<bool> stages = {};
  /// Errors: invalid_argument (an unknown word).
  static Result<GlTransferRules> create(std::string_view force_transfer);
};

/// One image of a job. Prepared on the thread of the caller, used on the worker's. Keeps its
/// buffers alive, mapped (copy) or away from the CPU (pixel_buffer). Move-only.
class GlImage {
 public:
  GlImage() = default;
  GlImage(GlImage&&) noexcept = default;
  GlImage& operator=(GlImage&&) noexcept = default;

  /// Errors: permission (a read-only destination), and those of mapping and of
  /// DeviceThreadBuffer::hold_for_device().
  static Result<GlImage> prepare(const Tensor& image, Access access, const GlTransferRules& rules,
                                 const gl::Worker& worker);
  /// As prepare(), but for GlTransfer::copy.
  static Result<GlImage> prepare_copy(const Tensor& image, Access access);
  /// What prepare() would choose.
  static GlTransfer choose(const Tensor& image, Access access, const GlTransferRules& rules,
                           const gl::Worker& worker) noexcept;

  GlTransfer transfer() const noexcept { return transfer_; }
  std::uint64_t modifier() const noexcept { return modifier_; }
  /// Where a plane lies in its buffer. Not for copies.
  const ImagePlane& plane(std::size_t index) const noexcept { return planes_[index]; }
  /// The buffer object of a plane. Only for pixel_buffer.
  std::uint32_t buffer_object(std::size_t index) const noexcept;
  /// The bytes. Only for copies.
  const TensorMap& map() const noexcept { return map_; }

 private:
  /// Keeps the CPU away from a pixel buffer.
  class Hold {
   public:
    Hold() = default;
    explicit Hold(gl::PboBuffer& buffer) noexcept : buffer_(&buffer) {}
    Hold(Hold&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}
    Hold& operator=(Hold&& other) noexcept {
      std::swap(buffer_, other.buffer_);
      return *this;
    }
    ~Hold() {
      if (buffer_ != nullptr) buffer_->release_from_device();
    }

   private:
    gl::PboBuffer* buffer_ = nullptr;
  };
  static GlTransfer find_planes(const Tensor& image, Access access, const GlTransferRules& rules,
                                const gl::Worker& worker, GlImage& out);
  Status hold_planes();

  GlTransfer transfer_ = GlTransfer::copy;
  Moved<std::uint64_t> modifier_{drm_modifier_linear};
  Moved<std::size_t> plane_count_;
  std::array<ImagePlane, 4> planes_{};
  std::array<Hold, 4> holds_{};  ///< after the planes, whose buffers they use
  TensorMap map_;
};

}  // namespace halyard::image
