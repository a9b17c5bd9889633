// SPDX-License-Identifier: Apache-2.0
// Waiting for messages, and for room.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <coroutine>
#include <exception>
#include <optional>
#include <thread>
#include <vector>

#include "halyard/wait_set.h"
#include "ipc/helpers.h"
#include "topics.h"

namespace halyard {
namespace {

using namespace ipc::testing;
using namespace std::chrono_literals;
using namespace test;  // NOLINT: its helpers are what tests are written in

TEST_F(Topics, wake_who_waits) {
  auto receiver = join<Command>(name);
  EXPECT_FALSE(receiver.wait_for(0ns));
  EXPECT_FALSE(receiver.wait_for(20ms));
  std::atomic<std::uint64_t> got{0};
  std::thread waiter([&] {
    while (got < 200) {
      if (receiver.recv_for(20s)) ++got;
    }
  });
  auto [one, two] = join_twice<Command>();
  for (std::uint64_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(one.send({i, 0, 0}));
    ASSERT_TRUE(two.send({i, 0, 0}));
    ASSERT_TRUE(comes_true([&] { return got == 2 * i + 2; }));
  }
  waiter.join();
}

TEST_F(Topics, have_a_descriptor_for_event_loops) {
  auto receiver = join<Command>(name);
  auto sender = join<Command>(name);
  ASSERT_TRUE(sender.send({1, 0, 0}));
  const int fd = receiver.fd();
  const auto is_readable = [&](int ms) {
    pollfd poll = {fd, POLLIN, 0};
    return ::poll(&poll, 1, ms) == 1;
  };
  EXPECT_TRUE(is_readable(1000)) << "what was there before";
  EXPECT_TRUE(receiver.recv());
  EXPECT_FALSE(receiver.recv());
  EXPECT_FALSE(is_readable(0));
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(sender.send({1, 0, 0}));
    ASSERT_TRUE(is_readable(1000));
    ASSERT_TRUE(receiver.recv());
    ASSERT_FALSE(receiver.recv());
    ASSERT_FALSE(is_readable(0));
  }
}

// A coroutine that begins at once and belongs to whoever has the object.
class Task {
 public:
  struct promise_type {
    Task get_return_object() {
      return Task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  ~Task() {
    if (handle_) handle_.destroy();
  }
  bool is_done() const { return handle_.done(); }

 private:
  std::coroutine_handle<promise_type> handle_;
};

Task take_messages(WaitSet& set, Topic<Command>& topic, int count,
                   std::vector<std::uint64_t>& got) {
  for (int i = 0; i < count; ++i) {
    const auto message = co_await set.next(topic);
    got.push_back(message ? message->number : UINT64_MAX);
  }
}

TEST_F(Topics, are_awaited_by_coroutines) {
  const std::string second_name = next_name();
  auto one = join<Command>(name);
  auto two = join<Command>(second_name);
  auto to_one = join<Command>(name);
  auto to_two = join<Command>(second_name);
  auto set = *WaitSet::create();
  ASSERT_TRUE(set.add(one, 1));
  ASSERT_TRUE(set.add(two, 2));
  ASSERT_TRUE(to_one.send({10, 0, 0}));
  std::vector<std::uint64_t> first, second;
  const Task taking_one = take_messages(set, one, 3, first);
  const Task taking_two = take_messages(set, two, 1, second);
  EXPECT_EQ(first, (std::vector<std::uint64_t>{10})) << "what is there is not waited for";
  EXPECT_TRUE(set.wait(0ns)->empty());
  std::thread sender([&] {
    std::this_thread::sleep_for(20ms);
    ASSERT_TRUE(to_two.send({20, 0, 0}));
  });
  EXPECT_EQ(*set.wait(20s), (std::vector<std::uint64_t>{2}));
  sender.join();
  EXPECT_EQ(second, (std::vector<std::uint64_t>{20}));
  EXPECT_TRUE(taking_two.is_done());
  EXPECT_FALSE(taking_one.is_done());
  ASSERT_TRUE(to_one.send({11, 0, 0}));
  ASSERT_TRUE(to_one.send({12, 0, 0}));
  EXPECT_EQ(*set.wait(20s), (std::vector<std::uint64_t>{1}));
  EXPECT_EQ(first, (std::vector<std::uint64_t>{10, 11, 12}));
  EXPECT_TRUE(taking_one.is_done());
}

TEST_F(Topics, are_awaited_by_coroutines_that_end_before) {
  auto [topic, sender] = join_twice<Command>();
  auto set = *WaitSet::create();
  std::vector<std::uint64_t> got;
  const Task outside = take_messages(set, topic, 1, got);
  EXPECT_TRUE(outside.is_done());
  EXPECT_EQ(got, (std::vector<std::uint64_t>{UINT64_MAX})) << "the topic is not in the set";
  ASSERT_TRUE(set.add(topic, 1));
  got.clear();
  std::optional<Task> destroyed(take_messages(set, topic, 1, got));
  const Task another = take_messages(set, topic, 1, got);
  const Task late = take_messages(set, topic, 1, got);
  destroyed.reset();
  ASSERT_TRUE(sender.send({5, 0, 0}));
  EXPECT_EQ(set.wait(20s)->size(), 1U);
  EXPECT_EQ(got, (std::vector<std::uint64_t>{5, UINT64_MAX})) << "one gets it, one comes too late";
  EXPECT_TRUE(another.is_done() && late.is_done());
  const Task removed = take_messages(set, topic, 1, got);
  EXPECT_FALSE(removed.is_done());
  EXPECT_TRUE(set.remove(1));
  EXPECT_TRUE(removed.is_done());
  EXPECT_EQ(got.back(), UINT64_MAX);
}

// The first of two that are resumed together ends the second.
Task take_and_end(WaitSet& set, Topic<Command>& topic, std::optional<Task>& other) {
  const auto message = co_await set.next(topic);
  if (message) other.reset();
}

TEST_F(Topics, are_awaited_by_coroutines_that_end_each_other) {
  auto [topic, sender] = join_twice<Command>();
  auto set = *WaitSet::create();
  ASSERT_TRUE(set.add(topic, 1));
  std::vector<std::uint64_t> got;
  std::optional<Task> second;
  const Task first = take_and_end(set, topic, second);
  second.emplace(take_messages(set, topic, 1, got));
  ASSERT_TRUE(sender.send({5, 0, 0}));
  EXPECT_TRUE(set.wait(20s));
  EXPECT_TRUE(first.is_done());
  EXPECT_TRUE(got.empty());
}

TEST_F(Topics, are_waited_for_in_a_set) {
  const std::string second = next_name();
  auto one = join<Command>(name);
  auto two = join<Command>(second);
  auto to_one = join<Command>(name);
  auto to_two = join<Command>(second);
  auto set = value_of(WaitSet::create());
  ASSERT_TRUE(set.add(one, 1));
  ASSERT_TRUE(set.add(two, 2));
  EXPECT_FAILS(set.add(two, 2), Errc::exists);
  EXPECT_TRUE(set.wait(0ns)->empty());
  EXPECT_TRUE(set.wait(20ms)->empty());
  using Tokens = std::vector<std::uint64_t>;
  for (int i = 0; i < 100; ++i) {
    std::thread sender([&] {
      if (i % 2 == 0) std::this_thread::sleep_for(1ms);
      EXPECT_TRUE(to_two.send({}));
    });
    EXPECT_EQ(*set.wait(20s), Tokens{2});
    sender.join();
    EXPECT_EQ(*set.wait(0ns), Tokens{2}) << "until it is read";
    EXPECT_TRUE(two.recv());
    EXPECT_TRUE(set.wait(0ns)->empty());
  }
  EXPECT_TRUE(to_one.send({}));
  EXPECT_TRUE(to_two.send({}));
  EXPECT_EQ(*set.wait(20s), (Tokens{1, 2}));
  EXPECT_TRUE(set.remove(1));
  EXPECT_FALSE(set.remove(1));
  EXPECT_EQ(*set.wait(20s), Tokens{2});
  EXPECT_TRUE(two.recv());
  EXPECT_FAILS(set.add_timer(0ns, 3), Errc::invalid_argument);
  EXPECT_FAILS(set.add_fd(-1, 3), Errc::invalid_argument);
  ASSERT_TRUE(set.add_timer(10ms, 3));
  EXPECT_EQ(*set.wait(20s), Tokens{3});
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  EXPECT_TRUE(set.remove(3));
  ASSERT_TRUE(set.add_fd(ends[0], 4));
  EXPECT_TRUE(set.wait(0ns)->empty());
  ASSERT_EQ(::write(ends[1], "x", 1), 1);
  EXPECT_EQ(*set.wait(20s), Tokens{4});
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(Topics, block_waits_for_the_slowest) {
  auto sender = join<Command>(name, with_depth(2, Overflow::block));
  auto receiver = join<Command>(name);
  ASSERT_TRUE(sender.send({0, 0, 0}));
  ASSERT_TRUE(sender.send({1, 0, 0}));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FAILS(sender.send_for({2, 0, 0}, 0ns), Errc::timeout);
  EXPECT_FAILS(sender.send_for({2, 0, 0}, 50ms), Errc::timeout);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 50ms);
  std::thread reader([&] {
    for (std::uint64_t i = 0; i < 1002; ++i) {
      const auto got = receiver.recv_for(20s);
      ASSERT_TRUE(got);
      ASSERT_EQ(got->number, i);
      ASSERT_EQ(got.lost(), 0U);
    }
  });
  for (std::uint64_t i = 2; i < 1002; ++i)
    ASSERT_TRUE(sender.send_for({i, 0, 0}, 20s));
  reader.join();
}

// What it sends it finds again; others count as before.
TEST_F(Topics, receive_what_they_send_where_they_ask_for_it) {
  auto both = join<Tensor>(name, {.receives_own = true});
  auto other = join<Tensor>(name);
  auto handle = value_of(both.alloc_tensor({4}, DType::u8));
  ASSERT_TRUE(both.send(handle));
  auto own = receive(both, std::chrono::seconds(5));
  EXPECT_EQ(TensorHandle::of(own)->data_slice()->data(), handle.data_slice()->data());
  EXPECT_TRUE(other.recv());
  EXPECT_FALSE(both.recv());
  EXPECT_EQ(both.stats().subscribers, 1U);
  EXPECT_EQ(both.stats().received, 1U);
  EXPECT_FALSE(other.send(Tensor()));
  ASSERT_TRUE(other.send(handle));
  EXPECT_FALSE(other.recv()) << "it has not asked for its own";
  EXPECT_TRUE(both.recv());
}

TEST_F(Topics, wait_for_room_that_they_alone_can_make) {
  TopicConfig config = with_depth(2, Overflow::block);
  config.receives_own = true;
  auto both = join<Command>(name, config);
  ASSERT_TRUE(both.send({1, 0, 0}));
  ASSERT_TRUE(both.send({2, 0, 0}));
  EXPECT_FAILS(both.send_for({3, 0, 0}, std::chrono::milliseconds(20)), Errc::timeout);
  ASSERT_TRUE(both.recv());
  EXPECT_TRUE(both.send({3, 0, 0}));
}

}  // namespace
}  // namespace halyard
