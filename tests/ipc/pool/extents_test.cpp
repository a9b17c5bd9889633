// SPDX-License-Identifier: Apache-2.0
// Extents against a plain list of what is taken.
#include "ipc/pool/extents.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace halyard::ipc {
namespace {

constexpr std::uint64_t extent_mib = std::uint64_t{1} << 20;

TEST(Extents, give_all_that_is_left_to_the_byte) {
  Extents extents(64, 4);
  extents.grow(1000 * 64);
  const auto first = extents.take(300 * 64 + 1);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->size, 301 * 64U);
  EXPECT_EQ(extents.largest_free_bytes(), 699 * 64U);
  EXPECT_FALSE(extents.take(699 * 64 + 1));
  const auto rest = extents.take(699 * 64);
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->offset, 301 * 64U);
  EXPECT_EQ(extents.free_bytes(), 0U);
  EXPECT_EQ(extents.largest_free_bytes(), 0U);
  EXPECT_FALSE(extents.take(0));
  extents.give(first->id);
  EXPECT_TRUE(extents.take(301 * 64)) << "after one is given the next can be taken";
}

TEST(Extents, take_a_granule_for_nothing_and_refuse_what_no_number_holds) {
  Extents extents(64, 4);
  extents.grow(extent_mib);
  EXPECT_EQ(extents.take(0)->size, 64U);
  for (const std::uint64_t bytes :
       {extent_mib, std::uint64_t{1} << 40, UINT64_MAX, UINT64_MAX - 62})
    EXPECT_FALSE(extents.take(bytes)) << bytes;
  EXPECT_EQ(extents.taken(), 1U);
}

TEST(Extents, find_the_one_that_fits_among_many_of_nearly_the_size) {
  Extents extents(64, 400);
  std::vector<std::uint32_t> apart;
  // Sizes of one bin, each between two that stay taken; the largest comes last in the bin.
  extents.grow(4 * extent_mib);
  std::vector<std::uint32_t> sizes;
  for (std::uint64_t size = 4351; size >= 4096; size -= 17) {
    sizes.push_back(extents.take(size * 64 / 16)->id);
    apart.push_back(extents.take(64)->id);
  }
  const auto rest = extents.take(extents.largest_free_bytes());
  ASSERT_TRUE(rest);
  for (const std::uint32_t id : sizes)
    extents.give(id);
  EXPECT_FALSE(extents.take(4352 * 64 / 16 + 64));
  EXPECT_TRUE(extents.take(4351 * 64 / 16));
}

