// SPDX-License-Identifier: Apache-2.0
// The CPU backend: serves every plan, by the fastest path that fits.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/system/parallel.h"
#include "halyard/moved.h"
#include "image/backend.h"
#include "image/cpu/cpu_program.h"

namespace halyard::image {

class CpuBackend final : public ImageBackend {
 public:
  /// `threads`: the most threads for one submit(); 0: all cores.
  explicit CpuBackend(unsigned threads) : parallel_(threads), workspaces_(parallel_.width()) {}

  std::string_view name() const noexcept override { return "cpu"; }
  Verdict supports(const Plan& plan) const noexcept override;
  Result<std::shared_ptr<const BackendProgram>> compile(const Plan& plan) const override;
  Status submit(std::span<const Job> jobs) override;
  Status finish() override { return {}; }

 private:
  /// A job with its mapped images.
  struct Run {
    explicit Run(const Job& job)
        : program(static_cast<const CpuProgram*>(job.program)),
          source(job.src->buffer().get()),
          src(job.src->map(Access::read)),
          dst(job.dst->map(Access::write)),
          frame(src && dst ? map_frame(*job.plan, *src, *dst) : MappedImages{}) {}
    const CpuProgram* program;
    const Buffer* source;
    Result<TensorMap> src;
    Result<TensorMap> dst;
    MappedImages frame;
  };
  /// Runs that read the same source. Each is cut into `pieces`; one task runs the same piece of
  /// each.
  struct Group {
    std::size_t first = 0;  ///< in order_
    std::size_t count = 0;
    std::int32_t pieces = 1;
    std::int32_t first_task = 0;
  };
  class Workspace {
   public:
    void reserve(std::size_t bytes);  ///< may throw std::bad_alloc
    std::byte* begin() const noexcept { return begin_; }

   private:
    std::unique_ptr<std::byte[]> memory_;
    Moved<std::byte*> begin_;
    Moved<std::size_t> bytes_;
  };

  Status prepare(std::span<const Job> jobs);
  void group_runs();
  void run_all();
  void run_task(std::int32_t task, std::byte* workspace) const;

  Parallel parallel_;
  std::vector<Workspace> workspaces_;  ///< one per thread
  std::vector<Run> runs_;
  std::vector<std::size_t> order_;  ///< indices into runs_, sorted by source
  std::vector<Group> groups_;
};

}  // namespace halyard::image
