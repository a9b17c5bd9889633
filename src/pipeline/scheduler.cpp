// SPDX-License-Identifier: Apache-2.0
// One lock for all queues: it is held for some 100 ns a few times a frame.
#include "pipeline/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/system/fork.h"
#include "base/text/format_error.h"
#include "halyard/trace.h"

namespace halyard::pipeline {
namespace {

// A source may throw what the program threw into it.
Result<std::optional<Frame>> next_of(const PipelineSource& source) {
  try {
    return source.next();
  } catch (const std::bad_alloc&) {
    return fail(Errc::no_memory, "source: no memory for a frame");
  } catch (const std::exception& thrown) {
    return fail(Errc::device, "source: threw an exception", "{}", thrown.what());
  }
}

}  // namespace

Scheduler::Scheduler(Plan plan, std::vector<PipelineSource>& sources, std::size_t models)
    : plan_(std::move(plan)), queue_(sources.size(), plan_.queue_depth) {
  for (PipelineSource& source : sources) {
    Reader& reader = readers_.emplace_back();
    reader.source = &source;
    reader.stats.name = source.name;
  }
  for (std::size_t i = 0; i < plan_.lanes; ++i) {
    Lane& lane = *lanes_.emplace_back(std::make_unique<Lane>());
    lane.frame.lane = i;
    lane.frame.models.resize(models);
    lane.frame.times.reserve(32);
    free_.push_back(&lane);
  }
  ready_.reserve(plan_.lanes);
  delivered_.reserve(plan_.lanes);
  gates_.resize(plan_.steps.size() + 1);
  for (Gate& gate : gates_)
    gate.parked.resize(plan_.lanes);
}

Scheduler::~Scheduler() {
  request_end(true);
  wait();
}

Status Scheduler::start(std::vector<std::unique_ptr<GroupRunner>> runners) {
  const std::lock_guard joining(joining_);
  {
    const std::lock_guard lock(mutex_);
    if (has_started_) return fail(Errc::exists, "pipeline: was started before");
    has_started_ = true;
    started_ = Clock::now();
    open_sources_ = readers_.size();
  }
  threads_start();
  runners_ = std::move(runners);
  std::size_t readers = 0;
  try {
    threads_.reserve(runners_.size() + readers_.size());
    for (std::size_t i = 0; i < runners_.size(); ++i)
      threads_.emplace_back([this, i] { work(i, *runners_[i]); });
    for (; readers < readers_.size(); ++readers)
      threads_.emplace_back([this, readers] { read(readers); });
    return {};
  } catch (const std::system_error&) {
    const std::lock_guard lock(mutex_);
    open_sources_ -= readers_.size() - readers;
    has_no_worker_ = threads_.empty();
  }
  request_end(true);
  return fail(Errc::exhausted, "pipeline: the system starts no more threads", "{} are needed",
              runners_.size() + readers_.size());
}

void Scheduler::cancel_sources() noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(are_cancelled_, true)) return;
  }
  for (const Reader& reader : readers_)
    if (reader.source->cancel) reader.source->cancel();
}

void Scheduler::request_end(bool drops) noexcept {
  {
    Lock lock(mutex_);
    reads_no_more_ = true;
    if (drops) {
      is_dropping_ = true;
      while (!queue_.is_empty())
        drop_waiting(lock);
      while (!delivered_.empty()) {
        Lane* lane = delivered_.back();
        delivered_.pop_back();
        free_lane(lock, *lane);
      }
    }
    work_.notify_all();
    group_.notify_all();
    room_.notify_all();
  }
  cancel_sources();
}

void Scheduler::wait() {
  {
    Lock lock(mutex_);
    if (!has_started_) return;
    results_.wait(lock, [this] { return is_finished_ || has_no_worker_; });
  }
  const std::lock_guard joining(joining_);
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
  threads_.clear();
}

Result<Lane*> Scheduler::next(std::chrono::nanoseconds timeout) {
  Lock lock(mutex_);
  const auto is_there = [this] { return !delivered_.empty() || is_finished_; };
  if (timeout.count() < 0) {
    results_.wait(lock, is_there);
  } else if (!results_.wait_for(lock, timeout, is_there)) {
    return fail(Errc::timeout, "next: no frame within timeout");
  }
  if (delivered_.empty()) return static_cast<Lane*>(nullptr);
  Lane* lane = delivered_.front();
  delivered_.erase(delivered_.begin());
  return lane;
}

