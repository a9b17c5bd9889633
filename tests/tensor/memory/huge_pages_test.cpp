// SPDX-License-Identifier: Apache-2.0
// Memory of huge pages: seals that keep its end do not keep its content.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/memfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "support/result.h"
#include "tensor/memory/fd_kind.h"

namespace halyard {
namespace {

TEST(SealsKeep, small_pages_by_the_end_and_huge_ones_by_their_content_too) {
  EXPECT_FALSE(seals_keep(0, false));
  EXPECT_FALSE(seals_keep(F_SEAL_WRITE | F_SEAL_GROW, false));
  EXPECT_TRUE(seals_keep(F_SEAL_SHRINK, false));
  EXPECT_FALSE(seals_keep(F_SEAL_SHRINK, true));
  EXPECT_FALSE(seals_keep(F_SEAL_WRITE, true));
  EXPECT_TRUE(seals_keep(F_SEAL_SHRINK | F_SEAL_WRITE, true));
  EXPECT_TRUE(seals_keep(F_SEAL_SHRINK | F_SEAL_FUTURE_WRITE, true));
}

// A sealed object of one page of 2 MiB. Without free pages it can be made, but not be mapped.
Fd huge_memfd(int seals) {
  constexpr unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB | MFD_HUGE_2MB;
  Fd fd(static_cast<int>(::syscall(SYS_memfd_create, "huge", flags)));
  if (!fd) return fd;
  EXPECT_EQ(::ftruncate(fd.get(), 2 << 20), 0) << std::strerror(errno);
  EXPECT_EQ(::fcntl(fd.get(), F_ADD_SEALS, seals), 0) << std::strerror(errno);
  return fd;
}

TEST(HugePages, that_others_may_punch_holes_into_are_refused_where_seals_are_required) {
  const Fd fd = huge_memfd(F_SEAL_SHRINK | F_SEAL_GROW);
  if (!fd) GTEST_SKIP() << "this kernel makes no huge pages of 2 MiB: " << std::strerror(errno);
  ASSERT_VALUE(auto memory, examine_memory(fd.get()));
  EXPECT_TRUE(memory.has_huge_pages);
  EXPECT_TRUE(memory.may_shrink);
  EXPECT_FAILS(seal_memory(fd.get(), memory), Errc::permission, "huge pages");
}

TEST(HugePages, that_are_sealed_against_writing_are_taken) {
  const Fd fd = huge_memfd(F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
  if (!fd) GTEST_SKIP() << "this kernel makes no huge pages of 2 MiB: " << std::strerror(errno);
  ASSERT_VALUE(auto memory, examine_memory(fd.get()));
  EXPECT_FALSE(memory.may_shrink);
  EXPECT_FALSE(memory.writable);
  EXPECT_TRUE(seal_memory(fd.get(), memory));
}

}  // namespace
}  // namespace halyard
