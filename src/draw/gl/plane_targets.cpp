// SPDX-License-Identifier: Apache-2.0
#include "draw/gl/plane_targets.h"

#include <epoxy/gl.h>

#include <cstring>

#include "image/gl/plane_import.h"

namespace halyard::draw {
namespace {

// Slots of PlaneTextures.
constexpr std::size_t target_slot = 4;
constexpr std::size_t backup_slot = 8;
constexpr std::size_t packed_slot = 12;

constexpr std::size_t packed_texel_bytes = 4;
constexpr std::array<GLenum, 5> sized = {0, GL_R8, GL_RG8, 0, GL_RGBA8};
constexpr std::array<GLenum, 5> components = {0, GL_RED, GL_RG, 0, GL_RGBA};

std::int32_t texel_bytes_of(PlaneKind kind) noexcept {
  if (kind == PlaneKind::pixels) return 4;
  return kind == PlaneKind::blocks ? 2 : 1;
}

// Copies rows of the plane into the bound texture. `data` is row 0, or its offset in the buffer
// object that is bound.
void upload_rows(const TargetPlane& plane, const std::byte* data, std::size_t stride) {
  const auto texel = static_cast<std::size_t>(plane.texel_bytes);
  const GLenum format = components[texel];
  const std::byte* const first = data + static_cast<std::size_t>(plane.rows.begin) * stride;
  const GLsizei rows = plane.rows.end - plane.rows.begin;
  const bool is_whole = stride % texel == 0;
  glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  glPixelStorei(GL_UNPACK_ROW_LENGTH, is_whole ? static_cast<GLint>(stride / texel) : 0);
  if (is_whole) {
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, plane.rows.begin, plane.size.width, rows, format,
                    GL_UNSIGNED_BYTE, first);
    return;
  }
  for (GLsizei y = 0; y < rows; ++y)
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, plane.rows.begin + y, plane.size.width, 1, format,
                    GL_UNSIGNED_BYTE, first + static_cast<std::size_t>(y) * stride);
}

std::int32_t packed_width(const TargetPlane& plane) noexcept {
  constexpr auto texel = static_cast<std::int32_t>(packed_texel_bytes);
  return (plane.size.width * plane.texel_bytes + texel - 1) / texel;
}

}  // namespace

void PlaneTargets::add(PlaneKind kind, std::int32_t channel, bool has_color) {
  TargetPlane& plane = planes_[count_++];
  plane = {};
  plane.kind = kind;
  plane.has_color = has_color;
  plane.channel = channel;
  plane.texel_bytes = texel_bytes_of(kind);
}

void PlaneTargets::find_planes(const TargetRequest& request) {
  count_ = 0;
  switch (request.format) {
    case PixelFormat::rgba:
    case PixelFormat::bgra:
      return add(PlaneKind::pixels, 0);
    case PixelFormat::rgb:
    case PixelFormat::bgr:
      return add(PlaneKind::bytes, 0);
    case PixelFormat::nv12:
      add(PlaneKind::single, 0);
      return add(PlaneKind::blocks, 0);
    case PixelFormat::planar_rgb:
    case PixelFormat::planar_rgba:
      for (std::int32_t channel = 0; channel < 3; ++channel)
        add(PlaneKind::single, channel);
      if (request.format == PixelFormat::planar_rgba && !request.keeps)
        add(PlaneKind::single, 3, false);
      return;
    default:
      return add(PlaneKind::single, 0);
  }
}

Status PlaneTargets::begin(const image::GlImage& image, const TargetRequest& request) {
  find_planes(request);
  activate(DrawUnit::spare);
  for (std::size_t i = 0; i < count_; ++i) {
    TargetPlane& plane = planes_[i];
    plane.rows = request.rows;
    if (plane.kind == PlaneKind::blocks)
      plane.rows = {request.rows.begin / 2, (request.rows.end + 1) / 2};
    HALYARD_RETURN_IF_ERROR(bind(image, i, request));
  }
  return {};
}

