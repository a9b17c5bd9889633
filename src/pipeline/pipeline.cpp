// SPDX-License-Identifier: Apache-2.0
// The steps of the scheduler: tracking, then the program's stages. The state lives as long as the
// pipeline and all results that were taken.
#include "halyard/pipeline.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <new>
#include <utility>

#include "base/local.h"
#include "base/system/ranked_mutex.h"
#include "base/text/format_error.h"
#include "halyard/threads.h"
#include "halyard/trace.h"
#include "pipeline/network_runner.h"
#include "pipeline/pipeline_checks.h"
#include "pipeline/scheduler.h"
#include "pipeline/stage_record.h"
#include "pipeline/trackers.h"

namespace halyard {

using pipeline::Clock;
using pipeline::Lane;
using pipeline::NetworkRunner;
using pipeline::Scheduler;
using pipeline::StageRecord;

namespace {

// What a stage of the program throws becomes the frame's error.
template <class Call>
Status call_stage(const Call& call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return fail(Errc::no_memory, "stage: no memory");
  } catch (const std::exception& thrown) {
    return fail(Errc::device, "stage: threw an exception", "{}", thrown.what());
  }
}

class WorkerNetworks final : public pipeline::GroupRunner {
 public:
  explicit WorkerNetworks(NetworkRunner runner) : runner_(std::move(runner)) {}
  void run(std::span<Lane* const> lanes) override {
    const Status done = call_stage([&]() -> Status { return runner_.run(lanes), Status(); });
    for (Lane* lane : lanes)
      if (!done) lane->fail("model", done.error());
  }

 private:
  NetworkRunner runner_;
};

}  // namespace

struct HALYARD_LOCAL Pipeline::State {
  explicit State(PipelineOptions given)
      : options(std::move(given)), decoders(options.models), copies_before(copy_stats()) {}

  Status prepare();
  Scheduler::Plan plan();
  void add_steps(std::vector<pipeline::Step>& steps);
  void track(Lane& lane);
  void run_stage(std::size_t index, Lane& lane);
  void end(Lane& lane);
  void release(Lane& lane) const;
  void finish();
  void keep_error(const Error& error);
  void report(std::string_view what, const Error& error) const;
  Result<std::vector<std::unique_ptr<pipeline::GroupRunner>>> make_runners();
  /// The first error that ends the run.
  Status status() const;

  PipelineOptions options;
  pipeline::Decoders decoders;
  pipeline::NetworkRecords networks;
  StageRecord load{"load"}, tracking{"track"}, latency{"latency"};
  std::vector<std::unique_ptr<StageRecord>> stages;
  std::optional<pipeline::Trackers> trackers;
  std::vector<std::unique_ptr<pipeline::GroupRunner>> runners;
  CopyStats copies_before;
  std::uint32_t generation = fork_generation();
  mutable RankedMutex<LockRank::leaf> mutex;
  Status first_error;  ///< guarded by `mutex`
  std::optional<Scheduler> scheduler;
};

Status Pipeline::State::prepare() {
  HALYARD_TRY(trackers, pipeline::Trackers::create(options.tracker, options.sources.size(),
                                                   options.models.size()));
  for (const PipelineStage& stage : options.stages)
    stages.push_back(std::make_unique<StageRecord>(stage.name));
  scheduler.emplace(plan(), options.sources, options.models.size());
  HALYARD_TRY(runners, make_runners());
  return {};
}

Scheduler::Plan Pipeline::State::plan() {
  Scheduler::Plan out;
  out.on_overload = options.on_overload;
  out.in_flight = options.in_flight;
  out.lanes = options.on_overload == OverloadPolicy::skip_inference ? 2 * options.in_flight
                                                                    : options.in_flight;
  out.queue_depth = options.queue_depth;
  out.max_source_errors = options.max_source_errors;
  out.has_results = options.has_results;
  for (const PipelineModel& model : options.models) {
    if (model.tiles) continue;
    out.max_group = std::max(out.max_group, pipeline::batch_size(model));
    out.group_wait = std::max(out.group_wait, model.batch_wait);
  }
  out.max_group = std::min(out.max_group, options.in_flight);
  add_steps(out.steps);
  out.end = [this](Lane& lane) { end(lane); };
  out.release = [this](Lane& lane) { release(lane); };
  out.finish = [this] { finish(); };
  out.on_source_error = [this](std::size_t source, const Error& error) {
    load.errors.fetch_add(1, std::memory_order_relaxed);
    report(options.sources[source].name, error);
  };
  return out;
}

