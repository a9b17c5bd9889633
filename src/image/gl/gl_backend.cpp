// SPDX-License-Identifier: Apache-2.0
#include "image/gl/gl_backend.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "base/system/fork.h"
#include "base/text/format_error.h"
#include "image/dispatch.h"
#include "image/gl/gl_objects.h"
#include "image/gl/limits.h"

namespace halyard::image {
namespace {

// Of a DMA-BUF: by the driver, or because its description does not fit it.
bool is_refusal(const Error& error) noexcept {
  return error.code == Errc::unsupported || error.code == Errc::invalid_argument;
}

struct Known {
  std::mutex mutex;
  std::weak_ptr<GlObjects> objects;
};

// The objects of all processors of this process. They keep the worker alive, and die on its thread.
std::shared_ptr<GlObjects> shared_objects(const std::shared_ptr<gl::Worker>& worker) {
  static PerProcess<Known> process;
  Known& known = process.get();
  const std::lock_guard lock(known.mutex);
  if (auto alive = known.objects.lock()) return alive;
  const auto destroy = [worker](GlObjects* objects) {
    worker->post([objects] { delete objects; });
  };
  std::shared_ptr<GlObjects> made(new GlObjects(worker), destroy);
  known.objects = made;
  return made;
}

}  // namespace

GlBackend::GlBackend(std::shared_ptr<gl::Worker> worker, const GlRunOptions& options)
    : worker_(std::move(worker)), objects_(shared_objects(worker_)), options_(options) {}

Result<std::unique_ptr<GlBackend>> GlBackend::create(const Environment& env) {
  GlRunOptions options;
  HALYARD_TRY(options.rules, GlTransferRules::create(env.force_transfer.value_or("")));
  if (env.opengl_rendersurface) options.target = gl::DmaTarget::renderbuffer;
  HALYARD_TRY(auto worker, gl::Worker::shared(env.allow_software_gl));
  return std::unique_ptr<GlBackend>(new GlBackend(std::move(worker), options));
}

Verdict GlBackend::supports(const Plan& plan) const noexcept {
  return gl_verdict(plan, {worker_->capabilities().max_texture_size});
}

Result<std::shared_ptr<const BackendProgram>> GlBackend::compile(const Plan& plan) const {
  try {
    return std::shared_ptr<const BackendProgram>(std::make_shared<const GlProgram>(plan));
  } catch (const std::bad_alloc&) {
    return fail(Errc::no_memory, "convert: no memory for its tables");
  }
}

Status GlBackend::prepare(std::span<const Job> jobs) {
  runs_.reserve(jobs.size());
  refused_.reserve(jobs.size());
  for (const Job& job : jobs) {
    GlRun& run = runs_.emplace_back();
    run.program = static_cast<const GlProgram*>(job.program);
    auto src = GlImage::prepare(*job.src, Access::read, options_.rules, *worker_);
    auto dst = src ? GlImage::prepare(*job.dst, Access::write, options_.rules, *worker_)
                   : Result<GlImage>(src.error());
    if (!dst) return jobs.size() == 1 ? dst.error() : at_request(runs_.size() - 1, dst.error());
    run.src = std::move(*src);
    run.dst = std::move(*dst);
  }
  return {};
}

// Draws all before it waits for any, so that the GPU is never idle.
Status GlBackend::draw_all() {
  Status status;
  std::size_t drawn = 0;
  for (; status && drawn < runs_.size(); ++drawn) {
    status = objects_->draw(runs_[drawn], options_);
    if (status || !is_refusal(status.error())) continue;
    refused_.push_back(drawn);
    status = Status();
  }
  for (std::size_t i = 0; i < drawn; ++i) {
    if (std::ranges::count(refused_, i) != 0) continue;
    const Status completed = objects_->complete(runs_[i]);
    if (status) status = completed;
  }
  return status;
}

Status GlBackend::draw_copy(std::size_t index, const Job& job) {
  GlRun& run = runs_[index];
  run.src = GlImage();
  run.dst = GlImage();
  HALYARD_TRY(run.src, GlImage::prepare_copy(*job.src, Access::read));
  HALYARD_TRY(run.dst, GlImage::prepare_copy(*job.dst, Access::write));
  return worker_->run([&]() -> Status {
    HALYARD_RETURN_IF_ERROR(objects_->draw(run, options_));
    return objects_->complete(run);
  });
}

Status GlBackend::submit(std::span<const Job> jobs) {
  Status status;
  try {
    status = prepare(jobs);
    if (status) status = worker_->run([this] { return draw_all(); });
    for (std::size_t i = 0; i < refused_.size() && status; ++i)
      status = draw_copy(refused_[i], jobs[refused_[i]]);
  } catch (const std::bad_alloc&) {
    status = fail(Errc::no_memory, "convert: no working memory");
  }
  runs_.clear();
  refused_.clear();
  return status;
}

Status GlBackend::finish() {
  return {};
}

}  // namespace halyard::image
