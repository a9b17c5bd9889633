// SPDX-License-Identifier: Apache-2.0
// DataTexture: an array of elements in a texture, which continues from row to row.
#pragma once

#include <cstddef>
#include <cstdint>

#include "halyard/format.h"
#include "halyard/result.h"

namespace halyard::draw {

/// How elements are stored and given to OpenGL.
struct TexelFormat {
  std::uint32_t sized = 0;  ///< internal format
  std::uint32_t format = 0;
  std::uint32_t type = 0;
  std::size_t bytes = 0;  ///< of an element
  friend bool operator==(const TexelFormat&, const TexelFormat&) = default;
};
/// One component: the element itself; bf16 as its bits.
TexelFormat texel_format(DType dtype) noexcept;
TexelFormat command_texels() noexcept;  ///< four i32
TexelFormat sample_texels() noexcept;   ///< two u32
TexelFormat ink_texels() noexcept;      ///< four u8

/// Made, used and destroyed on the worker's thread. Keeps its texture, which grows.
class DataTexture {
 public:
  DataTexture() = default;
  DataTexture(const DataTexture&) = delete;
  DataTexture& operator=(const DataTexture&) = delete;
  ~DataTexture();

  /// How many elements fit a texture.
  static std::size_t capacity(std::int32_t max_texture_size) noexcept;
  /// Makes the texture that of the active unit, and stores `count` elements, at most capacity().
  void fill(const TexelFormat& format, const void* data, std::size_t count);

 private:
  TexelFormat format_;
  std::int32_t rows_ = 0;
  std::uint32_t name_ = 0;
};

}  // namespace halyard::draw
