// SPDX-License-Identifier: Apache-2.0
// The thread of a context: order, errors, its end, and fork().
#include "gl/display/worker.h"

#include <epoxy/gl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <new>
#include <thread>
#include <vector>

#include "base/text/format_error.h"
#include "support/allocations.h"
#include "support/result.h"
#include "worker.h"

namespace halyard::test {
namespace {

TEST(GlWorker, runs_work_on_its_own_thread_with_a_context) {
  WORKER_OR_SKIP(worker);
  std::thread::id thread;
  std::string version;
  EXPECT_OK(worker->run([&]() -> Status {
    thread = std::this_thread::get_id();
    version = reinterpret_cast<const char*>(glGetString(GL_VERSION));
    return {};
  }));
  EXPECT_NE(thread, std::this_thread::get_id());
  EXPECT_EQ(version, worker->capabilities().version);
  // Called on the thread itself it runs at once.
  std::thread::id inner;
  EXPECT_OK(worker->run([&] {
    return worker->run([&]() -> Status {
      inner = std::this_thread::get_id();
      return {};
    });
  }));
  EXPECT_EQ(inner, thread);
}

TEST(GlWorker, passes_errors_on) {
  WORKER_OR_SKIP(worker);
  EXPECT_FAILS(worker->run([]() -> Status { return fail(Errc::busy, "work: is busy"); }),
               Errc::busy, "work: is busy");
  EXPECT_FAILS(worker->run([]() -> Status { throw std::bad_alloc(); }), Errc::no_memory, "opengl");
  EXPECT_OK(worker->run([] { return Status(); }));
}

TEST(GlWorker, runs_the_work_of_many_threads_one_at_a_time_and_in_order) {
  WORKER_OR_SKIP(worker);
  constexpr int threads = 4, rounds = 200;
  std::atomic<int> inside{0};
  int overlaps = 0;
  std::vector<std::vector<int>> seen(threads);
  {
    std::vector<std::jthread> all;
    for (int t = 0; t < threads; ++t) {
      all.emplace_back([&, t] {
        for (int i = 0; i < rounds; ++i) {
          const auto note = [&, t, i] {
            overlaps += inside.fetch_add(1) != 0;
            seen[static_cast<std::size_t>(t)].push_back(i);
            inside.fetch_sub(1);
          };
          if (i % 2 == 0) {
            worker->post(note);
          } else {
            EXPECT_OK(worker->run([&]() -> Status {
              note();
              return {};
            }));
          }
        }
      });
    }
  }
  EXPECT_OK(worker->run([] { return Status(); }));
  EXPECT_EQ(overlaps, 0);
  for (const auto& rounds_seen : seen) {
    EXPECT_EQ(rounds_seen.size(), static_cast<std::size_t>(rounds));
    EXPECT_TRUE(std::is_sorted(rounds_seen.begin(), rounds_seen.end()));
  }
}

TEST(GlWorker, is_shared_while_it_lives_and_started_anew_afterwards) {
  WORKER_OR_SKIP(first);
  EXPECT_EQ(any_worker(), first);
  std::weak_ptr<gl::Worker> watched;
  for (int i = 0; i < 20; ++i) {
    const auto worker = any_worker();
    ASSERT_NE(worker, nullptr);
    watched = worker;
    EXPECT_OK(worker->run([] {
      GLuint texture = 0;
      glGenTextures(1, &texture);
      return texture != 0 ? Status() : Status(fail(Errc::device, "no texture"));
    }));
  }
  EXPECT_FALSE(watched.expired());
}

TEST(GlWorker, may_lose_its_last_owner_on_its_own_thread) {
  auto worker = any_worker();
  if (worker == nullptr) GTEST_SKIP() << "no OpenGL ES on this machine";
  std::weak_ptr<gl::Worker> watched = worker;
  std::atomic<bool> is_run{false};
  gl::Worker* const raw = worker.get();
  raw->post([owner = std::move(worker), &is_run]() mutable {
    owner.reset();
    is_run = true;
  });
  while (!is_run)
    std::this_thread::yield();
  EXPECT_TRUE(watched.expired());
  EXPECT_NE(any_worker(), nullptr);
}

TEST(GlWorker, fails_in_a_child_of_fork_and_ends_there_without_waiting) {
  auto worker = any_worker();
  if (worker == nullptr) GTEST_SKIP() << "no OpenGL ES on this machine";
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const Status ran = worker->run([] { return Status(); });
    const auto other = gl::Worker::shared(true);
    worker->post([] {});
    worker.reset();
    const bool is_right = !ran && ran.error().code == Errc::device && !other &&
                          other.error().code == Errc::unsupported;
    ::_exit(is_right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_OK(worker->run([] { return Status(); }));
}

TEST(GlWorker, allocates_nothing_for_a_call) {
  WORKER_OR_SKIP(worker);
  const std::function<Status()> work = [] { return Status(); };
  EXPECT_EQ(allocations_of([&] { EXPECT_OK(worker->run(work)); }), 0U);
}

}  // namespace
}  // namespace halyard::test