Status PlaneTargets::bind(const image::GlImage& image, std::size_t index,
                          const TargetRequest& request) {
  TargetPlane& plane = planes_[index];
  const auto texels = [&](std::size_t row_bytes, std::size_t rows) {
    plane.size = {static_cast<std::int32_t>(row_bytes) / plane.texel_bytes,
                  static_cast<std::int32_t>(rows)};
  };
  if (image.transfer() == image::GlTransfer::dma_buf) {
    const ImagePlane& from = image.plane(index);
    texels(from.row_bytes, from.rows);
    HALYARD_RETURN_IF_ERROR(import(from, image.modifier(), request.binding, plane));
    if (request.keeps) back_up(index);
    return {};
  }
  const bool is_copy = image.transfer() == image::GlTransfer::copy;
  if (is_copy) {
    texels(image.map().plane(index).row_bytes, image.map().plane(index).rows);
  } else {
    texels(image.plane(index).row_bytes, image.plane(index).rows);
  }
  const image::PlaneTexture& own = textures_.find(
      target_slot + index, sized[static_cast<std::size_t>(plane.texel_bytes)], plane.size);
  plane.framebuffer = own.framebuffer;
  plane.texture = own.texture;
  if (!request.keeps) return {};
  if (is_copy) {
    const MappedPlane& mapped = image.map().plane(index);
    upload_rows(plane, mapped.data, mapped.stride_bytes);
    return {};
  }
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, image.buffer_object(index));
  upload_rows(plane, reinterpret_cast<const std::byte*>(image.plane(index).offset_bytes),
              image.plane(index).stride_bytes);
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  return {};
}

Status PlaneTargets::import(const ImagePlane& from, std::uint64_t modifier, gl::DmaTarget binding,
                            TargetPlane& plane) {
  const image::PlaneImport wanted =
      image::describe_import(from, static_cast<std::size_t>(plane.texel_bytes), modifier,
                             worker_->capabilities().max_texture_size);
  gl::DmaImages& images = gl::DmaImages::of(*from.buffer, worker_);
  HALYARD_TRY(const gl::DmaImage target,
              images.target(*from.buffer, wanted.layout, binding, gl::DmaUse::draw));
  plane.framebuffer = target.framebuffer;
  plane.origin = wanted.origin;
  return {};
}

void PlaneTargets::back_up(std::size_t index) {
  TargetPlane& plane = planes_[index];
  const image::PlaneTexture& own = textures_.find(
      backup_slot + index, sized[static_cast<std::size_t>(plane.texel_bytes)], plane.size);
  plane.backup = own.framebuffer;
  glBindFramebuffer(GL_FRAMEBUFFER, plane.framebuffer);
  glCopyTexSubImage2D(GL_TEXTURE_2D, 0, 0, plane.rows.begin, plane.origin.x,
                      plane.origin.y + plane.rows.begin, plane.size.width,
                      plane.rows.end - plane.rows.begin);
}

void PlaneTargets::restore() {
  glDisable(GL_SCISSOR_TEST);
  for (const TargetPlane& plane : planes()) {
    if (plane.backup == 0) continue;
    glBindFramebuffer(GL_READ_FRAMEBUFFER, plane.backup);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, plane.framebuffer);
    const GLint x = plane.origin.x, y = plane.origin.y;
    glBlitFramebuffer(0, plane.rows.begin, plane.size.width, plane.rows.end, x,
                      y + plane.rows.begin, x + plane.size.width, y + plane.rows.end,
                      GL_COLOR_BUFFER_BIT, GL_NEAREST);
  }
}

void PlaneTargets::use(const TargetPlane& plane) const {
  glBindFramebuffer(GL_FRAMEBUFFER, plane.framebuffer);
  glViewport(plane.origin.x, plane.origin.y, plane.size.width, plane.size.height);
  glScissor(plane.origin.x, plane.origin.y + plane.rows.begin, plane.size.width,
            plane.rows.end - plane.rows.begin);
}

