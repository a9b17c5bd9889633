// SPDX-License-Identifier: Apache-2.0
// Other users: who may not take part gets an error that says so, and no memory; a group shares.
// Needs root, to be other users.
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <sstream>

#include "descriptor_text.h"
#include "halyard/pool.h"
#include "halyard/topic.h"
#include "ipc/crash/stranger.h"
#include "ipc/peer.h"

namespace halyard {
namespace {

using namespace ipc;           // NOLINT: its parts are what is tested
using namespace ipc::testing;  // NOLINT
using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr gid_t shared_group = 54'321;
constexpr gid_t other_group = 54'322;

// Listens beside the node at `path`, as one that is asked must, asks it for the members of pool 5,
// and says how that ends.
std::string knock(const std::string& path) {
  const NodeId own = {0x1122334455667788U, ::getuid()};
  const std::string own_path = path.substr(0, path.rfind('/') + 1) + to_string(own);
  const Fd listener(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  const Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  const sockaddr_un from = Stranger::address_of(own_path);
  const sockaddr_un to = Stranger::address_of(path);
  static_cast<void>(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&from), sizeof(from)));
  static_cast<void>(::chmod(own_path.c_str(), 0777));
  static_cast<void>(::listen(listener.get(), 10));
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)) != 0)
    return errno == EACCES ? "no way in" : "no connection";
  const PacketHead head{.from = own, .request = 103};
  static_cast<void>(Stranger::send(socket, Stranger::packet(head, "pool/5", {})));
  const auto answer = Stranger::receive(socket, 5s);
  ::unlink(own_path.c_str());
  return answer ? "an answer" : "closed";
}

// Becomes user `arguments`, of the groups behind it, and does what it is told.
TEST(Peer, DISABLED_user) {
  std::istringstream arguments(Peer::arguments());
  uid_t user = 0;
  std::vector<gid_t> groups;
  arguments >> user;
  for (gid_t group = 0; arguments >> group;)
    groups.push_back(group);
  const bool is_other = user != ::geteuid() || !groups.empty();
  if (is_other && (::setgroups(groups.size(), groups.data()) != 0 || ::setgid(user) != 0 ||
                   ::setuid(user) != 0))
    std::abort();
  // A strict mask and a lax one must come to the same.
  ::umask(user % 2 == 0 ? 077 : 0);
  std::shared_ptr<TensorPool> pool;
  std::vector<TensorHandle> held;
  Peer::tell("ready");
  for (std::string line = Peer::next(); !line.empty(); line = Peer::next()) {
    std::istringstream words(line);
    std::string word;
    std::string rest;
    words >> word >> rest;
    const auto tell = [&](const auto& result, const std::string& text) {
      Peer::tell(result ? text
                        : std::string(to_string(result.error().code)) + ": " +
                              result.error().message());
    };
    if (word == "create" || word == "open") {
      const auto id = static_cast<std::uint32_t>(std::stoul(rest));
      auto made =
          word == "open" ? TensorPool::open(id) : TensorPool::create(id, TensorPoolConfig::small());
      if (made) pool = *made;
      tell(made, word);
    } else if (word == "alloc") {
      const auto handle = pool->alloc({100}, DType::u8);
      if (handle) std::memset(handle->data_slice_mut()->data(), 77, 100);
      if (handle) held.push_back(*handle);
      tell(handle, handle ? to_hex(*handle->descriptor()) : "");
    } else if (word == "attach") {
      const auto handle = pool->attach(from_hex(rest));
      if (handle) held.push_back(*handle);
      tell(handle, handle ? "byte " + std::to_string(int((*handle->data_slice())[99])) : "");
    } else if (word == "close") {
      held.clear();
      pool.reset();
      Peer::tell("closed");
    } else if (word == "mkdir") {
      ::umask(0);
      Peer::tell(::mkdir(rest.c_str(), 0777) == 0 ? "made" : "not made");
    } else if (word == "knock") {
      Peer::tell(knock(rest));
    }
  }
}

TEST(SameUser, finds_the_limits_that_the_first_process_gave_a_pool) {
  const auto pool = *TensorPool::create(6100, {.pool_size = 1 << 20, .max_slots = 4});
  Peer peer("user", std::to_string(::geteuid()), "ready");
  const std::string said = peer.ask("create " + std::to_string(pool->pool_id()));
  EXPECT_EQ(said.substr(0, 6), "exists") << said;
  EXPECT_NE(said.find("found 1048576"), std::string::npos) << said;
  EXPECT_EQ(peer.ask("open " + std::to_string(pool->pool_id())), "open");
}

// Processes of several users below a folder that all may write, as /dev/shm is.
class Users : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can be other users";
    folder = "/dev/shm/hlu" + std::to_string(::getpid());
    ASSERT_EQ(::mkdir(folder.c_str(), 0700), 0);
    ASSERT_EQ(::chmod(folder.c_str(), 01777), 0);
    ::setenv("HALYARD_SHM_DIR", folder.c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("HALYARD_SHM_DIR");
    ::unsetenv("HALYARD_SHM_GROUP");
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
  static std::unique_ptr<Peer> user(uid_t id, const std::string& groups = "") {
    auto peer = std::make_unique<Peer>("user", std::to_string(id) + " " + groups);
    EXPECT_EQ(peer->hear(), "ready");
    return peer;
  }
  void of_group(gid_t group) { ::setenv("HALYARD_SHM_GROUP", std::to_string(group).c_str(), 1); }
  static mode_t mode_of(const fs::path& path) {
    struct stat seen = {};
    EXPECT_EQ(::stat(path.c_str(), &seen), 0) << path;
    return seen.st_mode & 07777;
  }
  std::string registry_of(const std::string& owner) const {
    return folder + "/halyard-" + owner + "/" + std::getenv("HALYARD_NAMESPACE");
  }
  static std::string first_in(const std::string& path) {
    for (const auto& entry : fs::directory_iterator(path))
      return entry.path();
    return {};
  }
  std::string folder;
};