void Scheduler::give_back(std::size_t lane) noexcept {
  Lock lock(mutex_);
  free_lane(lock, *lanes_[lane]);
}

void Scheduler::free_lane(Lock& lock, Lane& lane) {
  lock.unlock();
  plan_.release(lane);
  lock.lock();
  free_.push_back(&lane);
  work_.notify_one();
  group_.notify_one();
}

void Scheduler::drop_waiting(Lock& lock) {
  WaitingFrame frame = queue_.pop();
  ++readers_[frame.source].stats.dropped;
  lock.unlock();
  frame = {};
  lock.lock();
}

void Scheduler::set_paused(bool is_paused) {
  const std::lock_guard lock(mutex_);
  is_paused_ = is_paused;
  room_.notify_all();
}

bool Scheduler::is_paused() const {
  const std::lock_guard lock(mutex_);
  return is_paused_;
}

bool Scheduler::is_dropping() const {
  const std::lock_guard lock(mutex_);
  return is_dropping_;
}

Scheduler::Counts Scheduler::counts() const {
  const std::lock_guard lock(mutex_);
  Counts out;
  for (const Reader& reader : readers_)
    out.sources.push_back(reader.stats);
  out.in_flight = on_their_way_;
  if (has_started_) out.elapsed = (is_finished_ ? finished_ : Clock::now()) - started_;
  return out;
}

bool Scheduler::wait_for_room(Lock& lock, std::size_t source) {
  const bool is_live = readers_[source].source->is_live;
  room_.wait(lock, [&] {
    if (reads_no_more_) return true;
    if (is_paused_) return is_live;
    return plan_.on_overload == OverloadPolicy::drop_oldest || queue_.has_room(source);
  });
  return !reads_no_more_;
}

void Scheduler::read(std::size_t source) {
  trace::set_thread_name(fmt::format("source {}", readers_[source].source->name));
  while (read_one(source)) {
  }
  const std::lock_guard lock(mutex_);
  readers_[source].stats.has_ended = true;
  --open_sources_;
  work_.notify_all();
  group_.notify_all();
}

bool Scheduler::read_one(std::size_t source) {
  Reader& reader = readers_[source];
  {
    Lock lock(mutex_);
    if (!wait_for_room(lock, source)) return false;
  }
  const auto start = Clock::now();
  auto got = [&] {
    const trace::Span span("pipeline.load");
    return next_of(*reader.source);
  }();
  if (!got) return count_error(source, got.error());
  if (!*got) return false;
  reader.errors_in_a_row = 0;
  const auto read = Clock::now();
  take(source, {**std::move(got), source, read, read - start});
  return true;
}

// An error that the end of the run has caused counts not.
bool Scheduler::count_error(std::size_t source, const Error& error) {
  Reader& reader = readers_[source];
  {
    const std::lock_guard lock(mutex_);
    if (reads_no_more_) return false;
    ++reader.stats.errors;
    reader.stats.last_error = error.message();
  }
  plan_.on_source_error(source, error);
  return ++reader.errors_in_a_row < plan_.max_source_errors;
}

void Scheduler::take(std::size_t source, WaitingFrame frame) {
  WaitingFrame dropped;  // its memory is freed without the lock
  const std::lock_guard lock(mutex_);
  SourceStats& stats = readers_[source].stats;
  ++stats.read;
  if (is_dropping_ || (is_paused_ && readers_[source].source->is_live)) {
    ++stats.dropped;
    dropped = std::move(frame);
    return;
  }
  if (!queue_.has_room(source)) {
    dropped = queue_.pop(source);
    ++stats.dropped;
  }
  queue_.push(std::move(frame));
  work_.notify_one();
  group_.notify_one();
}

bool Scheduler::can_begin() const {
  return !queue_.is_empty() && !free_.empty();
}

bool Scheduler::has_ended() const {
  return open_sources_ == 0 && queue_.is_empty() && on_their_way_ == 0;
}

