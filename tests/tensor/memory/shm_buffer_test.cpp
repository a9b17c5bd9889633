// SPDX-License-Identifier: Apache-2.0
// Shared memory: sealed memfds, and POSIX objects where the kernel has none.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "base/system/mapped.h"
#include "conformance/buffer_support.h"
#include "halyard/fd.h"
#include "support/in_child.h"
#include "support/result.h"
#include "tensor/memory/buffer_kinds.h"

namespace {
// What memfd_create() of this program does instead of its work.
std::atomic<int> memfd_failure{0};     // an errno
std::atomic<unsigned> memfd_flags{0};  // of the last call
std::atomic<unsigned> unknown_flag{0};
}  // namespace

extern "C" int memfd_create(const char* name, unsigned flags) noexcept {
  memfd_flags = flags;
  errno = (flags & unknown_flag) != 0 ? EINVAL : memfd_failure.load();
  if (errno != 0) return -1;
  return static_cast<int>(::syscall(SYS_memfd_create, name, flags));
}

namespace halyard {
namespace {

using conformance::holdings;

class ShmMemory : public ::testing::Test {
 protected:
  void TearDown() override {
    memfd_failure = 0;
    unknown_flag = 0;
  }
};

std::string link_of(int fd) {
  return std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd)).string();
}

struct stat status_of(int fd) {
  struct stat status = {};
  EXPECT_EQ(::fstat(fd, &status), 0);
  return status;
}

TEST_F(ShmMemory, is_sealed_so_that_nobody_can_pull_its_pages_away) {
  const auto buffer = *make_shm_buffer(10000, {});
  const int seals = ::fcntl(buffer->fd(), F_GET_SEALS);
  constexpr int wanted = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  EXPECT_EQ(seals & wanted, wanted);
  EXPECT_NE(::ftruncate(buffer->fd(), 0), 0);
  EXPECT_NE(::ftruncate(buffer->fd(), 20000), 0);
  EXPECT_NE(::fcntl(buffer->fd(), F_ADD_SEALS, F_SEAL_WRITE), 0);
}

