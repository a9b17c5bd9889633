// SPDX-License-Identifier: Apache-2.0
// Runs code in a child of fork(), also while another thread of the parent is somewhere inside.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <thread>

namespace halyard::test {

// A child that calls `call`; one that hangs is ended after 10 s.
inline pid_t start_child(const std::function<bool()>& call) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    _exit(call() ? 1 : 0);
  }
  return child;
}

// How a child ends.
inline int status_of_child(pid_t child) {
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

inline bool ended_with_true(int status) {
  EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

// Whether `call` gives true in a child.
inline bool is_true_in_child(const std::function<bool()>& call) {
  int status = status_of_child(start_child(call));
#ifdef __SANITIZE_THREAD__
  // Once in hundreds of runs a child whose parent has threads hangs in the sanitizer's own
  // run-time. A hang of ours comes again.
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    status = status_of_child(start_child(call));
#endif
  return ended_with_true(status);
}

// Whether both give true in two children at once. The caller has no other thread: a sanitizer's
// allocator that another thread holds at fork() stays locked in the child.
inline bool are_true_in_children(const std::function<bool()>& one,
                                 const std::function<bool()>& other) {
  const pid_t first = start_child(one);
  const pid_t second = start_child(other);
  const bool is_first_true = ended_with_true(status_of_child(first));
  return ended_with_true(status_of_child(second)) && is_first_true;
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

}  // namespace halyard::test
