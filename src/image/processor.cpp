// SPDX-License-Identifier: Apache-2.0
// The front for one request: checks it, finds or compiles its plan, runs it, and returns where the
// pixels were placed.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "base/env.h"
#include "base/text/format_error.h"
#include "halyard/trace.h"
#include "image/processor_impl.h"

namespace halyard {
namespace {

std::string to_text(const image::ImageSpec& image) {
  return fmt::format("{} {} {}x{}", to_string(image.format), to_string(image.dtype),
                     image.size.width, image.size.height);
}

void describe(trace::Span& span, const image::CompiledPlan& compiled) {
  if (!trace::is_active()) return;
  span.arg("src", to_text(compiled.plan.src));
  span.arg("dst", to_text(compiled.plan.dst));
  const Region& content = compiled.plan.content;
  span.arg("content",
           fmt::format("{}x{} at ({}, {})", content.width, content.height, content.x, content.y));
  span.arg("backend", compiled.backend_name);
}

// The destination may be a plain tensor where the plan saw an image, or the other way round.
Status check_fits(const image::CompiledPlan& compiled, const Tensor& src, const Tensor& dst) {
  if (!compiled.src.fits(src)) {
    HALYARD_TRY(const image::ImageSpec seen, image::spec_of(src, "src: must be an image"));
    return fail(
        Errc::invalid_argument,
        "src: its size, format, dtype, orientation, colorimetry or quantization is not the plan's",
        "{}, the plan is for {}", to_text(seen), to_text(compiled.plan.src));
  }
  if (compiled.dst.fits(dst)) return {};
  HALYARD_TRY(const image::ImageSpec seen, image::spec_of_destination(dst));
  if (seen == compiled.plan.dst) return {};
  return fail(
      Errc::invalid_argument,
      "dst: its size, format, dtype, orientation, colorimetry or quantization is not the plan's",
      "{}, the plan is for {}", to_text(seen), to_text(compiled.plan.dst));
}

}  // namespace

namespace image {

Status check_apart(const Tensor& src, const Tensor& dst) {
  if (!aliases(src, dst)) return {};
  return fail(Errc::invalid_argument, "dst: shares bytes with src; convert into another tensor");
}

Result<ModeSetting> ModeSetting::create(ColorimetryMode asked, const Environment& env) {
  if (!env.colorimetry) return ModeSetting(asked, false);
  if (*env.colorimetry == "fast") return ModeSetting(ColorimetryMode::fast, true);
  if (*env.colorimetry == "exact") return ModeSetting(ColorimetryMode::exact, true);
  return fail(Errc::invalid_argument, "HALYARD_COLORIMETRY: must be fast or exact", "it is {}",
              *env.colorimetry);
}

}  // namespace image

Result<image::CompiledPtr> Processor::Impl::compile_new(const Convert& request, const Tensor& src,
                                                        const Tensor& dst) const {
  HALYARD_TRY(image::Plan plan, image::make_plan(request, src, dst, mode.mode()));
  const std::optional<std::size_t> chosen = dispatch.choose(plan);
  if (!chosen) {
    std::string report;
    dispatch.choose(plan, &report);
    std::replace(report.begin(), report.end(), '\n', ';');
    return make_error(Errc::unsupported, "convert: no backend takes this request",
                      std::move(report));
  }
  const image::ImageBackend& backend = *dispatch.backend(*chosen);
  HALYARD_TRY(auto program, backend.compile(plan));
  return std::make_shared<const image::CompiledPlan>(
      image::CompiledPlan{image::TensorKey(src), image::TensorKey(dst),
                          image::copy_request_key(image::request_key_of(request)), std::move(plan),
                          std::move(program), *chosen, backend.name()});
}

Result<const image::CompiledPtr*> Processor::Impl::compile(const Convert& request,
                                                           const Tensor& src, const Tensor& dst) {
  if (const image::CompiledPtr* known = cache.find(request, src, dst, mode.mode())) return known;
  HALYARD_TRY(image::CompiledPtr compiled, compile_new(request, src, dst));
  return &cache.add(std::move(compiled));
}

Status Processor::Impl::run_one(const image::CompiledPlan& compiled, const Tensor& src,
                                const Tensor& dst) {
  image::ImageBackend* backend = dispatch.backend(compiled.backend);
  if (backend == nullptr) {
    return fail(Errc::unsupported, "plan: its backend must be available in this processor", "{}",
                compiled.backend_name);
  }
  const image::Job job{&compiled.plan, compiled.program.get(), &src, &dst};
  HALYARD_RETURN_IF_ERROR(backend->submit({&job, 1}));
  return backend->finish();
}

Processor::Processor(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Processor::Processor(Processor&&) noexcept = default;
Processor& Processor::operator=(Processor&&) noexcept = default;
Processor::~Processor() = default;

Result<Processor> Processor::create(ProcessorOptions options) {
  // Read again: programs may set the variables between creating two processors.
  const Environment now = read_environment();
  HALYARD_TRY(image::Dispatch dispatch, image::Dispatch::create(options.threads, now));
  HALYARD_TRY(const auto mode, image::ModeSetting::create(options.colorimetry_mode, now));
  return Processor(std::make_unique<Impl>(Impl{std::move(dispatch), mode}));
}

Result<Placement> Processor::convert(const Convert& request) {
  return convert(request, request.src, request.dst);
}

Result<Placement> Processor::convert(const Convert& request, const Tensor& src, const Tensor& dst) {
  trace::Span span("image.convert");
  HALYARD_TRY(const auto* compiled, impl_->compile(request, src, dst));
  HALYARD_RETURN_IF_ERROR(image::check_apart(src, dst));
  HALYARD_RETURN_IF_ERROR(impl_->flush_before(src, dst));
  describe(span, **compiled);
  HALYARD_RETURN_IF_ERROR(impl_->run_one(**compiled, src, dst));
  return (*compiled)->plan.placement;
}

Result<ConvertPlan> Processor::plan(const Convert& request) {
  HALYARD_TRY(const auto* compiled, impl_->compile(request, request.src, request.dst));
  HALYARD_RETURN_IF_ERROR(image::check_apart(request.src, request.dst));
  return ConvertPlan(*compiled);
}

Result<Placement> Processor::run(const ConvertPlan& plan, const Tensor& src, const Tensor& dst) {
  trace::Span span("image.convert");
  const image::CompiledPlan& compiled = *plan.compiled_;
  HALYARD_RETURN_IF_ERROR(check_fits(compiled, src, dst));
  HALYARD_RETURN_IF_ERROR(image::check_apart(src, dst));
  HALYARD_RETURN_IF_ERROR(impl_->flush_before(src, dst));
  describe(span, compiled);
  HALYARD_RETURN_IF_ERROR(impl_->run_one(compiled, src, dst));
  return compiled.plan.placement;
}

ColorimetryMode Processor::colorimetry_mode() const noexcept {
  return impl_->mode.mode();
}

void Processor::set_colorimetry_mode(ColorimetryMode mode) noexcept {
  impl_->mode.set(mode);
}

Result<std::string> Processor::explain(const Convert& request) const {
  HALYARD_TRY(const image::Plan plan, image::make_plan(request, impl_->mode.mode()));
  std::string report;
  impl_->dispatch.choose(plan, &report);
  return report;
}

ConvertPlan::ConvertPlan(std::shared_ptr<const image::CompiledPlan> compiled) noexcept
    : compiled_(std::move(compiled)) {}

const Placement& ConvertPlan::placement() const noexcept {
  return compiled_->plan.placement;
}

std::string_view ConvertPlan::backend() const noexcept {
  return compiled_->backend_name;
}

}  // namespace halyard