// The framebuffer with RGBA8 texels of the plane.
std::uint32_t PlaneTargets::packed(std::size_t index) {
  const TargetPlane& plane = planes_[index];
  if (plane.kind == PlaneKind::pixels) return plane.framebuffer;
  return textures_.find(packed_slot + index, GL_RGBA8, {packed_width(plane), plane.size.height})
      .framebuffer;
}

Status PlaneTargets::pack(DrawPrograms& programs) {
  for (std::size_t i = 0; i < count_; ++i) {
    const TargetPlane& plane = planes_[i];
    if (plane.texture == 0 || plane.kind == PlaneKind::pixels) continue;
    HALYARD_TRY(const DrawProgram* const program, programs.pack());
    activate(DrawUnit::spare);
    glBindFramebuffer(GL_FRAMEBUFFER, packed(i));
    const GLsizei rows = plane.rows.end - plane.rows.begin;
    glViewport(0, plane.rows.begin, packed_width(plane), rows);
    glScissor(0, plane.rows.begin, packed_width(plane), rows);
    activate(DrawUnit::shapes);
    glBindTexture(GL_TEXTURE_2D, plane.texture);
    glUseProgram(program->name);
    glUniform2i(program->at(DrawUniform::plane_size), plane.size.width, plane.size.height);
    glUniform1i(program->at(DrawUniform::channel), plane.texel_bytes);
    glDrawArrays(GL_TRIANGLES, 0, 3);
  }
  return {};
}

void PlaneTargets::read_back(const image::GlImage& image) {
  if (image.transfer() == image::GlTransfer::dma_buf) return;
  activate(DrawUnit::spare);
  glPixelStorei(GL_PACK_ALIGNMENT, 4);
  for (std::size_t i = 0; i < count_; ++i) {
    const TargetPlane& plane = planes_[i];
    const GLsizei width = packed_width(plane), rows = plane.rows.end - plane.rows.begin;
    glBindFramebuffer(GL_FRAMEBUFFER, packed(i));
    if (image.transfer() == image::GlTransfer::copy) {
      glPixelStorei(GL_PACK_ROW_LENGTH, 0);
      rows_[i].resize(packed_texel_bytes * static_cast<std::size_t>(width) *
                      static_cast<std::size_t>(rows));
      glReadPixels(0, plane.rows.begin, width, rows, GL_RGBA, GL_UNSIGNED_BYTE, rows_[i].data());
      continue;
    }
    const ImagePlane& to = image.plane(i);
    const std::size_t first =
        to.offset_bytes + static_cast<std::size_t>(plane.rows.begin) * to.stride_bytes;
    glPixelStorei(GL_PACK_ROW_LENGTH, static_cast<GLint>(to.stride_bytes / packed_texel_bytes));
    glBindBuffer(GL_PIXEL_PACK_BUFFER, image.buffer_object(i));
    glReadPixels(0, plane.rows.begin, width, rows, GL_RGBA, GL_UNSIGNED_BYTE,
                 reinterpret_cast<void*>(first));
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
  }
}

void PlaneTargets::store(const image::GlImage& image) const {
  if (image.transfer() != image::GlTransfer::copy) return;
  for (std::size_t i = 0; i < count_; ++i) {
    const TargetPlane& plane = planes_[i];
    const MappedPlane& to = image.map().plane(i);
    const std::size_t stride = packed_texel_bytes * static_cast<std::size_t>(packed_width(plane));
    const std::byte* from = rows_[i].data();
    for (int y = plane.rows.begin; y < plane.rows.end; ++y, from += stride)
      std::memcpy(to.writable + static_cast<std::size_t>(y) * to.stride_bytes, from, to.row_bytes);
  }
}

}  // namespace halyard::draw
