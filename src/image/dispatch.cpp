// SPDX-License-Identifier: Apache-2.0
// The table of backends. To add a backend, add one entry here.
#include "image/dispatch.h"

#include <fmt/format.h>

#include "base/text/format_error.h"
#include "base/text/log_format.h"
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
constexpr const char* another_asked = "the processor's options name another backend";

constexpr std::size_t opengl_number = 0;
constexpr std::size_t g2d_number = 1;
constexpr std::size_t cpu_number = 2;

// Whether a backend is selected by name, so that it must be there.
bool is_selected(ComputeBackend own, std::string_view name, ComputeBackend wanted,
                 const Environment& env) {
  return wanted == own || env.force_backend == name;
}

// Why a backend that is not selected is not even tried; empty if it is. `switched_off`: by its
// variable, whose text this is; null: it is not.
std::string reason_left_out(ComputeBackend wanted, const Environment& env,
                            const char* switched_off) {
  if (switched_off != nullptr) return switched_off;
  if (wanted != ComputeBackend::automatic) return another_asked;
  return env.force_backend ? another_forced : "";
}

// The backend, or the reason why there is none.
template <class Candidate, class Backend>
void adopt(Candidate& candidate, Result<std::unique_ptr<Backend>> made) {
  if (made) {
    candidate.backend = std::move(*made);
  } else {
    candidate.absent = made.error().message();
  }
}

}  // namespace

Error at_request(std::size_t index, const Error& error) {
  return make_error(error.code, error.what,
                    fmt::format("request {}{}{}", index, error.detail ? ": " : "",
                                error.detail ? *error.detail : std::string()),
                    error.os_errno);
}

Result<Dispatch> Dispatch::create(const ProcessorOptions& options, const Environment& seen) {
  Environment env = seen;
  const ComputeBackend wanted = options.backend;
  if (wanted != ComputeBackend::automatic) {
    env.force_backend.reset();
    env.disable_cpu = env.disable_g2d = env.disable_gl = false;
  }
  Dispatch out;
  out.add_opengl(env, options);
  out.add_g2d(env, wanted);
  out.candidates_[cpu_number] = {"cpu", nullptr};
  if (!env.disable_cpu || env.force_backend == "cpu") {
    out.candidates_[cpu_number].backend = std::make_unique<CpuBackend>(options.threads);
  } else {
    out.candidates_[cpu_number].absent = "switched off by HALYARD_DISABLE_CPU";
  }
  out.is_forced_ = env.force_backend.has_value();
  if (env.force_backend) HALYARD_RETURN_IF_ERROR(out.keep_only(*env.force_backend));
  HALYARD_RETURN_IF_ERROR(out.check_wanted(wanted));
  return out;
}

void Dispatch::add_opengl(const Environment& env, const ProcessorOptions& options) {
  Candidate& candidate = candidates_[opengl_number];
  candidate.name = "opengl";
  const bool selected = is_selected(ComputeBackend::opengl, candidate.name, options.backend, env);
  if (!selected) {
    candidate.absent = reason_left_out(
        options.backend, env, env.disable_gl ? "switched off by HALYARD_DISABLE_GL" : nullptr);
    if (!candidate.absent.empty()) return;
  }
#ifdef HALYARD_HAVE_GL
  adopt(candidate, selected ? GlBackend::create(env, options.gl_display)
                            : GlBackend::create_automatic(env, options.gl_display));
#else
  candidate.absent = not_built;
#endif
}

void Dispatch::add_g2d(const Environment& env, ComputeBackend wanted) {
  Candidate& candidate = candidates_[g2d_number];
  candidate.name = "g2d";
  const bool selected = is_selected(ComputeBackend::g2d, candidate.name, wanted, env);
  if (!selected) {
    candidate.absent = reason_left_out(
        wanted, env, env.disable_g2d ? "switched off by HALYARD_DISABLE_G2D" : nullptr);
    if (!candidate.absent.empty()) return;
  }
  adopt(candidate, G2dBackend::create(env.g2d_library.value_or("libg2d.so.2"), selected));
}

Status Dispatch::check_wanted(ComputeBackend wanted) const {
  if (wanted == ComputeBackend::automatic) return {};
  const Candidate& candidate = candidates_[wanted == ComputeBackend::opengl ? opengl_number
                                           : wanted == ComputeBackend::g2d  ? g2d_number
                                                                            : cpu_number];
  if (candidate.backend) return {};
  return fail(Errc::unsupported, "backend: is not available", "{}: {}", candidate.name,
              candidate.absent);
}

bool Dispatch::give_up(std::size_t number, const Error& error) {
  const bool is_of_device = error.code == Errc::device;
  if (is_forced_ || number == cpu_number || (!is_of_device && error.code != Errc::no_memory))
    return false;
  Candidate& candidate = candidates_[number];
  if (is_of_device && candidate.absent.empty()) {
    candidate.absent = fmt::format("not used any more, because it failed: {}", error.message());
    HALYARD_LOG(LogLevel::warn, "image", "{} is {}", candidate.name, candidate.absent);
  }
  return true;
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
    if (backend(number) != nullptr) verdict = candidate.backend->supports(plan);
    if (verdict) verdict = candidate.backend->serves(plan, src, dst);
    report += fmt::format("{}{}: {}", report.empty() ? "" : "\n", candidate.name,
                          verdict ? "runs it" : verdict.reason());
    if (!verdict) continue;
    const std::string way = candidate.backend->describe(plan, src, dst);
    if (!way.empty()) report += fmt::format(" ({})", way);
    return number;
  }
  return std::nullopt;
}

}  // namespace halyard::image
