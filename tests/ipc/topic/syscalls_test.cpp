// SPDX-License-Identifier: Apache-2.0
// In the steady state nobody calls the system: a process whose every system call kills it goes on
// allocating, sending, receiving and releasing.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <thread>
#include <vector>

#include "halyard/topic.h"
#include "ipc/crash/stranger.h"
#include "ipc/peer.h"
#include "support/sanitized.h"

namespace halyard {
namespace {

using namespace ipc::testing;
using namespace std::chrono_literals;
using test::is_sanitized;

// From here on this thread ends the process with SIGSYS at each system call but write(), with which
// it tells that it is done, and exit_group(). Other threads, the node's, are not concerned.
bool forbid_system_calls() {
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  const sock_fprog program = {static_cast<unsigned short>(std::size(rules)), rules};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

std::size_t resident_kb() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::stoul(line.substr(6));
  return 0;
}
std::size_t count_mappings() {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);)
    ++count;
  return count;
}

struct Options {
  std::string name;
  std::uint64_t count = 0;
  bool is_filtered = false;
};
Options options() {
  Options found;
  std::istringstream(Peer::arguments()) >> found.name >> found.count >> found.is_filtered;
  return found;
}

// Sends frames 1.. to `count`, after warming up with as many as the topic is deep.
TEST(Peer, DISABLED_steady_sender) {
  const Options wanted = options();
  auto topic = *Topic<Tensor>::create(wanted.name, {.role = TopicRole::publisher});
  Peer::tell("joined");
  Peer::next();
  const auto send = [&](std::uint64_t number) {
    const auto handle = topic.alloc_tensor({16, 8}, DType::u64);
    if (!handle) return false;
    const auto words = *handle->data_as<std::uint64_t>();
    for (std::size_t i = 0; i < words.size(); ++i)
      words[i] = number + i;
    return topic.send(*handle).has_value();
  };
  for (int i = 0; i < 100; ++i)
    if (!send(0)) std::abort();
  std::size_t level[] = {resident_kb(), open_descriptors(), count_mappings()};
  Peer::tell("warm");
  Peer::next();
  if (wanted.is_filtered && !forbid_system_calls()) std::abort();
  for (std::uint64_t number = 1; number <= wanted.count; ++number) {
    if (!send(number)) std::abort();
    if (!wanted.is_filtered && number == wanted.count / 10) {
      level[0] = resident_kb();
      level[1] = open_descriptors();
      level[2] = count_mappings();
    }
  }
  if (wanted.is_filtered) {
    Peer::tell("done");
    ::syscall(SYS_exit_group, 0);
  }
  Peer::tell("done " + std::to_string(resident_kb() - level[0]) + " " +
             std::to_string(open_descriptors() - level[1]) + " " +
             std::to_string(count_mappings() - level[2]));
  Peer::next();
}

// Receives until it has seen frame `count`, polling.
TEST(Peer, DISABLED_steady_receiver) {
  const Options wanted = options();
  auto topic = *Topic<Tensor>::create(wanted.name, {.role = TopicRole::subscriber});
  Peer::tell("joined");
  std::uint64_t received = 0;
  std::uint64_t torn = 0;
  std::uint64_t last = 0;
  std::uint64_t disorder = 0;
  std::uint64_t lost = 0;
  const auto receive = [&] {
    auto got = topic.recv_handle();
    lost += got.lost();
    if (!got) return false;
    ++received;
    const auto words = *got->data_as<const std::uint64_t>();
    const std::uint64_t number = words[0];
    for (std::size_t i = 0; i < words.size(); ++i)
      torn += words[i] != number + i ? 1 : 0;
    if (number != 0 && number <= last) ++disorder;
    last = number;
    return true;
  };
  // The last 16 messages stay, however late it looks.
  while (received < 10)
    if (!receive()) std::this_thread::sleep_for(100us);
  Peer::tell("warm");
  Peer::next();
  while (receive()) {
  }
  std::size_t level[] = {resident_kb(), open_descriptors(), count_mappings()};
  received = lost = 0;
  Peer::tell("ready");
  if (wanted.is_filtered && !forbid_system_calls()) std::abort();
  while (last < wanted.count)
    receive();
  char text[200];
  std::snprintf(text, sizeof(text), "done %llu lost %llu torn %llu disorder %llu\n",
                static_cast<unsigned long long>(received), static_cast<unsigned long long>(lost),
                static_cast<unsigned long long>(torn), static_cast<unsigned long long>(disorder));
  static_cast<void>(::write(201, text, std::strlen(text)) > 0);
  if (wanted.is_filtered) ::syscall(SYS_exit_group, 0);
  Peer::tell(std::to_string(resident_kb() - level[0]) + " " +
             std::to_string(open_descriptors() - level[1]) + " " +
             std::to_string(count_mappings() - level[2]));
  Peer::next();
}

