// SPDX-License-Identifier: Apache-2.0
// The measurement in every program of this folder: processes, samples, JSON (README.md).
#pragma once

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <initializer_list>
#include <new>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "clock.h"

namespace halyard::bench {

inline void expect(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

/// Set if two processes share one processor: a polling one must yield.
inline bool polling_yields = false;

inline void relax() noexcept {
  if (polling_yields) sched_yield();
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

template <class Condition>
void poll_until(Condition holds) {
  while (!holds())
    relax();
}

/// `count` values in memory that forked processes share, zeroed, with its pages present.
template <class T>
class Shared {
 public:
  explicit Shared(std::size_t count = 1) : bytes_(count * sizeof(T)) {
    data_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE,
                 -1, 0);
    if (data_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~Shared() { munmap(data_, bytes_); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  T* get() const noexcept { return static_cast<T*>(data_); }
  T& operator[](std::size_t i) const noexcept { return get()[i]; }
  T* operator->() const noexcept { return get(); }

 private:
  std::size_t bytes_;
  void* data_;
};

/// A number alone in its cache line.
struct alignas(64) Line {
  std::atomic<std::uint64_t> value;
};

/// A barrier for two processes, which can be used any number of times.
class Meeting {
 public:
  void meet() const {
    const std::uint64_t mine = line_->value.fetch_add(1) + 1;
    const std::uint64_t both = mine + mine % 2;
    while (line_->value.load() < both)
      usleep(200);
  }

 private:
  Shared<Line> line_;
};

/// Readings of the clock, or differences of them, that one process takes and its parent reports;
/// with the events by which the kernel disturbed that process.
class Series {
 public:
  explicit Series(std::size_t capacity) : capacity_(capacity), ticks_(capacity) {}
  /// Makes the pages present in this process, so that no page fault comes between samples.
  void touch() {
    for (std::size_t i = 0; i < capacity_; i += 256)
      static_cast<volatile std::uint64_t&>(ticks_[i]) = 0;
  }
  /// Drops the samples taken so far.
  void begin() {
    head_->count = 0;
    head_->faults = -usage().ru_minflt;
    head_->preempted = -usage().ru_nivcsw;
  }
  void add(std::uint64_t value) noexcept {
    if (head_->count < capacity_) ticks_[head_->count++] = value;
  }
  void end() {
    head_->faults += usage().ru_minflt;
    head_->preempted += usage().ru_nivcsw;
  }
  std::size_t count() const noexcept { return head_->count; }
  std::uint64_t operator[](std::size_t i) const noexcept { return ticks_[i]; }
  long faults() const noexcept { return head_->faults; }
  long preempted() const noexcept { return head_->preempted; }
  /// Converts times of arrival to times of transfer.
  void subtract(const Series& sent) {
    expect(sent.count() == count(), "sent and received differ in number");
    for (std::size_t i = 0; i < count(); ++i) {
      expect(ticks_[i] >= sent[i], "the processors' clocks differ");
      ticks_[i] -= sent[i];
    }
  }

 private:
  struct Head {
    std::size_t count;
    long faults, preempted;
  };
  static rusage usage() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return used;
  }
  std::size_t capacity_;
  Shared<Head> head_;
  Shared<std::uint64_t> ticks_;
};

/// Ends the warm-up, for all series of a process.
template <class... Each>
void begin(Each&... series) {
  (series.touch(), ...);
  (series.begin(), ...);
}

struct Options {
  std::vector<std::string> scenarios;  ///< Names, or prefixes before a `*`; empty: all.
  std::string samples;                 ///< File to which raw samples are added; empty: none.
  int cpus[2] = {-1, -1};
  double scale = 1;
};

/// Runs scenarios in processes of their own and prints each as one line of JSON.
class Bench {
 public:
  Bench(const char* program, Options options) : program_(program), options_(std::move(options)) {
    choose_cpus();
    clock_cost();
  }

  bool wants(const std::string& name) const {
    const auto& all = options_.scenarios;
    return all.empty() || std::any_of(all.begin(), all.end(), [&](const std::string& one) {
             if (one.empty() || one.back() != '*') return one == name;
             return name.compare(0, one.size() - 1, one, 0, one.size() - 1) == 0;
           });
  }

  std::size_t scaled(std::size_t count) const {
    return std::max<std::size_t>(
        10, static_cast<std::size_t>(static_cast<double>(count) * options_.scale));
  }

  /// One process for each, the first on the first processor; kills those that take much too long.
  void run(const std::function<void()>& first, const std::function<void()>& second = {}) {
    std::vector<pid_t> children{start(first, options_.cpus[0])};
    if (second) children.push_back(start(second, options_.cpus[1]));
    const double limit_s = 120 * std::max(1.0, options_.scale);
    const std::uint64_t deadline = monotonic_ns() + static_cast<std::uint64_t>(limit_s * 1e9);
    const char* failure = nullptr;
    while (!children.empty()) {
      int status = 0;
      const pid_t ended = waitpid(-1, &status, WNOHANG);
      if (ended > 0) {
        if (status != 0 && failure == nullptr) failure = "a process failed";
        std::erase(children, ended);
      } else if (failure == nullptr && monotonic_ns() > deadline) {
        failure = "not done in time";
      } else {
        usleep(1000);
      }
      if (failure == nullptr) continue;
      for (const pid_t child : children)
        kill(child, SIGKILL);
    }
    if (failure != nullptr) throw std::runtime_error(failure);
  }

  /// Prints percentiles of all samples, each divided by `parts` (2: half a round trip).
  void report(const std::string& scenario, const char* how, const Series& series, int parts = 1) {
    std::vector<double> ns(series.count());
    for (std::size_t i = 0; i < ns.size(); ++i)
      ns[i] = static_cast<double>(series[i]) * ns_per_tick() / parts;
    expect(!ns.empty(), "no samples");
    if (!options_.samples.empty()) save(scenario, how, ns);
    std::sort(ns.begin(), ns.end());
    const auto at = [&](std::size_t per_mille) {  // the nearest rank
      return ns[(ns.size() * per_mille + 999) / 1000 - 1];
    };
    std::printf(
        "{\"program\": \"%s\", \"scenario\": \"%s\", \"how\": \"%s\", \"unit\": \"ns\", "
        "\"count\": %zu, \"p50\": %.1f, \"p99\": %.1f, \"p99.9\": %.1f, \"max\": %.1f, "
        "\"mean\": %.1f, \"divided_by\": %d, \"clock\": \"%s\", \"clock_ns\": %.1f, "
        "\"clock_step_ns\": %.1f, \"cpus\": [%d, %d], \"pinned\": %s, \"faults\": %ld, "
        "\"preempted\": %ld}\n",
        program_, scenario.c_str(), how, ns.size(), at(500), at(990), at(999), at(1000),
        std::accumulate(ns.begin(), ns.end(), 0.0) / static_cast<double>(ns.size()), parts,
        counts_ticks ? "tsc" : "monotonic", clock_cost().reading, clock_cost().step,
        options_.cpus[0], options_.cpus[1], pinned_ ? "true" : "false", series.faults(),
        series.preempted());
    std::fflush(stdout);
  }

  struct Count {
    const char* name;
    std::uint64_t value;
  };
  /// Prints counts, for scenarios that do not measure time.
  void report_counts(const std::string& scenario, const char* how,
                     std::initializer_list<Count> counts) const {
    std::printf("{\"program\": \"%s\", \"scenario\": \"%s\", \"how\": \"%s\", \"unit\": \"count\"",
                program_, scenario.c_str(), how);
    for (const Count& count : counts)
      std::printf(", \"%s\": %llu", count.name, static_cast<unsigned long long>(count.value));
    std::puts("}");
    std::fflush(stdout);
  }

  /// Moves the calling thread to the first or the second processor.
  void pin(int which) const { pin_to(options_.cpus[which]); }

  /// Runs a scenario if it is selected, and prints an error instead of results if it fails.
  void scenario(const std::string& name, const char* how, const std::function<void()>& work) {
    if (!wants(name)) return;
    try {
      work();
    } catch (const std::exception& failure) {
      failed_ = true;
      std::printf(
          "{\"program\": \"%s\", \"scenario\": \"%s\", \"how\": \"%s\", \"error\": \"%s\"}\n",
          program_, name.c_str(), how, failure.what());
      std::fflush(stdout);
    }
  }

  int exit_code() const noexcept { return failed_ ? 1 : 0; }

 private:
  void choose_cpus() {
    cpu_set_t allowed;
    sched_getaffinity(0, sizeof allowed, &allowed);
    std::vector<int> found;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &allowed)) found.push_back(cpu);
    if (options_.cpus[0] < 0) options_.cpus[0] = found.front();
    if (options_.cpus[1] < 0) options_.cpus[1] = found.size() > 1 ? found[1] : found[0];
    polling_yields = options_.cpus[0] == options_.cpus[1];
    for (const int cpu : options_.cpus)
      pinned_ = pinned_ && cpu >= 0 && cpu < CPU_SETSIZE && CPU_ISSET(cpu, &allowed);
  }

  static void pin_to(int cpu) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
  }

  static pid_t start(const std::function<void()>& work, int cpu) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("fork failed");
    if (child > 0) return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pin_to(cpu);
    try {
      work();
    } catch (const std::exception& failure) {
      std::fprintf(stderr, "%s\n", failure.what());
      std::exit(1);
    }
    std::exit(0);
  }

