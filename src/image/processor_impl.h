// SPDX-License-Identifier: Apache-2.0
// The state of a processor, and the steps that all of its calls share.
#pragma once

#include <span>
#include <vector>

#include "base/env.h"
#include "base/local.h"
#include "halyard/image.h"
#include "image/dispatch.h"
#include "image/plan_cache.h"

namespace halyard {
namespace image {

/// The mode that a processor was created with or set to, unless HALYARD_COLORIMETRY sets one.
class ModeSetting {
 public:
  /// Errors: invalid_argument (HALYARD_COLORIMETRY is neither fast nor exact).
  static Result<ModeSetting> create(ColorimetryMode asked, const Environment& env);
  ColorimetryMode mode() const noexcept { return mode_; }
  void set(ColorimetryMode mode) noexcept {
    if (!pinned_) mode_ = mode;
  }

 private:
  ModeSetting(ColorimetryMode mode, bool pinned) noexcept : mode_(mode), pinned_(pinned) {}
  ColorimetryMode mode_;
  bool pinned_;
};

/// Checks that the tensors share no bytes. Errors: invalid_argument (they share bytes).
Status check_apart(const Tensor& src, const Tensor& dst);

/// A checked request: a compiled plan, its tensors, and the backend that runs it on them.
struct CheckedRequest {
  CompiledPtr compiled;
  std::size_t backend = 0;  ///< Dispatch's number
  const Tensor* src = nullptr;
  const Tensor* dst = nullptr;
};

/// The sync files of one run.
struct RunFences {
  int wait_for = -1;   ///< before it begins; negative: nothing
  Fd* done = nullptr;  ///< gets the sync file of its end, where the run does not wait for it
};

}  // namespace image

struct HALYARD_LOCAL Processor::Impl {
  /// A request that waits for flush().
  struct Kept {
    image::CompiledPtr compiled;
    std::size_t backend = 0;  ///< Dispatch's number
    Tensor src;
    Tensor dst;
  };

  image::Dispatch dispatch;
  image::ModeSetting mode;
  image::PlanCache cache = {};
  std::vector<Kept> kept = {};
  // Used by the current call; kept for their memory.
  std::vector<image::CheckedRequest> tasks = {};
  std::vector<image::CheckedRequest> waiting = {};
  std::vector<Tensor> places = {};  ///< elements of a batch
  std::vector<image::Job> jobs = {};

  class Call;

  /// Returns the plan of a request; compiles it if the cache does not have it. The pointer is valid
  /// until the next call. Errors: those of Processor::plan().
  Result<const image::CompiledPtr*> compile(const Convert& request, const Tensor& src,
                                            const Tensor& dst);
  /// Number of the first backend, from number `first` on, that has a program of the plan and serves
  /// the tensors. Errors: unsupported (none does; the detail lists the reasons).
  Result<std::size_t> route(const image::CompiledPlan& compiled, const Tensor& src,
                            const Tensor& dst, std::size_t first = 0) const;
  /// An image in a DMA-BUF that a backend's device makes. Errors: unsupported (none does).
  Result<Tensor> create_dma_image(std::size_t width, std::size_t height, PixelFormat format,
                                  ImageOptions options) const;
  Result<Placement> convert(const Convert& request, const Tensor& src, const Tensor& dst,
                            const image::RunFences& fences);
  /// Runs the kept requests if one of them touches the same bytes as this request.
  Status flush_before(const Tensor& src, const Tensor& dst);
  /// Runs the kept requests; none is kept afterwards.
  Status flush();
  Status run_one(const image::CompiledPlan& compiled, std::size_t number, const Tensor& src,
                 const Tensor& dst, const image::RunFences& fences = {});
  Status run(std::span<const image::CheckedRequest> tasks_to_run);
  /// Runs a request on a backend after the one that has failed.
  Status run_elsewhere(const image::CompiledPlan& compiled, std::size_t failed, const Tensor& src,
                       const Tensor& dst, const image::RunFences& fences = {});

  std::uint64_t fallbacks = 0;

 private:
  Result<image::CompiledPtr> compile_new(const Convert& request, const Tensor& src,
                                         const Tensor& dst) const;
  Error refusal(const image::Plan& plan, const Tensor& src, const Tensor& dst) const;
};

}  // namespace halyard
