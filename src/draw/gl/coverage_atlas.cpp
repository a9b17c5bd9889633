// SPDX-License-Identifier: Apache-2.0
#include "draw/gl/coverage_atlas.h"

#include <epoxy/gl.h>

#include <atomic>

#include "image/gl/plane_textures.h"

namespace halyard::draw {
namespace {

std::atomic<std::uint64_t> uploads{0};

}  // namespace

CoverageAtlas::~CoverageAtlas() {
  glDeleteTextures(1, &texture_);
}

void CoverageAtlas::bind() {
  if (texture_ == 0) texture_ = image::make_texture(GL_R8UI, {side, side});
  glBindTexture(GL_TEXTURE_2D, texture_);
}

std::optional<std::array<std::int32_t, 2>> CoverageAtlas::find(const CoverageBitmap& bitmap) {
  const auto known = places_.find(bitmap.id);
  if (known != places_.end()) return known->second;
  const auto at = packer_.place(bitmap.width, bitmap.height);
  if (!at) return std::nullopt;
  places_.emplace(bitmap.id, *at);
  ++uploads;
  glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  glTexSubImage2D(GL_TEXTURE_2D, 0, (*at)[0], (*at)[1], bitmap.width, bitmap.height, GL_RED_INTEGER,
                  GL_UNSIGNED_BYTE, bitmap.bytes.data());
  return at;
}

void CoverageAtlas::clear() noexcept {
  packer_.clear();
  places_.clear();
}

std::uint64_t coverage_uploads() noexcept {
  return uploads.load();
}

}  // namespace halyard::draw
