// SPDX-License-Identifier: Apache-2.0
// Who may write where: claims that keep two threads from writing the same bytes through two maps.
#include "tensor/write_claim.h"

#include <algorithm>
#include <thread>

#include "base/checked.h"
#include "base/format_error.h"

namespace halyard {
namespace {

// An address that no other living thread has; cheaper than asking for the thread's id.
const void* this_thread_token() noexcept {
  thread_local const char token = 0;
  return &token;
}

// First byte and the one behind the last, as far as they can be said.
struct Bounds {
  std::size_t begin;
  std::size_t end;
};

Bounds bounds_of(const ByteRegion& region) noexcept {
  const auto span = checked_mul(region.rows - 1, region.stride_bytes);
  const auto last = span ? checked_add(*span, region.row_bytes) : std::nullopt;
  const auto end = last ? checked_add(region.offset_bytes, *last) : std::nullopt;
  return {region.offset_bytes, end.value_or(SIZE_MAX)};
}

class SpinLock {
 public:
  explicit SpinLock(std::atomic_flag& flag) noexcept : flag_(flag) {
    while (flag_.test_and_set(std::memory_order_acquire))
      std::this_thread::yield();
  }
  SpinLock(const SpinLock&) = delete;
  SpinLock& operator=(const SpinLock&) = delete;
  ~SpinLock() { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag& flag_;
};

}  // namespace

bool overlaps(const ByteRegion& a, const ByteRegion& b) noexcept {
  if (a.row_bytes == 0 || b.row_bytes == 0 || a.rows == 0 || b.rows == 0) return false;
  const Bounds first = bounds_of(a);
  const Bounds second = bounds_of(b);
  if (first.end <= second.begin || second.end <= first.begin) return false;
  if (a.stride_bytes != b.stride_bytes || a.rows == 1 || b.rows == 1) return true;
  // Same raster: compare columns, b's moved to lie at or behind a's.
  const ByteRegion& lower = a.offset_bytes <= b.offset_bytes ? a : b;
  const ByteRegion& upper = a.offset_bytes <= b.offset_bytes ? b : a;
  const std::size_t stride = a.stride_bytes;
  if (lower.row_bytes > stride || upper.row_bytes > stride) return true;
  const std::size_t distance = (upper.offset_bytes - lower.offset_bytes) % stride;
  return distance < lower.row_bytes || distance + upper.row_bytes > stride;
}

bool WriteClaim::meets(std::span<const ByteRegion> others) const noexcept {
  if (count == 0 || others.empty()) return true;
  return std::any_of(regions.begin(), regions.begin() + static_cast<std::ptrdiff_t>(count),
                     [&others](const ByteRegion& mine) {
                       return std::any_of(
                           others.begin(), others.end(),
                           [&mine](const ByteRegion& other) { return overlaps(mine, other); });
                     });
}

Result<WriteClaim*> Buffer::claim(std::span<const ByteRegion> regions) {
  if (regions.size() > WriteClaim::most_regions) {
    return fail(Errc::invalid_argument, "regions: at most 4", "{}", regions.size());
  }
  const void* self = this_thread_token();
  const SpinLock lock(claims_lock_);
  WriteClaim* free = nullptr;
  std::unique_ptr<WriteClaim>* end = &claims_;
  for (; *end; end = &(*end)->next) {
    const void* holder = (*end)->thread.load(std::memory_order_acquire);
    if (holder == nullptr) {
      free = end->get();
    } else if (holder != self && (*end)->meets(regions)) {
      return fail(Errc::busy, "access: another thread's map writes these bytes", "buffer {} of {}",
                  id_, to_string(memory_));
    }
  }
  if (free == nullptr) {
    *end = std::make_unique<WriteClaim>();
    free = end->get();
  }
  free->count = regions.size();
  std::copy(regions.begin(), regions.end(), free->regions.begin());
  free->thread.store(self, std::memory_order_relaxed);
  return free;
}

}  // namespace halyard
