// SPDX-License-Identifier: Apache-2.0
// TimeHistogram: percentiles of any number of durations, in fixed memory.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace halyard::pipeline {

/// Buckets are 1/32 of a power of two wide, so a percentile is at most 1/64 (1.6 percent) from a
/// value that was added. Thread-safe.
class TimeHistogram {
 public:
  /// Negative durations count as 0.
  void add(std::chrono::nanoseconds duration) noexcept;
  std::uint64_t count() const noexcept { return count_.load(std::memory_order_relaxed); }
  std::chrono::nanoseconds total() const noexcept {
    return std::chrono::nanoseconds(total_.load(std::memory_order_relaxed));
  }
  std::chrono::nanoseconds max() const noexcept {
    return std::chrono::nanoseconds(max_.load(std::memory_order_relaxed));
  }
  /// The value at rank ceil(`share` * count), the middle of its bucket; 0 without values.
  std::chrono::nanoseconds percentile(double share) const noexcept;

 private:
  static constexpr unsigned fraction_bits = 5;
  static constexpr std::size_t bucket_count = (64 - fraction_bits) << fraction_bits;
  static std::size_t bucket(std::uint64_t value) noexcept;
  static std::uint64_t middle(std::size_t bucket) noexcept;

  std::array<std::atomic<std::uint32_t>, bucket_count> buckets_{};
  std::atomic<std::uint64_t> count_{0};
  std::atomic<std::int64_t> total_{0};
  std::atomic<std::int64_t> max_{0};
};

}  // namespace halyard::pipeline
