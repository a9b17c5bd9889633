// SPDX-License-Identifier: Apache-2.0
// The memory of slot buffers: taken again, and never before it is given.
#include "ipc/pool/slot_buffer.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <set>
#include <vector>

#include "halyard/pool.h"
#include "ipc/helpers.h"
#include "support/threads.h"

namespace halyard::ipc {
namespace {

constexpr std::size_t block_bytes = 200;

TEST(BufferBlocks, are_taken_again_and_apart) {
  const auto blocks = BufferBlocks::create();
  std::set<void*> all;
  for (int i = 0; i < 100; ++i)
    all.insert(blocks->take(block_bytes));
  EXPECT_EQ(all.size(), 100U);
  for (void* const block : all) {
    std::memset(block, 0xEE, block_bytes);
    blocks->give(block);
  }
  std::vector<void*> again;
  for (int i = 0; i < 100; ++i)
    again.push_back(blocks->take(block_bytes));
  EXPECT_EQ(std::set<void*>(again.begin(), again.end()).size(), 100U);
  for (void* const block : again)
    blocks->give(block);
}

TEST(BufferBlocks, outlive_their_home) {
  auto blocks = BufferBlocks::create();
  BufferBlocks& known = *blocks;
  void* const first = known.take(block_bytes);
  void* const second = known.take(block_bytes);
  void* const spare = known.take(block_bytes);
  known.give(spare);
  blocks.reset();
  std::memset(first, 1, block_bytes);
  known.give(first);
  std::memset(second, 2, block_bytes);
  known.give(second);  // with it goes all that is left
}

TEST(BufferBlocks, are_shared_by_threads) {
  const auto blocks = BufferBlocks::create();
  test::on_threads(4, [&blocks](std::size_t t) {
    for (int i = 0; i < 5000; ++i) {
      void* const one = blocks->take(block_bytes);
      void* const two = blocks->take(block_bytes);
      std::memset(one, static_cast<int>(t), block_bytes);
      std::memset(two, static_cast<int>(t), block_bytes);
      ASSERT_EQ(static_cast<unsigned char*>(one)[block_bytes - 1], t);
      blocks->give(one);
      blocks->give(two);
    }
  });
}

// The counts of a shared_ptr lie in the block, and a weak one may be the last.
TEST(BufferBlocks, stay_for_weak_pointers_when_the_pool_is_gone) {
  std::weak_ptr<Buffer> last;
  {
    auto pool = *TensorPool::create(7900, TensorPoolConfig::small());
    const TensorHandle handle = *pool->alloc({1000}, DType::u8);
    last = handle.buffer();
    pool.reset();
    EXPECT_FALSE(last.expired());
  }
  EXPECT_TRUE(last.expired());
  EXPECT_EQ(last.lock(), nullptr);
}

TEST(BufferBlocks, of_a_parent_are_let_go_in_a_child) {
  auto pool = *TensorPool::create(7901, TensorPoolConfig::small());
  TensorHandle handle = *pool->alloc({1000}, DType::u8);
  const pid_t child = ::fork();
  if (child == 0) {
    handle = {};
    pool.reset();
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(pool->stats().allocated_slots, 1U);
}

}  // namespace
}  // namespace halyard::ipc
