// SPDX-License-Identifier: Apache-2.0
// Headers of messages, and the bytes of their tensors.
#include "halyard/sensor_message.h"

#include <algorithm>
#include <cstring>

#include "base/text/format_error.h"
#include "base/text/utf8.h"
#include "halyard/log.h"
#include "ipc/message/message_storage.h"

namespace halyard {
namespace {

struct ByteRange {
  std::size_t begin = 0;  // in the buffer
  std::size_t end = 0;
};

Result<ByteRange> range_of_planes(const Tensor& image) {
  ByteRange range{SIZE_MAX, 0};
  for (std::size_t i = 0; i < image.plane_count(); ++i) {
    HALYARD_TRY(const ImagePlane plane, image.image_plane(i));
    if (plane.buffer != image.buffer())
      return fail(Errc::unsupported, "tensor: its planes lie in several buffers");
    const std::size_t bytes = (plane.rows - 1) * plane.stride_bytes + plane.row_bytes;
    range.begin = std::min(range.begin, plane.offset_bytes);
    range.end = std::max(range.end, plane.offset_bytes + bytes);
  }
  return range;
}

Result<ByteRange> range_of(const Tensor& tensor) {
  if (tensor.is_empty()) return fail(Errc::invalid_argument, "tensor: is empty");
  if (tensor.is_image()) return range_of_planes(tensor);
  const auto reach = reach_of(tensor.layout());
  if (!reach || reach->lowest < 0)
    return fail(Errc::unsupported, "tensor: must not have a negative stride");
  return ByteRange{tensor.offset_bytes(),
                   tensor.offset_bytes() + static_cast<std::size_t>(reach->end)};
}

// The bytes remain mapped after the Map ends: heap and shared memory are mapped as long as their
// buffers live.
Result<std::span<std::byte>> memory_of(const Tensor& tensor, Access access) {
  HALYARD_TRY(const ByteRange range, range_of(tensor));
  const Memory kind = tensor.memory();
  if (kind != Memory::mem && kind != Memory::shm) {
    return fail(Errc::unsupported, "tensor: the CPU can access this memory only during map()", "{}",
                to_string(kind));
  }
  HALYARD_RETURN_IF_ERROR(ipc::check_linear(tensor));
  // Planes that only a device can address may seem to exceed their buffer.
  if (range.end > tensor.buffer()->size_bytes()) {
    return fail(Errc::unsupported, "tensor: the planes must end inside their buffer",
                "byte {} of {}", range.end, tensor.buffer()->size_bytes());
  }
  HALYARD_TRY(const Map map, tensor.buffer()->map_unclaimed(access));
  auto* const first = const_cast<std::byte*>(map.bytes().data());
  return std::span<std::byte>(first + range.begin, range.end - range.begin);
}

// A tensor with the elements of `like` over bytes without gaps.
Result<Tensor> over_packed(const Tensor& like, Result<std::shared_ptr<Buffer>> bytes) {
  HALYARD_TRY(std::shared_ptr<Buffer> buffer, std::move(bytes));
  if (!like.is_image()) {
    HALYARD_TRY(const Layout layout, Layout::contiguous(like.dtype(), like.shape()));
    return Tensor::wrap(std::move(buffer), layout);
  }
  const Tensor::PlaneSource whole{std::move(buffer)};
  return Tensor::wrap_image({&whole, 1}, like.width(), like.height(), *like.format(), like.dtype());
}

Status check_length(std::size_t given, const Tensor& tensor) {
  if (tensor.is_empty()) return fail(Errc::invalid_argument, "tensor: is empty");
  const std::size_t wanted = packed_bytes(tensor);
  if (given == wanted) return {};
  return fail(Errc::invalid_argument, "bytes: must have the size of the elements without gaps",
              "{} given, {} wanted", given, wanted);
}

}  // namespace

Status set_frame_id(SensorHeader& header, std::string_view frame_id) {
  if (frame_id.size() >= sizeof header.frame_id) {
    return fail(Errc::invalid_argument, "frame_id: must have at most 31 bytes", "{} bytes",
                frame_id.size());
  }
  if (!is_utf8(frame_id) || frame_id.find('\0') != std::string_view::npos) {
    return fail(Errc::invalid_argument, "frame_id: must be UTF-8 without zero bytes", "\"{}\"",
                printable(frame_id));
  }
  std::fill(std::begin(header.frame_id), std::end(header.frame_id), '\0');
  std::copy(frame_id.begin(), frame_id.end(), header.frame_id);
  return {};
}

[[gnu::hot]] std::string_view frame_id_of(const SensorHeader& header) noexcept {
  const char* const end = header.frame_id + sizeof header.frame_id - 1;
  return {header.frame_id,
          static_cast<std::size_t>(std::find(header.frame_id, end, '\0') - header.frame_id)};
}

[[gnu::hot]] Status validate(const SensorHeader& header) {
  const std::string_view frame_id = frame_id_of(header);
  const bool zeros_follow =
      std::all_of(header.frame_id + frame_id.size(), std::end(header.frame_id),
                  [](char c) { return c == '\0'; });
  if (!zeros_follow || !is_utf8(frame_id)) {
    return fail(Errc::malformed, "frame_id: must be UTF-8, followed by zeros", "\"{}\"",
                printable(frame_id));
  }
  return {};
}

std::size_t packed_bytes(const Tensor& tensor) noexcept {
  if (!tensor.is_image()) return tensor.size_bytes();
  return image_bytes(*tensor.format(), tensor.dtype(), tensor.width(), tensor.height(), 0)
      .value_or(std::size_t{0});
}

Result<std::span<const std::byte>> bytes_of(const Tensor& tensor) {
  HALYARD_TRY(const std::span<std::byte> bytes, memory_of(tensor, Access::read));
  return std::span<const std::byte>(bytes);
}

Result<std::span<std::byte>> writable_bytes_of(const Tensor& tensor) {
  return memory_of(tensor, Access::read_write);
}

Status copy_packed(std::span<const std::byte> from, Tensor& to) {
  HALYARD_RETURN_IF_ERROR(check_length(from.size(), to));
  if (from.empty()) return {};
  HALYARD_TRY(const Tensor source, over_packed(to, wrap_memory(from.data(), from.size(), {})));
  return copy(source, to);
}

Status copy_packed(const Tensor& from, std::span<std::byte> to) {
  HALYARD_RETURN_IF_ERROR(check_length(to.size(), from));
  if (to.empty()) return {};
  HALYARD_TRY(Tensor target, over_packed(from, wrap_memory(to.data(), to.size(), {})));
  return copy(from, target);
}

}  // namespace halyard
