// SPDX-License-Identifier: Apache-2.0
// Topics whose endpoints keep different paces, come late, idle, or send and receive at once: each
// message that the depth allows arrives, what is lost is counted, and the rule stays the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <unordered_map>

#include "ipc/helpers.h"
#include "support/sanitized.h"
#include "topics.h"

namespace halyard {
namespace {

using namespace ipc::testing;
using namespace std::chrono_literals;
using namespace test;  // NOLINT: its helpers are what tests are written in

std::uint64_t number_of(const TensorHandle& handle) {
  return (*handle.data_as<const std::uint64_t>())[0];
}
Result<TensorHandle> numbered(Topic<Tensor>& topic, std::uint64_t number) {
  HALYARD_TRY(auto handle, topic.alloc_tensor({64}, DType::u64));
  HALYARD_TRY(const auto words, handle.data_as<std::uint64_t>());
  std::fill(words.begin(), words.end(), number);
  return handle;
}
std::vector<std::uint64_t> numbers_of(Topic<Command>& topic) {
  std::vector<std::uint64_t> numbers;
  while (const auto got = topic.recv())
    numbers.push_back(got->number);
  return numbers;
}

// 100 Hz under 1000 Hz: each poll finds the newest frame, and knows exactly what it has missed.
TEST_F(Topics, give_slow_readers_the_newest_frame_on_every_poll) {
  auto sender = join<Tensor>(name);
  auto receiver = join<Tensor>(name, {.latest_only = true});
  std::atomic<std::uint64_t> sent{0};
  std::atomic<bool> stops{false};
  std::thread publisher([&] {
    auto due = std::chrono::steady_clock::now();
    while (!stops) {
      const auto frame = numbered(sender, sent + 1);
      ASSERT_TRUE(frame) << frame.error().message();
      ASSERT_TRUE(sender.send(*frame));
      ++sent;
      std::this_thread::sleep_until(due += 1ms);
    }
  });
  std::uint64_t last = 0;
  for (int poll = 0; poll < 40; ++poll) {
    std::this_thread::sleep_for(10ms);
    const std::uint64_t newest = sent;
    if (newest == last) continue;  // the publisher was not run meanwhile
    const auto got = receiver.recv_handle();
    ASSERT_TRUE(got) << "poll " << poll << ", " << newest << " sent";
    EXPECT_GE(number_of(*got), newest);
    EXPECT_EQ(number_of(*got), last + got.lost() + 1);
    last = number_of(*got);
  }
  stops = true;
  publisher.join();
  EXPECT_GT(last, 40U);
  EXPECT_EQ(receiver.stats().received + receiver.stats().lost, last);
}

TEST_F(Topics, reach_others_from_endpoints_that_send_and_receive) {
  for (const bool receives_own : {false, true}) {
    const std::string topic = next_name();
    TopicConfig config = with_depth(8);
    config.receives_own = receives_own;
    auto both = join<Command>(topic, config);
    auto other = join<Command>(topic);
    ASSERT_TRUE(both.send({100, 0, 0}));
    ASSERT_TRUE(other.send({200, 0, 0}));
    const std::vector<std::uint64_t> first =
        receives_own ? std::vector<std::uint64_t>{100, 200} : std::vector<std::uint64_t>{200};
    auto seen = numbers_of(both);
    std::sort(seen.begin(), seen.end());  // of two publishers
    EXPECT_EQ(seen, first);
    EXPECT_EQ(numbers_of(other), std::vector<std::uint64_t>{100});
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = 0; i < 8; ++i) {
      ASSERT_TRUE(both.send({i, 0, 0}));
      all.push_back(i);
    }
    EXPECT_EQ(numbers_of(other), all);
    EXPECT_EQ(numbers_of(both), receives_own ? all : std::vector<std::uint64_t>());
  }
}

// Of one subscriber or two, of one publisher or two: what overflows is the same.
TEST_F(Topics, keep_their_rule_when_others_join) {
  using Numbers = std::vector<std::uint64_t>;
  for (const Overflow overflow : {Overflow::drop_oldest, Overflow::drop_newest}) {
    const bool is_oldest = overflow == Overflow::drop_oldest;
    const std::string topic = next_name();
    TopicConfig config = with_depth(4, overflow);
    config.role = TopicRole::publisher;
    auto sender = join<Command>(topic, config);
    config.role = TopicRole::subscriber;
    std::vector<Topic<Command>> readers;
    std::optional<Topic<Command>> second;
    for (int round = 0; round < 3; ++round) {
      SCOPED_TRACE(std::string(to_string(overflow)) + ", round " + std::to_string(round));
      // One that comes in the middle gets what is sent from then on, and takes nothing away.
      if (round < 2) {
        ASSERT_TRUE(sender.send({99, 0, 0}));
        readers.push_back(join<Command>(topic, config));
        for (auto& reader : readers)
          EXPECT_EQ(numbers_of(reader), &reader == &readers.back() ? Numbers() : Numbers{99});
      }
      if (round == 2) {
        TopicConfig sends = with_depth(4, overflow);
        sends.role = TopicRole::publisher;
        second.emplace(join<Command>(topic, sends));
      }
      for (std::uint64_t i = 0; i < 6; ++i)
        EXPECT_EQ(sender.send({i, 0, 0}).has_value(), is_oldest || i < 4);
      for (auto& reader : readers)
        EXPECT_EQ(numbers_of(reader), (is_oldest ? Numbers{2, 3, 4, 5} : Numbers{0, 1, 2, 3}));
    }
    for (auto& reader : readers)
      EXPECT_EQ(reader.stats().lost, is_oldest ? (&reader == &readers[0] ? 6U : 4U) : 0U);
    EXPECT_EQ(sender.stats().refused, is_oldest ? 0U : 6U);
  }
}

// No lease runs out: who is silent for long is still there.
TEST_F(Topics, keep_endpoints_that_are_idle) {
  auto [sender, receiver] = join_twice<Command>();
  Peer peer("tensor_endpoint", name + "_frames", "joined");
  auto frames = join<Tensor>(name + "_frames");
  std::this_thread::sleep_for(5500ms);
  auto late = join<Command>(name);
  EXPECT_EQ(late.stats().publishers, 2U);
  EXPECT_EQ(frames.stats().publishers, 1U);
  ASSERT_TRUE(sender.send({1, 0, 0}));
  EXPECT_EQ(receiver.recv()->number, 1U);
  EXPECT_EQ(late.recv()->number, 1U);
  ASSERT_EQ(peer.ask("send 4"), "sent");
  EXPECT_TRUE(frames.recv_for(5s));
}

// Frames of a pool that the receiver has never opened, more of them than the pool has slots.
TEST_F(Topics, carry_frames_of_any_pool) {
  TensorPoolConfig config = TensorPoolConfig::small();
  config.max_slots = 16;
  const auto pool = *TensorPool::create(7001, config);
  {
    auto sender = join<Tensor>(name, with_depth(4));
    auto here = join<Tensor>(name);
    Peer peer("tensor_endpoint", name, "joined");
    for (int i = 0; i < 100; ++i) {
      const auto handle = pool->alloc({1000}, DType::u8);
      ASSERT_TRUE(handle) << i << ": " << handle.error().message();
      std::memset(handle->data_slice_mut()->data(), i, handle->size_bytes());
      ASSERT_TRUE(sender.send(*handle));
      const std::string byte = std::to_string(i);
      ASSERT_EQ(peer.ask("recv 5000"), "frame " + byte + " " + byte + " lost 0");
      ASSERT_EQ(peer.ask("drop"), "dropped");
      ASSERT_TRUE(here.recv()) << here.stats().last_error.message();
    }
    EXPECT_LE(pool->stats().allocated_slots, 4U) << "the window";
    EXPECT_EQ(sender.stats().copied, 0U);
  }
  EXPECT_EQ(pool->stats().allocated_slots, 0U);
}

// Messages of bytes go through slots: more of them, larger than any ring, than the pool has slots.
TEST_F(Topics, carry_more_large_messages_than_slots) {
  TopicConfig config = with_depth(4);
  config.pool = TensorPoolConfig::small();
  config.pool->max_slots = 16;
  auto sender = join<std::vector<std::byte>>(name, config);
  auto receiver = join<std::vector<std::byte>>(name);
  for (int i = 0; i < 1100; ++i) {
    const std::vector<std::byte> bytes(50'000, std::byte(i));
    const auto sent = sender.send(bytes);
    ASSERT_TRUE(sent) << i << ": " << sent.error().message();
    const auto got = receive(receiver);
    ASSERT_EQ(got, bytes);
  }
}

struct Picky {
  std::uint64_t number = 0;
  Tensor tensor;
};

}  // namespace

template <>
struct MessageFrame<Picky> {
  static constexpr std::string_view name = "test.Picky";
  using Metadata = std::uint64_t;
  static const Tensor& tensor(const Picky& message) { return message.tensor; }
  static Metadata metadata(const Picky& message) { return message.number; }
  static Result<Picky> make(Tensor tensor, const Metadata& number) {
    if (number % 2 == 1) return make_error(Errc::malformed, "number: is odd");
    return Picky{number, std::move(tensor)};
  }
};

namespace {

// "Nothing there" and "one that is no good" are not the same: a loop until nothing comes gets all.
TEST_F(Topics, pass_over_what_is_malformed) {
  auto [sender, receiver] = join_twice<Picky>();
  for (std::uint64_t i = 0; i < 6; ++i)
    ASSERT_TRUE(sender.send({i, *sender.alloc_tensor({8}, DType::u8)}));
  std::vector<std::uint64_t> numbers;
  std::uint64_t lost = 0;
  for (;;) {
    const auto got = receiver.recv();
    lost += got.lost();
    if (!got) break;
    numbers.push_back(got->number);
  }
  EXPECT_EQ(numbers, (std::vector<std::uint64_t>{0, 2, 4}));
  EXPECT_EQ(lost, 3U);
  EXPECT_EQ(receiver.stats().corrupt, 3U);
  EXPECT_NE(receiver.stats().last_error.message().find("odd"), std::string::npos);
}

// Two names with the same hash of 32 bits are two topics with two pools.
TEST_F(Topics, have_pools_of_their_own_whatever_their_names) {
  std::unordered_map<std::uint32_t, std::string> seen;
  for (int i = 0;; ++i) {
    ASSERT_LT(i, 10'000'000);
    const std::string name =
        "robot" + std::to_string(i % 1000) + "/camera" + std::to_string(i / 1000) + "/image";
    std::uint32_t hash = 0x811C9DC5U;  // FNV-1a
    for (const char c : name)
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193U;
    const auto [entry, is_new] = seen.emplace(hash, name);
    if (is_new) continue;
    auto one = join<Tensor>(entry->second);
    auto two = join<Tensor>(name);
    EXPECT_NE((*one.pool())->pool_id(), (*two.pool())->pool_id()) << name;
    return;
  }
}

// What sending and receiving take does not depend on the size of the frame: of the 16384 pages of
// this one nobody looks at another than the test does.
TEST_F(Topics, send_without_a_look_at_the_pages_of_a_frame) {
  auto sender = join<Tensor>(name, with_depth(4));
  auto receiver = join<Tensor>(name);
  const long faults = test::page_faults_of([&] {
    for (int i = 0; i < 10; ++i) {
      const auto handle = value_of(sender.alloc_tensor({std::size_t{64} << 20U}, DType::u8));
      handle.data_slice_mut()->front() = std::byte(i);
      ASSERT_TRUE(sender.send(handle));
      const Tensor got = receive(receiver);
      EXPECT_EQ(TensorHandle::of(got)->data_slice()->front(), std::byte(i));
    }
  });
  EXPECT_LT(faults, test::is_sanitized ? 1000 : 500) << "a sanitizer touches pages of its own";
}

}  // namespace
}  // namespace halyard
