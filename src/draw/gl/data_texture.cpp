// SPDX-License-Identifier: Apache-2.0
#include "draw/gl/data_texture.h"

#include <epoxy/gl.h>

#include <algorithm>
#include <bit>

#include "draw/gl/draw_shaders.h"
#include "image/gl/plane_textures.h"

namespace halyard::draw {
namespace {

constexpr auto row_texels = static_cast<std::size_t>(table_width);

}  // namespace

TexelFormat texel_format(DType dtype) noexcept {
  switch (dtype) {
    case DType::f32:
      return {GL_R32F, GL_RED, GL_FLOAT, 4};
    case DType::f16:
      return {GL_R16F, GL_RED, GL_HALF_FLOAT, 2};
    case DType::i8:
      return {GL_R8I, GL_RED_INTEGER, GL_BYTE, 1};
    case DType::i16:
      return {GL_R16I, GL_RED_INTEGER, GL_SHORT, 2};
    case DType::u16:
    case DType::bf16:
      return {GL_R16UI, GL_RED_INTEGER, GL_UNSIGNED_SHORT, 2};
    default:
      return {GL_R8UI, GL_RED_INTEGER, GL_UNSIGNED_BYTE, 1};
  }
}

TexelFormat command_texels() noexcept {
  return {GL_RGBA32I, GL_RGBA_INTEGER, GL_INT, 16};
}

TexelFormat sample_texels() noexcept {
  return {GL_RG32UI, GL_RG_INTEGER, GL_UNSIGNED_INT, 8};
}

TexelFormat ink_texels() noexcept {
  return {GL_RGBA8UI, GL_RGBA_INTEGER, GL_UNSIGNED_BYTE, 4};
}

DataTexture::~DataTexture() {
  glDeleteTextures(1, &name_);
}

std::size_t DataTexture::capacity(std::int32_t max_texture_size) noexcept {
  return row_texels * static_cast<std::size_t>(max_texture_size);
}

void DataTexture::fill(const TexelFormat& format, const void* data, std::size_t count) {
  const auto whole = static_cast<GLsizei>(count / row_texels);
  const auto rest = static_cast<GLsizei>(count % row_texels);
  const std::int32_t rows = std::max(whole + (rest == 0 ? 0 : 1), 1);
  if (name_ == 0 || format_ != format || rows > rows_) {
    glDeleteTextures(1, &name_);
    rows_ = static_cast<std::int32_t>(std::bit_ceil(static_cast<std::uint32_t>(rows)));
    name_ = image::make_texture(format.sized, {table_width, rows_});
    format_ = format;
  }
  glBindTexture(GL_TEXTURE_2D, name_);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  if (whole > 0)
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, table_width, whole, format.format, format.type, data);
  if (rest == 0) return;
  const auto* const last = static_cast<const std::byte*>(data) +
                           static_cast<std::size_t>(whole) * row_texels * format.bytes;
  glTexSubImage2D(GL_TEXTURE_2D, 0, 0, whole, rest, 1, format.format, format.type, last);
}

}  // namespace halyard::draw
