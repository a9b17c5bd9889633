// SPDX-License-Identifier: Apache-2.0
// A registry on a file system that is full, or small as a container's /dev/shm: an error that says
// what to do, nothing left behind, no SIGBUS. Needs the right to mount.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "halyard/pool.h"
#include "halyard/topic.h"
#include "ipc/peer.h"
#include "stranger.h"

namespace halyard {
namespace {

using namespace ipc::testing;
namespace fs = std::filesystem;

// A folder to mount on, gone with the test.
class MountPoint {
 public:
  MountPoint() {
    path = (fs::temp_directory_path() / "hlfXXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr) path.clear();
  }
  ~MountPoint() { ::rmdir(path.c_str()); }
  MountPoint(const MountPoint&) = delete;
  MountPoint& operator=(const MountPoint&) = delete;
  std::string path;
};

// Mounts a file system for this process's registry, where nobody else sees it.
bool mount_registry(const std::string& path, const std::string& options) {
  ::setenv("HALYARD_SHM_DIR", path.c_str(), 1);
  return ::unshare(CLONE_NEWNS) == 0 && ::mount("", "/", nullptr, MS_REC | MS_PRIVATE, "") == 0 &&
         ::mount("none", path.c_str(), "tmpfs", MS_NOSUID | MS_NODEV,
                 ("mode=0755," + options).c_str()) == 0;
}

std::string outcome(const Error& error) {
  return std::string(to_string(error.code)) + ": " + error.message();
}

// Mounts what `arguments` say, a folder and options. Makes a pool and a topic, after a first
// attempt that meets what else is opened once, and says how that ends and how many descriptors it
// has left open.
TEST(Peer, DISABLED_registry_on) {
  std::istringstream arguments(Peer::arguments());
  std::string path;
  std::string options;
  arguments >> path >> options;
  if (!mount_registry(path, options)) {
    Peer::tell("cannot mount");
    return;
  }
  Peer::tell("mounted");
  for (std::string line = Peer::next(); !line.empty(); line = Peer::next()) {
    if (line == "fill") {
      std::ofstream(path + "/filling") << std::string(1U << 20U, 'x');
      Peer::tell("full");
      continue;
    }
    if (line == "large") {
      const auto pool = TensorPool::create(1, {.pool_size = std::uint64_t{256} << 20U});
      const auto frame = pool ? (*pool)->alloc({std::size_t{200} << 20U}, DType::u8)
                              : Result<TensorHandle>(pool.error());
      if (frame) std::memset(frame->data_slice_mut()->data(), 5, frame->size_bytes());
      Peer::tell(frame ? "written" : outcome(frame.error()));
      continue;
    }
    const auto try_once = [&]() -> std::string {
      if (line == "pool") {
        const auto pool = TensorPool::create(1, TensorPoolConfig::small());
        return pool ? "made" : outcome(pool.error());
      }
      const auto topic = Topic<std::uint64_t>::create("full");
      return topic ? "made" : outcome(topic.error());
    };
    const std::string first = try_once();
    const std::size_t before = open_descriptors();
    for (int i = 0; i < 20; ++i)
      static_cast<void>(try_once());
    const std::size_t left = open_descriptors() - before;
    Peer::tell(std::to_string(left) + " left, " + first);
  }
}

class FullRegistry : public ::testing::TestWithParam<const char*> {
 protected:
  static void expect_advice(const std::string& said, const std::string& where) {
    EXPECT_EQ(said.substr(0, 17), "0 left, exhausted") << where << ": " << said;
    EXPECT_NE(said.find("--shm-size"), std::string::npos) << where << ": " << said;
    EXPECT_NE(said.find("HALYARD_SHM_DIR"), std::string::npos) << where << ": " << said;
  }
};

TEST_P(FullRegistry, without_inodes_is_said) {
  bool is_made = false;
  for (int inodes = 1; inodes < 20 && !is_made; ++inodes) {
    const MountPoint folder;
    Peer peer("registry_on", folder.path + " size=1m,nr_inodes=" + std::to_string(inodes));
    if (peer.hear() != "mounted") GTEST_SKIP() << "no file system can be mounted here";
    const std::string said = peer.ask(GetParam());
    is_made = said == "0 left, made";
    if (!is_made) expect_advice(said, std::to_string(inodes) + " inodes");
    if (HasFailure()) return;
  }
  EXPECT_TRUE(is_made);
}

TEST_P(FullRegistry, without_bytes_is_said) {
  const MountPoint folder;
  Peer peer("registry_on", folder.path + " size=64k");
  if (peer.hear() != "mounted") GTEST_SKIP() << "no file system can be mounted here";
  EXPECT_EQ(peer.ask("fill"), "full");
  expect_advice(peer.ask(GetParam()), "no bytes");
}

INSTANTIATE_TEST_SUITE_P(Of, FullRegistry, ::testing::Values("pool", "topic"),
                         [](const auto& info) { return std::string(info.param); });

// Frames do not lie there: 64 KiB serve a pool of 256 MiB.
TEST(SmallRegistry, does_not_limit_pools) {
  const MountPoint folder;
  Peer peer("registry_on", folder.path + " size=64k");
  if (peer.hear() != "mounted") GTEST_SKIP() << "no file system can be mounted here";
  EXPECT_EQ(peer.ask("large"), "written");
  EXPECT_EQ(peer.ask("topic"), "0 left, made");
}

}  // namespace
}  // namespace halyard
