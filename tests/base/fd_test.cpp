// SPDX-License-Identifier: Apache-2.0
// Fd owns exactly one descriptor and knows the object behind it.
#include "halyard/fd.h"
#include "support/result.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

namespace halyard {
namespace {

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) != -1;
}

std::array<Fd, 2> make_pipe() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  return {Fd(ends[0]), Fd(ends[1])};
}

TEST(Fd, closes_at_the_end) {
  int number = -1;
  {
    auto ends = make_pipe();
    number = ends[0].get();
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(Fd, moving_leaves_the_source_empty_and_closes_the_target) {
  auto ends = make_pipe();
  const int kept = ends[0].get();
  const int closed = ends[1].get();
  ends[1] = std::move(ends[0]);
  EXPECT_EQ(ends[1].get(), kept);
  EXPECT_FALSE(is_open(closed));
  EXPECT_FALSE(ends[0]);  // NOLINT: the state after a move is part of the contract
}

TEST(Fd, duplicate_is_another_descriptor_of_the_same_object) {
  auto ends = make_pipe();
  ASSERT_VALUE(auto copy, ends[0].duplicate());
  EXPECT_NE(copy.get(), ends[0].get());
  EXPECT_EQ(*copy.identity(), *ends[0].identity());
  EXPECT_EQ(::fcntl(copy.get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST(Fd, refuses_empty_and_foreign_numbers) {
  EXPECT_FAILS(Fd::duplicate(-1), Errc::invalid_argument);
  EXPECT_FAILS(Fd::duplicate(100000), Errc::os);
  EXPECT_FAILS(Fd().identity(), Errc::invalid_argument);
}

TEST(Fd, release_hands_over_ownership) {
  auto ends = make_pipe();
  const int number = ends[0].release();
  ends[0].reset();
  EXPECT_TRUE(is_open(number));
  ::close(number);
}

}  // namespace
}  // namespace halyard
