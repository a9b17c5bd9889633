// SPDX-License-Identifier: Apache-2.0
// What a processor holds, and the steps that all of its calls share.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/env.h"
#include "halyard/image.h"
#include "image/dispatch.h"
#include "image/plan_cache.h"

namespace halyard {
namespace image {

/// HALYARD_COLORIMETRY; none where it is unset. Errors: invalid_argument (another word).
Result<std::optional<ColorimetryMode>> pinned_mode(const Environment& env);

/// Errors: invalid_argument (they share bytes).
Status check_apart(const Tensor& src, const Tensor& dst);

/// A checked request: what to run over which tensors.
struct Task {
  CompiledPtr compiled;
  const Tensor* src = nullptr;
  const Tensor* dst = nullptr;
};

}  // namespace image

struct Processor::Impl {
  /// A request that waits for flush().
  struct Kept {
    image::CompiledPtr compiled;
    Tensor src;
    Tensor dst;
  };

  image::Dispatch dispatch;
  ColorimetryMode mode = ColorimetryMode::fast;
  bool mode_is_pinned = false;
  image::PlanCache cache = {};
  std::vector<Kept> kept = {};
  // Of the call that runs; kept for their memory.
  std::vector<image::Task> tasks = {};
  std::vector<Tensor> places = {};  ///< elements of a batch
  std::vector<image::Job> jobs = {};

  class Call;

  /// The plan of a request, compiled where the cache has none. The pointer is good until the next
  /// call. Errors: those of Processor::plan().
  Result<const image::CompiledPtr*> compile(const Convert& words, const Tensor& src,
                                            const Tensor& dst);
  /// Runs what was kept, where it and this request touch the same bytes.
  Status flush_before(const Tensor& src, const Tensor& dst);
  /// Runs what was kept; nothing is kept afterwards.
  Status flush();
  Status run_one(const image::CompiledPlan& compiled, const Tensor& src, const Tensor& dst);
  Status run(std::span<const image::Task> tasks_to_run);

 private:
  Result<image::CompiledPtr> compile_new(const Convert& words, const Tensor& src,
                                         const Tensor& dst) const;
};

}  // namespace halyard
