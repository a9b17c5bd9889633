// SPDX-License-Identifier: Apache-2.0
// What a forked child knows of the threads that its parent had started.
#include "base/fork.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace halyard {
namespace {

// What a child answers.
bool are_lost_in_child() {
  const pid_t child = fork();
  if (child == 0) _exit(threads_are_lost() ? 1 : 0);
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  return WEXITSTATUS(status) == 1;
}

TEST(Fork, loses_threads_that_were_started_before_it) {
  EXPECT_FALSE(are_lost_in_child());
  threads_start();
  threads_start();
  EXPECT_TRUE(are_lost_in_child());
  EXPECT_FALSE(threads_are_lost());
}

}  // namespace
}  // namespace halyard
