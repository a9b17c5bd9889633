// SPDX-License-Identifier: Apache-2.0
// CameraImages: images from a camera's filled buffers, in the way that its format and driver allow.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "base/local.h"
#include "capture/v4l2/camera_stream.h"
#include "capture/v4l2/pixel_codes.h"
#include "halyard/camera.h"
#include "halyard/pool.h"
#include "halyard/recycler.h"

namespace halyard::capture {

/// Thread-bound.
class HALYARD_LOCAL CameraImages {
 public:
  /// Of CameraOptions.
  explicit CameraImages(Memory memory, std::shared_ptr<TensorPool> pool = nullptr)
      : memory_(memory), pool_(std::move(pool)) {}

  /// Prepares for a stream that was started with `format`. Fills in layout, stride, transfer and
  /// colorimetry of `mode`.
  void prepare(const CameraStream& stream, const DriverFormat& format, CameraMode& mode);
  /// The same for buffers that are not of a CameraStream. `transfer`: that of pixels which need no
  /// change.
  void prepare(CameraTransfer transfer, const DriverFormat& format, CameraMode& mode);

  /// Whether the driver wrote as many bytes as the image has.
  bool is_complete(const FilledBuffer& filled) const noexcept;
  /// The image of a buffer. It holds the buffer, or else the buffer is back at the driver already.
  /// Errors: corrupt or malformed (a JPEG), those of allocate(), device.
  Result<Tensor> make(CameraStream& stream, const FilledBuffer& filled);
  /// Whether images are the buffers themselves: lend() makes them, else read().
  bool is_lent() const noexcept {
    return transfer_ == CameraTransfer::driver_buffers ||
           transfer_ == CameraTransfer::caller_buffers;
  }
  /// The image over a buffer's memory planes; it owns what the pointers own.
  Result<Tensor> lend(std::span<const std::shared_ptr<Buffer>> memory,
                      const FilledBuffer& filled) const;
  /// A copy, expansion or decoding of a buffer's bytes. Errors: as make().
  Result<Tensor> read(std::span<const std::span<const std::byte>> memory,
                      const FilledBuffer& filled);
  CameraTransfer transfer() const noexcept { return transfer_; }

 private:
  Result<Tensor> lent(CameraStream& stream, const FilledBuffer& filled) const;
  Result<Tensor> taken(CameraStream& stream, const FilledBuffer& filled) const;
  Result<Tensor> read(const CameraStream& stream, const FilledBuffer& filled);
  Result<Tensor> changed(std::span<const std::span<const std::byte>> memory,
                         const FilledBuffer& filled);
  Result<Tensor> decoded(std::span<const std::byte> file);
  Result<Tensor> expanded(const Tensor& source);
  /// For pixels that are written by the CPU.
  Result<Tensor> new_image(PixelLayout layout);
  /// The image in mapped memory; it does not own it.
  Result<Tensor> mapped(std::span<const std::span<const std::byte>> memory,
                        const FilledBuffer& filled) const;
  Result<Tensor> wrapped(std::span<const std::shared_ptr<Buffer>> memory,
                         const FilledBuffer& filled) const;

  Memory memory_;
  std::shared_ptr<TensorPool> pool_;
  // As the driver's images, a recycled one is written again when nobody in this process has it.
  Recycler recycler_{RecyclerOptions{.shared_kinds = true}};
  DriverFormat format_;
  PixelCode code_;
  PixelLayout layout_{PixelFormat::nv12};
  Colorimetry colorimetry_;
  CameraTransfer transfer_ = CameraTransfer::driver_buffers;
  std::size_t needed_bytes_ = 0;  ///< of the first memory plane
};

}  // namespace halyard::capture
