// SPDX-License-Identifier: Apache-2.0
// A search in depth over states: memory, and for each thread the results of its steps.
#include "interleavings.h"

#include <unordered_set>

namespace halyard::test {
namespace {

struct Done {
  std::vector<std::uint64_t> results;
  std::size_t last_word = 0;  ///< of the last step
  bool has_ended = false;
  bool is_paused = false;  ///< until that word is not as the step left it
  std::uint64_t paused_on = 0;
};

struct State {
  std::vector<std::uint64_t> memory;
  std::vector<Done> threads;
};

struct Suspended {};
struct Broken {
  const char* promise;
};

std::vector<std::uint64_t> initial;

// The step that is being done.
State* state = nullptr;
std::size_t current = 0;  ///< the thread
std::size_t position = 0;
bool has_stepped = false;
std::string told;

std::string key_of(const State& of) {
  std::string key;
  const auto add = [&key](const std::vector<std::uint64_t>& values) {
    const std::uint64_t count = values.size();
    key.append(reinterpret_cast<const char*>(&count), sizeof(count));
    key.append(reinterpret_cast<const char*>(values.data()), count * sizeof(values[0]));
  };
  add(of.memory);
  for (const Done& thread : of.threads) {
    add(thread.results);
    key += thread.has_ended ? 'e' : thread.is_paused ? 'p' : '.';
  }
  return key;
}

class Search {
 public:
  Search(const std::vector<Interleavings::Thread>& threads, const std::function<void()>& at_end)
      : threads_(threads), at_end_(at_end) {}

  Interleavings::Report report;

  void visit(const State& from) {
    if (!report.failure.empty() || !seen_.insert(key_of(from)).second) return;
    ++report.states;
    bool is_stuck = true;
    bool has_ended = true;
    for (std::size_t t = 0; t < threads_.size(); ++t) {
      const Done& done = from.threads[t];
      if (done.has_ended) continue;
      has_ended = false;
      if (done.is_paused && from.memory[done.last_word] == done.paused_on) continue;
      is_stuck = false;
      follow(from, t);
      if (!report.failure.empty()) return;
    }
    if (has_ended)
      end(from);
    else if (is_stuck)
      fail("some threads wait for ever");
  }

 private:
  void follow(const State& from, std::size_t thread) {
    State next = from;
    next.threads[thread].is_paused = false;
    path_.push_back({});
    const char* const broken = run(next, thread, threads_[thread]);
    path_.back() = std::to_string(thread) + ": " + told;
    if (broken != nullptr) fail(broken);
    visit(next);
    path_.pop_back();
  }

  void end(const State& from) {
    ++report.ends;
    State last = from;
    last.threads.push_back({});
    const auto free_steps = [this, &last] {
      for (;;) {  // each call does one step more
        if (run(last, last.threads.size() - 1, at_end_) != nullptr) return true;
        if (last.threads.back().has_ended) return false;
      }
    };
    if (free_steps()) fail("a promise about the end");
  }

  // The promise that was broken, or null.
  static const char* run(State& in, std::size_t thread, const std::function<void()>& body) {
    state = &in;
    current = thread;
    position = 0;
    has_stepped = false;
    told = "ends";
    const char* broken = nullptr;
    try {
      body();
      in.threads[thread].has_ended = true;
    } catch (const Suspended&) {
    } catch (const Broken& promise) {
      broken = promise.promise;
    }
    state = nullptr;
    return broken;
  }

  void fail(const char* why) {
    if (!report.failure.empty()) return;
    report.failure = why;
    for (const std::string& step : path_)
      report.failure += "\n  " + step;
  }

  const std::vector<Interleavings::Thread>& threads_;
  const std::function<void()>& at_end_;
  std::unordered_set<std::string> seen_;
  std::vector<std::string> path_;
};

}  // namespace

Interleavings::Report Interleavings::run(const std::vector<Thread>& threads,
                                         const std::function<void()>& at_end) {
  Search search(threads, at_end);
  search.visit({initial, std::vector<Done>(threads.size())});
  return search.report;
}

std::size_t Interleavings::add_word(std::uint64_t value) {
  initial.push_back(value);
  return initial.size() - 1;
}

void Interleavings::clear() {
  initial.clear();
}

std::uint64_t Interleavings::step(std::size_t word, const char* what,
                                  const std::function<std::uint64_t(std::uint64_t&)>& change) {
  std::vector<std::uint64_t>& results = state->threads[current].results;
  if (position < results.size()) return results[position++];
  if (has_stepped) throw Suspended();
  has_stepped = true;
  results.push_back(change(state->memory[word]));
  state->threads[current].last_word = word;
  state->threads[current].paused_on = state->memory[word];
  told =
      std::string(what) + " word " + std::to_string(word) + " = " + std::to_string(results.back());
  ++position;
  return results.back();
}

void Interleavings::pause() {
  Done& thread = state->threads[current];
  if (position < thread.results.size()) {
    ++position;
    return;
  }
  if (has_stepped) throw Suspended();
  has_stepped = true;
  thread.results.push_back(0);
  ++position;
  thread.is_paused = true;
  told = "pause";
  throw Suspended();
}

void Interleavings::must(bool holds, const char* promise) {
  if (!holds) throw Broken{promise};
}

}  // namespace halyard::test
