// SPDX-License-Identifier: Apache-2.0
// A tensor as a message: its slot, and its layout and metadata.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "halyard/result.h"
#include "halyard/tensor.h"
#include "halyard/tensor_descriptor.h"
#include "ipc/node/node.h"
#include "ipc/pool/slot_buffer.h"

namespace halyard::ipc {

/// The beginning of each message that has a frame. The offsets are documented in docs/shared-
/// memory.md.
struct FrameHead {
  static constexpr std::uint8_t no_format = 255;

  // The first cache line, together with the state of the ring's entry: where the frame is.
  NodeId owner;  ///< the process that the slot belongs to
  std::uint64_t arena_id = 0;
  /// Frames of one publisher with the same form, not 0, differ only in the fields of this line: a
  /// subscriber that knows the form needs no more. A publisher numbers its forms.
  std::uint64_t form = 0;
  TensorDescriptor descriptor;           ///< its first three fields are in that line
  std::uint8_t format = no_format;       ///< PixelFormat of an image
  std::uint8_t item_format = no_format;  ///< of the images of a batch
  std::uint8_t planes = 0;
  std::uint8_t has_quantization = 0;
  std::uint8_t color_space = 0;
  std::uint8_t color_transfer = 0;
  std::uint8_t color_encoding = 0;
  std::uint8_t color_range = 0;
  std::uint16_t width = 0;  ///< of an image, as stored
  std::uint8_t flip = 0;    ///< of the orientation
  std::uint8_t rotation =
      0;  ///< of the orientation; a reader that takes 32 bits for the width refuses such an image
  std::uint32_t height = 0;
  struct Plane {
    std::uint64_t offset = 0;  ///< from the first byte of the slot
    std::uint64_t stride = 0;
  };
  Plane plane[3] = {};
  std::uint64_t plane_stride = 0;  ///< of a planar image
  float scale = 0;                 ///< of a quantized tensor
  std::int32_t zero_point = 0;
  std::uint64_t modifier = 0;  ///< of an image in DMA-BUFs: the DRM modifier, 0 is linear
  char name[40] = {};          ///< ends with 0

  /// Whether offsets refer to the buffers that the slot lists (dma_frame.h).
  bool is_dma() const noexcept {
    return descriptor.device_type == static_cast<std::uint8_t>(DeviceType::dma_buf);
  }
};
static_assert(sizeof(FrameHead) == 328 && offsetof(FrameHead, owner) == 0 &&
              offsetof(FrameHead, arena_id) == 16 && offsetof(FrameHead, form) == 24 &&
              offsetof(FrameHead, descriptor) == 32 && offsetof(FrameHead, format) == 200 &&
              offsetof(FrameHead, item_format) == 201 && offsetof(FrameHead, planes) == 202 &&
              offsetof(FrameHead, has_quantization) == 203 &&
              offsetof(FrameHead, color_space) == 204 &&
              offsetof(FrameHead, color_transfer) == 205 &&
              offsetof(FrameHead, color_encoding) == 206 &&
              offsetof(FrameHead, color_range) == 207);
static_assert(offsetof(FrameHead, width) == 208 && offsetof(FrameHead, flip) == 210 &&
              offsetof(FrameHead, rotation) == 211 && offsetof(FrameHead, height) == 212 &&
              offsetof(FrameHead, plane) == 216 && sizeof(FrameHead::Plane) == 16 &&
              offsetof(FrameHead::Plane, stride) == 8 && offsetof(FrameHead, plane_stride) == 264 &&
              offsetof(FrameHead, scale) == 272 && offsetof(FrameHead, zero_point) == 276 &&
              offsetof(FrameHead, modifier) == 280 && offsetof(FrameHead, name) == 288);
/// Bytes of the first line: up to the descriptor's offset, which is the line's last field.
inline constexpr std::size_t first_line_bytes =
    offsetof(FrameHead, descriptor) + offsetof(TensorDescriptor, size);
static_assert(first_line_bytes + sizeof(std::uint64_t) == 64);

/// The head of a tensor in a slot; `is_dma`: in the buffers that the slot lists (dma_frame.h).
/// Errors: unsupported (quantization per channel; a name longer than 39 bytes; a negative stride).
Result<FrameHead> head_of(const Tensor& tensor, const SlotBuffer& slot, bool is_dma = false);

/// The tensor that a head describes, in its slot. The head may come from a hostile process. Errors:
/// malformed, corrupt, those of Tensor::wrap_image().
Result<Tensor> tensor_of(const FrameHead& head, std::shared_ptr<SlotBuffer> slot);
/// Like the above, in the buffers that the slot lists.
Result<Tensor> tensor_of(const FrameHead& head, std::span<const std::shared_ptr<Buffer>> buffers);

/// What frames of one form have in common: a tensor without memory.
class TensorForm final : Tensor {
 public:
  TensorForm() = default;
  explicit TensorForm(const Tensor& tensor);
  bool is_of(const Tensor& tensor) const noexcept { return has_form_of(tensor); }
  /// Sets `out` to the tensor of this form in a slot. Errors: corrupt (the slot is too small; the
  /// tensor does not begin at its byte `offset`).
  Status put_over(std::shared_ptr<SlotBuffer> slot, std::uint64_t offset, Tensor& out) const;

 private:
  std::size_t end_bytes_ = SIZE_MAX;  ///< the size that the buffer must have at least
};

}  // namespace halyard::ipc
