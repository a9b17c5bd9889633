// SPDX-License-Identifier: Apache-2.0
// PlaneTargets: the planes of an image as targets to draw on: its own pixels, or textures into
// which its rows are copied and out of which they come back.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "draw/draw_list.h"
#include "draw/gl/draw_programs.h"
#include "gl/display/worker.h"
#include "gl/memory/dma_image.h"
#include "image/gl/gl_image.h"
#include "image/gl/plane_textures.h"
#include "image/gl/uniforms.h"

namespace halyard::draw {

/// A plane that is bound for drawing.
struct TargetPlane {
  PlaneKind kind = PlaneKind::single;
  bool has_color = true;  ///< false: alpha, which is only cleared
  std::int32_t channel = 0;
  std::int32_t texel_bytes = 1;
  std::uint32_t framebuffer = 0;
  std::uint32_t texture = 0;  ///< 0: of an import
  image::TexelOrigin origin;  ///< in its framebuffer
  Size size;                  ///< texels
  RowRange rows;              ///< that are drawn on
  std::uint32_t backup = 0;   ///< a framebuffer with the old rows; 0: none
};

/// What to bind.
struct TargetRequest {
  PixelFormat format = PixelFormat::rgb;
  RowRange rows;      ///< of the image
  bool keeps = true;  ///< false: the old pixels are not needed
  gl::DmaTarget binding = gl::DmaTarget::texture;
};

/// Made, used and destroyed on the worker's thread. Keeps textures and memory for the next images.
class PlaneTargets {
 public:
  explicit PlaneTargets(std::shared_ptr<gl::Worker> worker) noexcept : worker_(std::move(worker)) {}

  /// Binds all planes. Of an import it copies the rows, so that restore() can put them back.
  /// Errors: unsupported (the driver does not import a DMA-BUF, which it remembers).
  Status begin(const image::GlImage& image, const TargetRequest& request);
  std::span<const TargetPlane> planes() const noexcept { return {planes_.data(), count_}; }
  /// Selects a plane for drawing.
  void use(const TargetPlane& plane) const;
  /// Copies rows of textures to where read_back() takes them from. Errors: device.
  Status pack(DrawPrograms& programs);
  /// After pack(): lets OpenGL write rows into the pixel buffer, or read them for store(). Nothing
  /// for imports.
  void read_back(const image::GlImage& image);
  /// After read_back(), for copies: writes the rows into the image.
  void store(const image::GlImage& image) const;
  /// Puts the old rows of an import back.
  void restore();

  /// The texture of these texels, bound to the active unit, and its framebuffer. `slot` is 16 or
  /// more.
  const image::PlaneTexture& texture(std::size_t slot, std::uint32_t format, Size size) {
    return textures_.find(slot, format, size);
  }

 private:
  void add(PlaneKind kind, std::int32_t channel, bool has_color = true);
  void find_planes(const TargetRequest& request);
  Status bind(const image::GlImage& image, std::size_t index, const TargetRequest& request);
  Status import(const ImagePlane& from, std::uint64_t modifier, gl::DmaTarget binding,
                TargetPlane& plane);
  void back_up(std::size_t index);
  std::uint32_t packed(std::size_t index);

  std::shared_ptr<gl::Worker> worker_;
  image::PlaneTextures textures_;
  std::array<TargetPlane, 4> planes_{};
  std::size_t count_ = 0;
  std::array<std::vector<std::byte>, 4> rows_;  ///< of copies
};

}  // namespace halyard::draw
