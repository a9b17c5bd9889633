// SPDX-License-Identifier: Apache-2.0
// Who may write where: overlap of regions against an oracle of single bytes, and claims of threads.
#include <gtest/gtest.h>

#include <future>
#include <optional>
#include <random>
#include <set>
#include <thread>

#include "halyard/buffer.h"
#include "support/in_child.h"
#include "support/product.h"
#include "support/result.h"
#include "support/threads.h"

namespace halyard {
namespace {

std::set<std::size_t> region_bytes(const ByteRegion& r) {
  std::set<std::size_t> bytes;
  for (const auto [row, i] : test::grid<std::size_t>(r.rows, r.row_bytes))
    bytes.insert(r.offset_bytes + row * r.stride_bytes + i);
  return bytes;
}

bool truly_overlap(const ByteRegion& a, const ByteRegion& b) {
  const auto first = region_bytes(a);
  const auto second = region_bytes(b);
  return std::any_of(first.begin(), first.end(),
                     [&second](std::size_t byte) { return second.count(byte) != 0; });
}

bool bounds_meet(const ByteRegion& a, const ByteRegion& b) {
  const auto first = region_bytes(a);
  const auto second = region_bytes(b);
  return !first.empty() && !second.empty() && *first.begin() <= *second.rbegin() &&
         *second.begin() <= *first.rbegin();
}

bool has_gaps(const ByteRegion& r) {
  const auto bytes = region_bytes(r);
  return !bytes.empty() && *bytes.rbegin() - *bytes.begin() + 1 != bytes.size();
}

std::string text(const ByteRegion& r) {
  return std::to_string(r.rows) + " rows of " + std::to_string(r.row_bytes) + " at " +
         std::to_string(r.offset_bytes) + " every " + std::to_string(r.stride_bytes);
}

TEST(Overlaps, agrees_with_sets_of_bytes_wherever_it_claims_to_be_exact) {
  std::mt19937 random(20240607);
  const auto below = [&random](unsigned n) { return static_cast<std::size_t>(random() % n); };
  int met = 0;
  int apart = 0;
  int cautious = 0;
  for (int round = 0; round < 60000; ++round) {
    // Small numbers, so that rows that cross their stride, touch or interleave are common.
    const std::size_t stride = below(14);
    const ByteRegion a{below(40), below(9), below(6), stride};
    const ByteRegion b{below(40), below(9), below(6), below(4) == 0 ? below(14) : stride};
    const bool truth = truly_overlap(a, b);
    const bool exact = a.stride_bytes == b.stride_bytes || !has_gaps(a) || !has_gaps(b);
    ASSERT_EQ(overlaps(a, b), exact ? truth : bounds_meet(a, b)) << text(a) << ", " << text(b);
    ASSERT_EQ(overlaps(b, a), overlaps(a, b)) << text(a) << ", " << text(b);
    ASSERT_TRUE(overlaps(a, b) || !truth) << text(a) << ", " << text(b);
    ++(truth ? met : apart);
    cautious += overlaps(a, b) != truth ? 1 : 0;
  }
  EXPECT_GT(met, 5000);
  EXPECT_GT(apart, 5000);
  EXPECT_GT(cautious, 100) << "the rounds must reach the case that is not exact";
}

TEST(Overlaps, regions_beyond_what_a_size_can_say_meet_all_that_follows) {
  const std::size_t huge = SIZE_MAX / 2;
  EXPECT_TRUE(overlaps({0, huge, 3, 1}, {huge, 1, 1, 0}));
  EXPECT_TRUE(overlaps({SIZE_MAX - 2, 10, 1, 0}, {SIZE_MAX - 1, 1, 1, 0}));
  EXPECT_FALSE(overlaps({SIZE_MAX - 2, 10, 1, 0}, {0, 100, 1, 0}));
}

// Runs on a thread of its own and returns what that gave.
template <class F>
auto elsewhere(F&& work) {
  return std::async(std::launch::async, std::forward<F>(work)).get();
}

Errc try_write(Buffer& buffer, std::vector<ByteRegion> regions = {}) {
  return elsewhere([&] {
    const auto map = buffer.map(Access::write, regions);
    return map ? Errc::ok : map.error().code;
  });
}

TEST(WriteClaims, one_thread_writes_a_region_at_a_time) {
  const auto buffer = *allocate(100, Memory::mem);
  {
    const auto mine = buffer->map(Access::write);
    ASSERT_TRUE(mine);
    EXPECT_EQ(try_write(*buffer), Errc::busy);
    EXPECT_EQ(try_write(*buffer, {{99, 1, 1, 0}}), Errc::busy);
    const auto refused = elsewhere([&] { return buffer->map(Access::read_write); });
    EXPECT_FAILS(refused, "access");
    EXPECT_FAILS(refused, "another thread");
  }
  EXPECT_EQ(try_write(*buffer), Errc::ok) << "the claim ends with the map";
}

TEST(WriteClaims, readers_and_the_writers_own_thread_are_not_kept_out) {
  const auto buffer = *allocate(100, Memory::mem);
  const auto mine = buffer->map(Access::write);
  EXPECT_TRUE(buffer->map(Access::write)) << "the same thread may write twice";
  EXPECT_TRUE(elsewhere([&] { return buffer->map(Access::read).has_value(); }));
  EXPECT_TRUE(elsewhere([&] { return buffer->map_unclaimed(Access::write).has_value(); }));
  const auto unclaimed = elsewhere([&] { return *buffer->map_unclaimed(Access::write); });
  EXPECT_EQ(try_write(*buffer), Errc::busy) << "only what was claimed keeps others out";
}

TEST(WriteClaims, a_child_is_not_kept_out_by_threads_of_its_parent) {
  const auto buffer = *allocate(100, Memory::mem);
  test::Inside inside;
  EXPECT_TRUE(inside.is_true_in_child_meanwhile(
      [&] {
        const auto map = buffer->map(Access::write);
        inside.wait();
      },
      [&] { return buffer->map(Access::write).has_value(); }));
  EXPECT_EQ(try_write(*buffer), Errc::ok);
}

TEST(WriteClaims, a_child_keeps_the_maps_of_the_thread_that_forked) {
  const auto buffer = *allocate(100, Memory::mem);
  std::optional<Map> mine = *buffer->map(Access::write);
  EXPECT_TRUE(test::is_true_in_child([&] {
    if (!buffer->map(Access::write)) return false;
    mine.reset();
    return try_write(*buffer) == Errc::ok;
  }));
  EXPECT_EQ(try_write(*buffer), Errc::busy);
}

TEST(WriteClaims, an_unclaimed_map_keeps_nobody_out) {
  const auto buffer = *allocate(100, Memory::mem);
  const auto mine = *buffer->map_unclaimed(Access::write);
  EXPECT_EQ(try_write(*buffer), Errc::ok);
}

TEST(WriteClaims, parts_without_a_common_byte_are_written_at_once) {
  const auto buffer = *allocate(1000, Memory::mem);
  const std::vector<ByteRegion> left{{0, 10, 10, 40}, {500, 100, 1, 0}};
  const auto mine = *buffer->map(Access::write, left);
  EXPECT_EQ(try_write(*buffer, {{10, 30, 10, 40}}), Errc::ok) << "the right half of the rows";
  EXPECT_EQ(try_write(*buffer, {{9, 30, 10, 40}}), Errc::busy);
  EXPECT_EQ(try_write(*buffer, {{400, 100, 1, 0}, {600, 400, 1, 0}}), Errc::ok);
  EXPECT_EQ(try_write(*buffer, {{400, 100, 1, 0}, {599, 1, 1, 0}}), Errc::busy);
  EXPECT_EQ(try_write(*buffer), Errc::busy) << "no regions means all bytes";
}

TEST(WriteClaims, more_regions_than_a_claim_holds_are_refused) {
  const auto buffer = *allocate(100, Memory::mem);
  const std::vector<ByteRegion> five(5, ByteRegion{0, 1, 1, 0});
  EXPECT_FAILS(buffer->map(Access::write, five), Errc::invalid_argument, "regions");
  EXPECT_EQ(try_write(*buffer), Errc::ok);
}

TEST(WriteClaims, a_map_holds_its_claim_after_its_thread_has_ended) {
  const auto buffer = *allocate(100, Memory::mem);
  auto left_behind = elsewhere([&] { return *buffer->map(Access::write); });
  // Threads that follow are given the memory and the id of the one that ended.
  for (int i = 0; i < 10; ++i)
    ASSERT_EQ(try_write(*buffer), Errc::busy);
  { const Map ended = std::move(left_behind); }
  EXPECT_EQ(try_write(*buffer), Errc::ok) << "it may be ended by any thread";
}

TEST(WriteClaims, moving_a_map_over_another_ends_the_others_claim) {
  const auto first = *allocate(100, Memory::mem);
  const auto second = *allocate(100, Memory::mem);
  Map map = *first->map(Access::write);
  map = *second->map(Access::write);
  EXPECT_EQ(try_write(*first), Errc::ok);
  EXPECT_EQ(try_write(*second), Errc::busy);
}

// begin_access() fails, as a device that is gone does.
class Failing final : public Buffer {
 public:
  Failing() : Buffer(100, Memory::mem) {}
  bool fails = true;

