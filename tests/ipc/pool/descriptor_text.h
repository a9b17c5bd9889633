// SPDX-License-Identifier: Apache-2.0
// Descriptors as hexadecimal digits, for lines that processes of a test say to each other.
#pragma once

#include <array>
#include <bit>
#include <cstdio>
#include <string>

#include "halyard/tensor_descriptor.h"

namespace halyard::ipc::testing {

inline std::string to_hex(const TensorDescriptor& descriptor) {
  std::string text;
  for (const unsigned char byte : std::bit_cast<std::array<unsigned char, 168>>(descriptor)) {
    char digits[3];
    std::snprintf(digits, sizeof(digits), "%02x", byte);
    text += digits;
  }
  return text;
}

inline TensorDescriptor from_hex(const std::string& text) {
  std::array<unsigned char, 168> bytes{};
  for (std::size_t i = 0; i < bytes.size() && 2 * i + 1 < text.size(); ++i)
    bytes[i] = static_cast<unsigned char>(std::stoul(text.substr(2 * i, 2), nullptr, 16));
  return std::bit_cast<TensorDescriptor>(bytes);
}

}  // namespace halyard::ipc::testing
