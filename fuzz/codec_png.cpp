// SPDX-License-Identifier: Apache-2.0
// PNG bytes, as they are and with their checksums made right, in every element type.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "halyard/codec.h"

namespace {

std::uint32_t crc32(std::span<const std::uint8_t> bytes) {
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const std::uint8_t byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit)
      crc = crc >> 1 ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
  }
  return ~crc;
}

// Mutated chunks would all stop at their checksum otherwise.
void repair(std::vector<std::uint8_t>& file) {
  std::size_t at = 8;
  while (file.size() >= 12 && at <= file.size() - 12) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; ++i)
      length = length << 8 | file[at + i];
    if (length > file.size() - at - 12) return;
    const std::uint32_t crc = crc32({file.data() + at + 4, length + 4});
    for (std::size_t i = 0; i < 4; ++i) {
      file[at + 8 + length + i] = static_cast<std::uint8_t>(crc >> (24 - 8 * i));
    }
    at += length + 12;
  }
}

void load(std::span<const std::byte> file) {
  using halyard::DType;
  using halyard::PixelFormat;
  halyard::LoadOptions options{.memory = halyard::Memory::mem,
                               .limits = {.max_pixels = std::size_t{1} << 16}};
  const auto header = halyard::peek(file, options.limits);
  if (!header) {
    if (header.error().message().empty()) std::abort();
    return;
  }
  if (header->width * header->height > options.limits.max_pixels) std::abort();
  const auto native = halyard::load_image(file, options);
  if (native && native->format() != header->native_format) std::abort();
  for (const DType dtype : {DType::u8, DType::i8, DType::u16, DType::f32}) {
    for (const PixelFormat format : {PixelFormat::grey, PixelFormat::bgra}) {
      auto picture = halyard::Tensor::create_image(header->width, header->height, format, dtype,
                                                   options.memory);
      options.format = format;
      if (picture) (void)halyard::load_into(*picture, file, options);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  load(std::as_bytes(std::span(data, size)));
  std::vector<std::uint8_t> repaired(data, data + size);
  repair(repaired);
  load(std::as_bytes(std::span(repaired)));
  return 0;
}