TEST(Extents, join_what_lies_side_by_side_in_any_order) {
  for (const auto& order : {std::array{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {2, 1, 0}, {2, 0, 1}}) {
    Extents extents(64, 3);
    extents.grow(3 * 640);
    std::array<std::uint32_t, 3> ids{};
    for (std::uint32_t& id : ids)
      id = extents.take(640)->id;
    for (const int i : order)
      extents.give(ids[static_cast<std::size_t>(i)]);
    EXPECT_EQ(extents.largest_free_bytes(), 3 * 640U);
  }
}

// Frames of one size: the memory that is warm is taken again, and nothing is cut or joined.
TEST(Extents, take_again_what_was_given_last) {
  Extents extents(64, 8);
  extents.grow(64 * 640);
  const auto first = *extents.take(640);
  const auto second = *extents.take(640);
  extents.give(first.id);
  EXPECT_EQ(extents.free_bytes(), 63 * 640U);
  EXPECT_EQ(extents.take(640)->offset, first.offset);
  extents.give(second.id);
  EXPECT_EQ(extents.take(640)->offset, second.offset);
  extents.give(second.id);
  extents.give(first.id);
  EXPECT_EQ(extents.taken(), 0U);
  EXPECT_EQ(extents.take(64 * 640)->offset, 0U) << "another size takes all that is free together";
}

TEST(Extents, join_what_they_grow_by) {
  Extents extents(64, 4);
  extents.grow(640);
  const auto one = extents.take(320);
  extents.grow(640);
  EXPECT_EQ(extents.total_bytes(), 2 * 640U);
  EXPECT_EQ(extents.largest_free_bytes(), 640 + 320U) << "the free end grows";
  const auto rest = extents.take(640 + 320);
  ASSERT_TRUE(one && rest);
  extents.grow(64);
  EXPECT_EQ(extents.take(64)->offset, 2 * 640U) << "the end was taken";
}

// One tensor after the other, each larger than the last: a pool that only ever cuts new memory
// ends at the eighth part of this.
TEST(Extents, serve_a_size_that_grows_up_to_the_whole) {
  Extents extents(64, 16);
  extents.grow(64 * extent_mib);
  for (std::uint64_t bytes = 100'000; bytes <= 64 * extent_mib; bytes += 100'000) {
    const auto extent = extents.take(bytes);
    ASSERT_TRUE(extent) << bytes;
    extents.give(extent->id);
  }
}

// What is taken, by place.
class Oracle {
 public:
  void grow(std::uint64_t bytes) { size_ += bytes; }
  void take(const Extents::Extent& extent) {
    EXPECT_LE(extent.offset + extent.size, size_);
    const auto next = taken_.lower_bound(extent.offset);
    if (next != taken_.end()) {
      EXPECT_LE(extent.offset + extent.size, next->first);
    }
    if (next != taken_.begin()) {
      EXPECT_LE(std::prev(next)->first + std::prev(next)->second, extent.offset);
    }
    taken_[extent.offset] = extent.size;
    bytes_ += extent.size;
  }
  void give(const Extents::Extent& extent) {
    EXPECT_EQ(taken_.erase(extent.offset), 1U);
    bytes_ -= extent.size;
  }
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t largest_gap() const {
    std::uint64_t largest = 0;
    std::uint64_t end = 0;
    for (const auto& [offset, size] : taken_) {
      largest = std::max(largest, offset - end);
      end = offset + size;
    }
    return std::max(largest, size_ - end);
  }

 private:
  std::uint64_t size_ = 0;
  std::map<std::uint64_t, std::uint64_t> taken_;
  std::uint64_t bytes_ = 0;
};

TEST(Extents, never_overlap_nor_lose_a_byte_whatever_is_taken_and_given) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    const std::uint64_t granule = seed % 2 == 0 ? 64 : 4096;
    Extents extents(granule, 200);
    Oracle oracle;
    std::vector<Extents::Extent> live;
    for (int step = 0; step < 20000; ++step) {
      if (step % 4000 == 0) {
        extents.grow(extent_mib);
        oracle.grow(extent_mib);
      }
      if (live.size() < 200 && random() % 100 < (step / 2000 % 2 == 0 ? 60U : 40U)) {
        const std::uint64_t bytes = random() % (std::uint64_t{1} << (random() % 22));
        const std::uint64_t gap = oracle.largest_gap();
        const auto extent = extents.take(bytes);
        ASSERT_EQ(extent.has_value(), bytes <= gap && gap > 0) << bytes << " of " << gap;
        if (!extent) continue;
        ASSERT_GE(extent->size, bytes);
        ASSERT_EQ(extent->offset % granule, 0U);
        oracle.take(*extent);
        live.push_back(*extent);
      } else if (!live.empty()) {
        std::swap(live[random() % live.size()], live.back());
        oracle.give(live.back());
        extents.give(live.back().id);
        live.pop_back();
      }
      ASSERT_EQ(extents.total_bytes() - extents.free_bytes(), oracle.bytes());
      ASSERT_EQ(extents.taken(), live.size());
    }
    EXPECT_EQ(extents.largest_free_bytes(), oracle.largest_gap());
    for (const auto& extent : live)
      extents.give(extent.id);
    EXPECT_EQ(extents.free_bytes(), 5 * extent_mib);
    EXPECT_EQ(extents.largest_free_bytes(), 5 * extent_mib);
  }
}

}  // namespace
}  // namespace halyard::ipc
