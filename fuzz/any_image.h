// SPDX-License-Identifier: Apache-2.0
// Common part of the fuzz targets of image files: reads the header, then the pixels in every format
// and element type, under small limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "halyard/codec.h"

namespace halyard::fuzz {

/// `type`: the expected file type, if the bytes are recognised as an image of this target.
inline void load_any_image(std::span<const std::byte> file, ImageFileType type) {
  LoadOptions options{
      .memory = Memory::mem,
      .limits = {.max_pixels = std::size_t{1} << 16, .max_bytes = std::size_t{1} << 26}};
  if (image_file_type(file) != type) return;
  const auto header = peek(file, options.limits);
  if (!header) {
    if (header.error().message().empty()) std::abort();
    return;
  }
  if (header->type != type || header->width == 0 || header->height == 0) std::abort();
  if (header->width * header->height > options.limits.max_pixels) std::abort();
  const auto native = load_image(file, options);
  if (native && native->format() != header->native_format) std::abort();
  if (native && native->width() != header->width) std::abort();
  for (const DType dtype : {DType::u8, DType::i8, DType::u16, DType::f32}) {
    for (const PixelFormat format : {PixelFormat::grey, PixelFormat::rgb, PixelFormat::bgra}) {
      auto image =
          Tensor::create_image(header->width, header->height, format, dtype, options.memory);
      options.format = format;
      // If one destination accepts it, all do.
      if (image && load_into(*image, file, options).has_value() != native.has_value()) std::abort();
    }
  }
}

}  // namespace halyard::fuzz
