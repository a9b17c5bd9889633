// SPDX-License-Identifier: Apache-2.0
#include "image/gl/plane_import.h"

#include "halyard/drm.h"

namespace halyard::image {
namespace {

constexpr std::uint32_t fourcc(char a, char b, char c, char d) noexcept {
  const auto byte = [](char letter) { return static_cast<std::uint32_t>(letter); };
  return byte(a) | byte(b) << 8 | byte(c) << 16 | byte(d) << 24;
}

// The formats of DRM whose components are the bytes of a texel, in their order in memory.
constexpr std::uint32_t drm_format_of(std::size_t texel_bytes) noexcept {
  if (texel_bytes == 1) return fourcc('R', '8', ' ', ' ');
  if (texel_bytes == 2) return fourcc('G', 'R', '8', '8');
  return fourcc('A', 'B', '2', '4');
}

}  // namespace

PlaneImport describe_import(const ImagePlane& plane, std::size_t texel_bytes,
                            std::uint64_t modifier, std::int32_t max_texture_size) noexcept {
  const std::size_t stride = plane.stride_bytes;
  PlaneImport out;
  out.layout = {.drm_format = drm_format_of(texel_bytes),
                .texel_bytes = texel_bytes,
                .size = {static_cast<std::int32_t>(plane.row_bytes / texel_bytes),
                         static_cast<std::int32_t>(plane.rows)},
                .offset_bytes = plane.offset_bytes,
                .stride_bytes = stride,
                .modifier = modifier};
  if (stride == 0 || stride % texel_bytes != 0 || plane.offset_bytes % texel_bytes != 0) return out;
  const std::size_t width = stride / texel_bytes;
  const std::size_t height = plane.buffer->size_bytes() / stride;
  const std::size_t x = plane.offset_bytes % stride;
  const std::size_t y = plane.offset_bytes / stride;
  const auto most = static_cast<std::size_t>(max_texture_size);
  const bool is_inside = x + plane.row_bytes <= stride && y + plane.rows <= height;
  if (!is_linear(modifier) || !is_inside || width > most || height > most) return out;
  out.layout.size = {static_cast<std::int32_t>(width), static_cast<std::int32_t>(height)};
  out.layout.offset_bytes = 0;
  out.origin = {static_cast<std::int32_t>(x / texel_bytes), static_cast<std::int32_t>(y)};
  return out;
}

}  // namespace halyard::image
