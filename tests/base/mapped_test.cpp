// SPDX-License-Identifier: Apache-2.0
// Memory behind descriptors: sizes, seals, and what is refused.
#include "base/mapped.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <limits>

namespace halyard {
namespace {

constexpr int all_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

TEST(SealedMemory, cannot_change_its_size_or_be_sealed_further) {
  const Fd fd = *create_sealed_memory("test", 5000);
  EXPECT_EQ(::lseek(fd.get(), 0, SEEK_END), 5000);
  ASSERT_TRUE(seals_of(fd.get()));
  EXPECT_EQ(*seals_of(fd.get()) & all_seals, all_seals);
  EXPECT_EQ(seal_against_shrinking(fd.get()).error().code, Errc::permission);
}

TEST(SealedMemory, is_never_more_than_the_machine_has) {
  EXPECT_GT(system_memory_bytes(), std::size_t{1} << 20U);
  EXPECT_LT(system_memory_bytes(), std::numeric_limits<std::size_t>::max());
  const auto refused = create_sealed_memory("test", system_memory_bytes() + 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::no_memory);
}

TEST(SealedMemory, only_memory_has_seals) {
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  const Fd read_end(ends[0]);
  const Fd write_end(ends[1]);
  EXPECT_FALSE(seals_of(read_end.get()));
  EXPECT_EQ(seal_against_shrinking(write_end.get()).error().code, Errc::unsupported);
  EXPECT_FALSE(seals_of(-1));
  EXPECT_EQ(seal_against_shrinking(-1).error().os_errno, EBADF);
}

TEST(MappedMemory, shows_the_same_bytes_twice_and_the_descriptor_may_go) {
  Fd fd = *create_sealed_memory("test", 5000);
  const auto first = *MappedMemory::create(fd.get(), 5000, true);
  const auto second = *MappedMemory::create(fd.get(), 5000, false);
  fd.reset();
  first.bytes()[4999] = std::byte{7};
  EXPECT_EQ(second.bytes()[4999], std::byte{7});
  EXPECT_EQ(second.bytes().size(), 5000U);
}

TEST(MappedMemory, refuses_no_bytes_and_no_descriptor) {
  const Fd fd = *create_sealed_memory("test", 5000);
  EXPECT_EQ(MappedMemory::create(fd.get(), 0, true).error().code, Errc::invalid_argument);
  EXPECT_EQ(MappedMemory::create(-1, 4096, true).error().os_errno, EBADF);
}

}  // namespace
}  // namespace halyard
