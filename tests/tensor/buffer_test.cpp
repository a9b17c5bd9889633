// SPDX-License-Identifier: Apache-2.0
// The buffer kinds of the tensor layer against the conformance suite, and what each adds.
#include "halyard/buffer.h"

#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <limits>

#include "base/mapped.h"
#include "conformance/buffer.h"
#include "halyard/fd.h"

namespace halyard {
namespace conformance {

INSTANTIATE_TEST_SUITE_P(
    kinds, BufferConformance,
    ::testing::Values(BufferKind{"heap", Memory::mem, false,
                                 [](std::size_t size) { return allocate(size, Memory::mem); }},
                      BufferKind{"shm", Memory::shm, true,
                                 [](std::size_t size) { return allocate(size, Memory::shm); }},
                      BufferKind{"foreign", Memory::mem, false,
                                 [](std::size_t size) {
                                   void* data = std::aligned_alloc(64, (size + 63) / 64 * 64);
                                   std::memset(data, 0, size);
                                   return wrap_memory(data, size, [data] { std::free(data); });
                                 }}),
    [](const auto& kind) { return kind.param.name; });

}  // namespace conformance

namespace {

std::size_t open_descriptors() {
  DIR* folder = ::opendir("/proc/self/fd");
  std::size_t count = 0;
  while (::readdir(folder) != nullptr)
    ++count;
  ::closedir(folder);
  return count;
}

TEST(ShmBuffer, is_private_to_its_owner_and_has_no_name) {
  const auto buffer = *allocate(10000, Memory::shm);
  struct stat status = {};
  ASSERT_EQ(::fstat(buffer->fd(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  EXPECT_EQ(status.st_nlink, 0U);
  EXPECT_EQ(status.st_size, 10000);
}

TEST(ShmBuffer, a_child_process_reads_and_writes_the_same_bytes) {
  const auto buffer = *allocate(4096, Memory::shm);
  buffer->map(Access::write)->writable_bytes()[0] = std::byte{42};
  const pid_t child = ::fork();
  if (child == 0) {
    auto mapped = MappedMemory::create(buffer->fd(), 4096, true);
    const bool seen = mapped && mapped->bytes()[0] == std::byte{42};
    if (seen) mapped->bytes()[1] = std::byte{43};
    ::_exit(seen ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(buffer->map(Access::read)->bytes()[1], std::byte{43});
}

TEST(ShmBuffer, leaks_no_descriptors) {
  { const auto warm_up = allocate(16, Memory::shm); }
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 1000; ++i) {
    const auto buffer = *allocate(4096, Memory::shm);
    const auto map = buffer->map(Access::write);
    ASSERT_TRUE(map);
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(ShmBuffer, more_than_there_is_is_an_error_and_not_a_later_crash) {
  const auto buffer = allocate(std::size_t{1} << 50, Memory::shm);
  ASSERT_FALSE(buffer);
  EXPECT_EQ(buffer.error().code, Errc::no_memory);
}

TEST(HeapBuffer, more_than_there_is_is_an_error) {
  const auto buffer = allocate(std::numeric_limits<std::size_t>::max() - 8, Memory::mem);
  ASSERT_FALSE(buffer);
  EXPECT_EQ(buffer.error().code, Errc::no_memory);
}

TEST(Allocate, zero_bytes_are_legal_for_mem_only) {
  EXPECT_TRUE(allocate(0, Memory::mem));
  EXPECT_EQ((*allocate(0, Memory::automatic))->memory(), Memory::mem);
  EXPECT_EQ(allocate(0, Memory::shm).error().code, Errc::invalid_argument);
}

TEST(Allocate, explicit_kinds_never_fall_back) {
  for (const Memory kind : {Memory::dma, Memory::pbo}) {
    const auto available = memory_available(kind);
    const auto buffer = allocate(64, kind);
    EXPECT_EQ(buffer.has_value(), available.has_value());
    if (!buffer) {
      EXPECT_FALSE(buffer.error().message().empty());
    }
  }
}

TEST(Allocate, automatic_takes_shared_memory_before_the_heap) {
  if (!memory_available(Memory::shm)) GTEST_SKIP() << "no shared memory on this machine";
  const auto buffer = *allocate(64, Memory::automatic);
  EXPECT_NE(buffer->memory(), Memory::mem);
}

TEST(ForeignBuffer, releases_once_when_the_last_user_is_gone) {
  int released = 0;
  std::array<std::byte, 32> bytes{};
  auto buffer = *wrap_memory(static_cast<void*>(bytes.data()), bytes.size(), [&] { ++released; });
  {
    const auto map = *buffer->map(Access::read);
    buffer.reset();
    EXPECT_EQ(released, 0);
    EXPECT_EQ(map.bytes().data(), bytes.data());
  }
  EXPECT_EQ(released, 1);
}

TEST(ForeignBuffer, const_memory_refuses_to_be_written) {
  const std::array<std::byte, 32> bytes{};
  const auto buffer = *wrap_memory(static_cast<const void*>(bytes.data()), bytes.size(), {});
  EXPECT_TRUE(buffer->map(Access::read));
  EXPECT_EQ(buffer->map(Access::write).error().code, Errc::permission);
  EXPECT_EQ(buffer->map(Access::read_write).error().code, Errc::permission);
}

TEST(ForeignBuffer, refuses_null_with_a_size) {
  EXPECT_EQ(wrap_memory(static_cast<void*>(nullptr), 8, {}).error().code, Errc::invalid_argument);
}

struct Counted final : Attachment {
  explicit Counted(int& alive) : alive_(alive) { ++alive_; }
  ~Counted() override { --alive_; }
  int& alive_;
};

TEST(Attachment, belongs_to_one_owner_and_dies_with_the_buffer) {
  int alive = 0;
  const int owner_a = 0;
  const int owner_b = 0;
  auto buffer = *allocate(16, Memory::mem);
  buffer->attach(&owner_a, std::make_unique<Counted>(alive));
  buffer->attach(&owner_b, std::make_unique<Counted>(alive));
  EXPECT_EQ(alive, 2);
  EXPECT_NE(buffer->attachment(&owner_a), buffer->attachment(&owner_b));
  buffer->attach(&owner_a, std::make_unique<Counted>(alive));
  EXPECT_EQ(alive, 2) << "attaching again replaces";
  buffer->detach(&owner_b);
  EXPECT_EQ(alive, 1);
  EXPECT_EQ(buffer->attachment(&owner_b), nullptr);
  buffer.reset();
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace halyard
