// SPDX-License-Identifier: Apache-2.0
#include "base/copy_count.h"

#include <atomic>

namespace halyard {
namespace {

std::atomic<std::uint64_t> copies{0};
std::atomic<std::uint64_t> copied_bytes{0};

}  // namespace

void count_copy(std::size_t bytes) noexcept {
  copies.fetch_add(1, std::memory_order_relaxed);
  copied_bytes.fetch_add(bytes, std::memory_order_relaxed);
}

CopyCount counted_copies() noexcept {
  return {copies.load(std::memory_order_relaxed), copied_bytes.load(std::memory_order_relaxed)};
}

}  // namespace halyard
