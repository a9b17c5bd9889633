// SPDX-License-Identifier: Apache-2.0
// Wait sets in C.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <vector>

#include "capi/owned.h"
#include "ipc/peer.h"

namespace {

using namespace halyard::test;
using Set = Owned<hal_waitset>;

constexpr std::int64_t second = 1'000'000'000;

Topic join(const char* name) {
  Topic topic(hal_topic_create_struct(name, "number", 8, 8, nullptr));
  EXPECT_TRUE(topic) << hal_last_error();
  return topic;
}

void send(const Topic& topic) {
  const std::uint64_t number = 1;
  EXPECT_DONE(hal_topic_send(topic, &number, sizeof number));
}

std::vector<std::uint64_t> wait(const Set& set, std::int64_t timeout_ns, std::size_t capacity = 8) {
  std::vector<std::uint64_t> tokens(capacity);
  const int count = hal_waitset_wait(set, tokens.data(), capacity, timeout_ns);
  EXPECT_GE(count, 0) << hal_last_error();
  tokens.resize(static_cast<std::size_t>(std::max(count, 0)));
  return tokens;
}

using Tokens = std::vector<std::uint64_t>;

TEST(CapiWaitset, tells_what_is_ready) {
  const Topic from = join("waitset/from");
  const Topic to = join("waitset/from");
  int pipe[2];
  ASSERT_EQ(::pipe2(pipe, O_CLOEXEC), 0);
  const Set set(hal_waitset_create());
  ASSERT_TRUE(set) << hal_last_error();
  ASSERT_DONE(hal_waitset_add_topic(set, to, 10));
  ASSERT_DONE(hal_waitset_add_fd(set, pipe[0], 20));
  EXPECT_EQ(wait(set, 0), Tokens());
  EXPECT_EQ(wait(set, 1'000'000), Tokens());
  send(from);
  EXPECT_EQ(wait(set, -1), Tokens({10}));
  ASSERT_EQ(::write(pipe[1], "x", 1), 1);
  EXPECT_EQ(wait(set, second), Tokens({10, 20}));
  // What does not fit comes next.
  EXPECT_EQ(wait(set, second, 1), Tokens({10}));
  EXPECT_EQ(wait(set, second, 1), Tokens({20}));
  // What is removed does not come.
  EXPECT_EQ(wait(set, second, 1), Tokens({10}));
  EXPECT_DONE(hal_waitset_remove(set, 20));
  ASSERT_TRUE(receive(to));
  EXPECT_EQ(wait(set, 0), Tokens());
  ASSERT_DONE(hal_waitset_add_timer(set, 2'000'000, 30));
  EXPECT_EQ(wait(set, -1), Tokens({30}));
  EXPECT_DONE(hal_waitset_remove(set, 30));
  EXPECT_EQ(wait(set, 5'000'000), Tokens());
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST(CapiWaitset, refuses_what_it_cannot_wait_for) {
  const Topic topic = join("waitset/refused");
  const Set set(hal_waitset_create());
  ASSERT_DONE(hal_waitset_add_topic(set, topic, 1));
  EXPECT_ERRNO(-1, EEXIST, hal_waitset_add_timer(set, second, 1));
  EXPECT_ERRNO(-1, EEXIST, hal_waitset_add_topic(set, topic, 1));
  EXPECT_ERRNO(-1, EEXIST, hal_waitset_add_topic(set, topic, 2));
  EXPECT_ERRNO(-1, EINVAL, hal_waitset_add_topic(set, nullptr, 3));
  EXPECT_ERRNO(-1, EINVAL, hal_waitset_add_timer(set, 0, 3));
  EXPECT_ERRNO(-1, EINVAL, hal_waitset_add_fd(set, -1, 3));
  EXPECT_ERRNO(-1, EINVAL, hal_waitset_add_fd(set, 9999, 3));
  EXPECT_ERROR(-1, ENOENT, "token", hal_waitset_remove(set, 3));
  std::uint64_t token = 0;
  EXPECT_ERRNO(-1, EINVAL, hal_waitset_wait(set, &token, 0, 0));
  EXPECT_ERRNO(-1, EINVAL, hal_waitset_wait(set, nullptr, 1, 0));
  EXPECT_DONE(hal_waitset_remove(set, 1));
  EXPECT_EQ(hal_waitset_add_topic(set, topic, 1), 0) << "after it was refused";
}

TEST(CapiWaitset, keeps_topics_whose_handles_are_freed) {
  const Topic from = join("waitset/kept");
  const Set set(hal_waitset_create());
  ASSERT_DONE(hal_waitset_add_topic(set, join("waitset/kept").get(), 5));
  EXPECT_EQ(stats_of(from).subscribers, 1U);
  send(from);
  EXPECT_EQ(wait(set, second), Tokens({5}));
  EXPECT_DONE(hal_waitset_remove(set, 5));
  EXPECT_EQ(stats_of(from).subscribers, 0U);
  // And those of a set that is freed with them in it.
  const Set other(hal_waitset_create());
  ASSERT_DONE(hal_waitset_add_topic(other, join("waitset/kept").get(), 5));
}

}  // namespace
