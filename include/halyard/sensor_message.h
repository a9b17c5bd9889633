// SPDX-License-Identifier: Apache-2.0
// What messages of sensors have in common: a tensor, when and where it was measured, its bytes.
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

/// When and where: the first bytes of the metadata of every message.
struct SensorHeader {
  std::uint64_t timestamp_ns = 0;  ///< of the measurement, in the sender's clock
  char frame_id[32] = {};          ///< coordinate frame: UTF-8, at most 31 bytes, zeros behind it
};
static_assert(sizeof(SensorHeader) == 40 && offsetof(SensorHeader, frame_id) == 8);

/// Sets the coordinate frame. Errors: invalid_argument (more than 31 bytes, not UTF-8, a zero byte
/// inside); the header stays as it was.
Status set_frame_id(SensorHeader& header, std::string_view frame_id);
/// The coordinate frame, which views the header; never more than 31 bytes.
std::string_view frame_id_of(const SensorHeader& header) noexcept;
/// For headers of other processes. Errors: malformed (frame_id is not UTF-8, has no zero at the end
/// or other bytes behind the first zero).
Status validate(const SensorHeader& header);

/// Bytes of the elements of a tensor without gaps; of an image image_bytes() at the tight stride.
std::size_t packed_bytes(const Tensor& tensor) noexcept;
/// The memory from the first byte of the elements to behind the last, gaps between rows and planes
/// included. Valid as long as a tensor over this memory is there. Errors: invalid_argument (empty
/// tensor), unsupported (planes in several buffers; DMA-BUF and PBO memory, which map() brings to
/// the CPU; a negative stride), permission (write access to what is read-only), those of
/// Tensor::map().
Result<std::span<const std::byte>> bytes_of(const Tensor& tensor);
Result<std::span<std::byte>> writable_bytes_of(const Tensor& tensor);
/// Copies between a tensor and packed_bytes() bytes without gaps, planes one behind the other at
/// the tight stride.
/// Errors: invalid_argument (another length), those of halyard::copy().
Status copy_packed(std::span<const std::byte> from, Tensor& to);
Status copy_packed(const Tensor& from, std::span<std::byte> to);

/// A tensor and plain metadata that describes it. Both travel through topics: the tensor as a
/// TensorDescriptor, the metadata as bytes. Copies share the tensor's bytes and have metadata of
/// their own. Reentrant.
template <class Metadata>
class SensorMessage {
  static_assert(std::is_trivially_copyable_v<Metadata> && std::is_standard_layout_v<Metadata>);

 public:
  const Tensor& tensor() const noexcept { return tensor_; }
  const Metadata& metadata() const noexcept { return metadata_; }

  /// The coordinate frame; views the message.
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
  /// Bytes of the elements without padding: what copy_from() takes.
  std::size_t nbytes() const noexcept { return packed_bytes(tensor_); }
  /// The memory from the first byte to behind the last, padding included; nbytes() bytes where
  /// there is none. Valid as long as the message, or another tensor over this memory, is there.
  /// Errors: those of bytes_of().
  Result<std::span<const std::byte>> data() const { return bytes_of(tensor_); }
  /// The same for writing.
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

/// How topics carry such messages; see topic.h.
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
