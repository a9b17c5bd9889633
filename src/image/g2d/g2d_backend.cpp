// SPDX-License-Identifier: Apache-2.0
// Runs programs: the CPU fills pads that the device cannot fill, then the device clears and blits.
#include "image/g2d/g2d_backend.h"

#include <new>
#include <utility>

#include "base/text/format_error.h"
#include "image/dispatch.h"

namespace halyard::image {

using g2d::CacheOperation;
using g2d::Capability;
using g2d::G2dProgram;
using g2d::PlacedSurface;
using g2d::Side;

Result<std::unique_ptr<G2dBackend>> G2dBackend::create(const std::string& library, bool forced) {
  HALYARD_TRY(const g2d::G2dLibrary* loaded, g2d::G2dLibrary::load(library));
  HALYARD_TRY(auto device, g2d::G2dDevice::open(*loaded));
  g2d::Limits limits;
  limits.may_round = forced;
  limits.has_bt601_full = device->probe(Capability::bt601_full);
  limits.has_bt709_full = device->probe(Capability::bt709_full);
  return std::unique_ptr<G2dBackend>(new G2dBackend(std::move(device), limits));
}

Verdict G2dBackend::supports(const Plan& plan) const noexcept {
  return g2d::check_plan(plan, limits_);
}

Verdict G2dBackend::serves(const Plan& plan, const Tensor& src, const Tensor& dst) const noexcept {
  Run run;
  return place(plan, src, dst, run);
}

Result<std::shared_ptr<const BackendProgram>> G2dBackend::compile(const Plan& plan) const {
  try {
    return std::shared_ptr<const BackendProgram>(std::make_shared<const G2dProgram>(plan));
  } catch (const std::bad_alloc&) {
    return fail(Errc::no_memory, "convert: no memory for its tables");
  }
}

Verdict G2dBackend::place(const Plan& plan, const Tensor& src, const Tensor& dst,
                          Run& run) const noexcept {
  const g2d::Formats formats = g2d::formats_of(plan);
  Verdict verdict = g2d::place_surface(device_, src, formats.source, g2d::crop_of(plan),
                                       Side::source, run.source);
  if (verdict) {
    verdict = g2d::place_surface(device_, dst, formats.target, plan.content, Side::destination,
                                 run.target);
  }
  if (verdict && plan.pads() && g2d::is_cleared(formats.target)) {
    const Region whole{0, 0, plan.dst.size.width, plan.dst.size.height};
    verdict = g2d::place_surface(device_, dst, formats.target, whole, Side::destination, run.whole);
  }
  return verdict;
}

Status G2dBackend::submit(std::span<const Job> jobs) {
  Status status;
  try {
    status = prepare(jobs);
  } catch (const std::bad_alloc&) {
    status = fail(Errc::no_memory, "convert: no working memory");
  }
  if (status) fill_pads(jobs);
  pads_.clear();
  if (!status) {
    runs_.clear();
    return status;
  }
  for (const Run& run : runs_) {
    if (status) status = draw(run);
  }
  // What was queued before the failure must not outlive the tensors.
  if (!status) static_cast<void>(finish());
  return status;
}

Status G2dBackend::prepare(std::span<const Job> jobs) {
  runs_.clear();
  runs_.reserve(jobs.size());
  pads_.reserve(jobs.size());
  for (const Job& job : jobs) {
    if (const Status status = prepare_one(job); !status)
      return jobs.size() == 1 ? status.error() : at_request(runs_.size() - 1, status.error());
  }
  return {};
}

Status G2dBackend::prepare_one(const Job& job) {
  Run& run = runs_.emplace_back();
  TensorMap& pad = pads_.emplace_back();
  run.program = static_cast<const G2dProgram*>(job.program);
  if (const Verdict verdict = place(*job.plan, *job.src, *job.dst, run); !verdict)
    return fail(Errc::unsupported, verdict.reason());
  if (!job.dst->buffer()->is_writable())
    return fail(Errc::permission, "dst: its memory is read-only");
  if (run.program->pad) {
    HALYARD_TRY(pad, job.dst->map(Access::write));
  }
  return {};
}

void G2dBackend::fill_pads(std::span<const Job> jobs) const noexcept {
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!runs_[i].program->pad) continue;
    const MappedImages images = map_frame(*jobs[i].plan, TensorMap(), pads_[i]);
    runs_[i].program->pad->fill(images, 0, jobs[i].plan->dst.size.height);
  }
}

Status G2dBackend::draw(const Run& run) {
  HALYARD_RETURN_IF_ERROR(hand_over(run.source, CacheOperation::clean));
  // Dirty lines that are evicted later would overwrite what the device writes.
  HALYARD_RETURN_IF_ERROR(hand_over(run.target, CacheOperation::flush));
  if (run.program->clears) {
    g2d::Surface area = run.whole.surface;
    area.clear_color = run.program->clear_color;
    HALYARD_RETURN_IF_ERROR(device_->clear(area));
  }
  if (run.program->matrix) HALYARD_RETURN_IF_ERROR(set_matrix(*run.program->matrix));
  g2d::Surface source = run.source.surface;
  g2d::Surface target = run.target.surface;
  source.orientation = run.program->flip;
  target.orientation = run.program->rotation;
  return device_->blit(source, target);
}

Status G2dBackend::set_matrix(Capability wanted) {
  for (const Capability other :
       {Capability::bt601, Capability::bt709, Capability::bt601_full, Capability::bt709_full}) {
    if (other != wanted) device_->disable(other);
  }
  return device_->enable(wanted);
}

Status G2dBackend::hand_over(const PlacedSurface& surface, CacheOperation operation) const {
  for (void* buffer : surface.buffers) {
    if (buffer != nullptr) HALYARD_RETURN_IF_ERROR(device_->maintain_cache(buffer, operation));
  }
  return {};
}

Status G2dBackend::finish() {
  Status status = device_->finish();
  // Lines that the CPU has fetched meanwhile hold old bytes. A flush keeps what other threads have
  // written to neighbours of a slice; dropping the lines alone would lose it.
  for (const Run& run : runs_) {
    const Status flushed = hand_over(run.target, CacheOperation::flush);
    if (status) status = flushed;
  }
  runs_.clear();
  return status;
}

}  // namespace halyard::image
