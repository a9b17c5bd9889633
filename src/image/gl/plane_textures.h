// SPDX-License-Identifier: Apache-2.0
// PlaneTextures: the textures of a context that planes are copied into or drawn into, kept for the
// next frames of the same size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "halyard/geometry.h"

namespace halyard::image {

/// A texture for one plane of images of one size.
struct PlaneTexture {
  std::size_t slot = 0;      ///< of the plane: 0..3 sources, 4..7 targets, 8..9 filtered rows
  std::uint32_t format = 0;  ///< sized internal format
  Size size;
  std::uint32_t texture = 0;
  std::uint32_t framebuffer = 0;  ///< of targets and filtered rows
  std::uint64_t used = 0;         ///< when
};

/// Made, used and destroyed on the worker's thread. Keeps the 32 that were used last.
class PlaneTextures {
 public:
  static constexpr std::size_t first_target = 4;
  static constexpr std::size_t first_filtered = 8;

  PlaneTextures();
  PlaneTextures(const PlaneTextures&) = delete;
  PlaneTextures& operator=(const PlaneTextures&) = delete;
  ~PlaneTextures();

  /// Finds or makes it, and leaves it bound to the active texture unit. The result is valid for the
  /// next seven calls at least.
  const PlaneTexture& find(std::size_t slot, std::uint32_t format, Size size);

 private:
  std::vector<PlaneTexture> planes_;
  std::uint64_t now_ = 0;
};

/// A texture with storage and without filtering, bound to the active texture unit.
std::uint32_t make_texture(std::uint32_t format, Size size);

}  // namespace halyard::image