void Scheduler::work(std::size_t number, GroupRunner& runner) {
  trace::set_thread_name(fmt::format("frames {}", number));
  std::vector<Lane*> group;
  group.reserve(plan_.max_group);
  Lock lock(mutex_);
  for (;;) {
    work_.wait(lock, [this] {
      return !ready_.empty() || can_begin() || (has_ended() && !is_finishing_) || is_finished_;
    });
    if (!ready_.empty()) {
      Lane* lane = ready_.front();
      ready_.erase(ready_.begin());
      lock.unlock();
      advance(*lane);
      lock.lock();
    } else if (can_begin()) {
      fill_group(lock, group);
      run_group(lock, group, runner);
    } else if (is_finished_) {
      return;
    } else if (has_ended() && !is_finishing_) {
      finish(lock);
    }
  }
}

void Scheduler::finish(Lock& lock) {
  is_finishing_ = true;
  lock.unlock();
  plan_.finish();
  lock.lock();
  finished_ = Clock::now();
  is_finished_ = true;
  work_.notify_all();
  results_.notify_all();
}

// The frame whose turn it is gets a lane and an ordinal.
Lane* Scheduler::begin() {
  WaitingFrame waiting = queue_.pop();
  room_.notify_all();
  Lane& lane = *free_.back();
  free_.pop_back();
  ++on_their_way_;
  lane.skips_networks =
      plan_.on_overload == OverloadPolicy::skip_inference && in_networks_ >= plan_.in_flight;
  if (!lane.skips_networks) ++in_networks_;
  if (lane.skips_networks) ++readers_[waiting.source].stats.skipped;
  lane.begin(std::move(waiting), next_ordinal_++);
  return &lane;
}

void Scheduler::fill_group(Lock& lock, std::vector<Lane*>& group) {
  group.assign(1, begin());
  if (group[0]->skips_networks) return;
  const auto deadline = Clock::now() + plan_.group_wait;
  while (group.size() < plan_.max_group) {
    if (can_begin() &&
        (plan_.on_overload != OverloadPolicy::skip_inference || in_networks_ < plan_.in_flight)) {
      group.push_back(begin());
      continue;
    }
    if (plan_.group_wait.count() == 0 || open_sources_ == 0 || reads_no_more_) return;
    group_.wait_until(lock, deadline);
    if (Clock::now() >= deadline && !can_begin()) return;
  }
}

void Scheduler::run_group(Lock& lock, std::vector<Lane*>& group, GroupRunner& runner) {
  const bool is_dropping = is_dropping_;
  lock.unlock();
  if (!is_dropping) runner.run(group);
  lock.lock();
  if (!group[0]->skips_networks) in_networks_ -= group.size();
  for (std::size_t i = 1; i < group.size(); ++i) {
    ready_.push_back(group[i]);
    work_.notify_one();
  }
  lock.unlock();
  advance(*group[0]);
  lock.lock();
}

bool Scheduler::enter(std::size_t gate, Lane& lane) {
  const std::lock_guard lock(mutex_);
  if (gates_[gate].next == lane.frame.ordinal) return true;
  gates_[gate].parked[lane.frame.ordinal % lanes_.size()] = &lane;
  return false;
}

void Scheduler::leave(std::size_t gate) {
  const std::lock_guard lock(mutex_);
  Gate& passed = gates_[gate];
  Lane*& parked = passed.parked[++passed.next % lanes_.size()];
  if (parked == nullptr || parked->frame.ordinal != passed.next) return;
  ready_.push_back(std::exchange(parked, nullptr));
  work_.notify_one();
}

void Scheduler::advance(Lane& lane) {
  for (; lane.next_step < plan_.steps.size(); ++lane.next_step) {
    const Step& step = plan_.steps[lane.next_step];
    const bool is_in_order = step.order == StageOrder::in_order;
    if (is_in_order && !enter(lane.next_step, lane)) return;
    if (!is_dropping()) step.run(lane);
    if (is_in_order) leave(lane.next_step);
  }
  if (enter(plan_.steps.size(), lane)) deliver(lane);
}

void Scheduler::deliver(Lane& lane) {
  plan_.end(lane);
  {
    Lock lock(mutex_);
    --on_their_way_;
    SourceStats& stats = readers_[lane.frame.source].stats;
    ++(is_dropping_ ? stats.dropped : stats.delivered);
    if (lane.frame.error) ++stats.failed;
    if (plan_.has_results && !is_dropping_) {
      delivered_.push_back(&lane);
      results_.notify_one();
    } else {
      free_lane(lock, lane);
    }
    if (has_ended()) work_.notify_all();
  }
  leave(plan_.steps.size());
}

}  // namespace halyard::pipeline
