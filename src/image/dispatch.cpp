// SPDX-License-Identifier: Apache-2.0
// The table of backends. To add a backend, add one entry here.
#include "image/dispatch.h"

#include <fmt/format.h>

#include "base/text/format_error.h"
#include "image/cpu/cpu_backend.h"
#include "image/g2d/g2d_backend.h"
#ifdef HALYARD_HAVE_GL
#include "image/gl/gl_backend.h"
#endif

namespace halyard::image {

namespace {
#ifndef HALYARD_HAVE_GL
constexpr const char* not_built = "not built into this library";
#endif
constexpr const char* another_forced = "HALYARD_FORCE_BACKEND names another backend";
}  // namespace

Error at_request(std::size_t index, const Error& error) {
  return make_error(error.code, error.what,
                    fmt::format("request {}{}{}", index, error.detail ? ": " : "",
                                error.detail ? *error.detail : std::string()),
                    error.os_errno);
}

Result<Dispatch> Dispatch::create(unsigned threads, const Environment& env) {
  Dispatch out;
  out.add_opengl(env);
  out.add_g2d(env);
  out.candidates_[2] = {"cpu", nullptr, "switched off by HALYARD_DISABLE_CPU"};
  if (!env.disable_cpu || env.force_backend == "cpu")
    out.candidates_[2].backend = std::make_unique<CpuBackend>(threads);
  if (env.force_backend) HALYARD_RETURN_IF_ERROR(out.keep_only(*env.force_backend));
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

void Dispatch::add_g2d(const Environment& env) {
  Candidate& g2d = candidates_[1];
  g2d.name = "g2d";
  const bool forced = env.force_backend == "g2d";
  if (!forced && (env.disable_g2d || env.force_backend)) {
    g2d.absent = env.disable_g2d ? "switched off by HALYARD_DISABLE_G2D" : another_forced;
    return;
  }
  auto made = G2dBackend::create(env.g2d_library.value_or("libg2d.so.2"), forced);
  if (made) {
    g2d.backend = std::move(*made);
  } else {
    g2d.absent = made.error().message();
  }
}

Status Dispatch::keep_only(const std::string& forced) {
  const Candidate* kept = nullptr;
  for (Candidate& candidate : candidates_) {
    if (candidate.name == forced) {
      kept = &candidate;
    } else if (candidate.backend) {
      candidate.backend.reset();
      candidate.absent = another_forced;
    }
  }
  if (kept == nullptr) {
    return fail(Errc::unsupported, "HALYARD_FORCE_BACKEND: must be opengl, g2d or cpu", "it is {}",
                forced);
  }
  if (kept->backend) return {};
  return fail(Errc::unsupported, "HALYARD_FORCE_BACKEND: must name an available backend", "{}: {}",
              forced, kept->absent);
}

std::optional<std::size_t> Dispatch::explain(const Plan& plan, const Tensor& src, const Tensor& dst,
                                             std::string& report) const {
  for (std::size_t number = 0; number < count; ++number) {
    const Candidate& candidate = candidates_[number];
    Verdict verdict = Verdict::decline(candidate.absent.c_str());
    if (candidate.backend) verdict = candidate.backend->supports(plan);
    if (verdict) verdict = candidate.backend->serves(plan, src, dst);
    report += fmt::format("{}{}: {}", report.empty() ? "" : "\n", candidate.name,
                          verdict ? "runs it" : verdict.reason());
    if (verdict) return number;
  }
  return std::nullopt;
}

}  // namespace halyard::image
