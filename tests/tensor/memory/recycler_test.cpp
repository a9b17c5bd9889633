// SPDX-License-Identifier: Apache-2.0
// Recycler: what comes back, what never does, and that no two users ever hold one buffer.
#include "halyard/recycler.h"
#include "support/result.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "support/threads.h"
#include "tensor/tensors.h"

namespace halyard {
namespace {

using F = PixelFormat;
using test::image_of;

struct CountedBuffer final : Attachment {
  explicit CountedBuffer(std::atomic<int>& alive) : alive_(alive) { ++alive_; }
  ~CountedBuffer() override { --alive_; }
  std::atomic<int>& alive_;
};

TEST(Recycler, gives_the_same_buffer_again_with_its_bytes_and_attachments) {
  std::atomic<int> alive{0};
  const int owner = 0;
  Recycler recycler;
  std::uint64_t id = 0;
  {
    const auto buffer = *recycler.allocate(5000);
    id = buffer->id();
    buffer->attach(&owner, std::make_unique<CountedBuffer>(alive));
    buffer->map(Access::write)->writable_bytes()[4999] = std::byte{7};
    buffer->set_cpu_access(CpuAccess::none);
  }
  EXPECT_EQ(alive, 1);
  const auto again = *recycler.allocate(5000);
  EXPECT_EQ(again->id(), id);
  EXPECT_NE(again->attachment(&owner), nullptr);
  EXPECT_EQ(again->map(Access::read)->bytes()[4999], std::byte{7});
  EXPECT_EQ(again->cpu_access(), CpuAccess::read_write) << "as allocate() gives it";
  EXPECT_EQ(recycler.stats().fresh, 1U);
  EXPECT_EQ(recycler.stats().recycled, 1U);
}

TEST(Recycler, takes_only_the_exact_size_and_kind) {
  Recycler recycler({.shared_kinds = true});
  std::set<std::uint64_t> ids;
  for (const std::size_t size : {4096U, 4095U, 4097U, 8192U})
    ids.insert((*recycler.allocate(size))->id());
  ids.insert((*recycler.allocate(4096, Memory::shm))->id());
  EXPECT_EQ(ids.size(), 5U);
  EXPECT_EQ(recycler.stats().fresh, 5U);
  EXPECT_EQ(recycler.stats().idle_buffers, 5U);
  const auto shm = *recycler.allocate(4096, Memory::shm);
  EXPECT_EQ(shm->memory(), Memory::shm);
  EXPECT_TRUE(ids.contains(shm->id()));
}

TEST(Recycler, never_gives_away_what_a_map_holds) {
  Recycler recycler;
  std::optional<Map> map;
  std::uint64_t id = 0;
  {
    const auto buffer = *recycler.allocate(64);
    id = buffer->id();
    map = *buffer->map(Access::read);
  }
  EXPECT_NE((*recycler.allocate(64))->id(), id);
  map.reset();
  std::set<std::uint64_t> ids;
  const auto first = *recycler.allocate(64);
  const auto second = *recycler.allocate(64);
  EXPECT_EQ((std::set{first->id(), second->id()}.count(id)), 1U) << "free again with its last map";
  EXPECT_EQ(recycler.stats().fresh, 2U);
}

TEST(Recycler, never_gives_away_what_a_tensor_or_its_part_holds) {
  Recycler recycler;
  auto whole = *recycler.create_image(64, 64, F::nv12);
  const std::uint64_t id = whole.buffer()->id();
  auto part = *whole.slice({2, 2, 8, 8});
  whole = {};
  EXPECT_NE(recycler.create_image(64, 64, F::nv12)->buffer()->id(), id);
  EXPECT_EQ(part.buffer()->id(), id);
}

TEST(Recycler, lays_images_out_as_create_image_does) {
  Recycler recycler;
  for (const PixelFormat format : {F::rgb, F::nv12, F::i420}) {
    const auto ours = *recycler.create_image(101, 33, format, DType::u8);
    const auto fresh = image_of(101, 33, format);
    EXPECT_EQ(ours.format(), format);
    EXPECT_EQ(ours.row_stride_bytes(), fresh.row_stride_bytes());
    EXPECT_EQ(ours.buffer()->size_bytes(), fresh.buffer()->size_bytes());
    EXPECT_TRUE(std::ranges::equal(ours.shape(), fresh.shape()));
  }
}

TEST(Recycler, copies_elements_without_gaps_into_its_memory) {
  Recycler recycler;
  const Tensor whole = *Tensor::create(DType::u8, {3, 7, 3}, Memory::mem);
  {
    const auto map = *whole.map(Access::write);
    for (std::size_t i = 0; i < 63; ++i)
      map.writable()[i] = static_cast<std::byte>(i);
  }
  const AxisRange parts[] = {AxisRange::all(3), {1, 4, 1}, AxisRange::all(3)};
  ASSERT_VALUE(const Tensor part, whole.part(parts));
  const void* first = nullptr;
  for (int i = 0; i < 2; ++i) {
    ASSERT_VALUE(const Tensor copied, recycler.copy(part));
    EXPECT_EQ(copied.dtype(), part.dtype());
    ASSERT_TRUE(std::ranges::equal(copied.shape(), part.shape()));
    EXPECT_EQ(copied.layout().stride_bytes[0], 12);
    const auto from = *part.map(Access::read), to = *copied.map(Access::read);
    for (std::size_t y = 0; y < 3; ++y)
      EXPECT_EQ(std::memcmp(to.data() + y * 12, from.data() + y * 21, 12), 0);
    if (i == 1) {
      EXPECT_EQ(to.data(), first);
    }
    first = to.data();
  }
  EXPECT_EQ(recycler.stats().fresh, 1U);
  EXPECT_EQ(recycler.stats().recycled, 1U);
  EXPECT_EQ(code_of(recycler.copy(image_of(7, 3, F::rgb))), Errc::invalid_argument);
}

TEST(Recycler, refuses_a_bad_image_before_it_allocates) {
  Recycler recycler;
  EXPECT_FAILS(recycler.create_image(0, 16, F::rgb), Errc::invalid_argument);
  EXPECT_FAILS(recycler.create_image(70000, 16, F::rgb), Errc::invalid_argument);
  EXPECT_EQ(recycler.stats().fresh, 0U);
}

TEST(Recycler, reports_what_allocate_reports) {
  Recycler recycler;
  EXPECT_FAILS(recycler.allocate(SIZE_MAX - 8), Errc::no_memory);
  EXPECT_FAILS(recycler.allocate(0, Memory::shm), Errc::invalid_argument);
  EXPECT_EQ(recycler.stats().fresh, 0U);
}

TEST(Recycler, passes_shared_kinds_through_unless_asked) {
  Recycler recycler;
  std::uint64_t id = 0;
  { id = (*recycler.allocate(4096, Memory::shm))->id(); }
  EXPECT_NE((*recycler.allocate(4096, Memory::shm))->id(), id);
  EXPECT_EQ(recycler.stats().fresh, 2U);
  EXPECT_EQ(recycler.stats().idle_buffers, 0U) << "it keeps no reference to them either";
}

TEST(Recycler, keeps_no_buffer_without_bytes) {
  Recycler recycler;
  { EXPECT_EQ((*recycler.allocate(0))->size_bytes(), 0U); }
  EXPECT_EQ(recycler.stats().idle_buffers, 0U);
}

TEST(Recycler, lets_the_longest_idle_go_when_there_is_too_much) {
  Recycler recycler({.max_idle_bytes = 3 * 4096});
  std::vector<std::shared_ptr<Buffer>> held;
  std::vector<std::weak_ptr<Buffer>> watched;
  for (int i = 0; i < 6; ++i) {
    held.push_back(*recycler.allocate(4096));
    watched.emplace_back(held.back());
  }
  EXPECT_EQ(recycler.stats().idle_bytes, 0U);
  // Falls idle early: buffer 4. Seen so, since the others were seen in use after it.
  held[4].reset();
  { const auto other_size = *recycler.allocate(64); }
  for (const int i : {0, 1, 2})
    held[static_cast<std::size_t>(i)].reset();
  const auto trigger = *recycler.allocate(128);
  EXPECT_TRUE(watched[4].expired());
  EXPECT_FALSE(watched[3].expired()) << "in use";
  EXPECT_LE(recycler.stats().idle_bytes, 3U * 4096);
  EXPECT_EQ(recycler.stats().idle_buffers, 3U);
}

TEST(Recycler, lets_go_of_idle_buffers_only_when_trimmed) {
  std::atomic<int> alive{0};
  const int owner = 0;
  Recycler recycler;
  const auto held = *recycler.allocate(100);
  held->attach(&owner, std::make_unique<CountedBuffer>(alive));
  { (*recycler.allocate(100))->attach(&owner, std::make_unique<CountedBuffer>(alive)); }
  EXPECT_EQ(recycler.stats().idle_bytes, 100U);
  recycler.trim();
  EXPECT_EQ(alive, 1);
  EXPECT_EQ(recycler.stats().idle_bytes, 0U);
  EXPECT_NE((*recycler.allocate(100))->id(), held->id());
}

// An attachment that comes back to the recycler while it dies.
struct CallsBack final : Attachment {
  explicit CallsBack(Recycler& recycler) : recycler_(recycler) {}
  ~CallsBack() override { (void)recycler_.allocate(16); }
  Recycler& recycler_;
};

TEST(Recycler, holds_no_lock_while_buffers_die) {
  const int owner = 0;
  Recycler recycler({.max_idle_bytes = 10});
  { (*recycler.allocate(100))->attach(&owner, std::make_unique<CallsBack>(recycler)); }
  { (*recycler.allocate(200))->attach(&owner, std::make_unique<CallsBack>(recycler)); }
  recycler.trim();
  EXPECT_GE(recycler.stats().fresh, 3U);
}

TEST(Recycler, dies_before_the_buffers_that_it_gave) {
  std::shared_ptr<Buffer> kept;
  std::weak_ptr<Buffer> idle;
  {
    Recycler recycler;
    kept = *recycler.allocate(64);
    idle = *recycler.allocate(64);
    EXPECT_FALSE(idle.expired());
  }
  EXPECT_TRUE(idle.expired());
  kept->map(Access::write)->writable_bytes()[0] = std::byte{1};
  EXPECT_EQ(kept.use_count(), 1);
}

TEST(Recycler, finds_an_idle_buffer_among_many_in_use_after_a_while) {
  Recycler recycler;
  std::vector<std::shared_ptr<Buffer>> held;
  for (int i = 0; i < 1000; ++i)
    held.push_back(*recycler.allocate(32));
  const auto before = recycler.stats().fresh;
  for (int i = 0; i < 1000; ++i)
    EXPECT_TRUE(recycler.allocate(32));
  EXPECT_LT(recycler.stats().fresh - before, 300U);
}

// Writes a pattern of its own into a frame, lets the others run, and reads it back.
void use_frames(Recycler& recycler, std::uint8_t who, std::atomic<int>& mixed_up) {
  std::optional<Tensor> last;
  for (unsigned round = 0; round < 2000; ++round) {
    const std::size_t width = 16 + 16 * (round % 3);
    auto frame = *recycler.create_image(width, 16, F::grey);
    const auto mark = static_cast<int>(who * 50U + round % 50U);
    {
      const auto map = *frame.map(Access::write);
      std::memset(map.writable(), mark, width * 16);
    }
    std::this_thread::yield();
    const auto map = *frame.map(Access::read);
    const std::span bytes(map.data(), width * 16);
    if (!std::ranges::all_of(bytes, [&](std::byte b) { return b == std::byte(mark); })) ++mixed_up;
    // Every other frame lives on beside its follower.
    if (round % 2 == 0) last = std::move(frame);
  }
}

TEST(Recycler, no_two_threads_ever_hold_one_buffer) {
  Recycler recycler({.max_idle_bytes = 4096});
  std::atomic<int> mixed_up{0};
  test::on_threads(
      4, [&](std::size_t who) { use_frames(recycler, static_cast<std::uint8_t>(who), mixed_up); });
  EXPECT_EQ(mixed_up, 0);
  const auto stats = recycler.stats();
  EXPECT_EQ(stats.fresh + stats.recycled, 4U * 2000);
  EXPECT_GT(stats.recycled, stats.fresh);
}

// The frame is dropped on another thread than the one that takes it again.
TEST(Recycler, sees_the_writes_of_the_thread_that_let_go) {
  Recycler recycler;
  for (int round = 0; round < 300; ++round) {
    auto frame = *recycler.create_image(64, 64, F::grey);
    std::thread user([taken = std::move(frame), round] {
      std::memset(taken.map(Access::write)->writable(), round % 251, 64 * 64);
    });
    if (round % 2 == 0) user.join();
    const auto next = *recycler.create_image(64, 64, F::grey);
    std::memset(next.map(Access::write)->writable(), 0, 64 * 64);
    if (user.joinable()) user.join();
  }
  EXPECT_LE(recycler.stats().fresh, 4U);
}

}  // namespace
}  // namespace halyard
