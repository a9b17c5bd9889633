// SPDX-License-Identifier: Apache-2.0
// Buffers that one thread maps, and bytes that a device addresses, against fakes that check how
// they are used.
#include "halyard/device.h"
#include "support/result.h"

#include <gtest/gtest.h>

#include <cstring>

#include "fake_device.h"
#include "halyard/tensor.h"
#include "support/threads.h"
#include "tensor/tensors.h"

namespace halyard {

using test::FakeDeviceThread;
using test::FakeLog;
using test::FakePixelBuffer;
using test::FakeRegistration;

namespace {

struct DeviceTest : ::testing::Test {
  std::shared_ptr<FakeDeviceThread> thread = std::make_shared<FakeDeviceThread>();
  std::shared_ptr<FakeLog> log = std::make_shared<FakeLog>();
  std::shared_ptr<Buffer> buffer = make();

  std::shared_ptr<Buffer> make() { return std::make_shared<FakePixelBuffer>(4096, thread, log); }
  Status attach(DeviceKind device, bool excludes_cpu) {
    return attach_device(*buffer, std::make_unique<FakeRegistration>(device, excludes_cpu, log));
  }
};

using DeviceThreadBufferTest = DeviceTest;
using DeviceMapTest = DeviceTest;

TEST_F(DeviceThreadBufferTest, shares_its_one_map_within_the_access_of_the_first) {
  {
    const auto first = buffer->map(Access::read_write);
    const auto second = buffer->map(Access::read);
    const auto third = buffer->map(Access::write);
    ASSERT_TRUE(first && second && third);
    EXPECT_EQ(first->bytes().data(), second->bytes().data());
    EXPECT_EQ(log->maps, 1);
  }
  EXPECT_EQ(log->unmaps, 1);
  { const auto again = buffer->map(Access::read); }
  EXPECT_EQ(log->maps, 2);
  EXPECT_EQ(log->unmaps, 2);
}

TEST_F(DeviceThreadBufferTest, refuses_a_wider_access_until_the_narrow_one_has_ended) {
  {
    const auto reading = buffer->map(Access::read);
    for (const Access wider : {Access::write, Access::read_write})
      EXPECT_FAILS(buffer->map(wider), Errc::busy, "wider");
    EXPECT_TRUE(buffer->map(Access::read));
  }
  EXPECT_TRUE(buffer->map(Access::write)) << "what was refused has left no claim and no map";
  EXPECT_EQ(log->maps, log->unmaps);
}

TEST_F(DeviceThreadBufferTest, a_map_that_fails_leaves_nothing_behind) {
  log->fail_maps = 1;
  EXPECT_FAILS(buffer->map(Access::write), Errc::no_memory);
  EXPECT_EQ(log->maps, 0);
  EXPECT_TRUE(buffer->map(Access::write));
  EXPECT_EQ(log->unmaps, 1);
}

TEST_F(DeviceThreadBufferTest, maps_on_its_own_thread_without_waiting_for_itself) {
  ASSERT_TRUE(thread->run([this]() -> Status {
    HALYARD_TRY(const Map outer, buffer->map(Access::read_write));
    HALYARD_TRY(const Map inner, buffer->map(Access::read));
    outer.writable_bytes()[3] = std::byte{7};
    return {};
  }));
  EXPECT_EQ(buffer->map(Access::read)->bytes()[3], std::byte{7});
  ASSERT_TRUE(thread->run([this]() -> Status {
    buffer.reset();
    return {};
  }));
  EXPECT_EQ(log->frees, 1);
}

TEST_F(DeviceThreadBufferTest, serves_its_own_thread_and_four_others_at_once) {
  test::on_threads(5, [this](std::size_t i) {
    const ByteRegion mine{i * 1024, 1024};
    for (int round = 0; round < 200; ++round) {
      if (i == 4) {
        ASSERT_TRUE(thread->run([this]() -> Status {
          HALYARD_RETURN_IF_ERROR(buffer->map_unclaimed(Access::write));
          return {};
        }));
        continue;
      }
      ASSERT_VALUE(const auto map, buffer->map(Access::write, std::span(&mine, 1)));
      std::memset(map.writable_bytes().data() + mine.offset_bytes, round, mine.row_bytes);
    }
  });
  EXPECT_GT(log->maps, 0);
  EXPECT_EQ(log->maps, log->unmaps);
}

TEST_F(DeviceThreadBufferTest, is_destroyed_from_any_thread_and_freed_on_its_own) {
  std::thread([taken = std::move(buffer)]() mutable { taken.reset(); }).join();
  EXPECT_EQ(log->frees, 1);
  auto other = make();
  auto map = *other->map(Access::read);
  other.reset();
  EXPECT_EQ(log->frees, 1) << "a map keeps the buffer";
  std::thread([taken = std::move(map)]() mutable { taken = Map(); }).join();
  EXPECT_EQ(log->frees, 2);
}

TEST_F(DeviceThreadBufferTest, cannot_be_mapped_after_its_thread_has_ended) {
  thread->end();
  EXPECT_FAILS(buffer->map(Access::write), Errc::device);
  EXPECT_FAILS(buffer->map(Access::write), Errc::device) << "and not busy: no claim is left";
  buffer.reset();
  EXPECT_EQ(log->frees, 0) << "the memory went with the context";
}

TEST_F(DeviceThreadBufferTest, open_maps_end_quietly_after_the_thread_has_ended) {
  auto first = *buffer->map(Access::read_write);
  auto second = *buffer->map(Access::read);
  thread->end();
  EXPECT_FAILS(buffer->map(Access::read), Errc::device) << "nor is the open map shared";
  std::thread([&first] { first = Map(); }).join();
  second = Map();
  EXPECT_EQ(log->unmaps, 0);
  buffer.reset();
}

TEST_F(DeviceThreadBufferTest, users_that_wait_while_the_thread_ends_get_an_answer) {
  std::vector<std::thread> users;
  std::atomic<int> refused{0};
  for (int i = 0; i < 4; ++i)
    users.emplace_back([this, &refused] {
      while (true) {
        const auto map = buffer->map(Access::read);
        if (map) continue;
        EXPECT_FAILS(map, Errc::device);
        ++refused;
        return;
      }
    });
  while (log->maps < 20)
    std::this_thread::yield();
  thread->end();
  for (auto& user : users)
    user.join();
  EXPECT_EQ(refused, 4);
}

TEST_F(DeviceThreadBufferTest, carries_tensors) {
  const Tensor t = *Tensor::wrap(buffer, test::contiguous(DType::f32, {4, 8}));
  EXPECT_EQ(t.memory(), Memory::pbo);
  (*t.map(Access::write)->view<float, 2>())(3, 7) = 2.5F;
  EXPECT_EQ((*t.map(Access::read)->view<const float, 2>())(3, 7), 2.5F);
}

// --- addresses on a device

TEST_F(DeviceMapTest, of_a_buffer_without_an_attachment_is_declined) {
  for (const auto& plain : {buffer, *allocate(64, Memory::mem)})
    EXPECT_FAILS(map_device(plain, DeviceKind::cuda), Errc::unsupported, "cuda");
  EXPECT_FAILS(map_device(nullptr, DeviceKind::cuda), Errc::invalid_argument);
  EXPECT_FAILS(attach_device(*buffer, nullptr), Errc::invalid_argument);
  ASSERT_TRUE(attach(DeviceKind::cuda, true));
  EXPECT_FAILS(map_device(buffer, DeviceKind::opencl), Errc::unsupported);
}

TEST_F(DeviceMapTest, begins_and_ends_on_the_callers_stream) {
  auto registration = std::make_unique<FakeRegistration>(DeviceKind::cuda, true, log);
  const void* address = registration->address();
  ASSERT_TRUE(attach_device(*buffer, std::move(registration)));
  int stream = 0;
  {
    ASSERT_VALUE(const auto map, map_device(buffer, DeviceKind::cuda, &stream));
    EXPECT_EQ(map.address(), address);
    EXPECT_EQ(map.size_bytes(), 4096U);
    EXPECT_EQ(map.device(), DeviceKind::cuda);
    EXPECT_EQ(log->begins, 1);
    EXPECT_EQ(log->ends, 0);
  }
  EXPECT_EQ(log->ends, 1);
  EXPECT_TRUE(map_device(buffer, DeviceKind::cuda));
  EXPECT_EQ(log->ends, 2);
}

TEST_F(DeviceMapTest, is_one_at_a_time_for_each_device) {
  ASSERT_TRUE(attach(DeviceKind::cuda, false));
  ASSERT_TRUE(attach(DeviceKind::opencl, false));
  const auto cuda = map_device(buffer, DeviceKind::cuda);
  EXPECT_FAILS(map_device(buffer, DeviceKind::cuda), Errc::busy);
  EXPECT_TRUE(map_device(buffer, DeviceKind::opencl));
  EXPECT_EQ(log->begins, 2);
}

TEST_F(DeviceMapTest, keeps_the_cpu_out_where_the_attachment_says_so) {
  ASSERT_TRUE(attach(DeviceKind::cuda, true));
  {
    const auto map = map_device(buffer, DeviceKind::cuda);
    ASSERT_TRUE(map);
    EXPECT_FAILS(buffer->map(Access::read), Errc::busy, "device");
    EXPECT_EQ(log->maps, 0);
  }
  {
    const auto map = buffer->map(Access::read);
    ASSERT_TRUE(map);
    EXPECT_FAILS(map_device(buffer, DeviceKind::cuda), Errc::busy);
    EXPECT_EQ(log->begins, 1) << "refused before the device is asked";
  }
  EXPECT_TRUE(map_device(buffer, DeviceKind::cuda)) << "a refusal leaves nothing behind";
  EXPECT_TRUE(buffer->map(Access::write));
}

TEST_F(DeviceMapTest, lets_the_cpu_look_where_the_attachment_allows_it) {
  ASSERT_TRUE(attach(DeviceKind::cuda, false));
  const auto device = map_device(buffer, DeviceKind::cuda);
  EXPECT_TRUE(device);
  EXPECT_TRUE(buffer->map(Access::read));
  const auto heap = *allocate(64, Memory::mem);
  ASSERT_TRUE(
      attach_device(*heap, std::make_unique<FakeRegistration>(DeviceKind::cuda, false, log)));
  const auto of_heap = map_device(heap, DeviceKind::cuda);
  EXPECT_TRUE(of_heap && heap->map(Access::write));
}

TEST_F(DeviceMapTest, an_attachment_that_excludes_the_cpu_needs_a_buffer_that_can) {
  const auto heap = *allocate(64, Memory::mem);
  EXPECT_FAILS(
      attach_device(*heap, std::make_unique<FakeRegistration>(DeviceKind::cuda, true, log)),
      Errc::unsupported, "mem");
  EXPECT_EQ(log->registrations, 0);
}

TEST_F(DeviceMapTest, two_attachments_that_exclude_the_cpu_exclude_each_other) {
  ASSERT_TRUE(attach(DeviceKind::cuda, true));
  ASSERT_TRUE(attach(DeviceKind::opencl, true));
  {
    const auto map = map_device(buffer, DeviceKind::cuda);
    ASSERT_OK(map);
    EXPECT_FAILS(map_device(buffer, DeviceKind::opencl), Errc::busy, "another device");
  }
  EXPECT_OK(map_device(buffer, DeviceKind::opencl));
}

TEST_F(DeviceMapTest, that_fails_leaves_the_buffer_free) {
  ASSERT_TRUE(attach(DeviceKind::cuda, true));
  log->fail_begins = 1;
  EXPECT_FAILS(map_device(buffer, DeviceKind::cuda), Errc::device);
  EXPECT_EQ(log->ends, 0);
  EXPECT_TRUE(buffer->map(Access::write));
  EXPECT_TRUE(map_device(buffer, DeviceKind::cuda));
}

TEST_F(DeviceMapTest, attachments_are_replaced_only_while_nobody_uses_them) {
  ASSERT_TRUE(attach(DeviceKind::cuda, false));
  {
    const auto map = map_device(buffer, DeviceKind::cuda);
    EXPECT_FAILS(attach(DeviceKind::cuda, false), Errc::busy);
    EXPECT_EQ(log->registrations, 1) << "the one that was refused is gone";
  }
  EXPECT_TRUE(attach(DeviceKind::cuda, false));
  EXPECT_EQ(log->registrations, 1) << "the earlier one is gone";
  buffer.reset();
  EXPECT_EQ(log->registrations, 0);
  EXPECT_EQ(log->frees, 1);
}

TEST_F(DeviceMapTest, keeps_the_buffer_and_may_end_elsewhere) {
  ASSERT_TRUE(attach(DeviceKind::cuda, true));
  auto map = *map_device(buffer, DeviceKind::cuda);
  buffer.reset();
  EXPECT_EQ(log->frees, 0);
  DeviceMap moved = std::move(map);
  EXPECT_EQ(map.size_bytes(), 0U);  // NOLINT: what is left of it is tested
  EXPECT_EQ(map.address(), nullptr);
  std::thread([taken = std::move(moved)]() mutable {
    const DeviceMap last = std::move(taken);
  }).join();
  EXPECT_EQ(log->ends, 1);
  EXPECT_EQ(log->registrations, 0);
  EXPECT_EQ(log->frees, 1);
}

TEST_F(DeviceMapTest, moved_over_another_ends_that_one) {
  ASSERT_TRUE(attach(DeviceKind::cuda, false));
  ASSERT_TRUE(attach(DeviceKind::opencl, true));
  auto map = *map_device(buffer, DeviceKind::cuda);
  map = *map_device(buffer, DeviceKind::opencl);
  EXPECT_EQ(log->ends, 1);
  EXPECT_EQ(map.device(), DeviceKind::opencl);
  EXPECT_FAILS(buffer->map(Access::read), Errc::busy) << "the second one holds it";
  EXPECT_TRUE(map_device(buffer, DeviceKind::cuda));
}

TEST_F(DeviceMapTest, ends_quietly_after_the_device_thread_has_ended) {
  ASSERT_TRUE(attach(DeviceKind::cuda, true));
  auto map = std::make_unique<DeviceMap>(*map_device(buffer, DeviceKind::cuda));
  thread->end();
  map.reset();
  EXPECT_EQ(log->ends, 1);
  buffer.reset();
  EXPECT_EQ(log->registrations, 0);
}

TEST_F(DeviceMapTest, device_and_cpu_take_turns_among_many_threads) {
  ASSERT_TRUE(attach(DeviceKind::cuda, true));
  std::atomic<int> inside{0};
  test::on_threads(4, [&](std::size_t i) {
    for (int done = 0; done < 100;) {
      if (i % 2 == 0) {
        const auto map = map_device(buffer, DeviceKind::cuda);
        if (map) {
          EXPECT_EQ(inside.fetch_add(1000), 0) << "the device is alone";
          inside -= 1000;
        }
        done += map ? 1 : 0;
        EXPECT_TRUE(map || map.error().code == Errc::busy);
      } else {
        const auto map = buffer->map(Access::read);
        if (map) {
          EXPECT_LT(inside.fetch_add(1), 1000) << "CPU maps may meet each other only";
          inside -= 1;
        }
        done += map ? 1 : 0;
        EXPECT_TRUE(map || map.error().code == Errc::busy);
      }
      std::this_thread::yield();
    }
  });
  EXPECT_EQ(log->begins, 200);
  EXPECT_EQ(log->ends, 200);
  EXPECT_EQ(log->maps, log->unmaps);
}

TEST(DeviceKind, has_names) {
  EXPECT_EQ(to_string(DeviceKind::cuda), "cuda");
  EXPECT_EQ(to_string(DeviceKind::opencl), "opencl");
  EXPECT_EQ(to_string(DeviceKind::vulkan), "vulkan");
  EXPECT_EQ(to_string(DeviceKind::rocm), "rocm");
  EXPECT_EQ(to_string(static_cast<DeviceKind>(1)), "unknown");
}

}  // namespace
}  // namespace halyard
