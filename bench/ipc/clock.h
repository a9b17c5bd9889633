// SPDX-License-Identifier: Apache-2.0
// The clock of all samples, and the cost of reading it.
#pragma once

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace halyard::bench {

inline std::uint64_t monotonic_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

/// Whether the processor's counter runs at a constant rate, whatever the processor does.
inline bool has_steady_counter() noexcept {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007U, &a, &b, &c, &d) != 0 && (d & 0x100U) != 0;
#else
  return false;
#endif
}

inline const bool counts_ticks = has_steady_counter();

/// The clock of all samples, the same in every process: the steady counter, fenced on both sides,
/// or CLOCK_MONOTONIC.
inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
  if (counts_ticks) {
    _mm_lfence();
    const std::uint64_t now = __rdtsc();
    _mm_lfence();
    return now;
  }
#endif
  return monotonic_ns();
}

/// Nanoseconds of a tick; takes 50 ms the first time, so ask before forking.
inline double ns_per_tick() {
  static const double ratio = [] {
    if (!counts_ticks) return 1.0;
    const std::uint64_t ns = monotonic_ns(), start = ticks();
    usleep(50'000);
    const std::uint64_t end = ticks();
    return static_cast<double>(monotonic_ns() - ns) / static_cast<double>(end - start);
  }();
  return ratio;
}

/// Nanoseconds of the clock itself.
struct ClockCost {
  double reading;  ///< Between two readings in a row: each sample contains it besides its work.
  double step;     ///< The smallest difference of readings: samples are multiples of it.
};
inline const ClockCost& clock_cost() {
  static const ClockCost cost = [] {
    std::vector<std::uint64_t> took(100'001);
    std::uint64_t step = UINT64_MAX;
    for (std::uint64_t& each : took) {
      const std::uint64_t start = ticks();
      each = ticks() - start;
    }
    std::sort(took.begin(), took.end());
    for (std::size_t i = 1; i < took.size(); ++i)
      if (took[i] != took[i - 1]) step = std::min(step, took[i] - took[i - 1]);
    return ClockCost{static_cast<double>(took[50'000]) * ns_per_tick(),
                     static_cast<double>(step) * ns_per_tick()};
  }();
  return cost;
}

/// Sleeps until the time of CLOCK_MONOTONIC.
inline void sleep_until_ns(std::uint64_t at) noexcept {
  const timespec when{static_cast<time_t>(at / 1'000'000'000U),
                      static_cast<long>(at % 1'000'000'000U)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr) != 0) {
  }
}

}  // namespace halyard::bench