  void save(const std::string& scenario, const char* how, const std::vector<double>& ns) const {
    std::FILE* const file = std::fopen(options_.samples.c_str(), "a");
    if (file == nullptr) throw std::runtime_error("cannot write " + options_.samples);
    std::fprintf(file, "{\"program\": \"%s\", \"scenario\": \"%s\", \"how\": \"%s\", \"ns\": [",
                 program_, scenario.c_str(), how);
    for (std::size_t i = 0; i < ns.size(); ++i)
      std::fprintf(file, i == 0 ? "%.1f" : ", %.1f", ns[i]);
    std::fputs("]}\n", file);
    std::fclose(file);
  }

  const char* program_;
  Options options_;
  bool pinned_ = true, failed_ = false;
};

/// Parses the arguments of all programs; ends the process on --help and on mistakes.
inline Options parse(int count, char** arguments, const char* what) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string flag = arguments[i];
    const char* const value = i + 1 < count ? arguments[i + 1] : nullptr;
    bool good = value != nullptr;
    if (flag == "--scenario" && good)
      options.scenarios.emplace_back(value);
    else if (flag == "--samples" && good)
      options.samples = value;
    else if (flag == "--scale" && good)
      good = (options.scale = std::atof(value)) > 0;
    else if (flag == "--cpus" && good)
      good = std::sscanf(value, "%d,%d", &options.cpus[0], &options.cpus[1]) == 2;
    else
      good = false;
    if (good) {
      ++i;
      continue;
    }
    const bool help = flag == "--help" || flag == "-h";
    std::fprintf(
        help ? stdout : stderr,
        "%s\n\n"
        "  --scenario NAME  one to run, or the beginning of names before a *; repeatable\n"
        "  --samples FILE   add the raw samples to this file, one line of JSON a scenario\n"
        "  --cpus A,B       processors of the two processes; without: the first two\n"
        "  --scale X        X times as many samples\n"
        "\nPrints one line of JSON a scenario: bench/ipc/README.md.\n",
        what);
    std::exit(help ? 0 : 2);
  }
  return options;
}

}  // namespace halyard::bench
