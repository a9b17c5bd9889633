// SPDX-License-Identifier: Apache-2.0
// A tensor as a message: where its slot is, and what the tensor knows of itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "halyard/result.h"
#include "halyard/tensor.h"
#include "halyard/tensor_descriptor.h"
#include "ipc/node.h"
#include "ipc/slot_buffer.h"

namespace halyard::ipc {

/// Begins each message that has a frame; docs/shared-memory.md has the offsets.
struct FrameHead {
  static constexpr std::uint8_t no_format = 255;

  NodeId owner;  ///< the process that the slot belongs to
  std::uint64_t arena_id = 0;
  TensorDescriptor descriptor;
  std::uint8_t format = no_format;       ///< PixelFormat of a picture
  std::uint8_t item_format = no_format;  ///< of the pictures of a batch
  std::uint8_t planes = 0;
  std::uint8_t has_quantization = 0;
  std::uint8_t color_space = 0;
  std::uint8_t color_transfer = 0;
  std::uint8_t color_encoding = 0;
  std::uint8_t color_range = 0;
  std::uint32_t width = 0;  ///< of a picture
  std::uint32_t height = 0;
  struct Plane {
    std::uint64_t offset = 0;  ///< from the slot's first byte on
    std::uint64_t stride = 0;
  };
  Plane plane[3] = {};
  std::uint64_t plane_stride = 0;  ///< of a planar picture
  float scale = 0;                 ///< of a quantized tensor
  std::int32_t zero_point = 0;
  char name[40] = {};  ///< ends with 0

  /// Offsets are those in the buffers that the slot lists (dma_frame.h).
  bool is_dma() const noexcept {
    return descriptor.device_type == static_cast<std::uint8_t>(DeviceType::dma_buf);
  }
};
static_assert(sizeof(FrameHead) == 312 && offsetof(FrameHead, owner) == 0 &&
              offsetof(FrameHead, arena_id) == 16 && offsetof(FrameHead, descriptor) == 24 &&
              offsetof(FrameHead, format) == 192 && offsetof(FrameHead, item_format) == 193 &&
              offsetof(FrameHead, planes) == 194 && offsetof(FrameHead, has_quantization) == 195 &&
              offsetof(FrameHead, color_space) == 196 &&
              offsetof(FrameHead, color_transfer) == 197 &&
              offsetof(FrameHead, color_encoding) == 198 &&
              offsetof(FrameHead, color_range) == 199);
static_assert(offsetof(FrameHead, width) == 200 && offsetof(FrameHead, height) == 204 &&
              offsetof(FrameHead, plane) == 208 && sizeof(FrameHead::Plane) == 16 &&
              offsetof(FrameHead::Plane, stride) == 8 && offsetof(FrameHead, plane_stride) == 256 &&
              offsetof(FrameHead, scale) == 264 && offsetof(FrameHead, zero_point) == 268 &&
              offsetof(FrameHead, name) == 272);

/// What names a tensor in a slot; `is_dma`: in the buffers that the slot lists (dma_frame.h).
/// Errors: unsupported (scales for each channel; a name longer than 39 bytes; a negative stride).
Result<FrameHead> head_of(const Tensor& tensor, const SlotBuffer& slot, bool is_dma = false);

/// The tensor that a head names, in its slot. The head may be hostile. Errors: malformed, corrupt,
/// those of Tensor::wrap_image().
Result<Tensor> tensor_of(const FrameHead& head, std::shared_ptr<SlotBuffer> slot);
/// The same in the buffers that its slot lists.
Result<Tensor> tensor_of(const FrameHead& head, std::span<const std::shared_ptr<Buffer>> buffers);

}  // namespace halyard::ipc
