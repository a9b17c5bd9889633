// SPDX-License-Identifier: Apache-2.0
// Conversions where the system starts few threads or none, and in children of fork().
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "halyard/image.h"
#include "halyard/threads.h"
#include "images.h"
#include "support/result.h"
#include "support/thread_gate.h"

namespace halyard::test {
namespace {

class ThreadsRefused : public ::testing::Test {
 protected:
  ThreadsRefused() {
    std::mt19937 random(1);
    convert_.src = random_image(random, 1280, 720, PixelFormat::nv12);
    convert_.dst = zero_image(640, 640, PixelFormat::rgb);
    convert_.fit = Fit::letterbox;
  }

  std::vector<std::byte> converted_by(Processor& processor) {
    EXPECT_OK(processor.convert(convert_));
    return bytes_of(convert_.dst);
  }
  static Processor make(unsigned threads) {
    return std::move(Processor::create({.threads = threads})).value();
  }

  Convert convert_;
};

TEST_F(ThreadsRefused, convert_gives_the_same_bytes_on_the_calling_thread) {
  Processor single = make(1);
  const auto expected = converted_by(single);
  for (const int limit : {0, 1}) {
    const ThreadLimit refused(limit);
    Processor processor = make(0);
    EXPECT_TRUE(converted_by(processor) == expected) << limit;
    EXPECT_TRUE(converted_by(processor) == expected) << limit;
  }
}

TEST_F(ThreadsRefused, convert_goes_on_where_threads_are_refused_after_they_were_asked_for) {
  Processor single = make(1);
  const auto expected = converted_by(single);
  ASSERT_EQ(startable_threads(1), 1U);
  const ThreadLimit none(0);
  Processor processor = make(2);
  EXPECT_TRUE(converted_by(processor) == expected);
  EXPECT_TRUE(converted_by(processor) == expected);
}

TEST_F(ThreadsRefused, a_child_converts_while_its_parent_starts_its_first_threads) {
  Processor single = make(1);
  const auto expected = converted_by(single);
  // The first call on several threads starts them, and is held while it does, unless an earlier
  // test of this process has started them.
  ThreadHold hold;
  std::atomic<bool> is_done{false};
  std::thread first([&] {
    Processor processor = make(2);
    Convert convert = convert_;
    convert.dst = zero_image(640, 640, PixelFormat::rgb);
    EXPECT_TRUE(processor.convert(convert));
    is_done = true;
  });
  while (!hold.is_held() && !is_done)
    usleep(1000);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    Processor processor = make(2);
    _exit(processor.convert(convert_) && bytes_of(convert_.dst) == expected ? 0 : 1);
  }
  hold.release();
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  first.join();
}

}  // namespace
}  // namespace halyard::test
