// SPDX-License-Identifier: Apache-2.0
// The front for one request: checks it, finds or compiles its plan, runs it, and returns where the
// pixels were placed.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "base/checked.h"
#include "base/env.h"
#include "base/text/format_error.h"
#include "halyard/dmabuf.h"
#include "halyard/trace.h"
#include "image/processor_impl.h"

namespace halyard {
namespace {

constexpr std::size_t dma_stride_bytes = 64;  // as of other images in DMA-BUFs

std::string to_text(const image::ImageSpec& image) {
  return fmt::format("{} {} {}x{}", to_string(image.format), to_string(image.dtype),
                     image.size.width, image.size.height);
}

void describe(trace::Span& span, const image::CompiledPlan& compiled, std::string_view backend) {
  if (!trace::is_active()) return;
  span.arg("src", to_text(compiled.plan.src));
  span.arg("dst", to_text(compiled.plan.dst));
  const Region& content = compiled.plan.content;
  span.arg("content",
           fmt::format("{}x{} at ({}, {})", content.width, content.height, content.x, content.y));
  span.arg("backend", backend);
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

Status end_run(image::ImageBackend& backend, const image::RunFences& fences) {
  if (fences.done == nullptr) return backend.finish();
  HALYARD_TRY(*fences.done, backend.finish_later());
  return {};
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
  image::CompiledPlan compiled{image::TensorKey(src), image::TensorKey(dst),
                               image::copy_request_key(image::request_key_of(request)),
                               std::move(plan)};
  bool accepted = false;
  for (std::size_t number = 0; number < image::Dispatch::count; ++number) {
    const image::ImageBackend* backend = dispatch.backend(number);
    if (backend == nullptr || !backend->supports(compiled.plan)) continue;
    HALYARD_TRY(compiled.programs[number], backend->compile(compiled.plan));
    accepted = true;
  }
  if (!accepted) return refusal(compiled.plan, src, dst);
  return std::make_shared<const image::CompiledPlan>(std::move(compiled));
}

Error Processor::Impl::refusal(const image::Plan& plan, const Tensor& src,
                               const Tensor& dst) const {
  std::string report;
  const bool elsewhere = dispatch.explain(plan, src, dst, report).has_value();
  std::replace(report.begin(), report.end(), '\n', ';');
  return make_error(Errc::unsupported,
                    elsewhere ? "plan: its backends must be available in this processor"
                              : "convert: no backend takes this request",
                    std::move(report));
}

Result<const image::CompiledPtr*> Processor::Impl::compile(const Convert& request,
                                                           const Tensor& src, const Tensor& dst) {
  if (const image::CompiledPtr* known = cache.find(request, src, dst, mode.mode())) return known;
  HALYARD_TRY(image::CompiledPtr compiled, compile_new(request, src, dst));
  return &cache.add(std::move(compiled));
}

Result<std::size_t> Processor::Impl::route(const image::CompiledPlan& compiled, const Tensor& src,
                                           const Tensor& dst, std::size_t first) const {
  for (std::size_t number = first; number < image::Dispatch::count; ++number) {
    const image::ImageBackend* backend = dispatch.backend(number);
    if (backend != nullptr && compiled.programs[number] &&
        backend->serves(compiled.plan, src, dst)) {
      return number;
    }
  }
  return refusal(compiled.plan, src, dst);
}

Status Processor::Impl::run_one(const image::CompiledPlan& compiled, std::size_t number,
                                const Tensor& src, const Tensor& dst,
                                const image::RunFences& fences) {
  image::ImageBackend& backend = *dispatch.backend(number);
  if (fences.wait_for >= 0 && !backend.queue_wait(fences.wait_for))
    HALYARD_RETURN_IF_ERROR(wait_sync_file(fences.wait_for, image::sync_file_patience));
  const image::Job job{&compiled.plan, compiled.programs[number].get(), &src, &dst};
  Status status = backend.submit({&job, 1});
  if (status) status = end_run(backend, fences);
  if (status || !dispatch.give_up(number, status.error())) return status;
  return run_elsewhere(compiled, number, src, dst, fences);
}

Status Processor::Impl::run_elsewhere(const image::CompiledPlan& compiled, std::size_t failed,
                                      const Tensor& src, const Tensor& dst,
                                      const image::RunFences& fences) {
  ++fallbacks;
  HALYARD_TRY(const std::size_t number, route(compiled, src, dst, failed + 1));
  return run_one(compiled, number, src, dst, fences);
}

Processor::Processor(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Processor::Processor(Processor&&) noexcept = default;
Processor& Processor::operator=(Processor&&) noexcept = default;
Processor::~Processor() = default;

Result<Processor> Processor::create(ProcessorOptions options) {
  // Read again: programs may set the variables between creating two processors.
  const Environment now = read_environment();
  HALYARD_TRY(image::Dispatch dispatch, image::Dispatch::create(options, now));
  HALYARD_TRY(const auto mode, image::ModeSetting::create(options.colorimetry_mode, now));
  return Processor(std::make_unique<Impl>(Impl{std::move(dispatch), mode}));
}

Memory Processor::image_memory() const noexcept {
  if (environment().tensor_force_mem) return Memory::automatic;
  for (std::size_t number = 0; number < image::Dispatch::count; ++number) {
    const image::ImageBackend* const backend = impl_->dispatch.backend(number);
    const Memory memory = backend == nullptr ? Memory::automatic : backend->image_memory();
    if (memory != Memory::automatic) return memory;
  }
  return Memory::automatic;
}

Result<Tensor> Processor::Impl::create_dma_image(std::size_t width, std::size_t height,
                                                 PixelFormat format, ImageOptions options) const {
  if (options.compression != Compression::none)
    return fail(Errc::unsupported, "compression: drivers make plain DMA-BUFs");
  options.memory = Memory::mem;
  if (options.stride_bytes == 0) {
    HALYARD_TRY(const Tensor tight, Tensor::create_image(width, height, format, options));
    const auto row = checked_round_up(tight.image_plane(0)->row_bytes, dma_stride_bytes);
    if (!row) return fail(Errc::invalid_argument, "width: is too large");
    options.stride_bytes = *row;
  }
  // For its offsets alone.
  HALYARD_TRY(const Tensor like, Tensor::create_image(width, height, format, options));
  for (std::size_t number = 0; number < image::Dispatch::count; ++number) {
    image::ImageBackend* const backend = dispatch.backend(number);
    if (backend == nullptr) continue;
    auto buffer = backend->make_dma_buffer(like.buffer()->size_bytes());
    if (!buffer) continue;
    if (!options.label.empty()) static_cast<void>(set_label(**buffer, options.label));
    const Tensor::PlaneSource whole{*std::move(buffer), 0, options.stride_bytes};
    return Tensor::wrap_image({&whole, 1}, width, height, format, options.dtype);
  }
  return fail(Errc::unsupported, "memory: no driver makes DMA-BUFs");
}

Result<Tensor> Processor::create_image(std::size_t width, std::size_t height, PixelFormat format,
                                       ImageOptions options) const {
  if (options.memory == Memory::automatic && image_memory() == Memory::pbo) {
    if (auto made = impl_->create_dma_image(width, height, format, options)) return made;
    options.memory = Memory::pbo;
    if (auto made = Tensor::create_image(width, height, format, options)) return made;
    options.memory = Memory::automatic;  // the GPU's memory may be full
  }
  return Tensor::create_image(width, height, format, options);
}

Result<Placement> Processor::convert(const Convert& request) {
  return convert(request, request.src, request.dst);
}

Result<Placement> Processor::convert(const Convert& request, const Tensor& src, const Tensor& dst) {
  return impl_->convert(request, src, dst, {});
}

Result<Placement> Processor::Impl::convert(const Convert& request, const Tensor& src,
                                           const Tensor& dst, const image::RunFences& fences) {
  trace::Span span("image.convert");
  HALYARD_TRY(const auto* compiled, compile(request, src, dst));
  HALYARD_RETURN_IF_ERROR(image::check_apart(src, dst));
  HALYARD_TRY(const std::size_t number, route(**compiled, src, dst));
  HALYARD_RETURN_IF_ERROR(flush_before(src, dst));
  describe(span, **compiled, dispatch.backend(number)->name());
  HALYARD_RETURN_IF_ERROR(run_one(**compiled, number, src, dst, fences));
  return (*compiled)->plan.placement;
}

Result<FencedPlacement> Processor::convert_with_fence(const Convert& request, int wait_for) {
  FencedPlacement out;
  HALYARD_TRY(out.placement,
              impl_->convert(request, request.src, request.dst, {wait_for, &out.done}));
  return out;
}

Result<ConvertPlan> Processor::plan(const Convert& request) {
  HALYARD_TRY(const auto* compiled, impl_->compile(request, request.src, request.dst));
  HALYARD_RETURN_IF_ERROR(image::check_apart(request.src, request.dst));
  HALYARD_TRY(const std::size_t number, impl_->route(**compiled, request.src, request.dst));
  return ConvertPlan(*compiled, impl_->dispatch.backend(number)->name());
}

Result<Placement> Processor::run(const ConvertPlan& plan, const Tensor& src, const Tensor& dst) {
  trace::Span span("image.convert");
  const image::CompiledPlan& compiled = *plan.compiled_;
  HALYARD_RETURN_IF_ERROR(check_fits(compiled, src, dst));
  HALYARD_RETURN_IF_ERROR(image::check_apart(src, dst));
  HALYARD_TRY(const std::size_t number, impl_->route(compiled, src, dst));
  HALYARD_RETURN_IF_ERROR(impl_->flush_before(src, dst));
  describe(span, compiled, impl_->dispatch.backend(number)->name());
  HALYARD_RETURN_IF_ERROR(impl_->run_one(compiled, number, src, dst));
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
  impl_->dispatch.explain(plan, request.src, request.dst, report);
  return report;
}

std::uint64_t Processor::fallback_count() const noexcept {
  return impl_->fallbacks;
}

ConvertPlan::ConvertPlan(std::shared_ptr<const image::CompiledPlan> compiled,
                         std::string_view backend) noexcept
    : compiled_(std::move(compiled)), backend_(backend) {}

const Placement& ConvertPlan::placement() const noexcept {
  return compiled_->plan.placement;
}

std::string_view ConvertPlan::backend() const noexcept {
  return backend_;
}

}  // namespace halyard
