// SPDX-License-Identifier: Apache-2.0
// Processes that are killed between any two instructions of an operation: the test runs one step by
// step, as a debugger does, and others to a breakpoint near step k and on to it, where it kills
// them. The others go on, and get back what they held. HALYARD_STEPS=n: at n points of each
// operation, all of them if it has fewer (otherwise at 6 where an instruction is new):
//   HALYARD_STEPS=100000 halyard_test_ipc --gtest_filter='*KillAfterSteps*'
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <unordered_set>
#include <vector>

#include "halyard/ipc_info.h"
#include "halyard/topic.h"
#include "ipc/helpers.h"
#include "ipc/peer.h"
#include "kill.h"
#include "stranger.h"

namespace halyard {
namespace {

using namespace std::chrono_literals;
using namespace ipc::testing;
using test::value_of;

constexpr std::uint32_t new_pool = 4711;
#ifdef __x86_64__
constexpr std::size_t instruction_pointer = offsetof(user, regs.rip);
constexpr std::size_t breakpoint = offsetof(user, u_debugreg[0]);
constexpr std::size_t breakpoint_switch = offsetof(user, u_debugreg[7]);
#else
constexpr std::size_t instruction_pointer = 0, breakpoint = 0, breakpoint_switch = 0;
#endif
#ifdef __SANITIZE_ADDRESS__  // makes a million instructions of some: their first ones are enough
constexpr std::uint64_t usual_points = 2;
constexpr std::uint64_t max_steps = 50'000;
#else
constexpr std::uint64_t usual_points = 6;
constexpr std::uint64_t max_steps = UINT64_MAX;
#endif

TopicConfig topic_of_steps() {
  TopicConfig config = small_topic();
  config.pool->first_bytes = 1U << 20U;
  return config;
}

Result<std::shared_ptr<TensorPool>> open_new_pool() {
  return TensorPool::create(new_pool, *small_topic().pool);
}

// `arguments`: a topic and an operation. Prepares it, waits twice until it is told to go on, and
// does it between two SIGUSR1 of its own. Then it waits for its end.
TEST(Peer, DISABLED_stepper) {
  std::istringstream arguments(Peer::arguments());
  std::string name;
  std::string operation;
  arguments >> name >> operation;
  std::optional<Topic<Tensor>> topic;
  std::shared_ptr<TensorPool> pool;
  TensorHandle handle;
  // One that is stepped through is slow: others may find that it does not answer.
  const auto join = [&] {
    auto made = Topic<Tensor>::create(name, topic_of_steps());
    if (made) topic.emplace(*std::move(made));
  };
  const auto make = [&] {
    handle = *topic->alloc_tensor({64}, DType::u64);
    fill(handle, 5);
  };
  if (operation != "join" && operation != "make_pool" && operation != "clean") join();
  const bool sends = operation == "send" || operation == "first_send";
  if (sends || operation == "free" || operation == "alloc") make();
  if (operation == "alloc") handle = {};
  if (operation == "send") {
    static_cast<void>(topic->send(handle).has_value());
    make();
  }
  Peer::tell("ready");
  Peer::next();
  if (operation == "release" || operation == "receive")
    handle = *TensorHandle::of(*topic->recv_for(10s));
  Peer::tell("prepared");
  Peer::next();
  ::raise(SIGUSR1);
  if (operation == "join") join();
  if (operation == "leave") topic.reset();
  if (operation == "alloc" || operation == "first_alloc")
    handle = topic->alloc_tensor({64}, DType::u64).value_or(TensorHandle());
  if (sends) static_cast<void>(topic->send(handle).has_value());
  if (operation == "receive" || operation == "first_receive")
    static_cast<void>(topic->recv_handle().has_message());
  if (operation == "free" || operation == "release") handle = {};
  if (operation == "make_pool") pool = open_new_pool().value_or(nullptr);
  if (operation == "clean") static_cast<void>(collect_garbage().has_value());
  ::raise(SIGUSR1);
  for (;;)
    ::pause();
}

struct Holding {
  std::uint64_t slots = 0;
  std::uint64_t bytes = 0;
  std::uint64_t processes = 0;
  std::size_t descriptors = 0;
  // Connections that were open at that moment may have been closed since.
  bool is_no_more_than(const Holding& other) const {
    return slots <= other.slots && bytes <= other.bytes && processes == other.processes &&
           descriptors <= other.descriptors;
  }
};

class KillAfterSteps : public ::testing::TestWithParam<const char*> {
 protected:
  // Those that it steps through run where this thread does: a step takes twice as long, or four
  // times, where the two wake each other on two processors.
  KillAfterSteps() {
    ::sched_getaffinity(0, sizeof usual_, &usual_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &one);
    ::sched_setaffinity(0, sizeof one, &one);
  }
  ~KillAfterSteps() override { ::sched_setaffinity(0, sizeof usual_, &usual_); }

