// SPDX-License-Identifier: Apache-2.0
// Locks of memory that needs no work call nobody: a process whose every system call kills it goes
// on to lock and unlock.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>

#include "base/system/tsan.h"
#include "reconcile/agreed.h"
#include "support/allocations.h"

namespace halyard {
namespace {

using namespace test;  // NOLINT: its helpers are what tests are written in

// Sanitizers make system calls of their own.
#if defined(__SANITIZE_ADDRESS__) || defined(HALYARD_TSAN)
#define SEALED_TEST(name) DISABLED_##name
#else
#define SEALED_TEST(name) name
#endif

// Leaves this process no system call but its end. Not to be taken back.
bool forbid_system_calls() {
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  const sock_fprog program = {static_cast<unsigned short>(std::size(rules)), rules};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

enum ChildExit { all_well = 0, lock_failed = 1, no_seccomp = 2 };

/// How a child ends that does `work` so often without system calls.
template <class Work>
int status_of_child(int rounds, const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    bool is_good = work();
    if (!forbid_system_calls()) ::_exit(no_seccomp);
    for (int k = 0; k < rounds; ++k)
      is_good = work() && is_good;
    ::_exit(is_good ? all_well : lock_failed);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

bool is_refused(int status) {
  return WIFEXITED(status) && WEXITSTATUS(status) == no_seccomp;
}

/// A lock of each kind, and what a frame does beside.
bool lock_once(NegotiatedBuffer& buffer) {
  for (const Access access : {Access::read, Access::write, Access::read_write}) {
    auto lock = buffer.lock(access);
    if (!lock || lock->bytes().empty() || !lock->sync_range(0, 1) || !lock->unlock()) return false;
  }
  return buffer.status(std::chrono::nanoseconds(0)).has_value();
}

class NoCallsTest : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Heaps, NoCallsTest, ::testing::Values("heap", "memfd"));

TEST_P(NoCallsTest, SEALED_TEST(a_lock_makes_no_system_call)) {
  auto buffer = one_buffer(tensor_in(GetParam()));
  const int status = status_of_child(1000, [&] { return lock_once(buffer); });
  if (is_refused(status)) GTEST_SKIP() << "seccomp filters are refused here";
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == all_well) << status;
}

TEST(NoCalls, SEALED_TEST(the_filter_kills_whoever_allocates_memory)) {
  const auto result = agreed(tensor_in("memfd"));
  const int status = status_of_child(1, [&] { return allocate_negotiated(result).has_value(); });
  if (is_refused(status)) GTEST_SKIP() << "seccomp filters are refused here";
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS) << status;
}

TEST_P(NoCallsTest, a_sealed_module_takes_nothing_from_the_heap) {
  BufferModule module;
  auto buffers = value_of(module.allocate(agreed(tensor_in(GetParam())), {.party = "app"}));
  ASSERT_TRUE(module.seal());
  EXPECT_EQ(test::allocations_of([&] { EXPECT_TRUE(lock_once(buffers[0])); }), 0U);
  EXPECT_FAILS(module.allocate(agreed(tensor_in(GetParam())), {.party = "app"}), Errc::permission,
               "party \"app\": the phase is run");
}

}  // namespace
}  // namespace halyard