TEST_F(Users, have_pools_of_their_own) {
  const auto one = user(65534);
  const auto two = user(65533);
  ASSERT_EQ(one->ask("create 5"), "create");
  const std::string frame = one->ask("alloc");
  EXPECT_EQ(two->ask("open 5").substr(0, 9), "not_found");
  EXPECT_EQ(two->ask("create 5"), "create") << "another pool of that number";
  EXPECT_EQ(two->ask("attach " + frame).substr(0, 9), "not_found");
  EXPECT_EQ(mode_of(registry_of("65534")), 0700U);
  EXPECT_EQ(mode_of(registry_of("65534") + "/pools/5/config"), 0600U);
}

TEST_F(Users, cannot_ask_processes_of_others) {
  const auto one = user(65534);
  ASSERT_EQ(one->ask("create 5"), "create");
  const std::string registry = registry_of("65534");
  const std::string socket = first_in(registry + "/nodes");
  ASSERT_FALSE(socket.empty());
  EXPECT_EQ(mode_of(socket), 0600U);
  EXPECT_EQ(user(65533)->ask("knock " + socket), "no way in");
  // The process itself looks who asks: it does not rely on the modes of its folders.
  for (const std::string& path : {folder + "/halyard-65534", registry, registry + "/nodes", socket})
    ASSERT_EQ(::chmod(path.c_str(), 0777), 0);
  EXPECT_EQ(user(65533)->ask("knock " + socket), "closed");
  EXPECT_EQ(user(65534)->ask("knock " + socket), "an answer") << "to the same user";
}

TEST_F(Users, refuse_folders_that_others_may_have_prepared) {
  const auto expect_refusal = [](Peer& peer, const std::string& path) {
    const std::string said = peer.ask("create 5");
    EXPECT_EQ(said.substr(0, 10), "permission") << said;
    EXPECT_NE(said.find(path), std::string::npos) << said;
  };
  const std::string foreign = folder + "/halyard-65532";
  ASSERT_EQ(::mkdir(foreign.c_str(), 0755), 0);  // root's
  expect_refusal(*user(65532), foreign);
  const std::string open = folder + "/halyard-65531";
  const auto owner = user(65531);
  ASSERT_EQ(owner->ask("mkdir " + open), "made");
  expect_refusal(*owner, open);
  const std::string link = folder + "/halyard-65530";
  ASSERT_EQ(::symlink(folder.c_str(), link.c_str()), 0);
  const std::string said = user(65530)->ask("create 5");
  EXPECT_NE(said, "create");
  EXPECT_NE(said.find(link), std::string::npos) << said;
}

TEST_F(Users, of_a_group_share_pools_and_others_do_not) {
  of_group(shared_group);
  const std::string member = std::to_string(shared_group);
  const auto one = user(65534, member);
  const auto two = user(65533, "7 " + member);
  const auto outsider = user(65532);
  ASSERT_EQ(one->ask("create 5"), "create");
  ASSERT_EQ(two->ask("open 5"), "open");
  EXPECT_EQ(two->ask("attach " + one->ask("alloc")), "byte 77");
  EXPECT_EQ(one->ask("attach " + two->ask("alloc")), "byte 77");
  for (const char* request : {"open 5", "create 5", "create 6"}) {
    const std::string said = outsider->ask(request);
    EXPECT_EQ(said.substr(0, 10), "permission") << said;
    EXPECT_NE(said.find("halyard-g" + member), std::string::npos) << said;
  }
  const std::string registry = registry_of("g" + member);
  for (const std::string& path :
       {folder + "/halyard-g" + member, registry, registry + "/nodes", registry + "/pools/5"})
    EXPECT_EQ(mode_of(path), 02770U) << path;
  EXPECT_EQ(mode_of(registry + "/pools/5/config"), 0660U);
  EXPECT_EQ(outsider->ask("knock " + first_in(registry + "/nodes")), "no way in");
  // Who comes later enters what another user has left, and the last one removes it.
  EXPECT_EQ(one->ask("close"), "closed");
  EXPECT_EQ(two->ask("close"), "closed");
  EXPECT_FALSE(fs::exists(registry + "/pools/5"));
  EXPECT_EQ(two->ask("create 5"), "create");
  EXPECT_EQ(one->ask("open 5"), "open");
}

TEST_F(Users, of_a_group_refuse_folders_that_outsiders_have_prepared) {
  of_group(other_group);
  const std::string prepared = folder + "/halyard-g" + std::to_string(other_group);
  const auto outsider = user(65532);
  // Who cannot give the folder to the group leaves none.
  EXPECT_EQ(outsider->ask("create 5").substr(0, 10), "permission");
  EXPECT_FALSE(fs::exists(prepared));
  ASSERT_EQ(outsider->ask("mkdir " + prepared), "made");
  const std::string said = user(65534, std::to_string(other_group))->ask("create 5");
  EXPECT_EQ(said.substr(0, 10), "permission") << "an outsider could look in: " << said;
  EXPECT_NE(said.find(prepared), std::string::npos) << said;
}

}  // namespace
}  // namespace halyard
