// SPDX-License-Identifier: Apache-2.0
// The C library's allocating functions, or operator new where a sanitizer brings its own heap.
#include "support/allocation_limit.h"

#include <cerrno>
#include <cstdlib>
#include <new>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HALYARD_OWN_HEAP 0
#else
#define HALYARD_OWN_HEAP 1
#endif

namespace {

using halyard::test::Shortage;

thread_local bool is_armed = false;
thread_local Shortage kind = Shortage::once;
thread_local std::size_t left = 0;
thread_local std::size_t failed = 0;

bool fails_now() noexcept {
  if (!is_armed) return false;
  if (left != 0) {
    --left;
    return false;
  }
  if (kind == Shortage::once && failed != 0) return false;
  ++failed;
  errno = ENOMEM;
  return true;
}

}  // namespace

namespace halyard::test {

AllocationLimit::AllocationLimit(std::size_t first, Shortage shortage) noexcept {
  kind = shortage;
  left = first;
  failed = 0;
  is_armed = true;
}
AllocationLimit::~AllocationLimit() {
  is_armed = false;
}
std::size_t AllocationLimit::failures() const noexcept {
  return failed;
}

}  // namespace halyard::test

// Seen by the libraries of the program too, which the build's hidden visibility would prevent.
#pragma GCC visibility push(default)
#if HALYARD_OWN_HEAP

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) {
  return fails_now() ? nullptr : __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  return fails_now() ? nullptr : __libc_calloc(count, size);
}
void* realloc(void* block, std::size_t size) {
  return fails_now() ? nullptr : __libc_realloc(block, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return fails_now() ? nullptr : __libc_memalign(alignment, size);
}
}

#else

void* operator new(std::size_t size) {
  void* const block = fails_now() ? nullptr : std::malloc(size);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return fails_now() ? nullptr : std::malloc(size);
}
void operator delete(void* block) noexcept {
  std::free(block);
}
void operator delete(void* block, std::size_t) noexcept {
  std::free(block);
}

#endif
#pragma GCC visibility pop
