// SPDX-License-Identifier: Apache-2.0
// Importer: each kernel object once, images over descriptors.
#include <gtest/gtest.h>

#include <atomic>

#include "conformance/buffer_support.h"
#include "halyard/import.h"
#include "support/result.h"
#include "support/threads.h"

namespace halyard {
namespace {

using conformance::holdings;
using conformance::raw_memfd;
using conformance::reopen;

TEST(FdKind, comes_from_the_descriptor_itself) {
  EXPECT_EQ(*fd_kind(raw_memfd(4096).get()), FdKind::memfd);
  EXPECT_EQ(*fd_kind(raw_memfd(4096, 0).get()), FdKind::memfd);
  const std::string name = "/dev/shm/halyard-test-" + std::to_string(::getpid());
  const Fd named(::open(name.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600));
  if (!named) GTEST_SKIP() << "no POSIX shared memory on this machine";
  ::unlink(name.c_str());
  EXPECT_EQ(*fd_kind(named.get()), FdKind::posix_shm);
  EXPECT_EQ(to_string(FdKind::posix_shm), "posix_shm");
  EXPECT_EQ(to_string(FdKind::memfd), "memfd");
  EXPECT_EQ(to_string(FdKind::dma_buf), "dma_buf");
}

TEST(Importer, gives_one_buffer_per_object) {
  Importer importer;
  const Fd first = raw_memfd(8192);
  const Fd other = raw_memfd(8192);
  const Fd duplicate = *first.duplicate();
  const auto buffer = *importer.import_buffer(first.get());
  EXPECT_EQ(buffer->size_bytes(), 8192U);
  EXPECT_EQ(buffer->memory(), Memory::shm);
  EXPECT_TRUE(buffer->is_writable());
  EXPECT_EQ(*importer.import_buffer(duplicate.get()), buffer);
  EXPECT_EQ(*importer.import_buffer(reopen(first, O_RDWR).get(), {.size_bytes = 100}), buffer);
  EXPECT_NE(*importer.import_buffer(other.get()), buffer);
  EXPECT_EQ(importer.size(), 1U) << "the other one has died";
  EXPECT_NE(*Importer().import_buffer(first.get()), buffer) << "importers share nothing";
  EXPECT_EQ(&Importer::shared(), &Importer::shared());
}

TEST(Importer, leaves_the_callers_descriptor_to_the_caller) {
  Importer importer;
  Fd fd = raw_memfd(4096);
  const auto buffer = *importer.import_buffer(fd.get());
  EXPECT_NE(buffer->fd(), fd.get());
  EXPECT_EQ(::fcntl(buffer->fd(), F_GETFD), FD_CLOEXEC);
  fd.reset();
  EXPECT_TRUE(buffer->map(Access::read_write));
}

TEST(Importer, tells_reading_and_writing_descriptors_apart) {
  Importer importer;
  const Fd fd = raw_memfd(4096);
  const Fd read_only = reopen(fd, O_RDONLY);
  const auto writable = *importer.import_buffer(fd.get());
  const auto readable = *importer.import_buffer(read_only.get());
  EXPECT_NE(writable, readable);
  EXPECT_FALSE(readable->is_writable());
  EXPECT_FAILS(readable->map(Access::write), Errc::permission);
  EXPECT_EQ(writable->identity(), readable->identity());
  writable->map(Access::write)->writable_bytes()[5] = std::byte{7};
  EXPECT_EQ(readable->map(Access::read)->bytes()[5], std::byte{7});
}

TEST(Importer, takes_memory_sealed_against_writing_as_read_only) {
  Importer importer;
  for (const int seal : {F_SEAL_WRITE, F_SEAL_FUTURE_WRITE}) {
    const Fd fd = raw_memfd(4096);
    ASSERT_EQ(::fcntl(fd.get(), F_ADD_SEALS, seal), 0);
    ASSERT_VALUE(const auto buffer, importer.import_buffer(fd.get()));
    EXPECT_FALSE(buffer->is_writable());
    EXPECT_TRUE(buffer->map(Access::read));
  }
}

TEST(Importer, is_not_misled_by_descriptor_numbers_that_come_back) {
  Importer importer;
  Fd fd = raw_memfd(4096);
  const int number = fd.get();
  const auto first = *importer.import_buffer(number);
  fd.reset();
  fd = raw_memfd(8192);
  ASSERT_EQ(fd.get(), number) << "the system gives the lowest free number";
  const auto second = *importer.import_buffer(number);
  EXPECT_NE(second, first);
  EXPECT_EQ(second->size_bytes(), 8192U);
}

TEST(Importer, takes_up_a_resized_object_anew) {
  Importer importer;
  const Fd fd = raw_memfd(4096);
  const auto small = *importer.import_buffer(fd.get());
  ASSERT_EQ(::ftruncate(fd.get(), 8192), 0);
  auto large = *importer.import_buffer(fd.get(), {.size_bytes = 8192});
  EXPECT_NE(large, small);
  EXPECT_EQ(small->size_bytes(), 4096U);
  EXPECT_TRUE(small->map(Access::read)) << "what it has is still there";
  EXPECT_EQ(*importer.import_buffer(fd.get()), large);
}

TEST(Importer, an_entry_survives_the_buffer_that_it_replaced) {
  Importer importer;
  const Fd fd = raw_memfd(4096);
  auto small = *importer.import_buffer(fd.get());
  ASSERT_EQ(::ftruncate(fd.get(), 8192), 0);
  const auto large = *importer.import_buffer(fd.get());
  small.reset();
  EXPECT_EQ(importer.size(), 1U);
  EXPECT_EQ(*importer.import_buffer(fd.get()), large);
}

TEST(Importer, buffers_outlive_it) {
  const Fd fd = raw_memfd(4096);
  std::shared_ptr<Buffer> buffer;
  {
    Importer importer;
    buffer = *importer.import_buffer(fd.get());
  }
  EXPECT_TRUE(buffer->map(Access::read));
}

TEST(Importer, seals_what_it_is_told_to_seal) {
  Importer importer;
  const Fd open_memory = raw_memfd(4096);
  ASSERT_TRUE(importer.import_buffer(open_memory.get(), {.require_sealed = true}));
  EXPECT_EQ(::ftruncate(open_memory.get(), 100), -1);
  EXPECT_EQ(errno, EPERM);
  const Fd unsealable = raw_memfd(4096, 0);
  EXPECT_FAILS(importer.import_buffer(unsealable.get(), {.require_sealed = true}), Errc::permission,
               "require_sealed");
}

TEST(Importer, does_not_grow) {
  Importer importer;
  const int rounds = conformance::many_rounds();
  const auto kept_fd = raw_memfd(4096);
  const auto kept = *importer.import_buffer(kept_fd.get());
  const auto before = holdings();
  for (int i = 0; i < rounds; ++i) {
    const Fd fd = raw_memfd(4096);
    ASSERT_TRUE(importer.import_buffer(fd.get()));
    ASSERT_EQ(importer.size(), 1U);
  }
  EXPECT_EQ(holdings(), before);
}

TEST(Importer, threads_that_import_one_object_share_a_buffer) {
  Importer importer;
  const Fd fd = raw_memfd(4096);
  const auto kept = *importer.import_buffer(fd.get());
  std::atomic<int> strangers{0};
  test::on_threads(4, [&](std::size_t) {
    for (int i = 0; i < 1000; ++i) {
      const auto buffer = importer.import_buffer(fd.get());
      if (!buffer || *buffer != kept) ++strangers;
    }
  });
  EXPECT_EQ(strangers, 0);
}

// Each thread drops its buffer at once, so that imports keep meeting one that is dying.
TEST(Importer, imports_while_the_same_object_dies) {
  Importer importer;
  const Fd fd = raw_memfd(4096);
  const auto before = holdings();
  std::atomic<int> failures{0};
  test::on_threads(4, [&](std::size_t) {
    for (int i = 0; i < 3000; ++i) {
      auto buffer = importer.import_buffer(fd.get());
      if (!buffer || !(*buffer)->map_unclaimed(Access::write)) ++failures;
      const auto again = importer.import_buffer(fd.get());
      if (!again || *again != *buffer) ++failures;
    }
  });
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(importer.size(), 0U);
  EXPECT_EQ(holdings().descriptors, before.descriptors);
  EXPECT_EQ(holdings().shared_mappings, before.shared_mappings);
}

struct Reimporter final : Attachment {
  Reimporter(Importer& importer, int fd) : importer_(importer), fd_(fd) {}
  ~Reimporter() override { found_ = importer_.import_buffer(fd_).has_value(); }
  Importer& importer_;
  int fd_;
  inline static bool found_ = false;
};

TEST(Importer, may_be_called_while_a_buffer_dies) {
  Importer importer;
  const Fd fd = raw_memfd(4096);
  const int owner = 0;
  (*importer.import_buffer(fd.get()))
      ->attach(&owner, std::make_unique<Reimporter>(importer, fd.get()));
  EXPECT_TRUE(Reimporter::found_);
  EXPECT_EQ(importer.size(), 0U);
}

}  // namespace
}  // namespace halyard
