// SPDX-License-Identifier: Apache-2.0
// The message that carries a tensor to another process: its only wire form, checked by both ends.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "halyard/buffer.h"
#include "halyard/result.h"
#include "halyard/tensor.h"

namespace halyard {

// Numbers in this machine's byte order (both ends run on it), one after the other without padding:
//   header        4 bytes "HYTM", u16 byte order mark, u16 version, u32 bytes in all,
//                 u32 descriptors (1..3)
//   descriptors   each u64 size_bytes, u8 cpu_access
//   layout        u8 dtype, u8 rank, per axis u64 extent and i64 stride_bytes
//   image         u8 format, u8 item_format (255: none), u16 width, u8 flip, u8 rotation,
//                 u32 height (sizes 0: no image; flip and rotation are the orientation: a reader
//                 that takes them as the upper bits of a u32 width refuses an oriented image)
//   colorimetry   u8 space, u8 transfer, u8 encoding, u8 range
//   modifier      u64
//   planes        u8 count, each u8 descriptor, u64 offset_bytes, u64 stride_bytes (0: no image)
//   quantization  u32 scales (0: none), u32 zero points, i32 axis (-1: none), f32s, i32s
//   name          u32 bytes, the bytes
// An image's layout follows from the other fields, except its plane stride. It is sent all the
// same, so that a reader need not know the formats. The descriptors are sent with the bytes, in
// order.

/// Bytes of the header, which holds the size of the whole message.
inline constexpr std::size_t message_header_bytes = 16;
/// Max buffers of one tensor.
inline constexpr std::size_t message_descriptor_limit = 3;

struct MessageHeader {
  std::size_t size_bytes = 0;   ///< of the whole message, header included
  std::size_t descriptors = 0;  ///< 1..message_descriptor_limit
};

/// Content of a message. Every value is within its limits, and all agree with one another.
struct TensorMessage {
  struct Descriptor {
    std::size_t size_bytes = 0;
    CpuAccess cpu_access = CpuAccess::read_write;
  };
  struct Plane {
    std::size_t descriptor = 0;
    std::size_t offset_bytes = 0;
    std::size_t stride_bytes = 0;
  };
  std::array<Descriptor, message_descriptor_limit> descriptors{};
  std::size_t descriptor_count = 0;
  Layout layout;
  std::optional<PixelFormat> format;
  std::optional<PixelFormat> item_format;
  std::size_t width = 0;
  std::size_t height = 0;
  Orientation orientation;
  Colorimetry colorimetry;
  std::uint64_t modifier = 0;
  std::array<Plane, 3> planes{};
  std::size_t plane_count = 0;
  std::optional<Quantization> quantization;
  std::string name;
};

/// Writes a checked message as bytes. Errors: invalid_argument (above tensor_message_limit).
Result<std::vector<std::byte>> encode_tensor_message(const TensorMessage& message);

/// `bytes`: at least message_header_bytes. Errors: corrupt (shorter), malformed, version.
Result<MessageHeader> decode_message_header(std::span<const std::byte> bytes);

/// Reads a whole message that came with `descriptors` descriptors. Errors: those of the header and
/// of check_tensor_message(); corrupt (ends early, has bytes after its end, another count of
/// descriptors).
Result<TensorMessage> decode_tensor_message(std::span<const std::byte> bytes,
                                            std::size_t descriptors);

/// The message of a tensor, and the buffers whose descriptors are sent with it, each once.
struct TensorParts {
  TensorMessage message;
  std::vector<std::shared_ptr<Buffer>> buffers;
};

}  // namespace halyard
