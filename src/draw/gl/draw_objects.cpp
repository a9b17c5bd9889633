// SPDX-License-Identifier: Apache-2.0
#include "draw/gl/draw_objects.h"

#include <epoxy/gl.h>

#include <algorithm>
#include <bit>
#include <new>

#include "base/text/format_error.h"
#include "gl/display/errors.h"

namespace halyard::draw {
namespace {

constexpr std::size_t logit_slot = 16;  // of PlaneTextures
constexpr std::int32_t min_logit_side = 1024;
// Work groups of a dispatch, of which each OpenGL ES 3.1 allows more, and triangles of a draw.
constexpr std::size_t max_commands = 16384;

// Blends until the end of the block; other code of the worker expects the defaults.
class Blending {
 public:
  Blending() {
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
  }
  Blending(const Blending&) = delete;
  Blending& operator=(const Blending&) = delete;
  ~Blending() {
    glDisable(GL_BLEND);
    glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
  }
};

void set_vector(DrawOp& op, std::size_t vector, std::array<std::int32_t, 4> values) noexcept {
  std::copy(values.begin(), values.end(),
            op.words.begin() + 4 * static_cast<std::ptrdiff_t>(vector));
}

DrawOp command_of(const MaskOp& mask) noexcept {
  DrawOp out;
  set_vector(out, 0, {mask.rect.x0, mask.rect.y0, mask.rect.x1, mask.rect.y1});
  const auto& bytes = mask.ink.bytes;
  set_vector(out, 1, {0, mask.ink.alpha, bytes[0] | bytes[1] << 8 | bytes[2] << 16, 0});
  set_vector(out, 2, mask.source);
  return out;
}

void set_pair(GLint at, Size size) {
  glUniform2i(at, size.width, size.height);
}

}  // namespace

DrawObjects::DrawObjects(std::shared_ptr<gl::Worker> worker)
    : worker_(std::move(worker)),
      programs_([this] { return check("opengl: drawing failed"); }),
      targets_(worker_) {}

Status DrawObjects::check(const char* what) {
  return gl::check_errors(*worker_, what);
}

Status DrawObjects::draw(DrawRun& run) {
  gl::drop_errors();
  const bool keeps = run.job == nullptr || !run.job->clears;
  HALYARD_RETURN_IF_ERROR(targets_.begin(*run.image, {run.format, run.rows, keeps, run.binding}));
  HALYARD_RETURN_IF_ERROR(check("opengl: an image cannot be prepared for drawing"));
  Status status = draw_and_finish(run);
  if (status || run.image->transfer() != image::GlTransfer::dma_buf || !keeps) return status;
  gl::drop_errors();
  targets_.restore();
  glFinish();
  run.is_half_drawn = !check("opengl: the old pixels cannot be restored") || worker_->is_lost();
  return status;
}

// Without memory the old pixels are put back, as after every other error.
Status DrawObjects::draw_and_finish(DrawRun& run) {
  try {
    HALYARD_RETURN_IF_ERROR(draw_shapes(run));
    HALYARD_RETURN_IF_ERROR(check("opengl: drawing failed"));
    return finish(run);
  } catch (const std::bad_alloc&) {
    return fail(Errc::no_memory, "opengl: no memory to draw");
  }
}

Status DrawObjects::finish(DrawRun& run) {
  HALYARD_RETURN_IF_ERROR(targets_.pack(programs_));
  const image::GlTransfer transfer = run.image->transfer();
  if (transfer == image::GlTransfer::dma_buf) {
    glFinish();
    return check("opengl: drawing failed");
  }
  HALYARD_RETURN_IF_ERROR(check("opengl: drawing failed"));
  targets_.read_back(*run.image);
  const Status status = check("opengl: a drawn image cannot be read");
  if (status) {
    targets_.store(*run.image);
  } else {
    run.is_half_drawn = transfer == image::GlTransfer::pixel_buffer;
  }
  return status;
}

Status DrawObjects::draw_shapes(const DrawRun& run) {
  glDisable(GL_DITHER);
  glEnable(GL_SCISSOR_TEST);
  if (run.job != nullptr && run.job->clears) clear(*run.job);
  const Blending blending;
  return run.list != nullptr ? draw_list(run) : draw_masks(run);
}

void DrawObjects::clear(const PaintJob& job) {
  const auto part = [&](std::int32_t byte) {
    return static_cast<float>(job.black.bytes[static_cast<std::size_t>(byte)]) / 255.0F;
  };
  for (const TargetPlane& plane : targets_.planes()) {
    targets_.use(plane);
    if (plane.kind == PlaneKind::blocks) {
      glClearColor(part(1), part(2), 0, 0);
    } else {
      glClearColor(part(0), 0, 0, 0);
    }
    glClear(GL_COLOR_BUFFER_BIT);
  }
}

void DrawObjects::upload_commands() {
  static_assert(sizeof(DrawOp) == 16 * command_vectors);
  activate(DrawUnit::commands);
  commands_texture_.fill(command_texels(), commands_.data(),
                         commands_.size() * static_cast<std::size_t>(command_vectors));
}

Status DrawObjects::draw_commands(const DrawRun& run, ShapeKind shape) {
  for (const TargetPlane& plane : targets_.planes()) {
    if (!plane.has_color) continue;
    HALYARD_TRY(const DrawProgram* const program, programs_.shape(shape, plane.kind));
    glUseProgram(program->name);
    targets_.use(plane);
    const GLboolean has_alpha = plane.kind == PlaneKind::pixels ? GL_FALSE : GL_TRUE;
    glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, has_alpha);
    set_pair(program->at(DrawUniform::plane_size), plane.size);
    set_pair(program->at(DrawUniform::image_size), run.size);
    glUniform1i(program->at(DrawUniform::columns), plane.kind == PlaneKind::bytes ? 3 : 1);
    glUniform1i(program->at(DrawUniform::shift), plane.kind == PlaneKind::blocks ? 1 : 0);
    glUniform1i(program->at(DrawUniform::quad_vector), 0);
    glUniform2i(program->at(DrawUniform::target_origin), plane.origin.x, plane.origin.y);
    glUniform1i(program->at(DrawUniform::channel), plane.channel);
    if (shape == ShapeKind::class_map)
      glUniform1i(program->at(DrawUniform::row_stride), run.job->id_row_stride);
    glDrawArrays(GL_TRIANGLES, 0, static_cast<GLsizei>(6 * commands_.size()));
  }
  return {};
}

