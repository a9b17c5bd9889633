// SPDX-License-Identifier: Apache-2.0
// Messages that carry tensors between processes: decoded, and applied to sealed memory as by a
// receiver.
#include "tensor/exchange/tensor_message.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "halyard/import.h"
#include "tensor/memory/touch.h"
#include "tensor/tensor_parts.h"

namespace {

using namespace halyard;

// Replaces the descriptors that come with a message.
const std::array<std::shared_ptr<Buffer>, message_descriptor_limit>& memory() {
  static const std::array<std::shared_ptr<Buffer>, message_descriptor_limit> buffers = {
      *allocate(4096, Memory::shm), *allocate(65536, Memory::shm), *allocate(1 << 20, Memory::shm)};
  return buffers;
}

void expect(bool promise) {
  if (!promise) std::abort();
}

std::optional<Tensor> receive(const TensorMessage& message) {
  std::array<std::shared_ptr<Buffer>, message_descriptor_limit> buffers;
  for (std::size_t i = 0; i < message.descriptor_count; ++i) {
    const ImportOptions options{.size_bytes = message.descriptors[i].size_bytes,
                                .require_sealed = true};
    auto buffer = Importer::shared().import_buffer(memory()[i]->fd(), options);
    if (!buffer) return std::nullopt;  // the message needs more memory
    buffers[i] = *std::move(buffer);
  }
  auto tensor = put_together(message, std::span(buffers).first(message.descriptor_count));
  if (tensor) return *std::move(tensor);
  expect(tensor.error().code == Errc::corrupt && !tensor.error().message().empty());
  return std::nullopt;
}

void check(std::span<const std::byte> bytes) {
  const auto header = decode_message_header(bytes);
  if (!header) return expect(!header.error().message().empty());
  expect(!decode_tensor_message(bytes, header->descriptors + 1));
  const auto message = decode_tensor_message(bytes, header->descriptors);
  if (!message) return expect(!message.error().message().empty());
  // There is only one encoding of a message.
  const auto again = encode_tensor_message(*message);
  expect(again && std::equal(again->begin(), again->end(), bytes.begin(), bytes.end()));
  const auto tensor = receive(*message);
  if (!tensor) return;
  expect(stays_inside(*tensor));
  // A received tensor may be sent on.
  expect(take_apart(*tensor).has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  check(bytes);
  if (size < message_header_bytes) return 0;
  // Once more with the right size, or most inputs would be refused at the header.
  std::vector<std::byte> sized(bytes.begin(), bytes.end());
  const auto told = static_cast<std::uint32_t>(size);
  std::memcpy(sized.data() + 8, &told, sizeof(told));
  check(sized);
  return 0;
}