  // Begins the operation in a new process, in which all has the addresses that it had in the
  // others. Null: this machine has no single steps.
  std::unique_ptr<Peer> begin() {
    const int usual = ::personality(ADDR_NO_RANDOMIZE);
    auto peer = std::make_unique<Peer>("stepper", name_ + " " + GetParam());
    ::personality(static_cast<unsigned long>(usual));
    EXPECT_EQ(peer->hear(), "ready");
    // Frames for those that receive; somebody dead for those that clean.
    for (int i = 0; i < 2; ++i) {
      const auto frame = observer_.alloc_tensor({64}, DType::u64);
      EXPECT_TRUE(frame && observer_.send(*frame));
    }
    if (GetParam() == std::string("clean")) Peer("tensor_endpoint", name_ + "/dead").hear();
    EXPECT_EQ(peer->ask("prepare"), "prepared");
    if (::ptrace(PTRACE_SEIZE, peer->pid(), nullptr, PTRACE_O_EXITKILL) != 0) return nullptr;
    peer->say("go");
    EXPECT_EQ(next_stop(*peer), SIGUSR1);
    return peer;
  }
  static int next_stop(const Peer& peer) {
    int status = 0;
    if (::waitpid(peer.pid(), &status, __WALL) != peer.pid() || !WIFSTOPPED(status)) return -1;
    return WSTOPSIG(status);
  }
  static bool goes(const Peer& peer, __ptrace_request how) {
    return ::ptrace(how, peer.pid(), nullptr, nullptr) == 0 && next_stop(peer) == SIGTRAP;
  }
  static long address_in(const Peer& peer) {
    return ::ptrace(PTRACE_PEEKUSER, peer.pid(), instruction_pointer, nullptr);
  }
  // The address of each instruction of the operation, at most of `max_steps`, and of what follows.
  static std::vector<long> step(const Peer& peer) {
    std::vector<long> at = {address_in(peer)};
    while (at.size() <= max_steps && goes(peer, PTRACE_SINGLESTEP))
      at.push_back(address_in(peer));
    return at;
  }
  // The last step up to `k` whose instruction had not been there yet.
  static std::size_t last_new(const std::vector<long>& at, std::size_t k) {
    std::unordered_set<long> seen;
    std::size_t last = 0;
    for (std::size_t i = 0; i <= k; ++i)
      if (seen.insert(at[i]).second) last = i;
    return last;
  }
  // Goes to step k, as far as last_new() by a breakpoint, because a single step takes long. False
  // if the operation was done before.
  static bool go_to(const Peer& peer, const std::vector<long>& at, std::size_t k) {
    std::size_t step = last_new(at, k);
    if (step > 0 && address_in(peer) == at[0] && set(peer, breakpoint, at[step]) &&
        set(peer, breakpoint_switch, 1)) {
      if (!goes(peer, PTRACE_CONT)) return false;
      set(peer, breakpoint_switch, 0);
    } else {
      step = 0;
    }
    while (step < k && goes(peer, PTRACE_SINGLESTEP))
      ++step;
    return step == k;
  }
  static bool set(const Peer& peer, std::size_t what, long value) {
    return ::ptrace(PTRACE_POKEUSER, peer.pid(), what, value) == 0;
  }

