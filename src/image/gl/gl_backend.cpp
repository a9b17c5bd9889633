// SPDX-License-Identifier: Apache-2.0
#include "image/gl/gl_backend.h"

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

// Plain tensors have no planes before they are images.
Result<TensorMap> map_image(const Tensor& dst) {
  if (dst.is_image()) return dst.map(Access::write);
  HALYARD_TRY(const Tensor image, dst.as_image());
  return image.map(Access::write);
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
  std::shared_ptr<GlObjects> made(new GlObjects, destroy);
  known.objects = made;
  return made;
}

}  // namespace

GlBackend::GlBackend(std::shared_ptr<gl::Worker> worker)
    : worker_(std::move(worker)), objects_(shared_objects(worker_)) {}

Result<std::unique_ptr<GlBackend>> GlBackend::create(bool allow_software) {
  HALYARD_TRY(auto worker, gl::Worker::shared(allow_software));
  return std::unique_ptr<GlBackend>(new GlBackend(std::move(worker)));
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

Status GlBackend::map_all(std::span<const Job> jobs) {
  for (const Job& job : jobs) {
    Run& run = runs_.emplace_back();
    run.program = static_cast<const GlProgram*>(job.program);
    auto src = job.src->map(Access::read);
    auto dst = src ? map_image(*job.dst) : Result<TensorMap>(src.error());
    if (!dst) return jobs.size() == 1 ? dst.error() : at_request(runs_.size() - 1, dst.error());
    run.src = std::move(*src);
    run.dst = std::move(*dst);
  }
  return {};
}

Status GlBackend::submit(std::span<const Job> jobs) {
  Status status;
  try {
    runs_.reserve(jobs.size());
    status = map_all(jobs);
  } catch (const std::bad_alloc&) {
    status = fail(Errc::no_memory, "convert: no working memory");
  }
  if (status) {
    status = worker_->run([this]() -> Status {
      for (const Run& run : runs_)
        HALYARD_RETURN_IF_ERROR(objects_->run(*run.program, run.src, run.dst));
      return {};
    });
  }
  runs_.clear();
  return status;
}

Status GlBackend::finish() {
  return {};
}

}  // namespace halyard::image
