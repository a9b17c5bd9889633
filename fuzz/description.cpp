// SPDX-License-Identifier: Apache-2.0
// Description documents as JSON and as YAML, and a decoder made from what they give. The first byte
// chooses the language.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "halyard/decode.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  auto description = data[0] % 2 == 0 ? halyard::ModelDescription::from_json(text)
                                      : halyard::ModelDescription::from_yaml(text);
  if (!description) return 0;
  const auto decoder = halyard::Decoder::create(*std::move(description));
  if (decoder) (void)decoder->explain();
  return 0;
}
