// SPDX-License-Identifier: Apache-2.0
// The table of backends. To add a backend, add one entry here.
#include "image/dispatch.h"

#include <fmt/format.h>

#include "base/text/format_error.h"
#include "image/cpu/cpu_backend.h"
#ifdef HALYARD_HAVE_GL
#include "image/gl/gl_backend.h"
#endif

namespace halyard::image {

namespace {
constexpr const char* not_built = "not built into this library";
}

Error at_request(std::size_t index, const Error& error) {
  return make_error(error.code, error.what,
                    fmt::format("request {}{}{}", index, error.detail ? ": " : "",
                                error.detail ? *error.detail : std::string()),
                    error.os_errno);
}

Result<Dispatch> Dispatch::create(unsigned threads, const Environment& env) {
  Dispatch out;
  out.forced_ = env.force_backend;
  out.add_opengl(env);
  out.candidates_[1] = {"g2d", nullptr,
                        env.disable_g2d ? "switched off by HALYARD_DISABLE_G2D" : not_built};
  out.candidates_[2] = {"cpu", nullptr, "switched off by HALYARD_DISABLE_CPU"};
  if (!env.disable_cpu || env.force_backend == "cpu")
    out.candidates_[2].backend = std::make_unique<CpuBackend>(threads);
  HALYARD_RETURN_IF_ERROR(out.check_forced());
  return out;
}

void Dispatch::add_opengl(const Environment& env) {
  Candidate& opengl = candidates_[0];
  opengl.name = "opengl";
  if (env.force_backend != "opengl") {
    opengl.absent = env.disable_gl ? "switched off by HALYARD_DISABLE_GL"
                                   : "used only where HALYARD_FORCE_BACKEND=opengl selects it";
    return;
  }
#ifdef HALYARD_HAVE_GL
  auto made = GlBackend::create(env);
  if (made) {
    opengl.backend = std::move(*made);
  } else {
    opengl.absent = made.error().message();
  }
#else
  opengl.absent = not_built;
#endif
}

Status Dispatch::check_forced() const {
  if (!forced_) return {};
  for (const Candidate& candidate : candidates_) {
    if (candidate.name != *forced_) continue;
    if (candidate.backend) return {};
    return fail(Errc::unsupported, "HALYARD_FORCE_BACKEND: must name an available backend",
                "{}: {}", *forced_, candidate.absent);
  }
  return fail(Errc::unsupported, "HALYARD_FORCE_BACKEND: must be opengl, g2d or cpu", "it is {}",
              *forced_);
}

const char* Dispatch::reason_against(const Candidate& candidate, const Plan& plan) const {
  if (!candidate.backend) return candidate.absent.c_str();
  if (forced_ && *forced_ != candidate.name) return "HALYARD_FORCE_BACKEND names another backend";
  const Verdict verdict = candidate.backend->supports(plan);
  return verdict ? nullptr : verdict.reason();
}

std::optional<std::size_t> Dispatch::choose(const Plan& plan, std::string* report) const {
  for (std::size_t number = 0; number < count; ++number) {
    const Candidate& candidate = candidates_[number];
    const char* reason = reason_against(candidate, plan);
    if (report != nullptr) {
      *report += fmt::format("{}{}: {}", report->empty() ? "" : "\n", candidate.name,
                             reason == nullptr ? "runs it" : reason);
    }
    if (reason == nullptr) return number;
  }
  return std::nullopt;
}

}  // namespace halyard::image
