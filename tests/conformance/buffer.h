// SPDX-License-Identifier: Apache-2.0
// What every kind of buffer promises. Instantiate BufferConformance with a maker for each kind.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "halyard/buffer.h"

namespace halyard::conformance {

struct BufferKind {
  std::string name;
  Memory memory;
  bool has_fd;
  std::function<Result<std::shared_ptr<Buffer>>(std::size_t)> make;
};

class BufferConformance : public ::testing::TestWithParam<BufferKind> {
 protected:
  std::shared_ptr<Buffer> make(std::size_t size) {
    auto buffer = GetParam().make(size);
    EXPECT_TRUE(buffer) << (buffer ? "" : buffer.error().message());
    return buffer ? *std::move(buffer) : nullptr;
  }
};

TEST_P(BufferConformance, starts_zero_filled_and_aligned) {
  for (const std::size_t size : {1U, 63U, 4096U, 1000003U}) {
    const auto buffer = make(size);
    ASSERT_TRUE(buffer);
    EXPECT_EQ(buffer->size_bytes(), size);
    EXPECT_EQ(buffer->memory(), GetParam().memory);
    const auto map = buffer->map(Access::read);
    ASSERT_TRUE(map);
    ASSERT_EQ(map->bytes().size(), size);
    EXPECT_TRUE(std::all_of(map->bytes().begin(), map->bytes().end(),
                            [](std::byte b) { return b == std::byte{0}; }));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(map->bytes().data()) % 64, 0U);
  }
}

TEST_P(BufferConformance, keeps_what_was_written) {
  const auto buffer = make(5000);
  {
    const auto map = buffer->map(Access::write);
    ASSERT_TRUE(map);
    std::memset(map->writable_bytes().data(), 0x5a, 5000);
  }
  const auto map = buffer->map(Access::read);
  EXPECT_EQ(map->bytes()[0], std::byte{0x5a});
  EXPECT_EQ(map->bytes()[4999], std::byte{0x5a});
}

TEST_P(BufferConformance, read_maps_offer_no_writable_bytes) {
  const auto buffer = make(16);
  EXPECT_TRUE(buffer->map(Access::read)->writable_bytes().empty());
  EXPECT_EQ(buffer->map(Access::read_write)->writable_bytes().size(), 16U);
}

TEST_P(BufferConformance, concurrent_maps_see_the_same_bytes) {
  const auto buffer = make(64);
  const auto first = buffer->map(Access::read_write);
  const auto second = buffer->map(Access::read);
  first->writable_bytes()[7] = std::byte{9};
  EXPECT_EQ(second->bytes()[7], std::byte{9});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&buffer] {
      for (int round = 0; round < 200; ++round) {
        const auto map = buffer->map(Access::read);
        ASSERT_TRUE(map);
        ASSERT_EQ(map->bytes()[7], std::byte{9});
      }
    });
  }
  for (auto& thread : threads)
    thread.join();
}

TEST_P(BufferConformance, a_map_outlives_the_last_owner) {
  auto buffer = make(128);
  auto map = buffer->map(Access::read_write);
  ASSERT_TRUE(map);
  const std::weak_ptr<Buffer> watch = buffer;
  buffer.reset();
  EXPECT_FALSE(watch.expired());
  map->writable_bytes()[127] = std::byte{3};
  { const Map moved = *std::move(map); }
  EXPECT_TRUE(watch.expired());
}

TEST_P(BufferConformance, ids_are_unique_and_never_come_back) {
  std::vector<std::uint64_t> ids;
  for (int i = 0; i < 100; ++i)
    ids.push_back(make(16)->id());
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end());
}

TEST_P(BufferConformance, offers_a_descriptor_when_it_has_one) {
  const auto buffer = make(4096);
  EXPECT_EQ(buffer->fd() >= 0, GetParam().has_fd);
}

}  // namespace halyard::conformance
