// SPDX-License-Identifier: Apache-2.0
#include "image/gl/plane_textures.h"

#include <epoxy/gl.h>

#include <algorithm>

namespace halyard::image {
namespace {

constexpr std::size_t max_kept_planes = 32;

void destroy(const PlaneTexture& plane) {
  glDeleteFramebuffers(1, &plane.framebuffer);
  glDeleteTextures(1, &plane.texture);
}

}  // namespace

std::uint32_t make_texture(std::uint32_t format, Size size) {
  GLuint name = 0;
  glGenTextures(1, &name);
  glBindTexture(GL_TEXTURE_2D, name);
  glTexStorage2D(GL_TEXTURE_2D, 1, format, size.width, size.height);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  return name;
}

PlaneTextures::PlaneTextures() {
  planes_.reserve(max_kept_planes);
}

PlaneTextures::~PlaneTextures() {
  for (const PlaneTexture& plane : planes_)
    destroy(plane);
}

const PlaneTexture& PlaneTextures::find(std::size_t slot, std::uint32_t format, Size size) {
  ++now_;
  for (PlaneTexture& known : planes_) {
    if (known.slot != slot || known.format != format || known.size != size) continue;
    known.used = now_;
    glBindTexture(GL_TEXTURE_2D, known.texture);
    return known;
  }
  if (planes_.size() < max_kept_planes) planes_.emplace_back();
  PlaneTexture& place = *std::ranges::min_element(planes_, {}, &PlaneTexture::used);
  destroy(place);
  place = {slot, format, size, make_texture(format, size), 0, now_};
  if (slot < first_target) return place;
  glGenFramebuffers(1, &place.framebuffer);
  glBindFramebuffer(GL_FRAMEBUFFER, place.framebuffer);
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, place.texture, 0);
  return place;
}

}  // namespace halyard::image
