// SPDX-License-Identifier: Apache-2.0
// What ended processes leave in the registry, and its removal.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "halyard/ipc_info.h"
#include "halyard/pool.h"
#include "ipc/helpers.h"
#include "ipc/node/node.h"
#include "ipc/node/registry.h"
#include "ipc/peer.h"

namespace halyard {
namespace {

using ipc::testing::Peer;
using namespace std::chrono_literals;
using test::value_of;

TEST(Garbage, of_killed_processes_is_removed) {
  const std::string dead = "garbage/dead";
  const std::string shared = "garbage/shared";
  auto here = *Topic<Tensor>::create(shared);
  ASSERT_TRUE(collect_garbage());
  {
    Peer one("tensor_endpoint", dead, "joined");
    ASSERT_EQ(one.ask("send 1"), "sent");
    Peer two("tensor_endpoint", shared, "joined");
    one.kill();
    two.kill();
  }
  const auto node = *ipc::Node::get();
  const std::string& registry = node->registry().path();
  const auto touch = [](const std::string& path) {
    const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_TRUE(file);
  };
  touch(registry + "/topics/" + ipc::folder_name(shared) + "/config.new");
  touch(registry + "/topics/a_file");
  const auto removed = value_of(collect_garbage());
  // That of the shared topic's peer may be gone already: its end is noticed here.
  EXPECT_GE(removed.sockets, 1U);
  EXPECT_LE(removed.sockets, 2U);
  EXPECT_EQ(removed.members, 3U) << "two of topics, one of a pool";
  EXPECT_EQ(removed.files, 1U);
  EXPECT_EQ(removed.entries, 2U) << "a topic and its pool";
  EXPECT_EQ(removed.skipped, 0U);
  EXPECT_NE(::access((registry + "/topics/" + ipc::folder_name(dead)).c_str(), F_OK), 0);
  EXPECT_EQ(::access((registry + "/topics/a_file").c_str(), F_OK), 0) << "not Halyard's";
  ::unlink((registry + "/topics/a_file").c_str());
  EXPECT_EQ(topic_info(shared)->endpoints.size(), 1U);
  const auto again = *collect_garbage();
  EXPECT_EQ(again.sockets + again.members + again.files + again.entries, 0U);
}

TEST(Garbage, sockets_that_were_never_finished_are_removed_when_they_are_old) {
  const auto node = *ipc::Node::get();
  const std::string path = node->registry().nodes() + "/" + std::string(31, 'a') + "~";
  const int socket = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  ASSERT_LT(path.size(), sizeof(address.sun_path));
  std::copy(path.begin(), path.end(), address.sun_path);
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ::close(socket);
  EXPECT_EQ(collect_garbage()->files, 0U) << "its process may be about to finish it";
  const timespec long_ago[] = {{1, 0}, {1, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), long_ago, 0), 0);
  EXPECT_EQ(collect_garbage()->files, 1U);
  EXPECT_NE(::access(path.c_str(), F_OK), 0);
}

}  // namespace
}  // namespace halyard
