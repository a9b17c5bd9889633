// SPDX-License-Identifier: Apache-2.0
// Write claims: they keep two threads from writing the same bytes through two maps.
#include "tensor/memory/write_claim.h"

#include <algorithm>

#include "base/checked.h"
#include "base/system/ranked_mutex.h"
#include "base/system/thread_number.h"
#include "base/text/format_error.h"
#include "halyard/threads.h"

namespace halyard {
namespace {

// Rows of one stride with gaps between them, or one run of bytes (rows 1).
struct ClaimedRows {
  std::size_t begin;
  std::size_t end;  // after the last byte; SIZE_MAX on overflow
  std::size_t row_bytes;
  std::size_t rows;
  std::size_t stride;
};

ClaimedRows claimed_rows(const ByteRegion& region) noexcept {
  const auto span = checked_mul(region.rows - 1, region.stride_bytes);
  const auto last = span ? checked_add(*span, region.row_bytes) : std::nullopt;
  const auto end = last ? checked_add(region.offset_bytes, *last) : std::nullopt;
  ClaimedRows rows{region.offset_bytes, end.value_or(SIZE_MAX), region.row_bytes, region.rows,
                   region.stride_bytes};
  // Rows that touch or overlap one another leave no gaps.
  if (rows.rows == 1 || rows.stride <= rows.row_bytes) {
    rows.rows = 1;
    rows.row_bytes = rows.end - rows.begin;
  }
  return rows;
}

// For regions whose bounds overlap.
bool run_meets_rows(const ClaimedRows& run, const ClaimedRows& rows) noexcept {
  if (run.begin <= rows.begin) return true;
  // Either the last row that begins at or before the run covers its first byte, or the next row
  // begins before the run's end. A next row exists, because the bounds overlap.
  const std::size_t column = (run.begin - rows.begin) % rows.stride;
  return column < rows.row_bytes || run.end - run.begin > rows.stride - column;
}

// For regions of one stride whose bounds overlap; `lower` begins first.
bool rows_meet_rows(const ClaimedRows& lower, const ClaimedRows& upper) noexcept {
  const std::size_t column = (upper.begin - lower.begin) % lower.stride;
  return column < lower.row_bytes || upper.row_bytes > lower.stride - column;
}

}  // namespace

bool overlaps(const ByteRegion& a, const ByteRegion& b) noexcept {
  if (a.row_bytes == 0 || b.row_bytes == 0 || a.rows == 0 || b.rows == 0) return false;
  const ClaimedRows first = claimed_rows(a);
  const ClaimedRows second = claimed_rows(b);
  if (first.end <= second.begin || second.end <= first.begin) return false;
  if (first.rows == 1 && second.rows == 1) return true;
  if (first.rows == 1) return run_meets_rows(first, second);
  if (second.rows == 1) return run_meets_rows(second, first);
  if (first.stride != second.stride) return true;
  return first.begin <= second.begin ? rows_meet_rows(first, second)
                                     : rows_meet_rows(second, first);
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
  if (regions.size() > WriteClaim::max_regions) {
    return fail(Errc::invalid_argument, "regions: at most 4", "{}", regions.size());
  }
  const std::uint64_t self = this_thread_number();
  const std::uint32_t process = fork_generation();
  const HeldRank<LockRank::leaf> rank;
  const ForkTakingLock lock(claims_mutex_);
  WriteClaim* free = nullptr;
  std::unique_ptr<WriteClaim>* end = &claims_;
  for (; *end; end = &(*end)->next) {
    const std::uint64_t holder = (*end)->thread.load(std::memory_order_acquire);
    if (holder == WriteClaim::nobody) {
      free = end->get();
    } else if (holder != self && (*end)->process == process && (*end)->meets(regions)) {
      return fail(Errc::busy, "access: another thread's map writes these bytes", "buffer {} of {}",
                  id_, to_string(memory_));
    }
  }
  if (free == nullptr) {
    *end = std::make_unique<WriteClaim>();
    free = end->get();
  }
  free->process = process;
  free->count = regions.size();
  std::copy(regions.begin(), regions.end(), free->regions.begin());
  free->thread.store(self, std::memory_order_relaxed);
  return free;
}

}  // namespace halyard
