// SPDX-License-Identifier: Apache-2.0
// GIF bytes.
#include "fuzz/any_picture.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  halyard::fuzz::load_any_picture(std::as_bytes(std::span(data, size)),
                                  halyard::ImageFileType::gif);
  return 0;
}
