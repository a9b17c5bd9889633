// SPDX-License-Identifier: Apache-2.0
// Maps the images of all jobs, then runs their programs strip by strip on the threads.
#include "image/cpu/cpu_backend.h"

#include <algorithm>
#include <new>
#include <numeric>
#include <utility>

#include "base/text/format_error.h"
#include "image/dispatch.h"

namespace halyard::image {

void CpuBackend::Workspace::reserve(std::size_t bytes) {
  if (bytes <= bytes_) return;
  constexpr std::size_t boundary = 64;
  memory_ = std::make_unique<std::byte[]>(bytes + boundary);
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.get());
  begin_ = memory_.get() + (boundary - address % boundary) % boundary;
  bytes_ = bytes;
}

Verdict CpuBackend::supports(const Plan&) const noexcept {
  return Verdict::accept();
}

Result<std::shared_ptr<const BackendProgram>> CpuBackend::compile(const Plan& plan) const {
  try {
    ProgramPtr program = compile_copy(plan);
    if (!program) program = compile_repack(plan);
    if (!program) program = compile_yuv_rgb(plan);
    if (!program) program = compile_general(plan);
    return std::shared_ptr<const BackendProgram>(std::move(program));
  } catch (const std::bad_alloc&) {
    return fail(Errc::no_memory, "convert: no memory for its tables");
  }
}

Status CpuBackend::submit(std::span<const Job> jobs) {
  Status status;
  try {
    status = prepare(jobs);
    if (status) run_all();
  } catch (const std::bad_alloc&) {
    status = fail(Errc::no_memory, "convert: no working memory");
  }
  runs_.clear();
  return status;
}

Status CpuBackend::prepare(std::span<const Job> jobs) {
  runs_.reserve(jobs.size());
  std::size_t bytes = 0;
  for (const Job& job : jobs) {
    Run& run = runs_.emplace_back(job);
    for (const Result<TensorMap>* map : {&run.src, &run.dst}) {
      if (!*map)
        return jobs.size() == 1 ? map->error() : at_request(runs_.size() - 1, map->error());
    }
    bytes = std::max(bytes, run.program->workspace_bytes());
  }
  for (Workspace& workspace : workspaces_)
    workspace.reserve(bytes);
  return {};
}

void CpuBackend::group_runs() {
  order_.resize(runs_.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(runs_[a].source, a) < std::pair(runs_[b].source, b);
  });
  groups_.clear();
  std::int32_t tasks = 0;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const Run& run = runs_[order_[i]];
    const std::int32_t pieces = std::max(run.program->units() / run.program->grain(), 1);
    if (i == 0 || runs_[order_[i - 1]].source != run.source) {
      groups_.push_back({i, 0, 1, tasks});
    } else {
      tasks -= groups_.back().pieces;
    }
    Group& group = groups_.back();
    ++group.count;
    group.pieces = std::max(group.pieces, pieces);
    tasks += group.pieces;
  }
}

void CpuBackend::run_all() {
  if (runs_.size() == 1) {
    const Run& run = runs_[0];
    parallel_.for_strips(run.program->units(), run.program->grain(),
                         [&](std::int32_t begin, std::int32_t end, std::size_t slot) {
                           run.program->run(run.frame, begin, end, workspaces_[slot].begin());
                         });
    return;
  }
  group_runs();
  const std::int32_t tasks =
      groups_.empty() ? 0 : groups_.back().first_task + groups_.back().pieces;
  parallel_.for_strips(tasks, 1, [&](std::int32_t begin, std::int32_t end, std::size_t slot) {
    for (std::int32_t task = begin; task < end; ++task)
      run_task(task, workspaces_[slot].begin());
  });
}

void CpuBackend::run_task(std::int32_t task, std::byte* workspace) const {
  const auto after = [](std::int32_t at, const Group& group) { return at < group.first_task; };
  const Group& group = *std::prev(std::upper_bound(groups_.begin(), groups_.end(), task, after));
  const std::int64_t piece = task - group.first_task;
  for (std::size_t i = group.first; i < group.first + group.count; ++i) {
    const Run& run = runs_[order_[i]];
    const auto border = [&](std::int64_t p) {
      return static_cast<std::int32_t>(run.program->units() * p / group.pieces);
    };
    if (border(piece) < border(piece + 1))
      run.program->run(run.frame, border(piece), border(piece + 1), workspace);
  }
}

}  // namespace halyard::image
