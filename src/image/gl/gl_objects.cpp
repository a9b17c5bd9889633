// SPDX-License-Identifier: Apache-2.0
#include "image/gl/gl_objects.h"

#include <epoxy/gl.h>

#include <algorithm>
#include <cstring>

#include "base/text/format_error.h"
#include "image/gl/uniforms.h"

namespace halyard::image {
namespace {

constexpr std::size_t max_kept_taps = 32;
constexpr std::size_t max_kept_planes = 32;  // at least those of one run, 10
constexpr std::size_t first_target = 4;
constexpr std::size_t first_filtered = 8;
constexpr std::array<GLenum, 5> upload_formats = {0, GL_RED, GL_RG, 0, GL_RGBA};
constexpr std::array<GLenum, 5> sized_formats = {0, GL_R8, GL_RG8, 0, GL_RGBA8};
constexpr std::array<GLenum, 5> row_formats = {0, GL_R32UI, GL_RG32UI, 0, GL_RGBA32UI};

// The largest alignment of rows with which OpenGL steps by exactly `stride` bytes from row to row
// of `texel` bytes; 0 if there is none.
GLint row_alignment(std::size_t stride, std::size_t texel) noexcept {
  const std::size_t whole = stride / texel * texel;
  for (const std::size_t alignment :
       {std::size_t{8}, std::size_t{4}, std::size_t{2}, std::size_t{1}})
    if ((whole + alignment - 1) / alignment * alignment == stride)
      return static_cast<GLint>(alignment);
  return 0;
}

void upload_plane(const MappedPlane& plane, std::size_t texel, GLsizei width) {
  const GLenum format = upload_formats[texel];
  const GLint alignment = row_alignment(plane.stride_bytes, texel);
  const auto rows = static_cast<GLsizei>(plane.rows);
  if (alignment != 0) {
    glPixelStorei(GL_UNPACK_ALIGNMENT, alignment);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, static_cast<GLint>(plane.stride_bytes / texel));
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, width, rows, format, GL_UNSIGNED_BYTE, plane.data);
    return;
  }
  glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  for (GLsizei y = 0; y < rows; ++y)
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, y, width, 1, format, GL_UNSIGNED_BYTE,
                    plane.data + static_cast<std::size_t>(y) * plane.stride_bytes);
}

Status check_errors(const char* what) {
  Status out;
  for (GLenum error; (error = glGetError()) != GL_NO_ERROR;) {
    const Errc code = error == GL_OUT_OF_MEMORY ? Errc::no_memory : Errc::device;
    if (out) out = fail(code, what, "error {:#x}", error);
  }
  return out;
}

// A texture of its own that is bound, without filtering.
GLuint make_texture(GLenum format, Size size) {
  GLuint name = 0;
  glGenTextures(1, &name);
  glBindTexture(GL_TEXTURE_2D, name);
  glTexStorage2D(GL_TEXTURE_2D, 1, format, size.width, size.height);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  return name;
}

}  // namespace

GlObjects::GlObjects() {
  planes_.reserve(max_kept_planes);
}

GlObjects::~GlObjects() {
  for (const Taps& taps : taps_)
    glDeleteTextures(1, &taps.texture);
  for (const Plane& plane : planes_) {
    glDeleteFramebuffers(1, &plane.framebuffer);
    glDeleteTextures(1, &plane.texture);
  }
}

// Finds or makes it, and leaves its texture bound.
GlObjects::Plane& GlObjects::plane(std::size_t slot, std::uint32_t format, Size size) {
  for (Plane& known : planes_) {
    if (known.slot != slot || known.format != format || known.size != size) continue;
    known.used = now_;
    glBindTexture(GL_TEXTURE_2D, known.texture);
    return known;
  }
  if (planes_.size() < max_kept_planes) planes_.emplace_back();
  Plane& place = *std::ranges::min_element(planes_, {}, &Plane::used);
  glDeleteFramebuffers(1, &place.framebuffer);
  glDeleteTextures(1, &place.texture);
  place = {slot, format, size, make_texture(format, size), 0, now_};
  if (slot < first_target) return place;
  glGenFramebuffers(1, &place.framebuffer);
  glBindFramebuffer(GL_FRAMEBUFFER, place.framebuffer);
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, place.texture, 0);
  return place;
}

