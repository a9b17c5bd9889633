// SPDX-License-Identifier: Apache-2.0
// What a pool does with its memory from tenant to tenant, and who may write it.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <random>

#include "descriptor_text.h"
#include "halyard/pool.h"
#include "halyard/topic.h"
#include "ipc/helpers.h"
#include "ipc/node/registry.h"
#include "ipc/peer.h"
#include "support/result.h"
#include "support/threads.h"

namespace halyard {
namespace {

using namespace ipc::testing;
using namespace std::chrono_literals;
using test::value_of;

constexpr std::size_t pool_mib = std::size_t{1} << 20U;

std::shared_ptr<TensorPool> make(TensorPoolConfig config) {
  static std::uint32_t last = 7100;
  return value_of(TensorPool::create(++last, config));
}
std::shared_ptr<TensorPool> make(std::uint64_t bytes, std::uint32_t slots) {
  return make({.pool_size = bytes, .max_slots = slots});
}

// Runs another role as the first process of a PID namespace; `arguments` are it and its own.
TEST(Peer, DISABLED_in_pid_namespace) {
  const std::string arguments = Peer::arguments();
  const std::size_t space = arguments.find(' ');
  const std::string filter = "--gtest_filter=Peer.DISABLED_" + arguments.substr(0, space);
  if (::unshare(CLONE_NEWPID) != 0) {
    Peer::tell("no namespace");
    return;
  }
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::setenv("HALYARD_TEST_PEER", arguments.substr(space + 1).c_str(), 1);
    ::execl("/proc/self/exe", "peer", filter.c_str(), "--gtest_also_run_disabled_tests",
            "--gtest_brief=1", nullptr);
    ::_exit(1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
}

// A process whose number means nothing here is alive as long as it is.
TEST(PoolMemory, of_processes_in_other_pid_namespaces_is_theirs) {
  const auto pool = make(pool_mib, 8);
  Peer peer("in_pid_namespace", "pool_member " + std::to_string(pool->pool_id()));
  const std::string said = peer.hear();
  if (said == "no namespace") GTEST_SKIP() << "no PID namespace can be made here";
  ASSERT_EQ(said, "open");
  std::vector<TensorDescriptor> theirs;
  for (int i = 0; i < 4; ++i)
    theirs.push_back(from_hex(peer.ask("alloc 500")));
  std::vector<TensorHandle> ours;
  for (auto handle = pool->alloc({500}, DType::u8); handle; handle = pool->alloc({500}, DType::u8))
    ours.push_back(*handle);
  EXPECT_EQ(ours.size(), 4U) << "a full pool takes nothing from those who live";
  for (const TensorDescriptor& descriptor : theirs) {
    const auto handle = value_of(pool->attach(descriptor));
    EXPECT_EQ((*handle.data_slice())[499], std::byte{77});
  }
  peer.kill();
  const auto handle = pool->alloc_for(std::array{500UL}, DType::u8, Device::cpu(), 10s);
  EXPECT_TRUE(handle) << "a dead one's is back";
}

TEST(PoolMemory, of_others_cannot_be_made_writable) {
  const auto pool = make(pool_mib, 8);
  Peer peer("pool_member", std::to_string(pool->pool_id()), "open");
  const auto theirs = value_of(pool->attach(from_hex(peer.ask("alloc 5000"))));
  const auto at = reinterpret_cast<std::uintptr_t>(theirs.data_slice()->data());
  auto* const begin = reinterpret_cast<void*>(at & ~std::uintptr_t{4095});  // NOLINT
  EXPECT_EQ(::mprotect(begin, 4096, PROT_READ | PROT_WRITE), -1);
  EXPECT_EQ(errno, EACCES);
}

TEST(PoolMemory, shows_nobody_what_another_process_wrote) {
  const auto pool = make(pool_mib, 8);
  {
    Peer peer("pool_member", std::to_string(pool->pool_id()), "open");
    for (int i = 0; i < 5; ++i)
      ASSERT_EQ(peer.ask("alloc 100000").substr(0, 5).find("error"), std::string::npos);
    ASSERT_EQ(peer.ask("drop"), "dropped");
    for (int i = 0; i < 8; ++i) {
      const auto handle = *pool->alloc({100'000}, DType::u8);
      const auto bytes = *handle.data_slice();
      EXPECT_EQ(std::count(bytes.begin(), bytes.end(), std::byte{0}), 100'000);
    }
  }
  const auto handle =
      value_of(pool->alloc_for(std::array{pool_mib}, DType::u8, Device::cpu(), 10s));
  const auto bytes = *handle.data_slice();
  EXPECT_EQ(std::count(bytes.begin(), bytes.end(), std::byte{77}), 0);
}

// Any number of threads that count one slot come out even.
TEST(PoolMemory, is_counted_right_by_many_threads) {
  const auto pool = make(pool_mib, 4);
  const auto descriptor = *pool->alloc_slot({100}, DType::u8);
  const TensorHandle handle = *pool->attach(descriptor);
  test::on_threads(4, [&](std::size_t t) {
    for (int i = 0; i < 3000; ++i) {
      const TensorHandle copy = handle;
      const TensorHandle part = *copy.slice_first_dim(10, 20);
      ASSERT_TRUE(pool->retain(descriptor));
      ASSERT_TRUE(t % 2 != 0 || pool->attach(*part.descriptor()));
      ASSERT_TRUE(pool->release(descriptor));
    }
  });
  EXPECT_EQ(handle.refcount(), 2U);
  EXPECT_EQ(pool->stats().total_refcount, 2U);
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(pool->retain(descriptor));
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(pool->release(descriptor));
  EXPECT_TRUE(pool->release(descriptor));
  EXPECT_EQ(handle.refcount(), 1U) << "a handle outlives what it was made from";
}

TEST(PoolMemory, is_all_back_after_any_mixture) {
  constexpr std::uint64_t bytes = 16 * pool_mib;
  const auto pool = make(bytes, 32);
  std::mt19937 random(5);
  std::vector<TensorHandle> held;
  const DType dtypes[] = {DType::f32, DType::f64,     DType::f16, DType::bf16, DType::i8,
                          DType::i16, DType::i32,     DType::i64, DType::u8,   DType::u16,
                          DType::u32, DType::boolean, DType::u64};
  for (int i = 0; i < 3000; ++i) {
    auto handle = pool->alloc({1 + random() % 300, 1 + random() % 300}, dtypes[random() % 13]);
    if (handle) held.push_back(*std::move(handle));
    if (!handle || random() % 8 == 0) held.resize(held.size() / 2);
    const TensorPoolStats stats = pool->stats();
    ASSERT_EQ(stats.allocated_slots, held.size());
    ASSERT_EQ(stats.total_refcount, held.size());
    ASSERT_EQ(stats.used_bytes + stats.free_bytes, bytes);
    ASSERT_EQ(stats.is_under_pressure(),
              stats.allocated_slots * 10 > 32 * 8 || stats.used_bytes * 10 > bytes * 8);
  }
  held.clear();
  EXPECT_EQ(pool->stats().allocated_slots, 0U);
  EXPECT_EQ(pool->stats().used_bytes, 0U);
  EXPECT_GT(pool->stats().peak_used_bytes, 0U);
  EXPECT_TRUE(pool->alloc({bytes}, DType::u8)) << "in one piece";
}

// Every second one of small neighbours is freed: all of those places serve again.
TEST(PoolMemory, between_neighbours_is_used_again) {
  const auto pool = make(128 * 128, 128);
  std::vector<TensorHandle> held;
  for (int i = 0; i < 128; ++i)
    held.push_back(*pool->alloc({128}, DType::u8));
  EXPECT_FALSE(pool->alloc({1}, DType::u8));
  for (std::size_t i = 0; i < 128; i += 2)
    held[i] = {};
  for (std::size_t i = 0; i < 128; i += 2) {
    auto again = pool->alloc({128}, DType::u8);
    ASSERT_TRUE(again) << i << ": " << again.error().message();
    held[i] = *std::move(again);
  }
}

TEST(PoolMemory, of_one_slot_is_a_pool) {
  const auto pool = make(64, 1);
  for (int i = 0; i < 100; ++i) {
    const auto handle = value_of(pool->alloc({64}, DType::u8));
    EXPECT_FAILS(pool->alloc({1}, DType::u8), Errc::exhausted);
  }
}

TEST(PoolMemory, is_seen_through_views_that_validate) {
  const auto pool = make(pool_mib, 8);
  const TensorHandle whole = *pool->alloc({4, 6, 8}, DType::u16);
  const auto words = *whole.data_as<std::uint16_t>();
  for (std::size_t i = 0; i < words.size(); ++i)
    words[i] = static_cast<std::uint16_t>(i);
  const TensorHandle rotated = *whole.permute(std::array<std::size_t, 3>{2, 0, 1});
  const TensorHandle part = *rotated.slice_first_dim(3, 5);  // its elements lie apart
  EXPECT_EQ(part.shape()[0], 2U);
  const TensorDescriptor descriptor = *part.descriptor();
  EXPECT_EQ(descriptor.strides[0], 2U);
  EXPECT_EQ(descriptor.size, (1 * 1 + 3 * 48 + 5 * 8) * 2 + 2U) << "to its last element's end";
  for (const TensorHandle& view : {rotated, part, *whole.view({24, 8})}) {
    EXPECT_TRUE(pool->validate(*view.descriptor()));
    const auto again = value_of(pool->attach(*view.descriptor()));
    EXPECT_EQ(again.shape().size(), view.shape().size());
  }
  EXPECT_EQ(whole.refcount(), 3U);
  const auto map = value_of(pool->attach(descriptor)->map(Access::read));
  const auto seen = value_of(map.view<const std::uint16_t, 3>());
  EXPECT_EQ(seen(1, 2, 3), words[2 * 48 + 3 * 8 + 4]);
}

// What is asked for at the beginning costs nothing when frames come.
TEST(PoolMemory, that_is_prefaulted_has_its_pages) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer has pages of its own for these";
#endif
  const auto pool = make({.pool_size = 32 * pool_mib, .prefault = true});
  static_cast<void>(pool->alloc({1}, DType::u8));
  const long faults = test::page_faults_of([&] {
    const auto handle = *pool->alloc({24 * pool_mib}, DType::u8);
    std::memset(handle.data_slice_mut()->data(), 1, 24 * pool_mib);
  });
  EXPECT_LT(faults, 100) << "of 6144 pages";
}

// Nobody walks over the bytes: of 32768 pages one has been touched, by the caller.
TEST(PoolMemory, is_given_out_and_back_without_a_look_at_its_pages) {
  const auto pool = make(256 * pool_mib, 8);
  std::optional<TensorHandle> again;
  const long faults = test::page_faults_of([&] {
    pool->alloc({128 * pool_mib}, DType::u8)->data_slice_mut()->back() = std::byte{1};
    again = *pool->alloc({128 * pool_mib}, DType::u8);
  });
  EXPECT_EQ(again->data_slice()->back(), std::byte{1});
  EXPECT_LT(faults, 100);
}

// What a process that ended at any step of making a pool or a topic left behind stops nobody.
TEST(PoolMemory, of_pools_that_were_half_made_is_made_anew) {
  const auto registry = value_of(ipc::Registry::open());
  const auto other = make(pool_mib, 4);  // keeps the folders there
  const std::string dead = "00112233445566778899aabbccddeeff";
  const auto leave = [&](const std::string& path, int step, const std::string& member) {
    ASSERT_EQ(::mkdir(path.c_str(), 0700), 0);
    if (step >= 1) std::ofstream(path + "/config.new") << "pool_si";
    if (step >= 2) std::ofstream(path + "/config") << "nonsense";
    if (step >= 3) std::ofstream(path + "/" + dead + member);
  };
  for (int step = 0; step < 4; ++step) {
    const std::uint32_t id = 7200 + static_cast<std::uint32_t>(step);
    leave(registry.path() + "/pools/" + std::to_string(id), step, "-0");
    const auto pool = TensorPool::create(id, TensorPoolConfig::small());
    ASSERT_TRUE(pool) << step << ": " << pool.error().message();
    EXPECT_TRUE((*pool)->is_owner());
    EXPECT_TRUE((*pool)->alloc({1}, DType::u8));
    const std::string topic = "half_made_" + std::to_string(step);
    leave(registry.path() + "/topics/" + topic, step, "-0011223344556677-p");
    const auto joined = Topic<std::uint64_t>::create(topic);
    ASSERT_TRUE(joined) << step << ": " << joined.error().message();
  }
}

}  // namespace
}  // namespace halyard
