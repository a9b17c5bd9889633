// SPDX-License-Identifier: Apache-2.0
// Values below 64 have a bucket each; bucket 32 e + m, e > 0, holds the values from (32 + m)
// 2^(e-1) on.
#include "pipeline/time_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace halyard::pipeline {

std::size_t TimeHistogram::bucket(std::uint64_t value) noexcept {
  constexpr std::uint64_t exact = std::uint64_t{1} << (fraction_bits + 1);
  if (value < exact) return static_cast<std::size_t>(value);
  const auto shift = static_cast<unsigned>(std::bit_width(value)) - fraction_bits - 1;
  return (std::size_t{shift} << fraction_bits) + static_cast<std::size_t>(value >> shift);
}

std::uint64_t TimeHistogram::middle(std::size_t bucket) noexcept {
  constexpr std::size_t exact = std::size_t{1} << (fraction_bits + 1);
  if (bucket < exact) return bucket;
  const std::size_t shift = (bucket >> fraction_bits) - 1;
  const std::uint64_t first = (bucket - (shift << fraction_bits)) << shift;
  return first + (std::uint64_t{1} << shift) / 2;
}

void TimeHistogram::add(std::chrono::nanoseconds duration) noexcept {
  const std::int64_t value = std::max<std::int64_t>(duration.count(), 0);
  buckets_[bucket(static_cast<std::uint64_t>(value))].fetch_add(1, std::memory_order_relaxed);
  total_.fetch_add(value, std::memory_order_relaxed);
  std::int64_t max = max_.load(std::memory_order_relaxed);
  while (value > max && !max_.compare_exchange_weak(max, value, std::memory_order_relaxed)) {
  }
  count_.fetch_add(1, std::memory_order_relaxed);
}

std::chrono::nanoseconds TimeHistogram::percentile(double share) const noexcept {
  std::uint64_t all = 0;
  for (const auto& bucket : buckets_)
    all += bucket.load(std::memory_order_relaxed);
  if (all == 0) return std::chrono::nanoseconds{0};
  const double rank = std::max(std::ceil(share * static_cast<double>(all)), 1.0);
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    below += buckets_[i].load(std::memory_order_relaxed);
    if (static_cast<double>(below) >= rank)
      return std::min(std::chrono::nanoseconds(static_cast<std::int64_t>(middle(i))), max());
  }
  return max();
}

}  // namespace halyard::pipeline
