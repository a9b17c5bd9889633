// SPDX-License-Identifier: Apache-2.0
#include "halyard/detection_message.h"

#include <cstring>

#include "base/text/format_error.h"

namespace halyard {
namespace {

constexpr std::size_t head_bytes = 64;

template <class T>
std::span<std::byte> put(std::span<std::byte> into, const T& value) {
  std::memcpy(into.data(), &value, sizeof value);
  return into.subspan(sizeof value);
}

template <class T>
std::span<const std::byte> get(std::span<const std::byte> from, T& value) {
  std::memcpy(&value, from.data(), sizeof value);
  return from.subspan(sizeof value);
}

}  // namespace

using Serializer = MessageSerializer<DetectionMessage>;

std::size_t Serializer::size(const DetectionMessage& message) {
  return head_bytes + message.entries.size() * sizeof(DetectionEntry);
}

void Serializer::write(const DetectionMessage& message, std::span<std::byte> into) {
  into = put(into, message.header);
  into = put(into, message.index);
  into = put(into, message.width);
  into = put(into, message.height);
  into = put(into, std::uint64_t{message.entries.size()});
  if (!message.entries.empty())
    std::memcpy(into.data(), message.entries.data(),
                std::as_bytes(std::span(message.entries)).size());
}

Result<DetectionMessage> Serializer::read(std::span<const std::byte> bytes) {
  if (bytes.size() < head_bytes)
    return fail(Errc::malformed, "detections: must have 64 bytes at least", "{}", bytes.size());
  DetectionMessage out;
  std::uint64_t count = 0;
  bytes = get(bytes, out.header);
  bytes = get(bytes, out.index);
  bytes = get(bytes, out.width);
  bytes = get(bytes, out.height);
  bytes = get(bytes, count);
  HALYARD_RETURN_IF_ERROR(validate(out.header));
  if (bytes.size() % sizeof(DetectionEntry) != 0 ||
      bytes.size() / sizeof(DetectionEntry) != count) {
    return fail(Errc::malformed, "detections: must have 32 bytes for each entry",
                "{} bytes, {} entries", bytes.size(), count);
  }
  out.entries.resize(static_cast<std::size_t>(count));
  if (count != 0) std::memcpy(out.entries.data(), bytes.data(), bytes.size());
  return out;
}

}  // namespace halyard