std::uint32_t GlObjects::taps(const GlProgram& program) {
  for (Taps& known : taps_) {
    if (known.program != program.id()) continue;
    known.used = now_;
    return known.texture;
  }
  if (taps_.size() < max_kept_taps) taps_.emplace_back();
  Taps& place = *std::ranges::min_element(taps_, {}, &Taps::used);
  glDeleteTextures(1, &place.texture);
  const TapTable& table = program.taps();
  place = {program.id(), make_texture(GL_R32UI, {table.width, table.rows}), now_};
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, table.width, table.rows, GL_RED_INTEGER, GL_UNSIGNED_INT,
                  table.values.data());
  return place.texture;
}

void GlObjects::upload(const GlProgram& program, const TensorMap& src) {
  for (std::size_t i = 0; i < program.source_planes(); ++i) {
    const MappedPlane& mapped = src.plane(i);
    const std::size_t texel = texel_bytes(program.plan().src, i);
    const Size size{static_cast<std::int32_t>(mapped.row_bytes / texel),
                    static_cast<std::int32_t>(mapped.rows)};
    glActiveTexture(GL_TEXTURE0 + static_cast<GLenum>(i));
    plane(i, sized_formats[texel], size);
    upload_plane(mapped, texel, size.width);
  }
}

Status GlObjects::draw(const GlProgram& program, const std::string& text, std::uint32_t taps,
                       const Plane& target) {
  HALYARD_TRY(const Shader* const shader, shaders_.find(text));
  glActiveTexture(GL_TEXTURE0 + taps_unit);
  glBindTexture(GL_TEXTURE_2D, taps);
  glBindFramebuffer(GL_FRAMEBUFFER, target.framebuffer);
  glDisable(GL_DITHER);
  glViewport(0, 0, target.size.width, target.size.height);
  glUseProgram(shader->name);
  set_uniforms(*shader, program, {});
  glDrawArrays(GL_TRIANGLES, 0, 3);
  return {};
}

Status GlObjects::filter_rows(const GlProgram& program, std::uint32_t taps) {
  for (const RowPass& pass : program.row_passes()) {
    glActiveTexture(GL_TEXTURE0 + static_cast<GLenum>(filtered_unit) +
                    static_cast<GLenum>(pass.group));
    const Plane& target =
        plane(first_filtered + pass.group, row_formats[pass.components], pass.size);
    HALYARD_RETURN_IF_ERROR(draw(program, pass.shader, taps, target));
  }
  return {};
}

void GlObjects::read_back(const MappedPlane& plane, const Plane& target) {
  const Size size = target.size;
  glBindFramebuffer(GL_FRAMEBUFFER, target.framebuffer);
  const auto row_bytes = static_cast<std::size_t>(size.width) * 4;
  glPixelStorei(GL_PACK_ALIGNMENT, 4);
  const bool is_direct = plane.row_bytes == row_bytes && plane.stride_bytes % 4 == 0;
  glPixelStorei(GL_PACK_ROW_LENGTH, is_direct ? static_cast<GLint>(plane.stride_bytes / 4) : 0);
  if (!is_direct) rows_.resize(row_bytes * plane.rows);
  glReadPixels(0, 0, size.width, size.height, GL_RGBA, GL_UNSIGNED_BYTE,
               is_direct ? plane.writable : rows_.data());
  if (is_direct) return;
  for (std::size_t y = 0; y < plane.rows; ++y)
    std::memcpy(plane.writable + y * plane.stride_bytes, rows_.data() + y * row_bytes,
                plane.row_bytes);
}

Status GlObjects::run(const GlProgram& program, const TensorMap& src, const TensorMap& dst) {
  static_cast<void>(check_errors(""));
  ++now_;
  upload(program, src);
  glActiveTexture(GL_TEXTURE0 + taps_unit);
  const std::uint32_t taps = this->taps(program);
  HALYARD_RETURN_IF_ERROR(filter_rows(program, taps));
  std::array<const Plane*, 4> targets{};
  for (std::size_t i = 0; i < program.target_planes(); ++i) {
    const MappedPlane& mapped = dst.plane(i);
    const Size size{static_cast<std::int32_t>((mapped.row_bytes + 3) / 4),
                    static_cast<std::int32_t>(mapped.rows)};
    targets[i] = &plane(first_target + i, GL_RGBA8, size);
    HALYARD_RETURN_IF_ERROR(draw(program, program.shader(i), taps, *targets[i]));
  }
  HALYARD_RETURN_IF_ERROR(check_errors("opengl: a conversion failed"));
  for (std::size_t i = 0; i < program.target_planes(); ++i)
    read_back(dst.plane(i), *targets[i]);
  return check_errors("opengl: a result cannot be read");
}

}  // namespace halyard::image
