// SPDX-License-Identifier: Apache-2.0
// Memory behind descriptors: sizes, seals, and what is refused.
#include "base/system/mapped.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "support/in_child.h"
#include "support/result.h"

namespace halyard {
namespace {

constexpr int all_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

TEST(SealedMemory, cannot_change_its_size_or_be_sealed_further) {
  const Fd fd = *create_sealed_memory("test", 5000);
  EXPECT_EQ(::lseek(fd.get(), 0, SEEK_END), 5000);
  ASSERT_TRUE(seals_of(fd.get()));
  EXPECT_EQ(*seals_of(fd.get()) & all_seals, all_seals);
  EXPECT_FAILS(seal_against_shrinking(fd.get()), Errc::permission);
}

TEST(SealedMemory, is_never_more_than_the_machine_has) {
  EXPECT_GT(system_memory_bytes(), std::size_t{1} << 20U);
  EXPECT_LT(system_memory_bytes(), std::numeric_limits<std::size_t>::max());
  EXPECT_FAILS(create_sealed_memory("test", system_memory_bytes() + 1), Errc::no_memory);
}

TEST(SealedMemory, only_memory_has_seals) {
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  const Fd read_end(ends[0]);
  const Fd write_end(ends[1]);
  EXPECT_FALSE(seals_of(read_end.get()));
  EXPECT_FAILS(seal_against_shrinking(write_end.get()), Errc::unsupported);
  EXPECT_FALSE(seals_of(-1));
  EXPECT_EQ(seal_against_shrinking(-1).error().os_errno, EBADF);
}

// The name under which a shared object was made, "" where the system does not tell.
std::string shared_name(const Fd& fd) {
  std::array<char, 256> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(fd.get());
  if (::readlink(link.c_str(), path.data(), path.size() - 1) < 0) return {};
  const std::string_view whole = path.data();
  const std::size_t begin = whole.find("/halyard-");
  if (begin == std::string_view::npos) return {};
  return std::string(whole.substr(begin, whole.find(' ') - begin));
}

// Takes the next `count` names, as another program may have done.
class TakenNames {
 public:
  TakenNames(const std::string& last, unsigned count) {
    const std::size_t number_at = last.rfind('-') + 1;
    const unsigned long number = std::stoul(last.substr(number_at));
    for (unsigned i = 1; i <= count; ++i) {
      names_.push_back(last.substr(0, number_at) + std::to_string(number + i));
      const Fd made(::shm_open(names_.back().c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
      EXPECT_TRUE(made) << names_.back();
    }
  }
  TakenNames(const TakenNames&) = delete;
  TakenNames& operator=(const TakenNames&) = delete;
  ~TakenNames() {
    for (const std::string& name : names_)
      EXPECT_EQ(::shm_unlink(name.c_str()), 0) << name << " was taken away";
  }

 private:
  std::vector<std::string> names_;
};

TEST(SharedObject, passes_over_names_that_are_taken) {
  const auto first = create_shared_object();
  if (!first) GTEST_SKIP() << first.error().message();
  const std::string name = shared_name(*first);
  if (name.empty()) GTEST_SKIP() << "/proc does not name the object";
  const TakenNames taken(name, 3);
  ASSERT_VALUE(const auto next, create_shared_object());
  EXPECT_EQ(::lseek(next.get(), 0, SEEK_END), 0);
}

TEST(SharedObject, gives_up_after_64_names_that_are_taken) {
  const auto first = create_shared_object();
  if (!first) GTEST_SKIP() << first.error().message();
  const std::string name = shared_name(*first);
  if (name.empty()) GTEST_SKIP() << "/proc does not name the object";
  const TakenNames taken(name, 64);
  EXPECT_FAILS(create_shared_object(), Errc::exists);
  EXPECT_TRUE(create_shared_object()) << "the names behind them are free";
}

TEST(OwnMemory, is_written_by_its_owner_and_by_nobody_else) {
  const auto own = *create_own_memory("own", 10000);
  own.mapped.bytes()[9999] = std::byte{7};
  const auto reader = *MappedMemory::create(own.fd.get(), 10000, false);
  EXPECT_EQ(reader.bytes()[9999], std::byte{7});
  own.mapped.bytes()[9999] = std::byte{8};
  EXPECT_EQ(reader.bytes()[9999], std::byte{8}) << "the owner goes on writing";

  EXPECT_FAILS(MappedMemory::create(own.fd.get(), 10000, true), Errc::permission);
  const std::string path = "/proc/self/fd/" + std::to_string(own.fd.get());
  const Fd again(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (again) {
    EXPECT_FAILS(MappedMemory::create(again.get(), 10000, true), Errc::permission);
  }
  const char byte = 1;
  EXPECT_EQ(::pwrite(own.fd.get(), &byte, 1, 0), -1);
  EXPECT_EQ(::ftruncate(own.fd.get(), 1), -1);
  EXPECT_EQ(::ftruncate(own.fd.get(), 20000), -1);
  EXPECT_EQ(::fallocate(own.fd.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096), -1);
  EXPECT_EQ(::mprotect(reader.bytes().data(), 4096, PROT_READ | PROT_WRITE), -1);
}

TEST(OwnMemory, begins_with_zeros_and_is_all_there) {
  const OwnMemoryOptions options{.touch = true, .huge_pages = true};
  const auto own = *create_own_memory("own", (std::size_t{4} << 20) + 5, options);
  EXPECT_TRUE(std::all_of(own.mapped.bytes().begin(), own.mapped.bytes().end(),
                          [](std::byte byte) { return byte == std::byte{0}; }));
  struct stat status = {};
  ASSERT_EQ(::fstat(own.fd.get(), &status), 0);
  EXPECT_GE(status.st_blocks * 512, std::int64_t{4} << 20) << "its pages are reserved";
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST(OwnMemory, refuses_what_cannot_be_had) {
  EXPECT_FAILS(create_own_memory("own", 0), Errc::invalid_argument);
  EXPECT_FAILS(create_own_memory("own", system_memory_bytes() + 1), Errc::no_memory);
}

TEST(OwnMemory, names_the_limit_of_locked_memory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers ignore mlock()";
#endif
  // In a child: limits go with the process.
  EXPECT_TRUE(test::is_true_in_child([] {
    const rlimit none{0, 0};
    if (::setrlimit(RLIMIT_MEMLOCK, &none) != 0) return false;
    if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) return false;
    const auto refused = create_own_memory("own", 4096, {.lock = true});
    return !refused && refused.error().message().find("RLIMIT_MEMLOCK is 0") != std::string::npos;
  }));
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
  EXPECT_FAILS(MappedMemory::create(fd.get(), 0, true), Errc::invalid_argument);
  EXPECT_EQ(MappedMemory::create(-1, 4096, true).error().os_errno, EBADF);
}

}  // namespace
}  // namespace halyard
