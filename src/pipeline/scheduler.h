// SPDX-License-Identifier: Apache-2.0
// Scheduler: threads that read the sources and threads that take frames through all steps.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "base/ranked_condition.h"
#include "base/system/ranked_mutex.h"
#include "halyard/pipeline.h"
#include "pipeline/frame_queue.h"
#include "pipeline/lane.h"

namespace halyard::pipeline {

/// A step after the networks.
struct Step {
  StageOrder order = StageOrder::in_order;
  std::function<void(Lane&)> run;
};

/// Runs on one worker thread, which owns it.
class GroupRunner {
 public:
  virtual ~GroupRunner() = default;
  /// Runs all networks on the frames of a group, 1..Plan::max_group of them.
  virtual void run(std::span<Lane* const> lanes) = 0;
};

/// Thread-safe, except create and start. A frame gets an ordinal when it leaves its queue; each
/// in-order step lets ordinals pass one by one. A lane that comes too early is parked, and the
/// worker that lets its predecessor pass makes it ready.
class Scheduler {
 public:
  /// All functions are called with the scheduler unlocked, and do not throw.
  struct Plan {
    OverloadPolicy on_overload = OverloadPolicy::wait;
    std::size_t in_flight = 4;
    std::size_t lanes = 4;
    std::size_t queue_depth = 1;
    std::size_t max_group = 1;                ///< frames that the networks take at once
    std::chrono::microseconds group_wait{0};  ///< for max_group frames
    std::size_t max_source_errors = 100;
    bool has_results = false;
    std::vector<Step> steps;
    /// The last step of each frame, in order.
    std::function<void(Lane&)> end;
    /// Frees what the frame holds of others, before the lane is used again.
    std::function<void(Lane&)> release;
    /// After the last frame, once.
    std::function<void()> finish;
    std::function<void(std::size_t source, const Error&)> on_source_error;
  };

  Scheduler(Plan plan, std::vector<PipelineSource>& sources, std::size_t models);
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  ~Scheduler();

  /// One runner for each lane. Errors: exists, exhausted.
  Status start(std::vector<std::unique_ptr<GroupRunner>> runners);
  /// Sources are read no more; `drops`: frames pass their steps without running them.
  void request_end(bool drops) noexcept;
  /// Waits for the end and joins the threads.
  void wait();
  /// Null at the end. Errors: timeout.
  Result<Lane*> next(std::chrono::nanoseconds timeout);
  /// Requires a lane that next() returned.
  void give_back(std::size_t lane) noexcept;
  void set_paused(bool is_paused);
  bool is_paused() const;
  std::size_t lanes() const noexcept { return lanes_.size(); }

  struct Counts {
    std::vector<SourceStats> sources;
    std::size_t in_flight = 0;
    std::chrono::nanoseconds elapsed{0};
  };
  Counts counts() const;
  bool is_dropping() const;

 private:
  struct Gate {
    std::uint64_t next = 0;  ///< the ordinal that may pass
    std::vector<Lane*> parked;
  };
  struct Reader {
    PipelineSource* source = nullptr;
    SourceStats stats;
    std::size_t errors_in_a_row = 0;
  };
  using Lock = std::unique_lock<RankedMutex<LockRank::leaf>>;

  // Of a reader's thread.
  void read(std::size_t source);
  bool wait_for_room(Lock& lock, std::size_t source);
  bool read_one(std::size_t source);
  bool count_error(std::size_t source, const Error& error);
  void take(std::size_t source, WaitingFrame frame);
  // Of a worker's thread.
  void work(std::size_t number, GroupRunner& runner);
  bool can_begin() const;
  void fill_group(Lock& lock, std::vector<Lane*>& group);
  Lane* begin();
  void run_group(Lock& lock, std::vector<Lane*>& group, GroupRunner& runner);
  void advance(Lane& lane);
  bool enter(std::size_t gate, Lane& lane);
  void leave(std::size_t gate);
  void deliver(Lane& lane);
  void finish(Lock& lock);

  bool has_ended() const;
  // Both free memory without the lock: the program's may wait for a thread that needs the lock.
  void free_lane(Lock& lock, Lane& lane);
  void drop_waiting(Lock& lock);
  void cancel_sources() noexcept;

  Plan plan_;
  std::vector<Reader> readers_;
  std::vector<std::unique_ptr<Lane>> lanes_;

  mutable RankedMutex<LockRank::leaf> mutex_;
  RankedCondition work_;     ///< for workers
  RankedCondition group_;    ///< for workers that wait for a group's other frames
  RankedCondition room_;     ///< for readers
  RankedCondition results_;  ///< for next() and wait()
  FrameQueue queue_;
  std::vector<Lane*> free_;
  std::vector<Lane*> ready_;
  std::vector<Gate> gates_;       ///< as the steps; one more for the end
  std::vector<Lane*> delivered_;  ///< for next(), oldest first
  std::uint64_t next_ordinal_ = 0;
  std::size_t on_their_way_ = 0;  ///< frames between the queues and the end
  std::size_t in_networks_ = 0;
  std::size_t open_sources_ = 0;
  bool are_cancelled_ = false;
  bool has_no_worker_ = false;  ///< a start that failed
  bool has_started_ = false;
  bool reads_no_more_ = false;
  bool is_dropping_ = false;
  bool is_paused_ = false;
  bool is_finishing_ = false;
  bool is_finished_ = false;
  Clock::time_point started_;
  Clock::time_point finished_;
  std::vector<std::unique_ptr<GroupRunner>> runners_;
  std::vector<std::thread> threads_;
  RankedMutex<LockRank::pipeline_threads> joining_;
};

}  // namespace halyard::pipeline
