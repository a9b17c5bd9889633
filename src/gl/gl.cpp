// SPDX-License-Identifier: Apache-2.0
// The reports of displays and of the context. Without OpenGL in the build they say so.
#include "halyard/gl.h"

#include "base/env.h"
#include "base/text/format_error.h"
#include "halyard/enumerators.h"

#ifdef HALYARD_HAVE_GL
#include "gl/display/worker.h"
#include "gl/memory/pbo_buffer.h"
#include "gl/program/program_cache.h"
#endif

namespace halyard {

std::string_view to_string(GlDisplayKind kind) noexcept {
  return enumerator_name(kind, "unknown");
}

#ifdef HALYARD_HAVE_GL

namespace {

std::vector<GlReport::Property> properties_of(const gl::Capabilities& c, const Environment& env) {
  const auto flag = [](bool has) { return std::string(has ? "yes" : "no"); };
  const auto folder = gl::shader_cache_folder(env);
  const bool has_cache = c.program_binaries && folder && gl::BinaryFiles::open(*folder);
  const std::string pitch = c.import_pitch_bytes == 1
                                ? "any"
                                : fmt::format("multiples of {} bytes", c.import_pitch_bytes);
  std::vector<GlReport::Property> out = {{"largest texture", std::to_string(c.max_texture_size)},
                                         {"draw buffers", std::to_string(c.max_draw_buffers)},
                                         {"texture units", std::to_string(c.max_texture_units)},
                                         {"float targets", flag(c.float_targets)},
                                         {"external images", flag(c.external_images)},
                                         {"program binaries", flag(c.program_binaries)},
                                         {"shader cache", has_cache ? *folder : "no"},
                                         {"reset status", flag(c.reset_status)},
                                         {"DMA-BUF import", flag(c.dma_buf_import)},
                                         {"DMA-BUF modifiers", flag(c.dma_buf_modifiers)},
                                         {"DMA-BUF pitch", pitch},
                                         {"DMA-BUF export", flag(c.dma_buf_export)},
                                         {"fences", flag(c.fences)},
                                         {"native fences", flag(c.native_fences)}};
  if (c.quirks.empty()) out.push_back({"quirk", "none is known of this renderer"});
  for (const std::string_view effect : c.quirks)
    out.push_back({"quirk", std::string(effect)});
  return out;
}

Result<std::shared_ptr<Buffer>> make_pbo(std::size_t size_bytes) {
  HALYARD_TRY(auto worker, gl::Worker::shared(read_environment().allow_software_gl));
  HALYARD_TRY(auto made, gl::PboBuffer::create(std::move(worker), size_bytes));
  return std::shared_ptr<Buffer>(std::move(made));
}

[[maybe_unused]] const bool is_set = (set_pixel_buffer_maker(make_pbo), true);

}  // namespace

Result<std::vector<GlDisplay>> probe_gl_displays() {
  return gl::try_displays(read_environment().allow_software_gl);
}

Result<GlReport> describe_gl() {
  const Environment env = read_environment();
  HALYARD_TRY(const auto worker, gl::Worker::shared(env.allow_software_gl));
  const gl::Display& display = worker->display();
  const gl::Capabilities& c = worker->capabilities();
  return GlReport{.kind = display.kind,
                  .display = display.name,
                  .vendor = c.vendor,
                  .renderer = c.renderer,
                  .version = c.version,
                  .egl_version = display.version,
                  .is_software = c.is_software,
                  .properties = properties_of(c, env)};
}

#else

namespace {
constexpr const char* not_built =
    "display: OpenGL is not built into this library: install libepoxy-dev";
}

Result<std::vector<GlDisplay>> probe_gl_displays() {
  return fail(Errc::unsupported, not_built);
}

Result<GlReport> describe_gl() {
  return fail(Errc::unsupported, not_built);
}

#endif

}  // namespace halyard
