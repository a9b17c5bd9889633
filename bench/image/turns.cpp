// SPDX-License-Identifier: Apache-2.0
// Medians over rounds, and threads that wait for work.
#include "turns.h"

#include <algorithm>
#include <atomic>
#include <ctime>
#include <thread>

namespace halyard::bench {
namespace {

constexpr double turn_seconds = 0.004;
constexpr int max_calls = 20'000;

clockid_t used_clock = CLOCK_MONOTONIC;

double now() {
  timespec time{};
  ::clock_gettime(used_clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double seconds_of(const Contender& contender, int calls) {
  const double start = now();
  for (int i = 0; i < calls; ++i)
    contender.work();
  return (now() - start) / calls;
}

// The number of calls that fill a turn, from one call after a warm-up.
int calls_of(const Contender& contender) {
  seconds_of(contender, 2);
  const double one = seconds_of(contender, 1);
  return std::clamp(static_cast<int>(turn_seconds / std::max(one, 1e-9)), 1, max_calls);
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

void count_processor_time() {
  used_clock = CLOCK_PROCESS_CPUTIME_ID;
}

void in_turns(benchmark::State& state, const std::vector<Contender>& contenders) {
  std::vector<int> calls;
  for (const Contender& contender : contenders)
    calls.push_back(calls_of(contender));
  std::vector<std::vector<double>> seconds(contenders.size());
  for (auto _ : state) {
    for (std::size_t i = 0; i < contenders.size(); ++i)
      seconds[i].push_back(seconds_of(contenders[i], calls[i]));
    state.SetIterationTime(seconds[0].back());
  }
  const double first = median(seconds[0]);
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    const double mid = median(seconds[i]);
    state.counters[contenders[i].name + "_us"] = mid * 1e6;
    if (i > 0) state.counters[contenders[i].name + "/" + contenders[0].name] = mid / first;
  }
}

struct Crew::State {
  const std::function<void(unsigned)>* body = nullptr;
  std::atomic<unsigned> turn{0};
  std::atomic<unsigned> done{0};
  std::atomic<bool> ends{false};
  std::vector<std::thread> helpers;
};

Crew::Crew(unsigned threads) : threads_(threads), state_(std::make_unique<State>()) {
  for (unsigned i = 1; i < threads; ++i) {
    state_->helpers.emplace_back([state = state_.get(), i] {
      for (unsigned seen = 0;;) {
        const unsigned turn = state->turn.load(std::memory_order_acquire);
        if (state->ends.load(std::memory_order_relaxed)) return;
        if (turn == seen) {
          std::this_thread::yield();
          continue;
        }
        seen = turn;
        (*state->body)(i);
        state->done.fetch_add(1, std::memory_order_release);
      }
    });
  }
}

Crew::~Crew() {
  state_->ends.store(true, std::memory_order_relaxed);
  state_->turn.fetch_add(1, std::memory_order_release);
  for (std::thread& helper : state_->helpers)
    helper.join();
}

void Crew::run(const std::function<void(unsigned)>& body) {
  state_->body = &body;
  state_->done.store(0, std::memory_order_relaxed);
  state_->turn.fetch_add(1, std::memory_order_release);
  body(0);
  while (state_->done.load(std::memory_order_acquire) + 1 < threads_)
    std::this_thread::yield();
}

}  // namespace halyard::bench
