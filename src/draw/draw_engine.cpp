// SPDX-License-Identifier: Apache-2.0
#include "draw/draw_engine.h"

#include <fmt/format.h>

#include "base/env.h"
#include "base/text/format_error.h"
#include "base/text/log_format.h"
#ifdef HALYARD_HAVE_GL
#include "draw/gl/gl_draw.h"
#endif

namespace halyard::draw {

namespace {

#ifdef HALYARD_HAVE_GL
Result<std::shared_ptr<GlDraw>> make_gl(const Environment& env, bool is_automatic) {
  HALYARD_TRY(auto made, GlDraw::create(env, is_automatic));
  return std::shared_ptr<GlDraw>(std::move(made));
}
#else
Result<std::shared_ptr<GlDraw>> make_gl(const Environment& /*env*/, bool /*is_automatic*/) {
  return make_error(Errc::unsupported, "not built into this library");
}
#endif

Status check_forced(const Environment& env) {
  const auto& name = env.force_backend;
  if (!name || name == "opengl" || name == "g2d" || name == "cpu") return {};
  return fail(Errc::unsupported, "HALYARD_FORCE_BACKEND: must be opengl, g2d or cpu", "it is {}",
              *name);
}

// Why OpenGL is not even tried; null: it is.
const char* reason_left_out(ComputeBackend wanted, const Environment& env) noexcept {
  if (wanted == ComputeBackend::opengl) return nullptr;
  if (wanted != ComputeBackend::automatic) return "the options name another backend";
  if (env.force_backend == "opengl") return nullptr;
  if (env.force_backend) return "HALYARD_FORCE_BACKEND names another backend";
  return env.disable_gl ? "switched off by HALYARD_DISABLE_GL" : nullptr;
}

}  // namespace

Result<DrawEngine> DrawEngine::create(ComputeBackend wanted) {
  const Environment env = read_environment();
  DrawEngine out;
  if (wanted == ComputeBackend::automatic) HALYARD_RETURN_IF_ERROR(check_forced(env));
  if (const char* const reason = reason_left_out(wanted, env)) {
    out.absent_ = reason;
    return out;
  }
  out.is_forced_ = wanted == ComputeBackend::automatic && env.force_backend == "opengl";
  const bool is_named = out.is_forced_ || wanted == ComputeBackend::opengl;
  auto made = make_gl(env, !is_named);
  if (made) {
    out.gl_ = std::move(*made);
    return out;
  }
  out.absent_ = made.error().message();
  if (!is_named) return out;
  return out.is_forced_
             ? fail(Errc::unsupported, "HALYARD_FORCE_BACKEND: must name an available backend",
                    "opengl: {}", out.absent_)
             : fail(Errc::unsupported, "backend: is not available", "opengl: {}", out.absent_);
}

bool DrawEngine::give_up(const Error& error) {
  const bool is_of_device = error.code == Errc::device;
  if (is_forced_ || (!is_of_device && error.code != Errc::no_memory)) return false;
  if (is_of_device) {
    gl_.reset();
    absent_ = fmt::format("not used any more, because it failed: {}", error.message());
    HALYARD_LOG(LogLevel::warn, "draw", "opengl is {}", absent_);
  }
  return true;
}

#ifdef HALYARD_HAVE_GL

namespace {

constexpr const char* forced_but_refused =
    "HALYARD_FORCE_BACKEND: opengl does not draw on the image";

}  // namespace

Result<bool> DrawEngine::uses_gl(const Tensor& image) {
  if (gl_ == nullptr) return false;
  if (gl_->serves(image)) return true;
  if (is_forced_) return fail(Errc::unsupported, forced_but_refused, "{}", gl_->refusal(image));
  return false;
}

template <class What>
bool DrawEngine::draw_by_gl(const Tensor& image, const What& what, Status& status) {
  if (!gl_->serves(image, what)) {
    if (is_forced_)
      status = fail(Errc::unsupported, forced_but_refused,
                    "masks or letters are larger than the GPU's largest texture, a mask has more "
                    "than 4096 coefficients, or more than 2 masks lie over one another on nv12, "
                    "which this driver does not blend within 2 codes");
    return is_forced_;
  }
  status = gl_->draw(image, what);
  if (status) return true;
  const bool is_half_drawn = gl_->is_half_drawn();
  if (!give_up(status.error()) || is_half_drawn) return true;
  fallbacks_ = fallbacks_ + 1;
  status = Status();
  return false;
}

std::string DrawEngine::explain(const Tensor& image) {
  std::string reason = absent_;
  if (gl_ != nullptr) reason = gl_->refusal(image);
  if (reason.empty()) return fmt::format("opengl: draws ({})", gl_->describe(image));
  return fmt::format("opengl: {}\ncpu: draws", reason);
}

#else

Result<bool> DrawEngine::uses_gl(const Tensor& /*image*/) {
  return false;
}

template <class What>
bool DrawEngine::draw_by_gl(const Tensor& /*image*/, const What& /*what*/, Status& /*status*/) {
  return false;
}

std::string DrawEngine::explain(const Tensor& /*image*/) {
  return fmt::format("opengl: {}\ncpu: draws", absent_);
}

#endif

bool DrawEngine::draw(const Tensor& image, const DrawList& list, Status& status) {
  status = list.status();
  return status && draw_by_gl(image, list, status);
}

bool DrawEngine::draw(const Tensor& image, const PaintJob& job, Status& status) {
  return draw_by_gl(image, job, status);
}

}  // namespace halyard::draw
