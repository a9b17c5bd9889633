// SPDX-License-Identifier: Apache-2.0
// Times several contenders for one piece of work in turn, so that noise of the machine affects all.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace halyard::bench {

/// A name as in the results ("ours", "libyuv", ...) and a call that does the work once.
/// The call owns what it needs.
struct Contender {
  std::string name;
  std::function<void()> work;
};

/// Each round times every contender once, over as many calls as fill about 4 ms. Counters: the
/// median of each contender in microseconds, `NAME_us`, and for all but the first (which gives the
/// benchmark's own time) `NAME/FIRST`: above 1, the first one is faster.
void in_turns(benchmark::State& state, const std::vector<Contender>& contenders);

/// From now on in_turns() counts processor time: for one thread on a machine with other work.
void count_processor_time();

/// Threads that wait for work without sleeping: for floors, which must not include waking up.
class Crew {
 public:
  explicit Crew(unsigned threads);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  unsigned threads() const noexcept { return threads_; }
  /// body(0), ..., body(threads - 1) at once, the first one here.
  void run(const std::function<void(unsigned)>& body);

 private:
  struct State;
  unsigned threads_;
  std::unique_ptr<State> state_;
};

}  // namespace halyard::bench
