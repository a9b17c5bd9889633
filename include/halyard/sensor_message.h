// SPDX-License-Identifier: Apache-2.0
// What all sensor messages contain: a tensor, the time and coordinate frame of the measurement, its
// bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "halyard/export.h"
#include "halyard/result.h"
#include "halyard/tensor.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// Time and coordinate frame: the first bytes of the metadata of every message.
struct SensorHeader {
  std::uint64_t timestamp_ns = 0;  ///< of the measurement, by the sender's clock
  char frame_id[32] = {};          ///< coordinate frame: UTF-8, at most 31 bytes, then zeros
};
static_assert(sizeof(SensorHeader) == 40 && offsetof(SensorHeader, frame_id) == 8);

/// Sets the coordinate frame. Errors: invalid_argument (more than 31 bytes, not UTF-8, a zero byte
/// inside); then the header does not change.
Status set_frame_id(SensorHeader& header, std::string_view frame_id);
/// The coordinate frame as a view of the header; never more than 31 bytes.
std::string_view frame_id_of(const SensorHeader& header) noexcept;
/// Checks a header from another process. Errors: malformed (frame_id is not UTF-8, has no zero at
/// the end, or has other bytes behind the first zero).
Status validate(const SensorHeader& header);

/// Bytes of a tensor's elements without gaps; for an image image_bytes() at the tight stride.
std::size_t packed_bytes(const Tensor& tensor) noexcept;
/// The memory from the first byte of the elements to behind the last, gaps between rows and planes
/// included. Valid as long as a tensor over this memory exists. Errors: invalid_argument (empty
/// tensor), unsupported (planes in several buffers; DMA-BUF and PBO memory, which only map() makes
/// readable; a negative stride), permission (write access to read-only memory), those of
/// Tensor::map().
Result<std::span<const std::byte>> bytes_of(const Tensor& tensor);
Result<std::span<std::byte>> writable_bytes_of(const Tensor& tensor);
/// Copies between a tensor and packed_bytes() bytes without gaps, planes one behind the other at
/// the tight stride. Errors: invalid_argument (another length), those of halyard::copy().
Status copy_packed(std::span<const std::byte> from, Tensor& to);
Status copy_packed(const Tensor& from, std::span<std::byte> to);

/// A tensor and plain metadata that describes it. Topics send the tensor as a TensorDescriptor and
/// the metadata as bytes. Copies share the tensor's bytes and have metadata of their own.
/// Reentrant.
template <class Metadata>
class SensorMessage {
  static_assert(std::is_trivially_copyable_v<Metadata> && std::is_standard_layout_v<Metadata>);

 public:
  const Tensor& tensor() const noexcept { return tensor_; }
  const Metadata& metadata() const noexcept { return metadata_; }

  /// The coordinate frame as a view of the message.
  std::string_view frame_id() const noexcept { return frame_id_of(metadata_.header); }
  /// Errors: invalid_argument (more than 31 bytes, not UTF-8, a zero byte inside).
  Status set_frame_id(std::string_view frame_id) {
    return halyard::set_frame_id(metadata_.header, frame_id);
  }
  std::uint64_t timestamp_ns() const noexcept { return metadata_.header.timestamp_ns; }
  void set_timestamp_ns(std::uint64_t timestamp_ns) noexcept {
    metadata_.header.timestamp_ns = timestamp_ns;
  }

  DType dtype() const noexcept { return tensor_.dtype(); }
  /// Bytes of the elements without padding: the length that copy_from() takes.
  std::size_t nbytes() const noexcept { return packed_bytes(tensor_); }
  /// The memory from the first byte to behind the last, padding included; nbytes() bytes where
  /// there is no padding. Valid as long as the message, or another tensor over this memory, exists.
  /// Errors: those of bytes_of().
  Result<std::span<const std::byte>> data() const { return bytes_of(tensor_); }
  /// As above, for writing.
  Result<std::span<std::byte>> data_mut() { return writable_bytes_of(tensor_); }
  /// Fills the message with nbytes() bytes without gaps. Errors: invalid_argument (another length),
  /// those of halyard::copy().
  Status copy_from(std::span<const std::byte> bytes) { return copy_packed(bytes, tensor_); }

 protected:
  SensorMessage(Tensor&& tensor, const Metadata& metadata)
      : tensor_(std::move(tensor)), metadata_(metadata) {}
  Tensor tensor_;
  Metadata metadata_;
};

/// How topics send and receive such messages; see topic.h.
template <class T>
struct MessageFrame;
template <class Message, class Plain>
struct SensorFrame {
  using Metadata = Plain;
  static const Tensor& tensor(const Message& message) noexcept { return message.tensor(); }
  static Metadata metadata(const Message& message) noexcept { return message.metadata(); }
  static Result<Message> make(Tensor&& tensor, const Metadata& metadata) {
    return Message::from_frame(std::move(tensor), metadata);
  }
};

}  // namespace halyard
HALYARD_EXPORTS_END
