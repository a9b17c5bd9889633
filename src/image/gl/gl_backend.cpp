// SPDX-License-Identifier: Apache-2.0
#include "image/gl/gl_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include "base/system/fork.h"
#include "base/text/format_error.h"
#include "gl/display/gpu_nodes.h"
#include "image/dispatch.h"
#include "image/gl/gl_objects.h"
#include "image/gl/limits.h"

namespace halyard::image {
namespace {

// Makes the program when it first runs: most plans of a machine's heap images never do.
class LateProgram final : public BackendProgram {
 public:
  explicit LateProgram(const Plan& plan) : plan_(plan) {}
  /// May throw std::bad_alloc.
  const GlProgram& get() const {
    std::call_once(is_made_, [&] { program_.emplace(plan_); });
    return *program_;
  }

 private:
  Plan plan_;
  mutable std::once_flag is_made_;
  mutable std::optional<GlProgram> program_;
};

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
  if (auto alive = known.objects.lock(); alive && alive->belong_to(*worker)) return alive;
  // Waits, so that the last owner of the worker, who joins its thread, is not that thread. Gives
  // the worker up when it is called, because `known` keeps the function itself.
  const auto destroy = [owner = std::shared_ptr(worker)](GlObjects* objects) mutable {
    const auto last = std::exchange(owner, nullptr);
    static_cast<void>(last->run([objects] {
      delete objects;
      return Status();
    }));
  };
  std::shared_ptr<GlObjects> made(new GlObjects(worker), destroy);
  known.objects = made;
  return made;
}

}  // namespace

Result<std::unique_ptr<GlBackend>> GlBackend::create_automatic(
    const Environment& env, std::optional<GlDisplayKind> display) {
  GlRunOptions options;
  HALYARD_TRY(options.rules, GlTransferRules::create(env.force_transfer.value_or("")));
  if (env.opengl_rendersurface) options.target = gl::DmaTarget::renderbuffer;
  std::unique_ptr<GlBackend> out(new GlBackend(options));
  out->is_automatic_ = true;
  out->allows_software_ = env.allow_software_gl;
  out->display_ = display;
  return out;
}

Result<std::unique_ptr<GlBackend>> GlBackend::create(const Environment& env,
                                                     std::optional<GlDisplayKind> display) {
  HALYARD_TRY(auto out, create_automatic(env, display));
  out->is_automatic_ = false;
  HALYARD_RETURN_IF_ERROR(out->start());
  return out;
}

Status GlBackend::start() const {
  HALYARD_TRY(worker_, gl::Worker::shared(allows_software_, display_));
  objects_ = shared_objects(worker_);
  return {};
}

Verdict GlBackend::start_once() const noexcept {
  if (worker_ != nullptr) return Verdict::accept();
  if (refusal_.empty()) {
    try {
      Status status = allows_software_ ? Status() : gl::find_gpu_node();
      if (status) status = start();
      if (status) return Verdict::accept();
      refusal_ = status.error().message();
    } catch (const std::bad_alloc&) {
      return Verdict::decline("no memory to open OpenGL");
    }
  }
  return Verdict::decline(refusal_.c_str());
}

Verdict GlBackend::start_gpu() const noexcept {
  const Verdict started = start_once();
  if (!started || !worker_->capabilities().is_software) return started;
  return Verdict::decline("its renderer runs on the CPU, which does the work faster itself");
}

Memory GlBackend::image_memory() const noexcept {
  if (is_automatic_ && !start_gpu()) return Memory::automatic;
  const bool imports = options_.rules.imports && worker_->capabilities().dma_buf_import;
  if (imports && memory_available(Memory::dma)) return Memory::automatic;
  return options_.rules.pixel_buffers ? Memory::pbo : Memory::automatic;
}

Verdict GlBackend::serves(const Plan& plan, const Tensor& src, const Tensor& dst) const noexcept {
  if (!is_automatic_) return supports(plan);
  for (const Tensor* const image : {&src, &dst}) {
    const Memory memory = image->buffer()->memory();
    if (memory != Memory::dma && memory != Memory::pbo)
      return Verdict::decline("copies of images in CPU memory take longer than the CPU's work");
  }
  if (const Verdict started = start_gpu(); !started) return started;
  if (transfer_of(src, Access::read) == GlTransfer::copy)
    return Verdict::decline("the driver does not import the source");
  if (transfer_of(dst, Access::write) == GlTransfer::copy)
    return Verdict::decline(
        "the driver does not import the destination, or its rows are not whole "
        "texels of 4 bytes");
  return supports(plan);
}

std::string GlBackend::describe(const Tensor& src, const Tensor& dst) const {
  return fmt::format("src {}, dst {}", to_string(transfer_of(src, Access::read)),
                     to_string(transfer_of(dst, Access::write)));
}

GlTransfer GlBackend::transfer_of(const Tensor& image, Access access) const noexcept {
  return GlImage::choose(image, access, options_.rules, *worker_);
}

Verdict GlBackend::supports(const Plan& plan) const noexcept {
  GlLimits limits{.max_texture_size = std::numeric_limits<std::int32_t>::max()};
  if (worker_ != nullptr) limits.max_texture_size = worker_->capabilities().max_texture_size;
  return gl_verdict(plan, limits);
}

Result<std::shared_ptr<const BackendProgram>> GlBackend::compile(const Plan& plan) const {
  try {
    return std::shared_ptr<const BackendProgram>(std::make_shared<const LateProgram>(plan));
  } catch (const std::bad_alloc&) {
    return fail(Errc::no_memory, "convert: no memory for its tables");
  }
}

Status GlBackend::prepare(std::span<const Job> jobs) {
  runs_.reserve(jobs.size());
  refused_.reserve(jobs.size());
  for (const Job& job : jobs) {
    GlRun& run = runs_.emplace_back();
    run.program = &static_cast<const LateProgram*>(job.program)->get();
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
  // A lost context does not come back; another one may serve.
  if (worker_->is_lost()) HALYARD_RETURN_IF_ERROR(start());
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