class Steady : public ::testing::Test {
 protected:
  // Receivers, then a sender, all warm; the sender has begun to count.
  void start(const std::string& arguments, int count) {
    for (int i = 0; i < count; ++i)
      receivers.push_back(std::make_unique<Peer>("steady_receiver", arguments));
    for (const auto& receiver : receivers)
      ASSERT_EQ(receiver->hear(), "joined");
    sender = std::make_unique<Peer>("steady_sender", arguments);
    ASSERT_EQ(sender->hear(), "joined");
    sender->say("warm up");
    ASSERT_EQ(sender->hear(), "warm");
    for (const auto& receiver : receivers) {
      ASSERT_EQ(receiver->hear(), "warm");
      ASSERT_EQ(receiver->ask("go"), "ready");
    }
    sender->say("go");
  }
  static void expect_all(const std::string& text, unsigned long long count) {
    unsigned long long received = 0;
    unsigned long long lost = 0;
    unsigned long long torn = 1;
    unsigned long long disorder = 1;
    ASSERT_EQ(std::sscanf(text.c_str(), "done %llu lost %llu torn %llu disorder %llu", &received,
                          &lost, &torn, &disorder),
              4)
        << text;
    EXPECT_EQ(received + lost, count);
    EXPECT_GT(received, 0U);
    EXPECT_EQ(torn, 0U);
    EXPECT_EQ(disorder, 0U);
  }

  std::vector<std::unique_ptr<Peer>> receivers;
  std::unique_ptr<Peer> sender;
};

TEST_F(Steady, state_makes_no_system_call) {
  if (is_sanitized) GTEST_SKIP() << "sanitizers make system calls of their own";
  const std::string arguments = "steady/calls 20000 1";
  ASSERT_NO_FATAL_FAILURE(start(arguments, 1));
  Peer& receiver = *receivers[0];
  EXPECT_EQ(sender->hear(), "done") << "it made a system call";
  EXPECT_TRUE(sender->end());
  const std::string text = receiver.hear();
  ASSERT_NE(text, "") << "it made a system call";
  expect_all(text, 20'000);
  EXPECT_TRUE(receiver.end());
}

TEST_F(Steady, million_sends_between_processes_leave_nothing_behind) {
  const unsigned long long count = is_sanitized ? 50'000 : 1'000'000;
  const std::string arguments = "steady/million " + std::to_string(count) + " 0";
  ASSERT_NO_FATAL_FAILURE(start(arguments, 1));
  Peer& receiver = *receivers[0];
  const auto expect_level = [](const std::string& text) {
    long long grown[3] = {1000, 1000, 1000};
    ASSERT_EQ(std::sscanf(text.c_str(), "%lld %lld %lld", &grown[0], &grown[1], &grown[2]), 3)
        << text;
    EXPECT_LT(grown[0], is_sanitized ? 20'000 : 600) << "KiB";
    EXPECT_LE(grown[1], 0) << "descriptors";
    EXPECT_LE(grown[2], is_sanitized ? 20 : 2) << "mappings";
  };
  const std::string sent = sender->hear();
  ASSERT_EQ(sent.substr(0, 5), "done ");
  expect_level(sent.substr(5));
  expect_all(receiver.hear(), count);
  expect_level(receiver.hear());
  sender->say("end");
  receiver.say("end");
  EXPECT_TRUE(sender->end());
  EXPECT_TRUE(receiver.end());
}

// Many readers of one fast writer: each loses what it is too slow for, knows exactly how much, and
// gets the rest whole and in order.
TEST_F(Steady, twenty_lapped_consumers) {
  const unsigned long long count = is_sanitized ? 2000 : 50'000;
  const std::string arguments = "steady/lapped " + std::to_string(count) + " 0";
  ASSERT_NO_FATAL_FAILURE(start(arguments, 20));
  ASSERT_EQ(sender->hear().substr(0, 4), "done");
  for (const auto& receiver : receivers) {
    const std::string text = receiver->hear();
    expect_all(text, count);
    receiver->say("end");
  }
  sender->say("end");
}

}  // namespace
}  // namespace halyard
