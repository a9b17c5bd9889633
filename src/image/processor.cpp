// SPDX-License-Identifier: Apache-2.0
// The front: checks a request, chooses a backend, and says where the pixels went.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/env.h"
#include "base/format_error.h"
#include "halyard/image.h"
#include "halyard/trace.h"
#include "image/dispatch.h"
#include "image/plan.h"

namespace halyard {
namespace {

void describe(trace::Span& span, const image::Plan& plan, std::string_view backend) {
  if (!trace::is_active()) return;
  span.arg("src", fmt::format("{} {}x{}", to_string(plan.src_format), plan.src.width(),
                              plan.src.height()));
  span.arg("dst", fmt::format("{} {} {}x{}", to_string(plan.dst_format), to_string(plan.dst_dtype),
                              plan.dst.width(), plan.dst.height()));
  const Region content = plan.content();
  span.arg("content",
           fmt::format("{}x{} at ({}, {})", content.width, content.height, content.x, content.y));
  span.arg("backend", backend);
}

}  // namespace

struct Processor::Impl {
  image::Dispatch dispatch;
};

Processor::Processor(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Processor::Processor(Processor&&) noexcept = default;
Processor& Processor::operator=(Processor&&) noexcept = default;
Processor::~Processor() = default;

Result<Processor> Processor::create(Options options) {
  HALYARD_TRY(image::Dispatch dispatch, image::Dispatch::create(options.threads, environment()));
  return Processor(std::make_unique<Impl>(Impl{std::move(dispatch)}));
}

Result<Placement> Processor::convert(const Convert& request) {
  trace::Span span("image.convert");
  HALYARD_TRY(const image::Plan plan, image::make_plan(request));
  image::ImageBackend* backend = impl_->dispatch.choose(plan);
  if (backend == nullptr) {
    std::string report;
    impl_->dispatch.choose(plan, &report);
    std::replace(report.begin(), report.end(), '\n', ';');
    return make_error(Errc::unsupported, "convert: no backend takes this request",
                      std::move(report));
  }
  describe(span, plan, backend->name());
  HALYARD_CHECK(backend->submit(plan));
  HALYARD_CHECK(backend->finish());
  return plan.placement;
}

Result<std::string> Processor::explain(const Convert& request) const {
  HALYARD_TRY(const image::Plan plan, image::make_plan(request));
  std::string report;
  impl_->dispatch.choose(plan, &report);
  return report;
}

}  // namespace halyard