void Pipeline::State::add_steps(std::vector<pipeline::Step>& steps) {
  if (!trackers->is_empty())
    steps.push_back({StageOrder::in_order, [this](Lane& lane) { track(lane); }});
  for (std::size_t i = 0; i < options.stages.size(); ++i)
    steps.push_back({options.stages[i].order, [this, i](Lane& lane) { run_stage(i, lane); }});
}

Result<std::vector<std::unique_ptr<pipeline::GroupRunner>>> Pipeline::State::make_runners() {
  std::vector<std::unique_ptr<pipeline::GroupRunner>> out;
  const NetworkRunner::Shared shared{options.models, decoders, networks, scheduler->lanes() == 1};
  for (std::size_t i = 0; i < scheduler->lanes(); ++i) {
    HALYARD_TRY(auto runner, NetworkRunner::create(shared));
    out.push_back(std::make_unique<WorkerNetworks>(std::move(runner)));
  }
  return out;
}

void Pipeline::State::track(Lane& lane) {
  const trace::Span span("pipeline.track");
  std::chrono::nanoseconds spent{0};
  Status done;
  {
    const pipeline::LaneTimer timer(lane, tracking.name, spent);
    done = call_stage([&] { return trackers->update(lane.frame); });
  }
  tracking.times.add(spent);
  if (done) return;
  tracking.errors.fetch_add(1, std::memory_order_relaxed);
  lane.fail(tracking.name, done.error());
}

void Pipeline::State::run_stage(std::size_t index, Lane& lane) {
  const PipelineStage& stage = options.stages[index];
  if (lane.frame.error && !stage.sees_failed) return;
  const trace::Span span(stage.name);
  StageRecord& record = *stages[index];
  std::chrono::nanoseconds spent{0};
  Status done;
  {
    const pipeline::LaneTimer timer(lane, stage.name, spent);
    done = call_stage([&] { return stage.run(lane.frame); });
  }
  record.times.add(spent);
  if (done) return;
  record.errors.fetch_add(1, std::memory_order_relaxed);
  lane.fail(stage.name, done.error());
  if (!stage.stops_run) return;
  keep_error(done.error());
  scheduler->request_end(true);
}

void Pipeline::State::end(Lane& lane) {
  load.times.add(lane.load);
  latency.times.add(Clock::now() - lane.frame.read);
  if (!lane.frame.error) return;
  latency.errors.fetch_add(1, std::memory_order_relaxed);
  report(fmt::format("{} of {} {}", lane.frame.failed_stage, lane.frame.frame.source,
                     lane.frame.frame.index),
         *lane.frame.error);
}

// Memory of others: of the source, the engine.
void Pipeline::State::release(Lane& lane) const {
  lane.frame.frame.image = {};
  lane.frame.drawn = {};
  for (ModelResult& result : lane.frame.models)
    result.decoded.masks.prototypes = {};
}

void Pipeline::State::finish() {
  if (!status()) return;
  for (const PipelineStage& stage : options.stages) {
    if (!stage.finish) continue;
    const Status done = call_stage(stage.finish);
    if (done) continue;
    keep_error(done.error());
    report(stage.name, done.error());
  }
}

void Pipeline::State::keep_error(const Error& error) {
  const std::lock_guard lock(mutex);
  if (first_error) first_error = error;
}

Status Pipeline::State::status() const {
  const std::lock_guard lock(mutex);
  return first_error;
}

void Pipeline::State::report(std::string_view what, const Error& error) const {
  if (!options.on_error) return;
  static_cast<void>(
      call_stage([&]() -> Status { return options.on_error(what, error), Status(); }));
}

namespace {

Status check_process(std::uint32_t generation) {
  if (generation == fork_generation()) return {};
  return fail(Errc::unsupported, "pipeline: belongs to the parent of this process");
}

}  // namespace

Pipeline::Pipeline(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}
Pipeline::Pipeline(Pipeline&&) noexcept = default;

Pipeline& Pipeline::operator=(Pipeline&& other) noexcept {
  if (this != &other) {
    const Pipeline old(std::exchange(state_, std::move(other.state_)));
  }
  return *this;
}