  // The two others send each other frames, and hold none afterwards.
  void goes_on() {
    auto mine = value_of(observer_.alloc_tensor({64}, DType::u64));
    fill(mine, 3);
    ASSERT_TRUE(observer_.send(mine));
    mine = {};
    std::string heard;
    for (int i = 0; i < 8 && heard.substr(0, 4) != "none"; ++i)
      heard = witness_.ask("recv 0");
    EXPECT_EQ(heard.substr(0, 4), "none");
    EXPECT_EQ(witness_.ask("drop"), "dropped");
    EXPECT_EQ(witness_.ask("send 7"), "sent");
    bool came = false;
    EXPECT_TRUE(comes_true([&] {
      for (auto got = observer_.recv_handle(); got; got = observer_.recv_handle()) {
        const bool is_of_witness = got->dtype() == DType::u8;
        came = came || is_of_witness;
        EXPECT_TRUE(is_of_witness || is_whole(*got)) << "of a process that was killed";
      }
      return came;
    }));
    EXPECT_EQ(observer_.stats().corrupt, 0U) << observer_.stats().last_error.message();
  }
  Holding holding() {
    static_cast<void>(observer_.recv().is_empty());
    const auto stats = pool_->stats();
    return {stats.allocated_slots, stats.used_bytes, stats.processes, open_descriptors()};
  }

  cpu_set_t usual_{};
  std::string name_ = std::string("steps/") + GetParam();
  Topic<Tensor> observer_ = *Topic<Tensor>::create(name_, topic_of_steps());
  std::shared_ptr<TensorPool> pool_ = *observer_.pool();
  Peer witness_{"tensor_endpoint", name_};
};

TEST_P(KillAfterSteps, others_go_on_and_get_all_back) {
#if !defined(__x86_64__)
  // Single steps break the pairs of instructions that other processors make atomic writes of.
  GTEST_SKIP() << "single steps are taken on x86-64 alone";
#endif
  const char* const wanted = std::getenv("HALYARD_STEPS");
  const std::uint64_t points = wanted != nullptr ? std::stoull(wanted) : usual_points;
  ASSERT_EQ(witness_.hear(), "joined");
  std::vector<long> at;
  {
    const auto whole = begin();
    if (!whole) GTEST_SKIP() << "no single steps here: ptrace() says errno " << errno;
    at = step(*whole);
    whole->kill();
  }
  const std::uint64_t steps = at.size() - 1;
  ASSERT_GT(steps, 50U);
  goes_on();
  ASSERT_TRUE(comes_true([&] { return holding().processes == 2; }));
  // The witness has not heard of the end yet, perhaps: then it keeps a frame.
  Holding level = holding();
  for (int i = 0; i < 10; ++i) {
    goes_on();
    const Holding now = holding();
    if (now.slots < level.slots) level = now;
  }
  std::uint64_t kills = 0;
  std::uint64_t early = 0;
  const std::uint64_t count = std::min(points, steps);
  for (std::uint64_t i = 0; i < count && !HasFailure(); ++i) {
    std::uint64_t k = i * steps / count;
    if (wanted == nullptr) k = last_new(at, k);
    {
      const auto peer = begin();
      ASSERT_TRUE(peer);
      early += go_to(*peer, at, k) ? 0 : 1;
      peer->kill();
    }
    ++kills;
    if (GetParam() == std::string("make_pool")) {
      const auto pool = open_new_pool();
      EXPECT_TRUE(pool) << "after step " << k << ": " << pool.error().message();
    }
    Holding now;
    EXPECT_TRUE(comes_true([&] {
      goes_on();
      return (now = holding()).is_no_more_than(level);
    })) << "killed after step "
        << k << " of " << steps << ": " << now.slots << " slots, were " << level.slots << "; "
        << now.bytes << " bytes, were " << level.bytes << "; " << now.processes
        << " processes, were " << level.processes << "; " << now.descriptors
        << " descriptors, were " << level.descriptors;
  }
  std::printf("[  kills   ] %s: %llu instructions, %llu kills, %llu of them after its end\n",
              GetParam(), static_cast<unsigned long long>(steps),
              static_cast<unsigned long long>(kills), static_cast<unsigned long long>(early));
}

INSTANTIATE_TEST_SUITE_P(Operations, KillAfterSteps,
                         ::testing::Values("alloc", "first_alloc", "send", "first_send", "receive",
                                           "first_receive", "release", "free", "join", "leave",
                                           "make_pool", "clean"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace halyard
