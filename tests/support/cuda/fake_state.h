// SPDX-License-Identifier: Apache-2.0
// What the runtime of fake_cudart.cpp knows, and how each of its functions begins.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace fake_cuda {

enum Code {
  ok = 0,
  bad_value = 1,
  not_initialized = 3,
  no_device = 100,
  bad_context = 219,
  bad_handle = 400
};

struct Registration {
  unsigned buffer = 0;
  void* context = nullptr;
  std::byte* bytes = nullptr;  ///< null: not mapped
  std::size_t offset = 0;
  std::size_t size = 0;
  void* stream = nullptr;
};
struct Import {
  int fd = -1;
  std::size_t size = 0;
  int addresses = 0;
};
struct Address {
  Import* import = nullptr;
  std::size_t size = 0;
};

struct Failure {
  int code = 0;
  int times = 0;
};

// Of one thread. Not thread_local: the sanitizer of leaks cannot read such data of objects that are
// loaded at run time.
struct Thread {
  int device = 0;
  int last_error = 0;
};

struct State {
  std::mutex mutex;
  pid_t process = 0;
  std::map<Registration*, std::unique_ptr<Registration>> registrations;
  std::map<Import*, std::unique_ptr<Import>> imports;
  std::map<void*, Address> addresses;
  std::map<std::string, Failure> failures;
  std::map<std::string, int> calls;
  std::map<std::string, int> settings;
  std::map<std::thread::id, Thread> threads;
  std::string faults;

  Thread& thread() { return threads[std::this_thread::get_id()]; }
  int setting(const char* name, int usual) {
    const auto found = settings.find(name);
    return found == settings.end() ? usual : found->second;
  }
  int fault(const std::string& what, int code) {
    faults += what + "\n";
    return code;
  }
};

// Never destroyed: threads of the program may call until it ends.
inline State& state() {
  static State& made = *new State;
  return made;
}

inline int device_count() {
  const char* asked = std::getenv("FAKE_CUDA_DEVICES");
  return state().setting("devices", asked == nullptr ? 1 : std::atoi(asked));
}

// One call of a function: counts it, fails where a test wants that, else does `work`.
template <class Work>
int call(const char* name, Work&& work) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  ++s.calls[name];
  if (s.process == 0) s.process = ::getpid();
  int code = ok;
  if (s.process != ::getpid()) {
    code = s.fault(std::string(name) + " in a child of fork()", not_initialized);
  } else if (Failure& failure = s.failures[name]; failure.times > 0) {
    --failure.times;
    code = failure.code;
  } else {
    code = work(s);
  }
  if (code != ok) s.thread().last_error = code;
  return code;
}

}  // namespace fake_cuda
