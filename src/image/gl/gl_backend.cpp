// SPDX-License-Identifier: Apache-2.0
#include "image/gl/gl_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include "base/text/format_error.h"
#include "base/text/log_format.h"
#include "gl/display/fence.h"
#include "gl/display/gpu_nodes.h"
#include "gl/display/worker_objects.h"
#include "gl/memory/dma_export.h"
#include "halyard/dmabuf.h"
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

// HALYARD_NV_CONVERT_PATH. The driver's sampler of YUV has the colours of its maker.
Status check_nv_path(std::string_view path) {
  if (path.empty() || path == "auto" || path == "shader") return {};
  if (path != "sampler") {
    return fail(Errc::invalid_argument, "HALYARD_NV_CONVERT_PATH: must be sampler, shader or auto",
                "it is {}", path);
  }
  HALYARD_LOG(
      LogLevel::warn, "image",
      "HALYARD_NV_CONVERT_PATH=sampler is not followed: a driver's sampler has other colours "
      "than the CPU, so a shader reads the planes");
  return {};
}

}  // namespace

Result<std::unique_ptr<GlBackend>> GlBackend::create_automatic(
    const Environment& env, std::optional<GlDisplayKind> display) {
  GlRunOptions options;
  HALYARD_TRY(options.rules, GlTransferRules::create(env.force_transfer.value_or("")));
  HALYARD_RETURN_IF_ERROR(check_nv_path(env.nv_convert_path.value_or("")));
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
  objects_ = gl::shared_objects<GlObjects>(worker_);
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

Result<std::shared_ptr<Buffer>> GlBackend::make_dma_buffer(std::size_t size_bytes) {
  if (!exports_ || !options_.rules.imports || !start_once() ||
      !worker_->capabilities().dma_buf_import)
    return ImageBackend::make_dma_buffer(size_bytes);
  auto out = gl::export_dma_buffer(*worker_, size_bytes);
  exports_ = out || out.error().code != Errc::unsupported;
  return out;
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

std::string GlBackend::describe(const Plan& plan, const Tensor& src, const Tensor& dst) const {
  const GlTransfer from = transfer_of(src, Access::read);
  const GlTransfer to = transfer_of(dst, Access::write);
  const GlProgram program(plan);
  const bool is_import = to == GlTransfer::dma_buf;
  const auto draws = is_import ? program.separate_draws() : program.joint_draws();
  return fmt::format("src {}, dst {}; passes {}, planes uploaded {}, planes read back {}",
                     to_string(from), to_string(to), program.row_passes().size() + draws.size(),
                     from == GlTransfer::dma_buf ? 0 : program.source_planes(),
                     is_import ? 0 : program.target_planes());
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

void GlBackend::drop_runs() noexcept {
  runs_.clear();
  refused_.clear();
  wait_.reset();
}

Status GlBackend::wait_on_cpu() {
  return wait_ ? wait_sync_file(wait_.get(), sync_file_patience) : Status();
}

// The CPU's wait serves too.
Status GlBackend::wait_on_device() {
  if (!wait_ || gl::wait_on_gpu(*worker_, wait_.get())) return {};
  return wait_on_cpu();
}

Status GlBackend::prepare_run(const Job& job) {
  GlRun& run = runs_.emplace_back();
  run.job = job;
  run.program = &static_cast<const LateProgram*>(job.program)->get();
  if (wait_ && (transfer_of(*job.src, Access::read) == GlTransfer::copy ||
                transfer_of(*job.dst, Access::write) == GlTransfer::copy))
    HALYARD_RETURN_IF_ERROR(wait_on_cpu());
  HALYARD_TRY(run.src, GlImage::prepare(*job.src, Access::read, options_.rules, *worker_));
  HALYARD_TRY(run.dst, GlImage::prepare(*job.dst, Access::write, options_.rules, *worker_));
  return {};
}

Status GlBackend::prepare(std::span<const Job> jobs) {
  runs_.reserve(jobs.size());
  refused_.reserve(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const Status status = prepare_run(jobs[i]);
    if (!status) return jobs.size() == 1 ? status : at_request(i, status.error());
  }
  return {};
}

Status GlBackend::submit(std::span<const Job> jobs) {
  // A lost context does not come back; another one may serve.
  Status status = worker_->is_lost() ? start() : Status();
  try {
    if (status) status = prepare(jobs);
  } catch (const std::bad_alloc&) {
    status = fail(Errc::no_memory, "convert: no working memory");
  }
  if (!status) drop_runs();
  return status;
}

// Draws all before it waits for any, so that the GPU is never idle.
Status GlBackend::draw_all(Fd* fence) {
  Status status = wait_on_device();
  std::size_t drawn = 0;
  for (; status && drawn < runs_.size(); ++drawn) {
    status = objects_->draw(runs_[drawn], options_);
    if (status || !is_refusal(status.error())) continue;
    refused_.push_back(drawn);
    status = Status();
  }
  bool has_dma_buf = false;
  bool is_pending = false;
  for (std::size_t i = 0; i < drawn; ++i) {
    if (std::ranges::count(refused_, i) != 0) continue;
    has_dma_buf |= runs_[i].has_dma_buf();
    is_pending |= runs_[i].dst.transfer() != GlTransfer::copy;
    const Status completed = objects_->complete(runs_[i]);
    if (status) status = completed;
  }
  if (status && is_pending && fence != nullptr) {
    if (auto made = gl::make_sync_file(*worker_)) *fence = std::move(*made);
  }
  // Pixel buffers need no wait: their next use by the CPU waits, and the GPU works in order.
  const bool waits = has_dma_buf && (fence == nullptr || !*fence);
  const Status finished = objects_->finish(waits);
  return status ? finished : status;
}

Status GlBackend::draw_copy(GlRun& run) {
  HALYARD_RETURN_IF_ERROR(wait_on_cpu());
  const Job job = run.job;
  run = GlRun();
  run.program = &static_cast<const LateProgram*>(job.program)->get();
  HALYARD_TRY(run.src, GlImage::prepare_copy(*job.src, Access::read));
  HALYARD_TRY(run.dst, GlImage::prepare_copy(*job.dst, Access::write));
  return worker_->run([&]() -> Status {
    HALYARD_RETURN_IF_ERROR(objects_->draw(run, options_));
    HALYARD_RETURN_IF_ERROR(objects_->complete(run));
    return objects_->finish(false);
  });
}

Status GlBackend::finish_runs(Fd* fence) {
  Status status;
  try {
    status = worker_->run([&] { return draw_all(fence); });
    for (std::size_t i = 0; i < refused_.size() && status; ++i)
      status = draw_copy(runs_[refused_[i]]);
  } catch (const std::bad_alloc&) {
    status = fail(Errc::no_memory, "convert: no working memory");
  }
  if (fence != nullptr && *fence) {
    if (status) {
      for (const GlRun& run : runs_)
        run.share_fence(fence->get());
    } else {
      // The CPU does the work again: the GPU must not write after it.
      static_cast<void>(wait_sync_file(fence->get(), sync_file_patience));
      fence->reset();
    }
  }
  drop_runs();
  return status;
}

Result<Fd> GlBackend::finish_later() {
  Fd fence;
  HALYARD_RETURN_IF_ERROR(finish_runs(&fence));
  return fence;
}

bool GlBackend::queue_wait(int sync_file) noexcept {
  auto copy = Fd::duplicate(sync_file);
  if (!copy) return false;
  wait_ = std::move(*copy);
  return true;
}

}  // namespace halyard::image
