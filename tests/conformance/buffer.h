// SPDX-License-Identifier: Apache-2.0
// What every kind of buffer promises. Instantiate BufferConformance with a maker for each kind, and
// BufferSharing (buffer_sharing.h) with each that another process can see, or that has no
// descriptor.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "conformance/buffer_support.h"
#include "halyard/buffer.h"
#include "support/result.h"
#include "support/threads.h"

namespace halyard::conformance {

struct BufferKind {
  std::string name;
  Memory memory = Memory::mem;
  bool has_fd = false;
  std::function<Result<std::shared_ptr<Buffer>>(std::size_t)> make;
  bool imported = false;      ///< of its whole kernel object, so DMA-BUFs come in whole pages
  bool slow = false;          ///< takes a tenth of the rounds of leak tests
  bool needs_device = false;  ///< whether make() works is up to the machine
  bool widens = true;         ///< a map for reading does not keep out one for writing
  std::function<std::shared_ptr<void>()> device = {};  ///< kept during a test, if buffers share one
};

/// How a failure names its kind.
inline void PrintTo(const BufferKind& kind, std::ostream* out) {
  *out << kind.name;
}

class BufferConformance : public ::testing::TestWithParam<BufferKind> {
 protected:
  void SetUp() override {
    if (GetParam().device) device_ = GetParam().device();
    if (!GetParam().needs_device) return;
    const auto probe = GetParam().make(4096);
    if (probe) return;
    if (in_machine()) FAIL() << "this machine has all devices: " << probe.error().message();
    GTEST_SKIP() << probe.error().message();
  }
  std::shared_ptr<Buffer> make(std::size_t size) {
    auto buffer = GetParam().make(size);
    EXPECT_TRUE(buffer) << (buffer ? "" : buffer.error().message());
    return buffer ? *std::move(buffer) : nullptr;
  }
  static int rounds() { return GetParam().slow ? many_rounds() / 10 : many_rounds(); }
  static std::size_t expected_size(std::size_t asked) {
    if (!GetParam().imported || GetParam().memory != Memory::dma) return asked;
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return (asked + page - 1) / page * page;
  }

 private:
  std::shared_ptr<void> device_;
};

/// Whether a map for writing `regions` is refused as busy on another thread.
inline bool busy_elsewhere(Buffer& buffer, std::vector<ByteRegion> regions) {
  Errc code = Errc::ok;
  std::thread([&] {
    const auto map = buffer.map(Access::write, regions);
    if (!map) code = map.error().code;
  }).join();
  EXPECT_TRUE(code == Errc::ok || code == Errc::busy) << to_string(code);
  return code == Errc::busy;
}

TEST_P(BufferConformance, starts_zero_filled_and_aligned) {
  for (const std::size_t size : {1U, 63U, 4096U, 1000003U}) {
    const auto buffer = make(size);
    ASSERT_TRUE(buffer);
    EXPECT_EQ(buffer->size_bytes(), expected_size(size));
    EXPECT_EQ(buffer->memory(), GetParam().memory);
    ASSERT_VALUE(const auto map, buffer->map(Access::read));
    ASSERT_EQ(map.bytes().size(), expected_size(size));
    EXPECT_TRUE(std::all_of(map.bytes().begin(), map.bytes().end(),
                            [](std::byte b) { return b == std::byte{0}; }));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(map.bytes().data()) % 64, 0U);
  }
}

TEST_P(BufferConformance, comes_in_every_size) {
  for (const std::size_t size : {1U, 2U, 4095U, 4096U, 4097U, 65536U, 65537U, 1382400U, 8294400U}) {
    const auto buffer = make(size);
    ASSERT_TRUE(buffer) << size;
    ASSERT_VALUE(const auto map, buffer->map(Access::read_write));
    map.writable_bytes().front() = std::byte{1};
    map.writable_bytes().back() = std::byte{2};
    EXPECT_EQ(map.bytes().back(), std::byte{2}) << size;
    EXPECT_EQ(map.bytes().size(), expected_size(size));
  }
}

TEST_P(BufferConformance, keeps_what_was_written) {
  const auto buffer = make(5000);
  {
    ASSERT_VALUE(const auto map, buffer->map(Access::write));
    std::memset(map.writable_bytes().data(), 0x5a, 5000);
  }
  const auto map = buffer->map(Access::read);
  EXPECT_EQ(map->bytes()[0], std::byte{0x5a});
  EXPECT_EQ(map->bytes()[4999], std::byte{0x5a});
}

TEST_P(BufferConformance, maps_for_every_access) {
  const auto buffer = make(4096);
  for (int round = 1; round <= 3; ++round) {
    for (const Access access : {Access::write, Access::read_write}) {
      ASSERT_VALUE(const auto map, buffer->map(access));
      EXPECT_EQ(map.access(), access);
      map.writable_bytes()[static_cast<std::size_t>(round)] = static_cast<std::byte>(round);
    }
    const auto map = buffer->map(Access::read);
    EXPECT_EQ(map->access(), Access::read);
    EXPECT_EQ(map->bytes()[static_cast<std::size_t>(round)], static_cast<std::byte>(round));
  }
}

