// SPDX-License-Identifier: Apache-2.0
// Pools, in one process and in several.
#include "halyard/pool.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "descriptor_text.h"
#include "ipc/helpers.h"
#include "ipc/peer.h"
#include "support/result.h"

namespace halyard {
namespace {

using namespace ipc::testing;
using namespace std::chrono_literals;
using test::value_of;

class Pool : public ::testing::Test {
 protected:
  static std::uint32_t next_id() {
    static std::uint32_t last = 0;
    return ++last;
  }
  std::shared_ptr<TensorPool> make(std::uint64_t bytes, std::uint32_t slots) {
    return value_of(TensorPool::create(next_id(), {.pool_size = bytes, .max_slots = slots}));
  }
};

// Opens pool `arguments` and does what it is told.
TEST(Peer, DISABLED_pool_member) {
  const auto id = static_cast<std::uint32_t>(std::stoul(Peer::arguments()));
  auto pool = TensorPool::open(id);
  if (!pool) {
    Peer::tell("error " + std::string(to_string(pool.error().code)));
    return;
  }
  std::vector<TensorHandle> held;
  Peer::tell("open");
  for (std::string line = Peer::next(); !line.empty(); line = Peer::next()) {
    const std::string word = line.substr(0, line.find(' '));
    const std::string rest = line.size() > word.size() ? line.substr(word.size() + 1) : "";
    if (word == "attach") {
      const auto handle = (*pool)->attach(from_hex(rest));
      if (handle) held.push_back(*handle);
      Peer::tell(handle ? "byte " + std::to_string(int((*handle->data_slice())[0]))
                        : "error " + std::string(to_string(handle.error().code)));
    } else if (word == "read") {
      Peer::tell("byte " + std::to_string(int((*held.back().data_slice())[0])));
    } else if (word == "alloc") {
      const auto handle = (*pool)->alloc({std::stoul(rest)}, DType::u8);
      if (handle) std::memset(handle->data_slice_mut()->data(), 77, handle->size_bytes());
      if (handle) held.push_back(*handle);
      Peer::tell(handle ? to_hex(*handle->descriptor())
                        : "error " + std::string(to_string(handle.error().code)));
    } else if (word == "alloc_for") {
      Peer::tell("waits");
      const auto handle =
          (*pool)->alloc_for(std::array{std::stoul(rest)}, DType::u8, Device::cpu(), 20s);
      if (handle) held.push_back(*handle);
      Peer::tell(handle ? "got it" : "error " + handle.error().message());
    } else if (word == "drop") {
      held.clear();
      Peer::tell("dropped");
    } else if (word == "stats") {
      Peer::tell(std::to_string((*pool)->stats().allocated_slots));
    }
  }
}

TEST_F(Pool, gives_tensors) {
  const auto pool = make(1U << 20U, 4);
  const auto handle = value_of(pool->alloc({2, 3, 4}, DType::f32));
  EXPECT_EQ(handle.size_bytes(), 96U);
  const auto floats = value_of(handle.data_as<float>());
  EXPECT_FAILS(handle.data_as<std::int32_t>(), Errc::invalid_argument) << "another dtype";
  floats[23] = 5;
  const auto descriptor = value_of(handle.descriptor());
  EXPECT_EQ(descriptor.strides[0], 48U);
  EXPECT_EQ(descriptor.strides[2], 4U);
  EXPECT_EQ(descriptor.size, 96U);
  EXPECT_EQ(handle.refcount(), 1U);
  {
    const TensorHandle copy = handle;
    EXPECT_EQ(handle.refcount(), 2U);
    const auto part = handle.slice_first_dim(1, 2);
    EXPECT_EQ(handle.refcount(), 3U);
    EXPECT_EQ((*part->data_as<const float>())[11], 5);
    const auto again = value_of(pool->attach(*part->descriptor()));
    EXPECT_EQ((*again.data_as<const float>())[11], 5) << "a part is found as a part";
    EXPECT_FAILS(again.data_slice_mut(), Errc::permission);
  }
  EXPECT_EQ(handle.refcount(), 1U);
  EXPECT_EQ(pool->stats().allocated_slots, 1U);
  EXPECT_EQ(handle.pool(), pool);
}

TEST_F(Pool, refuses_stale_and_foreign_descriptors) {
  const auto pool = make(1U << 20U, 4);
  auto handle = std::optional(*pool->alloc({100}, DType::u8));
  TensorDescriptor descriptor = *handle->descriptor();
  EXPECT_TRUE(pool->validate(descriptor));
  const auto changed = [&](auto change) {
    TensorDescriptor other = descriptor;
    change(other);
    return code_of(pool->validate(other));
  };
  EXPECT_EQ(changed([](auto& d) { d.pool_id += 1; }), Errc::invalid_argument);
  EXPECT_EQ(changed([](auto& d) { d.slot_id += 4; }), Errc::malformed);
  EXPECT_EQ(changed([](auto& d) { d.slot_id = UINT32_MAX; }), Errc::not_found);
  EXPECT_EQ(changed([](auto& d) { d.generation_low += 1; }), Errc::not_found);
  EXPECT_EQ(changed([](auto& d) { d.generation_high += 1; }), Errc::not_found);
  EXPECT_EQ(changed([](auto& d) { d.offset += 1; }), Errc::corrupt);
  EXPECT_EQ(changed([](auto& d) { d.offset = UINT64_MAX; }), Errc::corrupt);
  EXPECT_EQ(changed([](auto& d) { d.size += 1; }), Errc::malformed);
  EXPECT_EQ(changed([](auto& d) { d.dims[0] = d.size = 101; }), Errc::corrupt);
  EXPECT_EQ(changed([](auto& d) { d.ndim = 9; }), Errc::malformed);
  EXPECT_EQ(changed([](auto& d) { d.dtype_code = 99; }), Errc::malformed);
  EXPECT_EQ(changed([](auto& d) { d.device_type = 99; }), Errc::malformed);
  handle.reset();
  EXPECT_FAILS(pool->validate(descriptor), Errc::not_found) << "released";
  const auto next = pool->alloc({100}, DType::u8);
  EXPECT_FAILS(pool->validate(descriptor), Errc::not_found) << "another tenant";
}

TEST_F(Pool, counts_references_without_handles) {
  const auto pool = make(1U << 20U, 4);
  const auto descriptor = value_of(pool->alloc_slot({2, 3}, DType::u16));
  EXPECT_EQ(descriptor.size, 12U);
  EXPECT_EQ(descriptor.strides[0], 6U);
  EXPECT_EQ(descriptor.layout()->shape[1], 3U);
  EXPECT_EQ(pool->bytes(descriptor)->size(), 12U);
  EXPECT_TRUE(pool->retain(descriptor));
  EXPECT_TRUE(pool->release(descriptor));
  {
    const auto handle = value_of(pool->attach(descriptor));
    EXPECT_EQ(pool->stats().total_refcount, 2U);
  }
  EXPECT_TRUE(pool->release(descriptor));
  EXPECT_FAILS(pool->release(descriptor), Errc::not_found) << "released twice";
  EXPECT_FAILS(pool->retain(descriptor), Errc::not_found);
  EXPECT_FAILS(pool->bytes(descriptor), Errc::not_found);
  const auto next = *pool->alloc_slot({}, DType::f64);
  EXPECT_EQ(next.size, 8U);
  EXPECT_FAILS(pool->release(descriptor), Errc::not_found) << "another tenant";
  auto other = next;
  other.slot_id |= 1U << 24U;
  EXPECT_FAILS(pool->release(other), Errc::invalid_argument);
  other = next;
  other.offset += 8;
  EXPECT_FAILS(pool->bytes(other), Errc::corrupt);
  EXPECT_TRUE(pool->release(next));
  EXPECT_EQ(pool->stats().allocated_slots, 0U);
}

TEST_F(Pool, names_its_limits) {
  const auto pool = make(1U << 20U, 2);
  EXPECT_FAILS(pool->alloc({1, 1, 1, 1, 1, 1, 1, 1, 1}, DType::u8), Errc::invalid_argument);
  EXPECT_FAILS(pool->alloc({4, 0}, DType::u8), Errc::invalid_argument);
  EXPECT_FAILS(pool->alloc({std::size_t{1} << 63U, 2}, DType::u8), Errc::invalid_argument);
  EXPECT_FAILS(pool->alloc({std::size_t{1} << 61U}, DType::f64), Errc::invalid_argument);
  EXPECT_FAILS(pool->alloc({1}, DType::u8, Device::cuda()), Errc::unsupported);
  EXPECT_FAILS(pool->alloc({(1U << 20U) + 1}, DType::u8), Errc::exhausted);
  EXPECT_EQ(pool->alloc({}, DType::f32)->element_count(), 1U);
  {
    const auto all = pool->alloc({1U << 20U}, DType::u8);
    EXPECT_TRUE(all) << all.error().message();
    EXPECT_FAILS(pool->alloc({1}, DType::u8), Errc::exhausted);
  }
  const auto one = pool->alloc({1}, DType::u8);
  const auto two = pool->alloc({1}, DType::u8);
  const auto three = pool->alloc({1}, DType::u8);
  EXPECT_FAILS(three, Errc::exhausted);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FAILS(pool->alloc_for(std::array<std::size_t, 1>{1}, DType::u8, Device::cpu(), 0ns),
               Errc::timeout);
  EXPECT_FAILS(pool->alloc_for(std::array<std::size_t, 1>{1}, DType::u8, Device::cpu(), 50ms),
               Errc::timeout);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 50ms);
  EXPECT_GT(pool->stats().failed_allocations, 3U);
  TensorPoolConfig config = pool->config();
  config.max_slots = 3;
  EXPECT_FAILS(TensorPool::create(pool->pool_id(), config), Errc::exists, "wanted 3, found 2");
  EXPECT_FAILS(TensorPool::open(999999), Errc::not_found);
  config.max_slots = 0;
  EXPECT_FAILS(TensorPool::create(next_id(), config), Errc::invalid_argument);
}

TEST_F(Pool, is_one_object_for_each_number) {
  const auto pool = make(1U << 20U, 2);
  EXPECT_EQ(*TensorPool::open(pool->pool_id()), pool);
  EXPECT_EQ(*TensorPool::create(pool->pool_id(), pool->config()), pool);
  EXPECT_TRUE(pool->is_owner());
}

TEST_F(Pool, lends_tensors_to_other_processes) {
  const auto pool = make(1U << 20U, 4);
  auto handle = std::optional(*pool->alloc({1000}, DType::u8));
  handle->data_slice_mut()->front() = std::byte{42};
  Peer peer("pool_member", std::to_string(pool->pool_id()), "open");
  EXPECT_EQ(peer.ask("attach " + to_hex(*handle->descriptor())), "byte 42");
  handle.reset();
  EXPECT_EQ(pool->stats().allocated_slots, 1U) << "the peer has it";
  EXPECT_EQ(peer.ask("read"), "byte 42");
  EXPECT_EQ(peer.ask("drop"), "dropped");
  EXPECT_EQ(pool->stats().allocated_slots, 0U);
  const std::string text = peer.ask("alloc 500");
  {
    const auto theirs = value_of(pool->attach(from_hex(text)));
    EXPECT_EQ((*theirs.data_slice())[499], std::byte{77});
    EXPECT_FAILS(theirs.map(Access::write), Errc::permission);
    EXPECT_EQ(pool->stats().allocated_slots, 1U);
    EXPECT_EQ(pool->stats().processes, 2U);
    peer.kill();
    EXPECT_EQ((*theirs.data_slice())[499], std::byte{77}) << "frames outlive their process";
  }
  EXPECT_TRUE(comes_true([&] { return pool->stats().processes == 1; }));
  EXPECT_EQ(pool->stats().allocated_slots, 0U);
  EXPECT_FAILS(pool->validate(from_hex(text)), Errc::not_found);
}

TEST_F(Pool, takes_back_what_a_dead_process_held) {
  const auto pool = make(1U << 20U, 4);
  Peer peer("pool_member", std::to_string(pool->pool_id()), "open");
  for (int i = 0; i < 4; ++i) {
    const auto handle = *pool->alloc({1000}, DType::u8);
    ASSERT_EQ(peer.ask("attach " + to_hex(*handle.descriptor())), "byte 0");
  }
  EXPECT_FAILS(pool->alloc({1}, DType::u8), Errc::exhausted);
  peer.kill();
  const auto handle = pool->alloc_for(std::array<std::size_t, 1>{1}, DType::u8, Device::cpu(), 5s);
  EXPECT_TRUE(handle) << handle.error().message();
}

TEST_F(Pool, counts_its_limits_over_all_processes) {
  const auto pool = make(1U << 20U, 4);
  Peer peer("pool_member", std::to_string(pool->pool_id()), "open");
  auto one = std::optional(*pool->alloc({1}, DType::u8));
  const auto two = pool->alloc({1}, DType::u8);
  EXPECT_NE(peer.ask("alloc 10").substr(0, 5), "error");
  EXPECT_NE(peer.ask("alloc 10").substr(0, 5), "error");
  EXPECT_EQ(peer.ask("alloc 10"), "error exhausted");
  EXPECT_FAILS(pool->alloc({1}, DType::u8), Errc::exhausted);
  EXPECT_EQ(pool->stats().allocated_slots, 4U);
  EXPECT_EQ(peer.ask("stats"), "4");
  EXPECT_EQ(peer.ask("alloc_for 10"), "waits");
  std::this_thread::sleep_for(50ms);  // mostly it waits by then, and its time is not over
  one.reset();
  EXPECT_EQ(peer.hear(), "got it");
  EXPECT_EQ(peer.ask("drop"), "dropped");
  EXPECT_EQ(pool->stats().allocated_slots, 1U);
  EXPECT_FAILS(pool->alloc({(1U << 20U) - 63}, DType::u8), Errc::exhausted);
}

TEST_F(Pool, ends_with_its_last_process) {
  const auto id = next_id();
  {
    const auto pool = *TensorPool::create(id, TensorPoolConfig::small());
    EXPECT_EQ(pool->config().max_slots, 256U);
  }
  EXPECT_FAILS(TensorPool::open(id), Errc::not_found);
  EXPECT_TRUE(TensorPool::create(id, TensorPoolConfig::large()));
}

TEST_F(Pool, lives_as_long_as_its_tensors) {
  std::optional<TensorHandle> handle;
  {
    const auto pool = make(1U << 20U, 4);
    handle = *pool->alloc({4}, DType::u8);
  }
  EXPECT_EQ(handle->pool(), nullptr);
  EXPECT_EQ(handle->data_slice()->size(), 4U);
  handle->data_slice_mut()->front() = std::byte{1};
}

TEST_F(Pool, changing_sizes_run_for_ever) {
  const auto pool = make(64U << 20U, 16);
  for (std::size_t bytes = 100'000; bytes < 60'000'000; bytes += 100'000)
    ASSERT_TRUE(pool->alloc({bytes}, DType::u8)) << bytes;
  EXPECT_EQ(pool->stats().used_bytes, 0U);
}

TEST_F(Pool, gives_images) {
  const auto pool = make(64U << 20U, 16);
  const auto image = value_of(pool->alloc_image(641, 479, PixelFormat::nv12));
  EXPECT_EQ(image.format(), PixelFormat::nv12);
  EXPECT_TRUE(image.descriptor()) << image.descriptor().error().message();
}

TEST_F(Pool, default_pool_is_this_process_s_own) {
  const auto pool = value_of(default_pool());
  EXPECT_EQ(*default_pool(), pool);
  EXPECT_EQ(pool->config().max_slots, 1024U);
}

// By a thread of the library: nobody allocates here any more.
TEST_F(Pool, scrubs_without_being_asked) {
  TensorPoolConfig config = TensorPoolConfig::small();
  config.scrub = Scrub::on_free;
  const auto pool = *TensorPool::create(next_id(), config);
  auto handle = *pool->alloc({8 << 20}, DType::u8);
  const std::span<std::byte> bytes = *handle.data_slice_mut();
  std::fill(bytes.begin(), bytes.end(), std::byte{1});
  // Read by the kernel: that thread writes meanwhile.
  const Fd memory(::open("/proc/self/mem", O_RDONLY | O_CLOEXEC));
  const auto last = [&, at = reinterpret_cast<std::uintptr_t>(&bytes.back())] {
    char byte = 1;
    EXPECT_EQ(::pread(memory.get(), &byte, 1, static_cast<off_t>(at)), 1);
    return static_cast<int>(byte);
  };
  handle = {};
  EXPECT_TRUE(comes_true([&] { return last() == 0; }));
}

TEST_F(Pool, scrubs_on_free) {
  TensorPoolConfig config = TensorPoolConfig::small();
  config.max_slots = 2;
  config.scrub = Scrub::on_free;
  const auto pool = *TensorPool::create(next_id(), config);
  for (int i = 0; i < 10; ++i) {
    const auto handle = *pool->alloc({1000}, DType::u8);
    const std::span<std::byte> bytes = *handle.data_slice_mut();
    for (std::byte& byte : bytes) {
      ASSERT_EQ(byte, std::byte{0});
      byte = std::byte{1};
    }
  }
}

}  // namespace
}  // namespace halyard
