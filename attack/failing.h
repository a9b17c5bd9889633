// SPDX-License-Identifier: Apache-2.0
// Allocations and starts of threads that fail on request. Defines malloc and pthread_create, or
// operator new if a sanitizer keeps its malloc, for the whole program: only one source of a program
// includes it.
#pragma once

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace halyard::attack {

// ---- What fails. Counted on every thread while armed.

enum class Kind : std::uint8_t { one_allocation, all_allocations, threads };

struct Failing {
  std::atomic<bool> is_armed{false};
  std::atomic<long> left{0};
  Kind kind = Kind::one_allocation;
  std::atomic<bool> has_failed{false};
};
inline Failing failing;

inline bool fails_now(bool is_thread) noexcept {
  if (!failing.is_armed.load(std::memory_order_relaxed)) return false;
  if (is_thread != (failing.kind == Kind::threads)) return false;
  const long left = failing.left.fetch_sub(1);
  const bool fails = failing.kind == Kind::one_allocation ? left == 0 : left <= 0;
  if (fails) failing.has_failed = true;
  return fails;
}

}  // namespace halyard::attack

using halyard::attack::fails_now;

#if defined(__SANITIZE_ADDRESS__)
#define ATTACK_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ATTACK_SANITIZED 1
#endif
#endif

#ifdef ATTACK_SANITIZED
// The sanitizer's malloc stays: allocations of C++ fail, which are nearly all.
namespace {
void* take(std::size_t size, std::size_t alignment) noexcept {
  if (fails_now(false)) return nullptr;
  return alignment == 0
             ? std::malloc(size)
             : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}
void* take_or_throw(std::size_t size, std::size_t alignment = 0) {
  void* const out = take(size, alignment);
  if (out == nullptr) throw std::bad_alloc();
  return out;
}
}  // namespace
void* operator new(std::size_t n) {
  return take_or_throw(n);
}
void* operator new[](std::size_t n) {
  return take_or_throw(n);
}
void* operator new(std::size_t n, std::align_val_t a) {
  return take_or_throw(n, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t n, std::align_val_t a) {
  return take_or_throw(n, static_cast<std::size_t>(a));
}
void* operator new(std::size_t n, const std::nothrow_t&) noexcept {
  return take(n, 0);
}
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept {
  return take(n, 0);
}
void operator delete(void* p) noexcept {
  std::free(p);
}
void operator delete[](void* p) noexcept {
  std::free(p);
}
void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}
void operator delete[](void* p, std::size_t) noexcept {
  std::free(p);
}
void operator delete(void* p, std::align_val_t) noexcept {
  std::free(p);
}
void operator delete[](void* p, std::align_val_t) noexcept {
  std::free(p);
}
void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  std::free(p);
}
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept {
  std::free(p);
}
#else
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

static void* no_memory() {
  errno = ENOMEM;
  return nullptr;
}
void* malloc(std::size_t n) {
  return fails_now(false) ? no_memory() : __libc_malloc(n);
}
void* calloc(std::size_t n, std::size_t m) {
  return fails_now(false) ? no_memory() : __libc_calloc(n, m);
}
void* realloc(void* p, std::size_t n) {
  return n != 0 && fails_now(false) ? no_memory() : __libc_realloc(p, n);
}
void* aligned_alloc(std::size_t a, std::size_t n) {
  return fails_now(false) ? no_memory() : __libc_memalign(a, n);
}
void* memalign(std::size_t a, std::size_t n) {
  return fails_now(false) ? no_memory() : __libc_memalign(a, n);
}
int posix_memalign(void** out, std::size_t a, std::size_t n) {
  if (fails_now(false)) return ENOMEM;
  *out = __libc_memalign(a, n);
  return *out == nullptr ? ENOMEM : 0;
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto real = reinterpret_cast<Create>(::dlsym(RTLD_NEXT, "pthread_create"));
  return fails_now(true) ? EAGAIN : real(thread, attributes, start, argument);
}
}
#endif
