// SPDX-License-Identifier: Apache-2.0
// Runs code in a child of fork(), also while another thread of the parent is somewhere inside.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <thread>

namespace halyard::testing {

// Whether `call` gives true in a child; a child that hangs is ended after 10 s.
inline bool is_true_in_child(const std::function<bool()>& call) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    _exit(call() ? 1 : 0);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

// Runs `body` on a thread of its own, forks while it waits inside, and lets it end.
class Inside {
 public:
  void wait() {
    is_inside_ = true;
    while (!may_go_)
      usleep(1000);
  }
  bool is_true_in_child_meanwhile(const std::function<void()>& body,
                                  const std::function<bool()>& call) {
    std::thread thread(body);
    while (!is_inside_)
      usleep(1000);
    const bool answer = is_true_in_child(call);
    may_go_ = true;
    thread.join();
    return answer;
  }

 private:
  std::atomic<bool> is_inside_{false};
  std::atomic<bool> may_go_{false};
};

}  // namespace halyard::testing