TEST_F(ShmMemory, has_the_size_asked_for_and_is_its_owners_alone) {
  const auto buffer = *make_shm_buffer(10000, {});
  EXPECT_EQ(buffer->memory(), Memory::shm);
  EXPECT_EQ(buffer->size_bytes(), 10000U);
  EXPECT_EQ(status_of(buffer->fd()).st_size, 10000);
  EXPECT_EQ(status_of(buffer->fd()).st_mode & 07777U, 0600U);
  EXPECT_EQ(status_of(buffer->fd()).st_nlink, 0U);
  EXPECT_NE(::fcntl(buffer->fd(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(ShmMemory, bears_its_label_cut_to_31_bytes) {
  EXPECT_EQ(link_of((*make_shm_buffer(64, {}))->fd()), "/memfd:halyard (deleted)");
  EXPECT_EQ(link_of((*make_shm_buffer(64, "left camera"))->fd()), "/memfd:left camera (deleted)");
  EXPECT_EQ(link_of((*make_shm_buffer(64, std::string(300, 'x')))->fd()),
            "/memfd:" + std::string(31, 'x') + " (deleted)");
}

TEST_F(ShmMemory, takes_no_page_before_it_is_touched) {
  const auto buffer = *make_shm_buffer(std::size_t{1} << 20U, {});
  EXPECT_EQ(status_of(buffer->fd()).st_blocks, 0);
  buffer->map(Access::write)->writable_bytes()[4096] = std::byte{1};
  EXPECT_GT(status_of(buffer->fd()).st_blocks, 0);
}

TEST_F(ShmMemory, a_size_beyond_the_machine_is_an_error_and_not_a_later_kill) {
  EXPECT_TRUE(make_shm_buffer(4096, {}));
  for (const std::size_t size : {system_memory_bytes() + 1, std::size_t{1} << 50U,
                                 std::numeric_limits<std::size_t>::max()}) {
    const std::size_t before = holdings().descriptors;
    EXPECT_FAILS(make_shm_buffer(size, {}), Errc::no_memory, std::to_string(size));
    EXPECT_EQ(holdings().descriptors, before);
  }
}

TEST_F(ShmMemory, is_not_executable_where_the_kernel_can_say_so) {
  ASSERT_TRUE(make_shm_buffer(64, {}));
  constexpr unsigned no_exec = 8;  // MFD_NOEXEC_SEAL
  if ((memfd_flags & no_exec) == 0) GTEST_SKIP() << "this kernel does not know the flag";
  EXPECT_NE(memfd_flags & no_exec, 0U);
}

TEST_F(ShmMemory, a_kernel_without_memfd_gets_posix_shared_memory) {
  memfd_failure = ENOSYS;
  ASSERT_VALUE(const auto buffer, make_shm_buffer(10000, "unseen"));
  EXPECT_EQ(link_of(buffer->fd()).rfind("/dev/shm/halyard-", 0), 0U);
  EXPECT_EQ(buffer->map(Access::read)->bytes().size(), 10000U);
}

TEST_F(ShmMemory, other_failures_of_memfd_are_errors) {
  memfd_failure = EMFILE;
  const auto refused = make_shm_buffer(64, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().os_errno, EMFILE);
}

TEST_F(ShmMemory, posix_shared_memory_has_its_pages_reserved) {
  const auto buffer = *make_posix_shm_buffer(10000);
  EXPECT_GE(status_of(buffer->fd()).st_blocks * 512, 10000);
  EXPECT_EQ(status_of(buffer->fd()).st_mode & 07777U, 0600U);
  EXPECT_EQ(status_of(buffer->fd()).st_nlink, 0U);
  const auto map = *buffer->map(Access::read_write);
  map.writable_bytes()[9999] = std::byte{1};
  EXPECT_EQ(map.bytes()[0], std::byte{0});
}

TEST_F(ShmMemory, posix_shared_memory_beyond_the_machine_is_an_error) {
  const std::size_t before = holdings().descriptors;
  EXPECT_FAILS(make_posix_shm_buffer(std::size_t{1} << 50U), Errc::no_memory);
  EXPECT_EQ(holdings().descriptors, before);
}

// In a child: limits go with the process. The signal would end it.
bool limit_files_to(rlim_t bytes) {
  const rlimit limit{bytes, bytes};
  return ::signal(SIGXFSZ, SIG_IGN) != SIG_ERR && ::setrlimit(RLIMIT_FSIZE, &limit) == 0;
}

TEST_F(ShmMemory, posix_shared_memory_above_the_limit_of_files_is_no_memory) {
  const bool is_enforced = test::is_true_in_child([] {
    const Fd fd(static_cast<int>(::syscall(SYS_memfd_create, "limit", MFD_CLOEXEC)));
    return limit_files_to(4096) && ::posix_fallocate(fd.get(), 0, 10000) == EFBIG;
  });
  if (!is_enforced) GTEST_SKIP() << "this kernel sets no RLIMIT_FSIZE to shared memory";
  EXPECT_TRUE(test::is_true_in_child([] {
    if (!limit_files_to(4096)) return false;
    const auto refused = make_posix_shm_buffer(10000);
    return !refused && refused.error().code == Errc::no_memory &&
           refused.error().os_errno == EFBIG && make_posix_shm_buffer(4096).has_value();
  }));
}

// Last: what the kernel does not know is remembered.
TEST_F(ShmMemory, kernels_that_do_not_know_the_newest_flag_serve_as_well) {
  unknown_flag = 8;
  ASSERT_VALUE(const auto buffer, make_shm_buffer(64, {}));
  EXPECT_NE(::fcntl(buffer->fd(), F_GET_SEALS) & F_SEAL_SHRINK, 0);
}

}  // namespace
}  // namespace halyard
