// SPDX-License-Identifier: Apache-2.0
// A device thread, a pixel buffer and a CUDA registration that need no device and check that they
// are used as the contract says.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <new>
#include <thread>

#include "halyard/device.h"

namespace halyard::test {

/// A thread with a queue. Work that is still queued when it ends is answered, not run.
class FakeDeviceThread final : public DeviceThread {
 public:
  FakeDeviceThread() : state_(std::make_shared<State>()) {
    thread_ = std::thread([state = state_] { serve(*state); });
  }
  FakeDeviceThread(const FakeDeviceThread&) = delete;
  FakeDeviceThread& operator=(const FakeDeviceThread&) = delete;
  ~FakeDeviceThread() override { end(); }

  Status run(const std::function<Status()>& work) override {
    if (is_current()) return work();
    Task task{&work, {}};
    auto answer = task.answer.get_future();
    {
      const std::lock_guard lock(state_->mutex);
      if (state_->ended) return gone();
      state_->queue.push_back(&task);
    }
    state_->changed.notify_one();
    return answer.get();
  }

  bool is_current() const { return std::this_thread::get_id() == state_->id.load(); }

  /// As when the context is lost. Idempotent.
  void end() {
    {
      const std::lock_guard lock(state_->mutex);
      state_->ended = true;
    }
    state_->changed.notify_one();
    if (!thread_.joinable()) return;
    // The last buffer may let go of the thread on the thread itself.
    if (is_current()) {
      thread_.detach();
    } else {
      thread_.join();
    }
  }

 private:
  struct Task {
    const std::function<Status()>* work;
    std::promise<Status> answer;
  };
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Task*> queue;
    bool ended = false;
    std::atomic<std::thread::id> id;
  };

  static Error gone() { return make_error(Errc::device, "device thread: has ended"); }

  static void serve(State& state) {
    state.id = std::this_thread::get_id();
    std::unique_lock lock(state.mutex);
    while (true) {
      state.changed.wait(lock, [&state] { return state.ended || !state.queue.empty(); });
      const bool ended = state.ended;
      const auto tasks = std::exchange(state.queue, {});
      lock.unlock();
      for (Task* task : tasks)
        task->answer.set_value(ended ? Status(gone()) : (*task->work)());
      lock.lock();
      if (ended) return;
    }
  }

  std::shared_ptr<State> state_;
  std::thread thread_;
};

/// What fakes have seen; shared, so that it outlives them.
struct FakeLog {
  std::atomic<int> maps{0};
  std::atomic<int> unmaps{0};
  std::atomic<int> frees{0};
  std::atomic<int> begins{0};
  std::atomic<int> ends{0};
  std::atomic<int> registrations{0};  ///< alive
  std::atomic<int> fail_maps{0};      ///< so many fail from now on
  std::atomic<int> fail_begins{0};
};

class FakePixelBuffer final : public DeviceThreadBuffer {
 public:
  FakePixelBuffer(std::size_t size_bytes, std::shared_ptr<FakeDeviceThread> thread,
                  std::shared_ptr<FakeLog> log)
      : DeviceThreadBuffer(size_bytes, Memory::pbo, thread),
        thread_(std::move(thread)),
        log_(std::move(log)),
        bytes_(new (std::align_val_t(64)) std::byte[size_bytes]()) {}
  ~FakePixelBuffer() override {
    release_attachments();
    const Status freed = thread().run([this]() -> Status {
      EXPECT_TRUE(thread_->is_current());
      EXPECT_FALSE(mapped_) << "memory is freed under a map";
      ++log_->frees;
      return {};
    });
    EXPECT_TRUE(freed || freed.error().code == Errc::device);
  }

 private:
  struct Delete {
    void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t(64)); }
  };
  Result<std::span<std::byte>> map_on_thread(Access) override {
    EXPECT_TRUE(thread_->is_current()) << "mapped on a foreign thread";
    EXPECT_FALSE(mapped_) << "mapped twice";
    if (log_->fail_maps > 0 && log_->fail_maps-- > 0) {
      return make_error(Errc::no_memory, "pixel buffer: cannot be mapped");
    }
    mapped_ = true;
    ++log_->maps;
    return std::span<std::byte>(bytes_.get(), size_bytes());
  }
  void unmap_on_thread() noexcept override {
    EXPECT_TRUE(thread_->is_current()) << "unmapped on a foreign thread";
    EXPECT_TRUE(mapped_) << "unmapped without a map";
    mapped_ = false;
    ++log_->unmaps;
  }

  std::shared_ptr<FakeDeviceThread> thread_;
  std::shared_ptr<FakeLog> log_;
  std::unique_ptr<std::byte[], Delete> bytes_;
  bool mapped_ = false;  // not atomic: ThreadSanitizer sees when two threads come here
};

/// A registration that hands out an address of its own and checks that begin and end are paired.
class FakeRegistration final : public DeviceAttachment {
 public:
  FakeRegistration(DeviceKind device, bool excludes_cpu, std::shared_ptr<FakeLog> log)
      : device_(device), excludes_cpu_(excludes_cpu), log_(std::move(log)) {
    ++log_->registrations;
  }
  FakeRegistration(const FakeRegistration&) = delete;
  FakeRegistration& operator=(const FakeRegistration&) = delete;
  ~FakeRegistration() override {
    EXPECT_FALSE(begun_) << "unregistered while mapped";
    EXPECT_EQ(log_->frees, 0) << "memory went before its registration";
    --log_->registrations;
  }

  DeviceKind device() const noexcept override { return device_; }
  bool excludes_cpu() const noexcept override { return excludes_cpu_; }
  Result<void*> begin(void* stream) override {
    EXPECT_FALSE(begun_) << "begun twice";
    if (log_->fail_begins > 0 && log_->fail_begins-- > 0) {
      return make_error(Errc::device, "registration: cannot be mapped");
    }
    begun_ = true;
    stream_ = stream;
    ++log_->begins;
    return static_cast<void*>(&address_);
  }
  void end(void* stream) noexcept override {
    EXPECT_TRUE(begun_) << "ended without a begin";
    EXPECT_EQ(stream, stream_) << "ended on another stream";
    begun_ = false;
    ++log_->ends;
  }
  const void* address() const { return &address_; }

 private:
  DeviceKind device_;
  bool excludes_cpu_;
  std::shared_ptr<FakeLog> log_;
  bool begun_ = false;
  void* stream_ = nullptr;
  char address_ = 0;
};

}  // namespace halyard::test