Status DrawObjects::draw_list(const DrawRun& run) {
  commands_.clear();
  const auto flush = [&]() -> Status {
    upload_commands();
    const Status status = draw_commands(run, ShapeKind::operations);
    commands_.clear();
    activate(DrawUnit::shapes);
    return status;
  };
  activate(DrawUnit::shapes);
  atlas_.bind();
  for (const DrawOp& op : run.list->operations()) {
    if (commands_.size() >= max_commands) HALYARD_RETURN_IF_ERROR(flush());
    DrawOp command = op;
    if ((op.words[4] & 255) == static_cast<std::int32_t>(DrawOpKind::coverage)) {
      const CoverageBitmap& bitmap = run.list->bitmap(op.words[12]);
      auto at = atlas_.find(bitmap);
      if (!at) {
        HALYARD_RETURN_IF_ERROR(flush());
        atlas_.clear();
        at = atlas_.find(bitmap);
      }
      command.words[10] += (*at)[0];
      command.words[11] += (*at)[1];
    }
    commands_.push_back(command);
  }
  return commands_.empty() ? Status() : flush();
}

Status DrawObjects::draw_masks(const DrawRun& run) {
  switch (run.job->kind) {
    case PaintKind::prototypes:
      return draw_logits(run);
    case PaintKind::mask_bytes:
      return draw_bytes(run);
    case PaintKind::class_map:
      break;
  }
  return draw_classes(run);
}

void DrawObjects::upload_samples(const DrawRun& run) {
  samples_.clear();
  for (const auto& [axis, extent] : {std::pair(run.job->logits.x, run.size.width),
                                     std::pair(run.job->logits.y, run.size.height)}) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(extent); ++i)
      samples_.push_back({static_cast<std::uint32_t>(axis->low[i]),
                          std::bit_cast<std::uint32_t>(axis->high_weight[i])});
  }
  activate(DrawUnit::table);
  table_texture_.fill(sample_texels(), samples_.data(), samples_.size());
}

