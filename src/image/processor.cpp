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

std::string to_text(const image::PictureSpec& picture) {
  return fmt::format("{} {} {}x{}", to_string(picture.format), to_string(picture.dtype),
                     picture.size.width, picture.size.height);
}

void describe(trace::Span& span, const image::Plan& plan, std::string_view backend) {
  if (!trace::is_active()) return;
  span.arg("src", to_text(plan.src));
  span.arg("dst", to_text(plan.dst));
  const Region& content = plan.content;
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
  HALYARD_TRY(const Tensor dst, request.dst.as_image());
  if (aliases(request.src, dst)) {
    return fail(Errc::invalid_argument, "dst: shares bytes with src; convert into another tensor");
  }
  image::ImageBackend* backend = impl_->dispatch.choose(plan);
  if (backend == nullptr) {
    std::string report;
    impl_->dispatch.choose(plan, &report);
    std::replace(report.begin(), report.end(), '\n', ';');
    return make_error(Errc::unsupported, "convert: no backend takes this request",
                      std::move(report));
  }
  describe(span, plan, backend->name());
  HALYARD_TRY(const auto program, backend->compile(plan));
  const image::Job job{&plan, program.get(), &request.src, &dst};
  HALYARD_CHECK(backend->submit({&job, 1}));
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
