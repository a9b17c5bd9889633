// SPDX-License-Identifier: Apache-2.0
// A hostile or broken peer that writes nonsense where others read: it may spoil its own frames and
// keep what it was lent, no more. The others neither crash nor hang, and count what they lose.
#include <atomic>
#include <thread>

#include "hostile.h"

namespace halyard {
namespace {

using namespace ipc;           // NOLINT: its parts are what is tested
using namespace ipc::testing;  // NOLINT

// Each bit of all that a publisher writes, one after the other, while its frames are read.
TEST_F(Hostile, flipped_bits_of_an_endpoint_are_losses) {
  const Stranger stranger;
  std::unique_ptr<StrangerEndpoint> endpoint;
  std::unique_ptr<StrangerArena> arena;
  std::uint64_t got = 0;
  std::uint64_t lost = 0;
  std::uint64_t sent = 0;
  const auto receive_all = [&] {
    for (int empty = 0, tries = 0; empty < 2 && tries < 200; ++tries) {
      const auto found = receiver.recv();
      lost += found.lost();
      if (found.is_empty()) ++empty;
      if (!found) continue;
      ++got;
      read_all(*found);
    }
  };
  const auto begin_anew = [&] {
    endpoint.reset();
    arena.reset();
    endpoint = std::make_unique<StrangerEndpoint>(stranger, node->id(), name, TopicRole::publisher);
    arena = std::make_unique<StrangerArena>(stranger, name, endpoint->socket());
  };
  const auto works = [&] {
    const std::uint64_t before = got;
    endpoint->publish_frame(arena->head);
    ++sent;
    receive_all();
    return got > before;
  };
  begin_anew();
  ASSERT_TRUE(works()) << receiver.stats().last_error.message();
  const std::size_t bytes = endpoint->memory().size();
  std::uint64_t rejoined = 0;
  for (std::size_t at = 0; at < bytes; ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      // Every bit of what a receiver looks at, one of eight of the messages further on.
      if (at > 1024 && bit != at % 8) continue;
      endpoint->publish_frame(arena->head);
      ++sent;
      endpoint->memory()[at] ^= std::byte(1U << bit);
      receive_all();
      static_cast<void>(receiver.has_message());
      endpoint->memory()[at] ^= std::byte(1U << bit);
      if (!works()) {
        begin_anew();
        ++rejoined;
      }
      if (at % 64 == 0 && bit == 0) {
        ASSERT_NO_FATAL_FAILURE(expect_delivery()) << "byte " << at;
      }
    }
  }
  EXPECT_GE(got + lost, sent);
  EXPECT_GT(got, sent / 2);
  std::printf("[   bits   ] sent %llu, received %llu, joined again %llu times\n",
              static_cast<unsigned long long>(sent), static_cast<unsigned long long>(got),
              static_cast<unsigned long long>(rejoined));
  // Many at a time, and never right again.
  for (int round = 0; round < 3000; ++round) {
    if (round % 20 == 0) begin_anew();
    endpoint->publish_frame(arena->head);
    for (std::uint64_t flips = random() % 20; flips > 0; --flips)
      endpoint->memory()[random() % bytes] = std::byte(random());
    receive_all();
    static_cast<void>(receiver.wait_for(0ns));
  }
  expect_delivery();
}

// The same of what an owner says of its slots: offsets, sizes, generations, who may borrow.
TEST_F(Hostile, flipped_bits_of_an_arena_are_losses) {
  const Stranger stranger;
  auto endpoint =
      std::make_unique<StrangerEndpoint>(stranger, node->id(), name, TopicRole::publisher);
  auto arena = std::make_unique<StrangerArena>(stranger, name, endpoint->socket());
  std::uint64_t got = 0;
  std::uint64_t lost = 0;
  std::uint64_t sent = 0;
  const auto send = [&] {
    ++sent;
    endpoint->publish_frame(arena->head);
    for (int tries = 0; tries < 3; ++tries) {
      const auto found = receiver.recv();
      lost += found.lost();
      if (found) ++got;
      if (found) read_all(*found);
    }
  };
  send();
  ASSERT_EQ(got, 1U) << receiver.stats().last_error.message();
  const std::size_t bytes = arena->state().size();
  for (std::size_t at = 0; at < bytes; ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      arena->state()[at] ^= std::byte(1U << bit);
      send();
      arena->state()[at] ^= std::byte(1U << bit);
    }
    if (at % 64 == 0) {
      ASSERT_NO_FATAL_FAILURE(expect_delivery()) << "byte " << at;
    }
  }
  EXPECT_EQ(got + lost, sent);
  SlotRecord& record = slot_records(arena->state())[arena->lease.slot];
  const std::uint64_t hostile[] = {0,    1,          7,          8,         63,        65,
                                   4095, 4097,       65535,      65536,     65537,     1U << 31U,
                                   ~0U,  UINT64_MAX, 1ULL << 63, INT64_MAX, 1ULL << 62};
  for (const std::uint64_t offset : hostile)
    for (const std::uint64_t size : hostile)
      for (const std::uint64_t begin : hostile) {
        record.offset.store(offset, std::memory_order_relaxed);
        record.bytes.store(size, std::memory_order_relaxed);
        arena->head.descriptor.offset = begin;
        send();
        arena->head.descriptor.offset = offset;
        send();
      }
  EXPECT_EQ(got + lost, sent);
  expect_delivery();
}

