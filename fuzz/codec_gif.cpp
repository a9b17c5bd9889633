// SPDX-License-Identifier: Apache-2.0
// GIF bytes.
#include "fuzz/any_image.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  halyard::fuzz::load_any_image(std::as_bytes(std::span(data, size)), halyard::ImageFileType::gif);
  return 0;
}