TEST_P(BufferConformance, read_maps_offer_no_writable_bytes) {
  const auto buffer = make(4096);
  EXPECT_TRUE(buffer->map(Access::read)->writable_bytes().empty());
  EXPECT_EQ(buffer->map(Access::read_write)->writable_bytes().size(), 4096U);
}

TEST_P(BufferConformance, maps_nest_and_end_in_any_order) {
  const auto buffer = make(4096);
  std::array<int, 3> order{0, 1, 2};
  do {
    const Access first = GetParam().widens ? Access::read : Access::read_write;
    std::array<Map, 3> maps{*buffer->map(first), *buffer->map(Access::read_write),
                            *buffer->map(Access::write)};
    maps[1].writable_bytes()[1] = std::byte{11};
    maps[2].writable_bytes()[2] = std::byte{12};
    for (const int i : order) {
      EXPECT_EQ(maps[static_cast<std::size_t>(i)].bytes()[2], std::byte{12});
      maps[static_cast<std::size_t>(i)] = Map();
    }
    const auto after = buffer->map(Access::read);
    EXPECT_EQ(after->bytes()[1], std::byte{11});
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_P(BufferConformance, concurrent_maps_see_the_same_bytes) {
  const auto buffer = make(64);
  const auto first = buffer->map(Access::read_write);
  const auto second = buffer->map(Access::read);
  first->writable_bytes()[7] = std::byte{9};
  EXPECT_EQ(second->bytes()[7], std::byte{9});
  test::on_threads(4, [&buffer](std::size_t) {
    for (int round = 0; round < 200; ++round) {
      ASSERT_VALUE(const auto map, buffer->map(Access::read));
      ASSERT_EQ(map.bytes()[7], std::byte{9});
    }
  });
}

TEST_P(BufferConformance, threads_write_regions_of_their_own) {
  const auto buffer = make(4096);
  test::on_threads(4, [&buffer](std::size_t i) {
    const ByteRegion mine{i * 1024, 1024};
    for (int round = 0; round < 200; ++round) {
      ASSERT_VALUE(const auto map, buffer->map(Access::write, std::span(&mine, 1)));
      std::memset(map.writable_bytes().data() + mine.offset_bytes, static_cast<int>(i + 1),
                  mine.row_bytes);
    }
  });
  const auto map = buffer->map(Access::read);
  for (std::size_t i = 0; i < 4096; ++i)
    ASSERT_EQ(map->bytes()[i], static_cast<std::byte>(i / 1024 + 1)) << i;
}

TEST_P(BufferConformance, one_thread_at_a_time_writes_a_region) {
  const auto buffer = make(4096);
  const ByteRegion first{0, 1000};
  {
    const auto map = buffer->map(Access::write, std::span(&first, 1));
    ASSERT_TRUE(map);
    EXPECT_TRUE(busy_elsewhere(*buffer, {}));
    EXPECT_TRUE(busy_elsewhere(*buffer, {{999, 1}}));
    EXPECT_FALSE(busy_elsewhere(*buffer, {{1000, 3096}}));
    EXPECT_TRUE(buffer->map(Access::write)) << "the same thread may";
  }
  EXPECT_FALSE(busy_elsewhere(*buffer, {}));
}

TEST_P(BufferConformance, a_map_outlives_the_last_owner) {
  auto buffer = make(128);
  ASSERT_VALUE(auto map, buffer->map(Access::read_write));
  const std::weak_ptr<Buffer> watch = buffer;
  buffer.reset();
  EXPECT_FALSE(watch.expired());
  map.writable_bytes()[127] = std::byte{3};
  { const Map moved = std::move(map); }
  EXPECT_TRUE(watch.expired());
}

TEST_P(BufferConformance, ids_are_unique_and_never_come_back) {
  std::vector<std::uint64_t> ids;
  for (int i = 0; i < 100; ++i)
    ids.push_back(make(16)->id());
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end());
}

struct CountedAttachment final : Attachment {
  CountedAttachment(int& alive, const Buffer& buffer) : alive_(alive), buffer_(buffer) { ++alive_; }
  // The descriptor must still be there: an EGLImage or a registration is ended by it.
  ~CountedAttachment() override {
    if ((::fcntl(buffer_.fd(), F_GETFD) >= 0) == (buffer_.fd() >= 0)) --alive_;
  }
  int& alive_;
  const Buffer& buffer_;
};

TEST_P(BufferConformance, attachments_die_with_the_buffer) {
  int alive = 0;
  const int owner = 0;
  auto buffer = make(4096);
  buffer->attach(&owner, std::make_unique<CountedAttachment>(alive, *buffer));
  auto map = buffer->map(Access::read);
  buffer.reset();
  EXPECT_EQ(alive, 1) << "a map keeps the buffer";
  *map = Map();
  EXPECT_EQ(alive, 0);
}

TEST_P(BufferConformance, leaves_nothing_behind) {
  const auto round = [] {
    ASSERT_VALUE(const auto buffer, GetParam().make(4096));
    ASSERT_VALUE(const auto map, buffer->map(Access::write));
    map.writable_bytes()[4095] = std::byte{1};
  };
  round();
  const Holdings before = holdings();
  for (int i = 0; i < rounds() && !HasFatalFailure(); ++i)
    round();
  EXPECT_EQ(holdings(), before);
}

}  // namespace halyard::conformance
