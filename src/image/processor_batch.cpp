// SPDX-License-Identifier: Apache-2.0
// The front for several requests: lists, batches, tiles, and requests that wait for flush().
#include <utility>

#include "base/region.h"
#include "base/text/format_error.h"
#include "halyard/trace.h"
#include "image/dispatch.h"
#include "image/processor_impl.h"

namespace halyard {
namespace {

// Bytes that one request writes must not be read or written by another one, because their order is
// not defined.
Status check_requests_apart(std::span<const image::CheckedRequest> tasks) {
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const bool same_source = i > 0 && tasks[i].src == tasks[i - 1].src;
    for (std::size_t k = 0; k < tasks.size(); ++k) {
      if (!same_source && aliases(*tasks[i].src, *tasks[k].dst)) {
        return fail(Errc::invalid_argument, "dst: shares bytes with a source of the same call",
                    "request {}, the source is that of request {}", k, i);
      }
      if (k > i && aliases(*tasks[i].dst, *tasks[k].dst)) {
        return fail(Errc::invalid_argument, "dst: two requests of one call write the same bytes",
                    "requests {} and {}", i, k);
      }
    }
  }
  return {};
}

Status check_places(std::size_t wanted, const char* what, const Tensor& batch) {
  if (batch.is_image() || batch.rank() < 2)
    return fail(Errc::invalid_argument, "batch: needs a batch axis in front of its images");
  if (wanted <= batch.shape()[0]) return {};
  return fail(Errc::invalid_argument, what, "{} given, the batch has {} elements", wanted,
              batch.shape()[0]);
}

Status check_tile(const Tile& tile, std::size_t index, Size image) {
  const Region& r = tile.region;
  if (is_inside(r, image)) return {};
  return fail(Errc::invalid_argument, "tiles: one is empty or outside the image",
              "tile {}: {}x{} at ({}, {}), the image is {}x{}", index, r.width, r.height, r.x, r.y,
              image.width, image.height);
}

}  // namespace

/// The tasks of one call; removed when it returns.
class Processor::Impl::Call {
 public:
  explicit Call(Impl& impl) noexcept : impl_(impl) { clear(); }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() { clear(); }

  Status add(const Convert& request, const Tensor& src, const Tensor& dst) {
    const auto compiled = impl_.compile(request, src, dst);
    if (!compiled) return image::at_request(impl_.tasks.size(), compiled.error());
    const auto number = impl_.route(***compiled, src, dst);
    if (!number) return image::at_request(impl_.tasks.size(), number.error());
    impl_.tasks.push_back({**compiled, *number, &src, &dst});
    return {};
  }

  /// An element of the batch, valid until the call ends. Call reserve() first.
  Result<const Tensor*> place(const Tensor& batch, std::size_t index) {
    HALYARD_TRY(Tensor place, batch.batch(index));
    return &impl_.places.emplace_back(std::move(place));
  }
  void reserve(std::size_t places) { impl_.places.reserve(places); }

  Result<std::vector<Placement>> run() {
    HALYARD_RETURN_IF_ERROR(check_requests_apart(impl_.tasks));
    for (const image::CheckedRequest& task : impl_.tasks)
      HALYARD_RETURN_IF_ERROR(impl_.flush_before(*task.src, *task.dst));
    HALYARD_RETURN_IF_ERROR(impl_.run(impl_.tasks));
    std::vector<Placement> placements;
    placements.reserve(impl_.tasks.size());
    for (const image::CheckedRequest& task : impl_.tasks)
      placements.push_back(task.compiled->plan.placement);
    return placements;
  }

 private:
  void clear() noexcept {
    impl_.tasks.clear();
    impl_.places.clear();
  }
  Impl& impl_;
};

