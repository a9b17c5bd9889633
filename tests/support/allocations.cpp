// SPDX-License-Identifier: Apache-2.0
// operator new of a whole test program, counted. Linked into the suites that ask for it.
#include "support/allocations.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {
std::atomic<std::uint64_t> count{0}, bytes{0};

// Null where there is no memory.
void* counted(std::size_t size, std::size_t alignment) noexcept {
  count.fetch_add(1, std::memory_order_relaxed);
  bytes.fetch_add(size, std::memory_order_relaxed);
  const std::size_t whole = (size + alignment) / alignment * alignment;
  return std::aligned_alloc(alignment, whole);
}

void* counted_or_throw(std::size_t size, std::size_t alignment) {
  if (void* block = counted(size, alignment)) return block;
  throw std::bad_alloc();
}
}  // namespace

std::uint64_t halyard::test::allocations() noexcept {
  return count.load(std::memory_order_relaxed);
}

std::uint64_t halyard::test::allocated_bytes() noexcept {
  return bytes.load(std::memory_order_relaxed);
}

// Those that do not throw too (std::stable_sort asks so): a sanitizer would pair its own with our
// delete.
void* operator new(std::size_t size) {
  return counted_or_throw(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return counted(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return counted(size, static_cast<std::size_t>(alignment));
}
// Inlined into another source of the group, the compiler would take free() for a mistake.
[[gnu::noinline]] void operator delete(void* block) noexcept {
  std::free(block);
}
[[gnu::noinline]] void operator delete(void* block, const std::nothrow_t&) noexcept {
  std::free(block);
}
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept {
  std::free(block);
}
[[gnu::noinline]] void operator delete(void* block, std::align_val_t) noexcept {
  std::free(block);
}
[[gnu::noinline]] void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
  std::free(block);
}