// Heads of messages, valid in all but some fields.
TEST_F(Hostile, heads_of_frames_are_checked) {
  const Stranger stranger;
  StrangerEndpoint endpoint(stranger, node->id(), name, TopicRole::publisher);
  StrangerArena arena(stranger, name, endpoint.socket());
  std::uint64_t got = 0;
  std::uint64_t lost = 0;
  constexpr std::uint64_t rounds = 40'000;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    FrameHead head = arena.head;
    std::array<std::byte, sizeof(FrameHead)> bytes;
    if (round % 2 == 0) {
      head.format = static_cast<std::uint8_t>(random() % 24);
      head.planes = static_cast<std::uint8_t>(random() % 5);
      head.width = static_cast<std::uint16_t>(random() % 3 == 0 ? random() : random() % 20);
      head.height = static_cast<std::uint32_t>(random() % 3 == 0 ? random() : random() % 20);
      for (auto& plane : head.plane)
        plane = {random() % 5 == 0 ? random() : random() % 512,
                 random() % 5 == 0 ? random() : random() % 64};
      head.plane_stride = random() % 5 == 0 ? random() : random() % 256;
      head.descriptor.dtype_code = static_cast<std::uint8_t>(random() % 14);
    }
    std::memcpy(bytes.data(), &head, sizeof(head));
    // Not who has the frame and where: that would be found out first.
    for (std::uint64_t flips = random() % 4; flips > 0; --flips)
      bytes[24 + random() % (sizeof(head) - 24)] = std::byte(random());
    std::memcpy(static_cast<void*>(&head), bytes.data(), sizeof(head));
    endpoint.publish_frame(head);
    const auto found = receiver.recv();
    lost += found.lost();
    if (!found) continue;
    ++got;
    read_all(*found);
  }
  EXPECT_EQ(got + lost, rounds);
  EXPECT_GT(got, 1000U);
  EXPECT_GT(lost, 1000U);
  expect_delivery();
}

// What a subscriber writes: how far it has read, and whether it waits.
TEST_F(Hostile, subscribers_cannot_stop_publishers) {
  const Stranger stranger;
  StrangerEndpoint endpoint(stranger, node->id(), name, TopicRole::subscriber);
  const auto pool = *honest.pool();
  for (std::size_t at = 0; at < sizeof(EndpointHeader) + 4 * sizeof(ReaderRecord); ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      endpoint.memory()[at] ^= std::byte(1U << bit);
      ASSERT_NO_FATAL_FAILURE(expect_delivery()) << "byte " << at;
      endpoint.memory()[at] ^= std::byte(1U << bit);
    }
  }
  const std::uint64_t positions[] = {0, 1, 1ULL << 63, UINT64_MAX, UINT64_MAX - 15, 1'000'000};
  for (const std::uint64_t position : positions) {
    for (std::uint32_t i = 0; i < endpoint.own().view.layout().readers; ++i) {
      ReaderRecord& record = endpoint.own().view.records()[i];
      record.publisher.store(random() % 2, std::memory_order_relaxed);
      record.position.store(position, std::memory_order_relaxed);
    }
    endpoint.own().view.header().waits.store(position, std::memory_order_relaxed);
    for (int i = 0; i < 20; ++i)
      ASSERT_NO_FATAL_FAILURE(expect_delivery());
    EXPECT_LE(pool->stats().allocated_slots, 17U);
  }
}

TEST_F(Hostile, subscribers_cannot_stop_publishers_that_wait) {
  struct Plain {
    std::uint64_t value = 0;
  };
  for (const Overflow overflow : {Overflow::block, Overflow::drop_newest}) {
    const std::string topic = name + (overflow == Overflow::block ? "_block" : "_newest");
    TopicConfig config = as(TopicRole::publisher);
    config.depth = 2;
    config.overflow = overflow;
    auto sender = *Topic<Plain>::create(topic, config);
    const Stranger stranger;
    StrangerEndpoint endpoint(stranger, node->id(), topic, TopicRole::subscriber);
    const auto record_publisher = [&](std::uint64_t id) {
      endpoint.own().view.records()[0].publisher.store(id, std::memory_order_relaxed);
    };
    std::uint64_t id = 0;
    const auto look = stranger.ask(endpoint.socket(), stranger.packet("topic/" + topic, 4, {}));
    ASSERT_TRUE(look && look->size() == 2);
    std::memcpy(&id, (*look)[0].body.data(), sizeof(id));
    record_publisher(id);
    const auto begin = Clock::now();
    for (int round = 0; round < 60; ++round) {
      endpoint.own().view.records()[0].position.store(random() % 3 == 0 ? random() : random() % 80,
                                                      std::memory_order_relaxed);
      endpoint.own().view.header().waits.store(random(), std::memory_order_relaxed);
      static_cast<void>(sender.send_for({1}, 5ms).has_value());
    }
    EXPECT_LT(Clock::now() - begin, 60s);
    // A position that changes all the time keeps no send() longer than its timeout.
    std::atomic<bool> stops{false};
    std::thread writer([&] {
      std::uint64_t value = 0;
      while (!stops)
        endpoint.own().view.records()[0].position.store(value += 0x9E3779B97F4A7C15,
                                                        std::memory_order_relaxed);
    });
    for (int round = 0; round < 20; ++round)
      static_cast<void>(sender.send_for({1}, 5ms).has_value());
    stops = true;
    writer.join();
    EXPECT_LT(Clock::now() - begin, 60s);
  }
}

// A publisher that goes on writing nonsense as fast as it can: receiving ends all the same.
TEST_F(Hostile, receiving_ends_while_nonsense_is_sent) {
  const Stranger stranger;
  StrangerEndpoint endpoint(stranger, node->id(), name, TopicRole::publisher);
  std::atomic<bool> stops{false};
  std::thread writer([&] {
    FrameHead head;
    head.owner = node->id();
    while (!stops)
      endpoint.publish_frame(head);
  });
  for (int i = 0; i < 200; ++i) {
    expect_delivery();
    if (HasFatalFailure()) break;
  }
  stops = true;
  writer.join();
}

}  // namespace
}  // namespace halyard
