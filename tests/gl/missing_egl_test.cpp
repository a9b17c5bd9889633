// SPDX-License-Identifier: Apache-2.0
// Machines without EGL, and nodes of a GPU that this user may not open: each in a process of its
// own, because libraries are loaded once.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "gl/display/library.h"
#include "gl/worker.h"
#include "halyard/gl.h"
#include "halyard/tensor.h"
#include "support/folder.h"
#include "support/own_process.h"
#include "support/result.h"

namespace halyard::test {
namespace {

// The loader takes the first file of this name, and it is no library.
std::string search_path(const Folder& folder) {
  const char* const before = ::getenv("LD_LIBRARY_PATH");
  return folder.path() + (before == nullptr ? "" : std::string(":") + before);
}

TEST(GlWithoutEgl, DISABLED_everything_tells_so) {
  const std::string library = ::getenv("HALYARD_TEST_LIBRARY");
  EXPECT_FAILS(gl::load_libraries(), Errc::unsupported, library);
  EXPECT_FAILS(gl::Worker::shared(true), Errc::unsupported, "display: EGL cannot be loaded");
  EXPECT_FAILS(probe_gl_displays(), Errc::unsupported, "install libegl1 and libgles2");
  EXPECT_FAILS(describe_gl(), Errc::unsupported, library);
  EXPECT_FAILS(Tensor::create(DType::u8, {16}, Memory::pbo), Errc::unsupported, library);
  EXPECT_OK(Tensor::create(DType::u8, {16}));
}

TEST(GlWithoutEgl, each_call_tells_what_to_install) {
  for (const char* name : {"libEGL.so.1", "libGLESv2.so.2"}) {
    const Folder folder;
    std::ofstream(folder / name) << "This is no library, but has its name.\n"
                                 << std::string(200, ' ');
    EXPECT_PASSES_APART("GlWithoutEgl", "everything_tells_so",
                        {{"LD_LIBRARY_PATH", search_path(folder)},
                         {"HALYARD_TEST_LIBRARY", name},
                         {"HALYARD_ALLOW_SOFTWARE_GL", "1"}});
  }
}

// A folder /dev/dri of this process alone, with a node that nobody may open; and no capability to
// open it all the same.
bool hide_nodes() {
  const auto user = ::geteuid();
  const auto group = ::getegid();
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  std::ofstream("/proc/self/setgroups") << "deny";
  std::ofstream("/proc/self/uid_map") << user << ' ' << user << " 1";
  std::ofstream("/proc/self/gid_map") << group << ' ' << group << " 1";
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  if (::mount("none", "/dev", "tmpfs", 0, nullptr) != 0) return false;
  ::mkdir("/dev/dri", 0755);
  const Fd node(::open("/dev/dri/renderD128", O_CREAT | O_WRONLY | O_CLOEXEC, 0));
  struct __user_cap_header_struct header {
    _LINUX_CAPABILITY_VERSION_3, 0
  };
  struct __user_cap_data_struct none[2]{};
  return node && ::fchmod(node.get(), 0) == 0 && ::syscall(SYS_capset, &header, none) == 0;
}

TEST(GlNodes, DISABLED_without_permission) {
  if (!hide_nodes()) ::_exit(77);
  const auto displays = probe_gl_displays();
  if (!displays) ::_exit(77);  // no EGL
  const auto node =
      std::ranges::find(*displays, std::string("/dev/dri/renderD128"), &GlDisplay::name);
  if (node == displays->end()) ::_exit(77);  // an EGL without GBM
  EXPECT_EQ(node->kind, GlDisplayKind::gbm);
  EXPECT_FAILS(node->status, Errc::permission, "the node cannot be opened");
}

TEST(GlNodes, that_this_user_may_not_open_are_told) {
  const int status =
      status_of_own_process("GlNodes", "without_permission", {{"HALYARD_ALLOW_SOFTWARE_GL", "1"}});
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
    GTEST_SKIP() << "no user namespace, or no EGL with GBM";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace halyard::test