 private:
  Result<std::span<std::byte>> begin_access(Access) override {
    if (fails) return make_error(Errc::device, "device: gone");
    return std::span<std::byte>(bytes_);
  }
  void end_access(Access) noexcept override {}
  std::array<std::byte, 100> bytes_{};
};

TEST(WriteClaims, a_map_that_failed_claims_nothing) {
  const auto buffer = std::make_shared<Failing>();
  EXPECT_FAILS(buffer->map(Access::write), Errc::device);
  buffer->fails = false;
  EXPECT_EQ(try_write(*buffer), Errc::ok);
}

TEST(WriteClaims, order_writers_that_try_until_they_may) {
  const auto buffer = *allocate(64, Memory::mem);
  constexpr int threads = 4;
  constexpr int rounds = 500;
  test::on_threads(threads, [&buffer](std::size_t) {
    for (int i = 0; i < rounds;) {
      const auto map = buffer->map(Access::read_write);
      if (!map) {
        ASSERT_EQ(map.error().code, Errc::busy);
        std::this_thread::yield();
        continue;
      }
      // Not atomic: ThreadSanitizer and the sum both tell when two writers meet.
      auto* counter = reinterpret_cast<int*>(map->writable_bytes().data());
      *counter = *counter + 1;
      ++i;
    }
  });
  const auto map = *buffer->map(Access::read);
  EXPECT_EQ(*reinterpret_cast<const int*>(map.bytes().data()), threads * rounds);
}

}  // namespace
}  // namespace halyard