Status DrawObjects::compute_logits(const DrawRun& run, const image::PlaneTexture& atlas) {
  const LogitSource& source = run.job->logits;
  HALYARD_TRY(const DrawProgram* const program,
              programs_.logits(element_kind(source.elements.dtype), run.computes_logits));
  glUseProgram(program->name);
  glUniform3i(program->at(DrawUniform::element_stride), source.pixel_stride, source.row_stride,
              source.channel_stride);
  glUniform1i(program->at(DrawUniform::channels), source.channels);
  const auto count = static_cast<GLuint>(commands_.size());
  if (run.computes_logits) {
    const auto groups = [](std::int32_t pixels) { return static_cast<GLuint>((pixels + 7) / 8); };
    glBindImageTexture(0, atlas.texture, 0, GL_FALSE, 0, GL_WRITE_ONLY, GL_R32UI);
    glDispatchCompute(groups(source.grid.width), groups(source.grid.height), count);
    glMemoryBarrier(GL_TEXTURE_FETCH_BARRIER_BIT);
    return {};
  }
  glBindFramebuffer(GL_FRAMEBUFFER, atlas.framebuffer);
  glViewport(0, 0, atlas.size.width, atlas.size.height);
  glScissor(0, 0, atlas.size.width, atlas.size.height);
  glDisable(GL_BLEND);
  set_pair(program->at(DrawUniform::plane_size), atlas.size);
  glUniform1i(program->at(DrawUniform::columns), 1);
  glUniform1i(program->at(DrawUniform::shift), 0);
  glUniform1i(program->at(DrawUniform::quad_vector), 3);
  glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
  glDrawArrays(GL_TRIANGLES, 0, static_cast<GLsizei>(6 * count));
  glEnable(GL_BLEND);
  return {};
}

// Masks whose logits fit the atlas together are drawn together.
Status DrawObjects::draw_logits(const DrawRun& run) {
  const LogitSource& source = run.job->logits;
  if (run.job->masks.empty()) return {};
  activate(DrawUnit::prototypes);
  prototypes_texture_.fill(texel_format(source.elements.dtype), source.elements.data,
                           source.elements.count);
  activate(DrawUnit::numbers);
  numbers_texture_.fill(texel_format(DType::f32), source.numbers.data(), source.numbers.size());
  upload_samples(run);
  const auto largest = static_cast<std::uint32_t>(std::max(source.grid.width, source.grid.height));
  const std::int32_t side =
      std::max(min_logit_side, static_cast<std::int32_t>(std::bit_ceil(largest)));
  activate(DrawUnit::shapes);
  const image::PlaneTexture atlas = targets_.texture(logit_slot, GL_R32UI, {side, side});
  ShelfPacker packer(side);
  commands_.clear();
  const auto flush = [&]() -> Status {
    upload_commands();
    HALYARD_RETURN_IF_ERROR(compute_logits(run, atlas));
    HALYARD_RETURN_IF_ERROR(draw_commands(run, ShapeKind::logits));
    commands_.clear();
    packer.clear();
    return {};
  };
  for (const MaskOp& mask : run.job->masks) {
    const auto [x, y, width, height] = mask.source;
    auto at = packer.place(width, height);
    if (!at || commands_.size() >= max_commands) {
      HALYARD_RETURN_IF_ERROR(flush());
      at = packer.place(width, height);
    }
    DrawOp& command = commands_.emplace_back(command_of(mask));
    set_vector(command, 2, {(*at)[0] - x, (*at)[1] - y, 0, 0});
    set_vector(command, 3, {(*at)[0], (*at)[1], (*at)[0] + width, (*at)[1] + height});
    set_vector(command, 4, {x, y, mask.row, 0});
  }
  return flush();
}

Status DrawObjects::draw_bytes(const DrawRun& run) {
  if (run.job->masks.empty()) return {};
  activate(DrawUnit::shapes);
  shapes_texture_.fill(texel_format(DType::u8), run.job->bytes.data, run.job->bytes.count);
  commands_.clear();
  for (const MaskOp& mask : run.job->masks)
    commands_.push_back(command_of(mask));
  upload_commands();
  return draw_commands(run, ShapeKind::mask_bytes);
}

Status DrawObjects::draw_classes(const DrawRun& run) {
  activate(DrawUnit::shapes);
  shapes_texture_.fill(texel_format(run.job->bytes.dtype), run.job->bytes.data,
                       run.job->bytes.count);
  activate(DrawUnit::table);
  table_texture_.fill(ink_texels(), run.job->class_inks.data(), run.job->class_inks.size());
  commands_.assign(1, command_of({{0, 0, run.size.width, run.size.height}, {}, {}, 0}));
  upload_commands();
  return draw_commands(run, ShapeKind::class_map);
}

}  // namespace halyard::draw
