// SPDX-License-Identifier: Apache-2.0
// A ring in every interleaving of its publisher and its readers, and on real threads.
#include "ipc/topic/ring.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <thread>
#include <vector>

#include "interleavings.h"
#include "ipc/node/shared_word.h"

namespace halyard::ipc {
namespace {

using namespace test;  // NOLINT: its helpers are what tests are written in

constexpr std::size_t words = 2;

// Entries of a state and two words, which both hold the number of their message.
template <class Word>
class Ring {
 public:
  explicit Ring(std::uint64_t capacity)
      : entries_(std::make_unique<Word[]>(capacity * (words + 1))), capacity_(capacity) {}

  RingMemory<Word> for_publisher() { return {&head_, entries_.get(), words + 1, capacity_}; }
  RingMemory<const Word> for_readers() const {
    return {&head_, entries_.get(), words + 1, capacity_};
  }
  void send(std::uint64_t position) {
    const std::array<std::uint64_t, words> message{position, position};
    publish(for_publisher(), position, message);
  }

 private:
  Word head_;
  std::unique_ptr<Word[]> entries_;
  std::uint64_t capacity_;
};

// What a reader has seen: whole messages, in order, each once, and the others counted as lost.
class Reader {
 public:
  template <class Word>
  Read read(const Ring<Word>& ring, std::uint64_t window) {
    std::array<std::uint64_t, words> message{};
    const Read found = place.read(ring.for_readers(), window, message);
    if (found != Read::message) return found;
    is_right = is_right && message[0] == message[1] && message[0] == place.next - 1;
    ++received;
    is_right = is_right && received + place.lost == place.next;
    return found;
  }
  ReadPlace place;
  std::uint64_t received = 0;
  bool is_right = true;
};

void expect_right_in_all_orders(std::uint64_t capacity, std::uint64_t window, int messages,
                                int reads, int readers) {
  Interleavings::clear();
  Ring<ModelWord> ring(capacity);
  std::vector<Interleavings::Thread> threads{[&] {
    for (int i = 0; i < messages; ++i)
      ring.send(static_cast<std::uint64_t>(i));
  }};
  for (int i = 0; i < readers; ++i) {
    threads.emplace_back([&] {
      Reader reader;
      for (int k = 0; k < reads; ++k)
        reader.read(ring, window);
      Interleavings::must(reader.is_right, "messages are whole, in order, and none is unaccounted");
    });
  }
  const auto report = Interleavings::run(threads, [&] {
    Reader late;
    late.place.catch_up(ring.for_readers(), window);
    while (late.read(ring, window) == Read::message) {
    }
    Interleavings::must(late.is_right && late.place.next == static_cast<std::uint64_t>(messages) &&
                            late.received == std::min<std::uint64_t>(window, late.place.next),
                        "who comes late finds the window");
  });
  EXPECT_EQ(report.failure, "");
  std::printf("%zu states, %zu ends\n", report.states, report.ends);
}

TEST(Ring, is_read_right_in_all_orders_with_room) {
  expect_right_in_all_orders(4, 3, 3, 3, 1);
}

TEST(Ring, is_read_right_in_all_orders_while_it_is_written_over) {
  expect_right_in_all_orders(2, 2, 4, 2, 1);
  expect_right_in_all_orders(1, 1, 3, 2, 1);
  expect_right_in_all_orders(2, 1, 3, 2, 1);
}

TEST(Ring, is_read_right_in_all_orders_by_two) {
  expect_right_in_all_orders(2, 2, 3, 1, 2);
}

TEST(Ring, shows_the_search_a_publisher_that_does_not_say_when_it_writes) {
  Interleavings::clear();
  Ring<ModelWord> ring(1);
  const auto careless = [&] {
    for (std::uint64_t position = 0; position < 2; ++position) {
      const auto memory = ring.for_publisher();
      memory.words(position)[0].store(position);
      memory.words(position)[1].store(position);
      memory.state(position).store(state_when_there(position));
    }
  };
  const auto report = Interleavings::run({careless,
                                          [&] {
                                            Reader reader;
                                            reader.read(ring, 1);
                                            Interleavings::must(reader.is_right, "whole");
                                          }},
                                         [] {});
  EXPECT_NE(report.failure, "");
}

TEST(Ring, gives_threads_whole_messages_in_order_while_they_are_lapped) {
  constexpr std::uint64_t messages = 200'000;
  Ring<SharedWord> ring(8);
  std::vector<Reader> readers(3);
  std::vector<std::thread> threads;
  for (Reader& reader : readers) {
    threads.emplace_back([&ring, &reader] {
      while (reader.place.next < messages)
        reader.read(ring, 8);
    });
  }
  for (std::uint64_t i = 0; i < messages; ++i)
    ring.send(i);
  for (std::thread& thread : threads)
    thread.join();
  for (const Reader& reader : readers) {
    EXPECT_TRUE(reader.is_right);
    EXPECT_EQ(reader.received + reader.place.lost, messages);
    EXPECT_GT(reader.received, 0U);
  }
}

TEST(Ring, of_a_stranger_leads_no_reader_astray) {
  Ring<SharedWord> ring(4);
  const auto memory = ring.for_publisher();
  for (const std::uint64_t head : {std::uint64_t{0}, std::uint64_t{5}, UINT64_MAX}) {
    for (const std::uint64_t state : {std::uint64_t{0}, std::uint64_t{11}, UINT64_MAX}) {
      memory.head->store(head, std::memory_order_relaxed);
      for (std::uint64_t i = 0; i < 4; ++i)
        memory.state(i).store(state, std::memory_order_relaxed);
      Reader reader;
      for (int i = 0; i < 100; ++i)
        EXPECT_NE(reader.read(ring, 4), Read::message);
    }
  }
}

}  // namespace
}  // namespace halyard::ipc
