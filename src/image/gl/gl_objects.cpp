// SPDX-License-Identifier: Apache-2.0
#include "image/gl/gl_objects.h"

#include <epoxy/gl.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "base/text/format_error.h"
#include "gl/display/errors.h"
#include "halyard/dmabuf.h"
#include "halyard/trace.h"
#include "image/gl/plane_import.h"

namespace halyard::image {
namespace {

std::array<std::atomic<std::uint64_t>, 3> images_by_transfer{};

void count(const GlImage& image) noexcept {
  ++images_by_transfer[static_cast<std::size_t>(image.transfer())];
}

constexpr std::size_t max_kept_taps = 32;
constexpr std::size_t target_texel_bytes = 4;
constexpr std::array<GLenum, 5> upload_formats = {0, GL_RED, GL_RG, 0, GL_RGBA};
constexpr std::array<GLenum, 5> sized_formats = {0, GL_R8, GL_RG8, 0, GL_RGBA8};
constexpr std::array<GLenum, 5> row_formats = {0, GL_R32UI, GL_RG32UI, 0, GL_RGBA32UI};

// Makes OpenGL count bytes from `offset_bytes` in the buffer object that is bound.
std::byte* in_bound_buffer(std::size_t offset_bytes) noexcept {
  return reinterpret_cast<std::byte*>(offset_bytes);
}

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

// Copies rows into the bound texture.
void fill_texture(const MappedPlane& plane, std::size_t texel) {
  const GLenum format = upload_formats[texel];
  const GLint alignment = row_alignment(plane.stride_bytes, texel);
  const auto width = static_cast<GLsizei>(plane.row_bytes / texel);
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

void copy_rows(const std::byte* from, std::size_t from_stride, std::byte* to, std::size_t to_stride,
               const MappedPlane& plane) {
  if (from_stride == plane.row_bytes && to_stride == plane.row_bytes) {
    std::memcpy(to, from, plane.row_bytes * plane.rows);
    return;
  }
  for (std::size_t y = 0; y < plane.rows; ++y)
    std::memcpy(to + y * to_stride, from + y * from_stride, plane.row_bytes);
}

std::size_t target_row_bytes(const MappedPlane& plane) noexcept {
  return (plane.row_bytes + target_texel_bytes - 1) / target_texel_bytes * target_texel_bytes;
}

// A plane of a pixel buffer as OpenGL addresses it.
MappedPlane bound_plane(const ImagePlane& plane) noexcept {
  std::byte* const data = in_bound_buffer(plane.offset_bytes);
  return {data, data, plane.stride_bytes, plane.row_bytes, plane.rows};
}

}  // namespace

GlStats gl_stats() noexcept {
  const auto images = [](GlTransfer transfer) {
    return images_by_transfer[static_cast<std::size_t>(transfer)].load();
  };
  return {images(GlTransfer::dma_buf), images(GlTransfer::pixel_buffer), images(GlTransfer::copy),
          gl::compiled_programs()};
}

bool GlRun::has_dma_buf() const noexcept {
  return src.transfer() == GlTransfer::dma_buf || dst.transfer() == GlTransfer::dma_buf;
}

void GlRun::share_fence(int sync_file) const {
  const auto share = [&](const GlImage& image, std::size_t planes, Access access) {
    if (image.transfer() != GlTransfer::dma_buf) return;
    for (std::size_t i = 0; i < planes; ++i) {
      // Without it, as before Linux 6.0, only who has the sync file waits.
      static_cast<void>(import_sync_file(*image.plane(i).buffer, access, sync_file));
    }
  };
  share(src, program->source_planes(), Access::read);
  share(dst, program->target_planes(), Access::write);
}

GlObjects::GlObjects(std::shared_ptr<gl::Worker> worker)
    : worker_(std::move(worker)),
      shaders_([this] { return check("opengl: a conversion failed"); }) {}

GlObjects::~GlObjects() {
  for (const Taps& taps : taps_)
    glDeleteTextures(1, &taps.texture);
  glDeleteFramebuffers(1, &joint_framebuffer_);
}

Status GlObjects::check(const char* what) {
  return gl::check_errors(*worker_, what);
}

bool GlObjects::stages(const GlRunOptions& options) const noexcept {
  return options.rules.stages.value_or(!worker_->capabilities().is_software);
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

void GlObjects::upload(const MappedPlane& plane, std::size_t texel_bytes, bool is_staged) {
  constexpr auto direction = Staging::Direction::upload;
  const std::size_t stride = target_row_bytes(plane);
  const std::size_t size = stride * plane.rows;
  const std::uint32_t name = is_staged ? staging_.take(direction, size) : 0;
  if (name == 0) return fill_texture(plane, texel_bytes);
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, name);
  const auto bytes = map_staging(direction, size);
  if (!bytes.empty()) copy_rows(plane.data, plane.stride_bytes, bytes.data(), stride, plane);
  const bool is_whole = !bytes.empty() && unmap_staging(direction);
  if (is_whole)
    fill_texture({in_bound_buffer(0), nullptr, stride, plane.row_bytes, plane.rows}, texel_bytes);
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  staging_.release(name);
  if (!is_whole) fill_texture(plane, texel_bytes);
}

Result<TexelOrigin> GlObjects::bind_source(GlRun& run, std::size_t index,
                                           const GlRunOptions& options) {
  const GlImage& src = run.src;
  const std::size_t texel = texel_bytes(run.program->plan().src, index);
  glActiveTexture(GL_TEXTURE0 + static_cast<GLenum>(index));
  if (src.transfer() == GlTransfer::dma_buf) {
    const ImagePlane& plane = src.plane(index);
    const PlaneImport wanted =
        describe_import(plane, texel, src.modifier(), worker_->capabilities().max_texture_size);
    gl::DmaImages& images = gl::DmaImages::of(*plane.buffer, worker_);
    HALYARD_TRY(const gl::DmaImage image, images.source(*plane.buffer, wanted.layout));
    glBindTexture(GL_TEXTURE_2D, image.texture);
    return wanted.origin;
  }
  ++run.uploads;
  const bool is_copy = src.transfer() == GlTransfer::copy;
  const MappedPlane plane = is_copy ? src.map().plane(index) : bound_plane(src.plane(index));
  textures_.find(
      index, sized_formats[texel],
      {static_cast<std::int32_t>(plane.row_bytes / texel), static_cast<std::int32_t>(plane.rows)});
  if (is_copy) {
    upload(plane, texel, stages(options));
  } else {
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, src.buffer_object(index));
    fill_texture(plane, texel);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  }
  return TexelOrigin{};
}

Result<GlObjects::Target> GlObjects::target(const GlRun& run, std::size_t index,
                                            const GlRunOptions& options) {
  const GlImage& dst = run.dst;
  if (dst.transfer() == GlTransfer::dma_buf) {
    const ImagePlane& plane = dst.plane(index);
    const PlaneImport wanted = describe_import(plane, target_texel_bytes, dst.modifier(),
                                               worker_->capabilities().max_texture_size);
    gl::DmaImages& images = gl::DmaImages::of(*plane.buffer, worker_);
    HALYARD_TRY(const gl::DmaImage image,
                images.target(*plane.buffer, wanted.layout, options.target));
    return Target{image.framebuffer,
                  wanted.origin,
                  {static_cast<std::int32_t>(plane.row_bytes / target_texel_bytes),
                   static_cast<std::int32_t>(plane.rows)}};
  }
  const MappedPlane plane =
      dst.transfer() == GlTransfer::copy ? dst.map().plane(index) : bound_plane(dst.plane(index));
  const Size size{static_cast<std::int32_t>(target_row_bytes(plane) / target_texel_bytes),
                  static_cast<std::int32_t>(plane.rows)};
  const PlaneTexture& texture = textures_.find(PlaneTextures::first_target + index, GL_RGBA8, size);
  return Target{texture.framebuffer, {}, size, texture.texture};
}

Status GlObjects::filter_rows(const GlProgram& program, std::uint32_t taps, TexelOrigins& origins) {
  for (const RowPass& pass : program.row_passes()) {
    glActiveTexture(GL_TEXTURE0 + static_cast<GLenum>(filtered_unit) +
                    static_cast<GLenum>(pass.group));
    const PlaneTexture& texture = textures_.find(PlaneTextures::first_filtered + pass.group,
                                                 row_formats[pass.components], pass.size);
    HALYARD_RETURN_IF_ERROR(
        draw_target(program, pass.shader, taps, {texture.framebuffer, {}, pass.size, 0}, origins));
  }
  return {};
}

GlObjects::Target GlObjects::join(PlaneRange planes, const Targets& targets) {
  constexpr std::array<GLenum, 4> attachments = {GL_COLOR_ATTACHMENT0, GL_COLOR_ATTACHMENT1,
                                                 GL_COLOR_ATTACHMENT2, GL_COLOR_ATTACHMENT3};
  if (joint_framebuffer_ == 0) glGenFramebuffers(1, &joint_framebuffer_);
  glBindFramebuffer(GL_FRAMEBUFFER, joint_framebuffer_);
  for (std::size_t i = 0; i < attachments.size(); ++i) {
    const GLuint texture = i < planes.count ? targets[planes.first + i].texture : 0;
    glFramebufferTexture2D(GL_FRAMEBUFFER, attachments[i], GL_TEXTURE_2D, texture, 0);
  }
  glDrawBuffers(static_cast<GLsizei>(planes.count), attachments.data());
  return {joint_framebuffer_, {}, targets[planes.first].size, 0};
}

Status GlObjects::draw_target(const GlProgram& program, const std::string& text, std::uint32_t taps,
                              const Target& target, TexelOrigins& origins) {
  HALYARD_TRY(const Shader* const shader, shaders_.find(text));
  glActiveTexture(GL_TEXTURE0 + taps_unit);
  glBindTexture(GL_TEXTURE_2D, taps);
  glBindFramebuffer(GL_FRAMEBUFFER, target.framebuffer);
  glDisable(GL_DITHER);
  glEnable(GL_SCISSOR_TEST);
  glScissor(target.origin.x, target.origin.y, target.size.width, target.size.height);
  glViewport(target.origin.x, target.origin.y, target.size.width, target.size.height);
  glUseProgram(shader->name);
  origins.target = target.origin;
  set_uniforms(*shader, program, origins);
  glDrawArrays(GL_TRIANGLES, 0, 3);
  return {};
}

// Reads the bound framebuffer into memory.
void GlObjects::read_pixels(const MappedPlane& plane, Size size) {
  const std::size_t row_bytes = target_row_bytes(plane);
  glPixelStorei(GL_PACK_ALIGNMENT, 4);
  const bool is_direct =
      plane.row_bytes == row_bytes && plane.stride_bytes % target_texel_bytes == 0;
  glPixelStorei(GL_PACK_ROW_LENGTH,
                is_direct ? static_cast<GLint>(plane.stride_bytes / target_texel_bytes) : 0);
  if (!is_direct) rows_.resize(row_bytes * plane.rows);
  glReadPixels(0, 0, size.width, size.height, GL_RGBA, GL_UNSIGNED_BYTE,
               is_direct ? plane.writable : rows_.data());
  if (!is_direct) copy_rows(rows_.data(), row_bytes, plane.writable, plane.stride_bytes, plane);
}

void GlObjects::read_back(GlRun& run, std::size_t index, const Target& target, bool is_staged) {
  if (run.dst.transfer() == GlTransfer::dma_buf) return;
  ++run.read_backs;
  glBindFramebuffer(GL_FRAMEBUFFER, target.framebuffer);
  if (run.dst.transfer() == GlTransfer::pixel_buffer) {
    glBindBuffer(GL_PIXEL_PACK_BUFFER, run.dst.buffer_object(index));
    read_pixels(bound_plane(run.dst.plane(index)), target.size);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    return;
  }
  const MappedPlane& plane = run.dst.map().plane(index);
  const std::size_t row_bytes = target_row_bytes(plane);
  const std::size_t size = row_bytes * plane.rows;
  const std::uint32_t name = is_staged ? staging_.take(Staging::Direction::read_back, size) : 0;
  run.staged[index] = name;
  if (name == 0) return read_pixels(plane, target.size);
  glBindBuffer(GL_PIXEL_PACK_BUFFER, name);
  read_pixels({nullptr, nullptr, row_bytes, row_bytes, plane.rows}, target.size);
  glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
}

Status GlObjects::draw(GlRun& run, const GlRunOptions& options) {
  trace::Span span("image.gl.draw");
  Status status = draw_all(run, options);
  span.arg("passes", run.passes).arg("uploads", run.uploads).arg("read_backs", run.read_backs);
  if (status) return status;
  for (std::uint32_t& name : run.staged)
    staging_.release(std::exchange(name, 0));
  return status;
}

Status GlObjects::draw_all(GlRun& run, const GlRunOptions& options) {
  const GlProgram& program = *run.program;
  gl::drop_errors();
  ++now_;
  TexelOrigins origins;
  for (std::size_t i = 0; i < program.source_planes(); ++i) {
    HALYARD_TRY(origins.sources[i], bind_source(run, i, options));
  }
  glActiveTexture(GL_TEXTURE0 + taps_unit);
  const std::uint32_t taps = this->taps(program);
  HALYARD_RETURN_IF_ERROR(filter_rows(program, taps, origins));
  run.passes += program.row_passes().size();
  Targets targets{};
  for (std::size_t i = 0; i < program.target_planes(); ++i) {
    HALYARD_TRY(targets[i], target(run, i, options));
  }
  const bool is_import = run.dst.transfer() == GlTransfer::dma_buf;
  for (const auto& [planes, text] : is_import ? program.separate_draws() : program.joint_draws()) {
    const Target& one = targets[planes.first];
    HALYARD_RETURN_IF_ERROR(
        draw_target(program, text, taps, planes.count == 1 ? one : join(planes, targets), origins));
    ++run.passes;
  }
  HALYARD_RETURN_IF_ERROR(check("opengl: a conversion failed"));
  for (std::size_t i = 0; i < program.target_planes(); ++i)
    read_back(run, i, targets[i], stages(options));
  return check("opengl: a result cannot be read");
}

Status GlObjects::copy_staged(std::uint32_t name, const MappedPlane& plane) {
  constexpr auto direction = Staging::Direction::read_back;
  const std::size_t row_bytes = target_row_bytes(plane);
  glBindBuffer(GL_PIXEL_PACK_BUFFER, name);
  const auto bytes = map_staging(direction, row_bytes * plane.rows);
  if (!bytes.empty()) copy_rows(bytes.data(), row_bytes, plane.writable, plane.stride_bytes, plane);
  const bool is_whole = !bytes.empty() && unmap_staging(direction);
  glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
  if (is_whole) return {};
  return fail(Errc::device, "opengl: the driver lost a result");
}

Status GlObjects::finish(bool waits) {
  trace::Span span("image.gl.finish");
  waits ? glFinish() : glFlush();
  return check("opengl: a conversion failed");
}

Status GlObjects::complete(GlRun& run) {
  Status out;
  for (std::size_t i = 0; i < run.staged.size(); ++i) {
    if (run.staged[i] == 0) continue;
    trace::Span span("image.gl.copy_result");
    const Status copied = copy_staged(run.staged[i], run.dst.map().plane(i));
    staging_.release(std::exchange(run.staged[i], 0));
    if (out) out = copied;
  }
  count(run.src);
  count(run.dst);
  return out;
}

}  // namespace halyard::image