Pipeline::~Pipeline() {
  if (!state_) return;
  if (check_process(state_->generation)) {
    static_cast<void>(stop());
  } else {
    // Its threads are not in this process and cannot be joined: the memory stays.
    static_cast<void>(new std::shared_ptr<State>(std::move(state_)));
  }
}

Result<Pipeline> Pipeline::create(PipelineOptions options) {
  HALYARD_RETURN_IF_ERROR(pipeline::check_options(options));
  auto state = std::make_shared<State>(std::move(options));
  HALYARD_RETURN_IF_ERROR(state->prepare());
  return Pipeline(std::move(state));
}

Status Pipeline::start() {
  HALYARD_RETURN_IF_ERROR(check_process(state_->generation));
  state_->copies_before = copy_stats();
  return state_->scheduler->start(std::move(state_->runners));
}

Status Pipeline::wait() {
  HALYARD_RETURN_IF_ERROR(check_process(state_->generation));
  state_->scheduler->wait();
  return state_->status();
}

Status Pipeline::drain() {
  HALYARD_RETURN_IF_ERROR(check_process(state_->generation));
  state_->scheduler->request_end(false);
  return wait();
}

Status Pipeline::stop() {
  HALYARD_RETURN_IF_ERROR(check_process(state_->generation));
  state_->scheduler->request_end(true);
  return wait();
}

void Pipeline::request_drain() noexcept {
  if (check_process(state_->generation)) state_->scheduler->request_end(false);
}

Result<std::optional<Pipeline::Taken>> Pipeline::next(std::chrono::nanoseconds timeout) {
  HALYARD_RETURN_IF_ERROR(check_process(state_->generation));
  if (!state_->options.has_results)
    return fail(Errc::invalid_argument, "next: needs PipelineOptions::has_results");
  HALYARD_TRY(Lane* const lane, state_->scheduler->next(timeout));
  if (lane == nullptr) return std::optional<Taken>();
  return std::optional<Taken>(Taken(state_, &lane->frame));
}

void Pipeline::set_paused(bool is_paused) {
  if (check_process(state_->generation)) state_->scheduler->set_paused(is_paused);
}

bool Pipeline::is_paused() const noexcept {
  return check_process(state_->generation) && state_->scheduler->is_paused();
}

Status Pipeline::set_decode_options(std::size_t model, const DecodeOptions& options) {
  HALYARD_RETURN_IF_ERROR(check_process(state_->generation));
  return state_->decoders.set_options(model, options);
}

std::size_t Pipeline::lanes() const noexcept {
  return state_->scheduler->lanes();
}

PipelineStats Pipeline::stats() const {
  PipelineStats out;
  if (!check_process(state_->generation)) return out;
  auto counts = state_->scheduler->counts();
  out.sources = std::move(counts.sources);
  out.in_flight = counts.in_flight;
  out.elapsed = counts.elapsed;
  const pipeline::NetworkRecords& networks = state_->networks;
  const State& state = *state_;
  for (const StageRecord* record :
       {&state.load, &networks.convert, &networks.model, &networks.decode, &state.tracking})
    out.stages.push_back(record->stats());
  for (const auto& record : state_->stages)
    out.stages.push_back(record->stats());
  out.latency = state_->latency.stats();
  out.detections = networks.detections.load(std::memory_order_relaxed);
  const CopyStats now = copy_stats();
  out.copies = {now.copies - state_->copies_before.copies, now.bytes - state_->copies_before.bytes};
  return out;
}

Pipeline::Taken::Taken(std::shared_ptr<State> state, PipelineFrame* frame) noexcept
    : state_(std::move(state)), frame_(frame), lane_(frame->lane) {}
Pipeline::Taken::Taken(Taken&& other) noexcept
    : state_(std::move(other.state_)),
      frame_(std::exchange(other.frame_, nullptr)),
      lane_(other.lane_) {}

Pipeline::Taken& Pipeline::Taken::operator=(Taken&& other) noexcept {
  if (this == &other) return *this;
  const Taken old(std::move(*this));
  state_ = std::move(other.state_);
  frame_ = std::exchange(other.frame_, nullptr);
  lane_ = other.lane_;
  return *this;
}

Pipeline::Taken::~Taken() {
  if (frame_ == nullptr) return;
  if (check_process(state_->generation)) {
    state_->scheduler->give_back(lane_);
  } else {
    static_cast<void>(new std::shared_ptr<State>(std::move(state_)));
  }
}

}  // namespace halyard