Status Processor::Impl::run(std::span<const image::CheckedRequest> tasks_to_run) {
  for (std::size_t number = 0; number < image::Dispatch::count; ++number) {
    jobs.clear();
    for (std::size_t i = 0; i < tasks_to_run.size(); ++i) {
      const image::CheckedRequest& task = tasks_to_run[i];
      const image::CompiledPlan& compiled = *task.compiled;
      if (task.backend == number)
        jobs.push_back({&compiled.plan, compiled.programs[number].get(), task.src, task.dst});
    }
    if (jobs.empty()) continue;
    // Null: it has failed since the requests were queued.
    image::ImageBackend* const backend = dispatch.backend(number);
    Status status;
    if (backend != nullptr) status = backend->submit(jobs);
    if (backend != nullptr && status) status = backend->finish();
    if (backend != nullptr && status) continue;
    if (!status && !dispatch.give_up(number, status.error())) return status;
    for (const image::CheckedRequest& task : tasks_to_run) {
      if (task.backend == number)
        HALYARD_RETURN_IF_ERROR(run_elsewhere(*task.compiled, number, *task.src, *task.dst));
    }
  }
  return {};
}

Status Processor::Impl::flush_before(const Tensor& src, const Tensor& dst) {
  for (const Kept& one : kept) {
    if (aliases(src, one.dst) || aliases(dst, one.dst) || aliases(dst, one.src)) return flush();
  }
  return {};
}

Status Processor::Impl::flush() {
  // Not `tasks`: a call that is collecting its own tasks may have called this.
  waiting.clear();
  for (const Kept& one : kept)
    waiting.push_back({one.compiled, one.backend, &one.src, &one.dst});
  const Status status = run(waiting);
  waiting.clear();
  kept.clear();
  return status;
}

Result<std::vector<Placement>> Processor::convert_all(std::span<const Convert> requests) {
  trace::Span span("image.convert_all");
  span.arg("requests", requests.size());
  Impl::Call call(*impl_);
  for (const Convert& request : requests)
    HALYARD_RETURN_IF_ERROR(call.add(request, request.src, request.dst));
  return call.run();
}

Result<std::vector<Placement>> Processor::convert_batch(std::span<const Tensor> sources,
                                                        const Tensor& batch, const Convert& like) {
  trace::Span span("image.convert_batch");
  span.arg("sources", sources.size());
  HALYARD_RETURN_IF_ERROR(
      check_places(sources.size(), "sources: must be at most one per element of the batch", batch));
  Impl::Call call(*impl_);
  call.reserve(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    HALYARD_TRY(const Tensor* place, call.place(batch, i));
    HALYARD_RETURN_IF_ERROR(call.add(like, sources[i], *place));
  }
  return call.run();
}

Result<std::vector<Placement>> Processor::convert_tiles(const Tensor& src,
                                                        std::span<const Tile> tiles,
                                                        const Tensor& batch, const Convert& like) {
  trace::Span span("image.convert_tiles");
  span.arg("tiles", tiles.size());
  if (like.crop) return fail(Errc::invalid_argument, "like.crop: must be unset, tiles are crops");
  HALYARD_RETURN_IF_ERROR(
      check_places(tiles.size(), "tiles: must be at most one per element of the batch", batch));
  Impl::Call call(*impl_);
  call.reserve(tiles.size());
  Convert request = like;
  const Size upright = oriented(src.size(), like.orientation.value_or(src.orientation()));
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    HALYARD_RETURN_IF_ERROR(check_tile(tiles[i], i, upright));
    HALYARD_TRY(const Tensor* place, call.place(batch, i));
    request.crop = tiles[i].region;
    HALYARD_RETURN_IF_ERROR(call.add(request, src, *place));
  }
  return call.run();
}

Result<Placement> Processor::convert_deferred(const Convert& request) {
  HALYARD_TRY(const auto* compiled, impl_->compile(request, request.src, request.dst));
  HALYARD_RETURN_IF_ERROR(image::check_apart(request.src, request.dst));
  if (!request.dst.buffer()->is_writable())
    return fail(Errc::permission, "dst: its memory is read-only");
  HALYARD_TRY(const std::size_t number, impl_->route(**compiled, request.src, request.dst));
  HALYARD_RETURN_IF_ERROR(impl_->flush_before(request.src, request.dst));
  impl_->kept.push_back({*compiled, number, request.src, request.dst});
  return (*compiled)->plan.placement;
}

Status Processor::flush() {
  trace::Span span("image.flush");
  span.arg("requests", impl_->kept.size());
  return impl_->flush();
}

}  // namespace halyard
