// SPDX-License-Identifier: Apache-2.0
// JPEG bytes: header, native planes and packed pixels.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "halyard/codec.h"

namespace {

// What a loaded picture and a refusal promise.
void check(const halyard::ImageFileInfo& header, const halyard::Result<halyard::Tensor>& picture) {
  if (picture && (picture->width() != header.width || picture->height() != header.height)) {
    std::abort();
  }
  if (!picture && picture.error().message().empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = std::as_bytes(std::span(data, size));
  halyard::LoadOptions options{.memory = halyard::Memory::mem,
                               .limits = {.max_pixels = std::size_t{1} << 18}};
  const auto header = halyard::peek(file, options.limits);
  if (!header) {
    if (header.error().message().empty()) std::abort();
    return 0;
  }
  if (header->width * header->height > options.limits.max_pixels) std::abort();
  check(*header, halyard::load_image(file, options));
  options.format = halyard::PixelFormat::rgb;
  check(*header, halyard::load_image(file, options));
  return 0;
}
