// SPDX-License-Identifier: Apache-2.0
// Maps the pictures of all jobs, then runs their programs strip by strip over the threads.
#include "image/cpu/cpu_backend.h"

#include <algorithm>
#include <new>
#include <numeric>
#include <utility>

#include "base/text/format_error.h"

namespace halyard::image {

namespace {

// A channel of a mapped plain tensor whose last axes are the picture's.
TargetChannel plain_channel(const TensorMap& map, const PictureSpec& picture,
                            const ChannelSite& site) noexcept {
  const Layout& layout = map.layout();
  const FormatInfo& format = info(picture.format);
  const bool planar = format.kind == FormatKind::planar;
  const bool channels_last = !planar && layout.shape[layout.rank - 1U] == format.channels;
  const std::size_t row_axis = layout.rank - (channels_last ? 3U : 2U);
  std::byte* begin = map.writable();
  if (planar) begin += site.plane * layout.stride_bytes[row_axis - 1];
  return channel_view(begin, static_cast<std::size_t>(layout.stride_bytes[row_axis]), site,
                      picture.size, size_of(picture.dtype));
}

}  // namespace

Frame frame_of(const Plan& plan, const TensorMap& src, const TensorMap& dst) noexcept {
  constexpr ChannelMap mosaic{1, {{{0, 0, 1, 0, 0}}}};
  Frame frame;
  const ChannelMap& from = plan.src.channels == nullptr ? mosaic : *plan.src.channels;
  const std::size_t from_bytes = size_of(plan.src.dtype);
  for (std::size_t c = 0; c < frame.source.size(); ++c) {
    frame.source[c] = c < from.count ? source_channel(src, from.sites[c], plan.src.size, from_bytes)
                                     : SourceChannel{};
  }
  const ChannelMap& to = *plan.dst.channels;
  const std::size_t to_bytes = size_of(plan.dst.dtype);
  const bool plain = dst.plane_count() == 0;
  for (std::size_t c = 0; c < frame.target.size(); ++c) {
    if (c >= to.count) {
      frame.target[c] = {};
    } else if (plain) {
      frame.target[c] = plain_channel(dst, plan.dst, to.sites[c]);
    } else {
      frame.target[c] = target_channel(dst, to.sites[c], plan.dst.size, to_bytes);
    }
  }
  if (plan.bgr) std::swap(frame.target[0], frame.target[2]);
  return frame;
}

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

Result<std::shared_ptr<const Program>> CpuBackend::compile(const Plan& plan) const {
  try {
    ProgramPtr program = compile_move(plan);
    if (!program) program = compile_regroup(plan);
    if (!program) program = compile_direct(plan);
    if (!program) program = compile_rows(plan);
    return std::shared_ptr<const Program>(std::move(program));
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
