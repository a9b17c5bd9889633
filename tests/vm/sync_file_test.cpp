// SPDX-License-Identifier: Apache-2.0
// Fences on our DMA-BUFs, signalled by hand through the kernel's software timeline.

#include <array>
#include <atomic>
#include <cstdint>
#include <fstream>
#include <string>
#include <thread>

#include "halyard/buffer.h"
#include "halyard/dmabuf.h"
#include "halyard/fd.h"
#include "support/result.h"
#include "support/timeline.h"
#include "vm/devices.h"

namespace halyard::vm {
namespace {

using test::is_signalled;
using test::Timeline;

class SyncFileTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    HALYARD_NEEDS(timeline_, Timeline::node);
    auto buffer =
        allocate(4096, AllocateOptions{Memory::dma, CpuAccess::read_write, "sync", {GetParam()}});
    HALYARD_NEEDS(buffer, std::string("the heap ") + GetParam());
    buffer_ = *std::move(buffer);
  }
  // What access of this kind has to wait for is over.
  bool is_free_for(Access access) {
    const auto fences = export_sync_file(*buffer_, access);
    EXPECT_TRUE(fences) << fences.error().message();
    return fences && is_signalled(*fences);
  }
  void use(Access access, std::uint32_t until) {
    const Fd fence = timeline_.fence(until);
    ASSERT_TRUE(fence) << last_error();
    const Status taken = import_sync_file(*buffer_, access, fence.get());
    ASSERT_TRUE(taken) << taken.error().message();
  }

  Timeline timeline_;
  std::shared_ptr<Buffer> buffer_;
};

TEST_P(SyncFileTest, a_writers_fence_holds_up_readers_and_writers) {
  EXPECT_TRUE(is_free_for(Access::read));
  EXPECT_TRUE(is_free_for(Access::write));
  ASSERT_NO_FATAL_FAILURE(use(Access::write, 1));
  EXPECT_FALSE(is_free_for(Access::read));
  EXPECT_FALSE(is_free_for(Access::write));
  ASSERT_TRUE(timeline_.advance()) << last_error();
  EXPECT_TRUE(is_free_for(Access::read));
  EXPECT_TRUE(is_free_for(Access::write));
}

TEST_P(SyncFileTest, a_readers_fence_holds_up_writers_only) {
  ASSERT_NO_FATAL_FAILURE(use(Access::read, 1));
  EXPECT_TRUE(is_free_for(Access::read));
  EXPECT_FALSE(is_free_for(Access::write));
  ASSERT_TRUE(timeline_.advance()) << last_error();
  EXPECT_TRUE(is_free_for(Access::write));
}

TEST_P(SyncFileTest, a_sync_file_that_is_held_signals_when_the_fence_does) {
  ASSERT_NO_FATAL_FAILURE(use(Access::write, 2));
  const Fd held = *export_sync_file(*buffer_, Access::read);
  ASSERT_TRUE(timeline_.advance()) << last_error();
  EXPECT_FALSE(is_signalled(held)) << "the fence is of the second step";
  ASSERT_TRUE(timeline_.advance()) << last_error();
  EXPECT_TRUE(is_signalled(held));
}

TEST_P(SyncFileTest, a_dma_buf_is_no_sync_file) {
  EXPECT_FAILS(import_sync_file(*buffer_, Access::write, buffer_->fd()), Errc::invalid_argument);
}

// Whether another thread of this process waits in the kernel.
bool waits(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t state = line.rfind(") ");
  return state != std::string::npos && (line[state + 2] == 'S' || line[state + 2] == 'D');
}

// Maps in a thread, advances the timeline once that thread sleeps, and gives whether the map came
// before that. The map is kept to the end of the call, so that it is the first one of the buffer.
bool maps_without_waiting(const Timeline& timeline, Buffer& buffer, Access access) {
  std::atomic<pid_t> thread{0};
  std::atomic<bool> advanced{false}, mapped{false}, early{false};
  std::thread mapper([&] {
    thread = ::gettid();
    const auto map = buffer.map(access);
    early = !advanced;
    EXPECT_TRUE(map) << map.error().message();
    mapped = true;
  });
  while (!mapped && (thread == 0 || !waits(thread)))
    std::this_thread::yield();
  advanced = true;
  EXPECT_TRUE(timeline.advance()) << last_error();
  mapper.join();
  return early;
}

TEST_P(SyncFileTest, a_map_waits_for_the_fences_of_devices) {
  ASSERT_NO_FATAL_FAILURE(use(Access::write, 1));
  EXPECT_FALSE(maps_without_waiting(timeline_, *buffer_, Access::read));
  ASSERT_NO_FATAL_FAILURE(use(Access::read, 2));
  EXPECT_FALSE(maps_without_waiting(timeline_, *buffer_, Access::write));
}

INSTANTIATE_TEST_SUITE_P(Heaps, SyncFileTest, ::testing::Values("system", "udmabuf"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace halyard::vm
