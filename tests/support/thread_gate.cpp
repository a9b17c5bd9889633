// SPDX-License-Identifier: Apache-2.0
// Stands before the C library's pthread_create() for the program and the libraries that it uses.
#include "support/thread_gate.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <memory>

namespace {

std::atomic<int> room{-1};  // threads that may still be started; -1: any number
std::atomic<int> refusals{0};
enum class Hold : int { none, armed, held };
std::atomic<Hold> hold{Hold::none};
std::atomic<pid_t> holder{0};

struct Start {
  void* (*function)(void*);
  void* argument;
};

void* run_counted(void* object) {
  const std::unique_ptr<Start> start(static_cast<Start*>(object));
  void* const result = start->function(start->argument);
  if (room.load() >= 0) room.fetch_add(1);
  return result;
}

bool takes_room() noexcept {
  int left = room.load();
  while (left > 0 && !room.compare_exchange_weak(left, left - 1)) {
  }
  return left > 0;
}

void wait_if_held() noexcept {
  if (gettid() == holder.load()) return;
  Hold expected = Hold::armed;
  if (!hold.compare_exchange_strong(expected, Hold::held)) return;
  while (hold.load() == Hold::held)
    usleep(1000);
}

}  // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*function)(void*), void* argument) noexcept {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto real = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  wait_if_held();
  if (room.load() < 0) return real(thread, attributes, function, argument);
  if (!takes_room()) {
    refusals.fetch_add(1);
    return EAGAIN;
  }
  auto start = std::make_unique<Start>(Start{function, argument});
  const int status = real(thread, attributes, run_counted, start.get());
  if (status == 0) static_cast<void>(start.release());
  return status;
}

namespace halyard::test {

ThreadLimit::ThreadLimit(int limit) noexcept {
  refusals = 0;
  room = limit;
}
ThreadLimit::~ThreadLimit() {
  room = -1;
}
int ThreadLimit::refused() const noexcept {
  return refusals.load();
}

ThreadHold::ThreadHold() noexcept {
  holder = gettid();
  hold = Hold::armed;
}
ThreadHold::~ThreadHold() {
  release();
}
bool ThreadHold::is_held() const noexcept {
  return hold.load() == Hold::held;
}
void ThreadHold::release() noexcept {
  hold = Hold::none;
}

}  // namespace halyard::test
