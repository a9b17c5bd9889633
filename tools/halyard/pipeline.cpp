// SPDX-License-Identifier: Apache-2.0
// The stages of the program behind the library's: a failure of any of them ends the run.
#include "pipeline.h"

#include <fmt/format.h>

#include <chrono>
#include <string_view>
#include <utility>
#include <vector>

#include "halyard/pipeline_stages.h"
#include "interrupt.h"
#include "report.h"

namespace halyard::tool {
namespace {

class Run {
 public:
  Run(const RunParts& parts, std::size_t in_flight) : parts_(parts), records_(in_flight) {}
  Result<Outcome> execute();

 private:
  Result<std::optional<Frame>> read();
  PipelineOptions options();
  PipelineStage stage(const char* name, StageOrder order, Status (Run::*run)(PipelineFrame&));
  Status record(PipelineFrame& frame);
  Status deliver(PipelineFrame& frame);
  void print(const FrameRecord& record);
  void show_status(const FrameRecord& record);
  Status fail(const std::string& what, const Error& error);

  const RunParts& parts_;
  std::vector<FrameRecord> records_;  ///< by lane
  const bool is_single_ = parts_.inputs.is_single_image();
  Outcome outcome_;
  const Pipeline* pipeline_ = nullptr;
  std::chrono::steady_clock::time_point shown_{};
};

Result<Outcome> Run::execute() {
  const InterruptGuard guard;
  PipelineOptions wanted = options();
  if (!parts_.publish.empty()) {
    HALYARD_TRY(auto publishing, topic_stage(parts_.publish, wanted.models));
    wanted.stages.insert(wanted.stages.end() - 1, std::move(publishing));
  }
  HALYARD_TRY(auto pipeline, Pipeline::create(std::move(wanted)));
  pipeline_ = &pipeline;
  HALYARD_RETURN_IF_ERROR(pipeline.start());
  // What deliver() has not reported is the end of the video.
  if (const Status ended = pipeline.wait(); !ended && !outcome_.has_failed)
    (void)fail("--out " + parts_.out, ended.error());
  outcome_.was_interrupted = InterruptGuard::is_requested();
  return outcome_;
}

// A read that Ctrl-C has ended is not a damaged input.
Result<std::optional<Frame>> Run::read() {
  while (!InterruptGuard::is_requested()) {
    auto frame = parts_.inputs.next();
    if (frame) return frame;
    if (InterruptGuard::is_requested()) break;
    report(parts_.inputs.current(), frame.error());
    ++outcome_.damaged;
  }
  return std::optional<Frame>();
}

PipelineStage Run::stage(const char* name, StageOrder order, Status (Run::*run)(PipelineFrame&)) {
  PipelineStage out;
  out.name = name;
  out.order = order;
  out.run = [this, run](PipelineFrame& frame) { return (this->*run)(frame); };
  return out;
}

PipelineOptions Run::options() {
  PipelineOptions out;
  PipelineSource& source = out.sources.emplace_back();
  source.name = "inputs";
  source.next = [this] { return read(); };
  source.is_live = parts_.inputs.is_live();
  out.on_overload = parts_.on_overload;
  out.models.push_back(parts_.model);
  out.tracker = parts_.tracker;
  out.in_flight = records_.size();
  out.stages.push_back(stage("runs", StageOrder::any_order, &Run::record));
  for (PipelineStage& drawing : parts_.annotator.stages())
    out.stages.push_back(std::move(drawing));
  PipelineStage& last =
      out.stages.emplace_back(stage("results", StageOrder::in_order, &Run::deliver));
  last.sees_failed = true;
  last.stops_run = true;
  return out;
}

// The masks' runs take long, so that frames make them side by side.
Status Run::record(PipelineFrame& frame) {
  return make_record(frame, 0, parts_.record, records_[frame.lane]);
}

Status Run::fail(const std::string& what, const Error& error) {
  outcome_.has_failed = true;
  report(what, error);
  return error;
}

Status Run::deliver(PipelineFrame& frame) {
  if (frame.error) {
    const bool is_written = std::string_view(frame.failed_stage) == "write";
    return fail(is_written ? "--out" : frame.frame.source, *frame.error);
  }
  FrameRecord& record = records_[frame.lane];
  fill_times(frame, record);
  for (const auto& [option, writer] : parts_.results.entries())
    if (const Status written = writer->add(record); !written) return fail(option, written.error());
  ++outcome_.frames;
  parts_.stats.add(record);
  if (parts_.prints_lines) print(record);
  parts_.is_live ? show_status(record) : parts_.progress.update(outcome_.frames);
  if (const Status printed = stdout_status(); !printed)
    return fail("standard output", printed.error());
  return {};
}

// "  latency 41 ms  dropped 3  8 boat, 2 buoy".
void Run::show_status(const FrameRecord& record) {
  const auto now = std::chrono::steady_clock::now();
  if (now - shown_ < std::chrono::milliseconds(100)) return;
  shown_ = now;
  const PipelineStats stats = pipeline_->stats();
  const auto latency = std::chrono::duration<double, std::milli>(stats.latency.p50);
  const std::string summary = summary_line(record, parts_.model.labels);
  parts_.progress.update(
      outcome_.frames, fmt::format("  latency {:.0f} ms  dropped {}  {}", latency.count(),
                                   stats.sources[0].dropped, summary.substr(record.source.size())));
}

void Run::print(const FrameRecord& record) {
  parts_.progress.clear();
  print_line(summary_line(record, parts_.model.labels));
  if (is_single_)
    for (const FrameObject& object : record.objects)
      print_line(detail_line(object, parts_.model.labels));
}

}  // namespace

Result<Outcome> run_frames(const RunParts& parts, std::size_t in_flight) {
  return Run(parts, in_flight).execute();
}

}  // namespace halyard::tool
