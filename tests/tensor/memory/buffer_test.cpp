// SPDX-License-Identifier: Apache-2.0
// The buffer kinds of the tensor layer against the conformance suite, and what each adds.
#include "halyard/buffer.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <thread>

#include "conformance/buffer.h"
#include "conformance/buffer_sharing.h"
#include "conformance/fake_dma.h"
#include "fake_device.h"
#include "halyard/fd.h"
#include "halyard/import.h"
#include "support/in_child.h"
#include "support/result.h"
#include "tensor/memory/buffer_kinds.h"

namespace halyard {
namespace conformance {
namespace {

BufferKind dma_kind(const char* name, const char* heap) {
  BufferKind kind{.name = name, .memory = Memory::dma};
  kind.has_fd = kind.needs_device = true;
  kind.make = [heap](std::size_t size) {
    return allocate(size, {.memory = Memory::dma, .dma_heaps = {heap}});
  };
  return kind;
}

// What `kind` makes, given up by its maker and imported from its descriptor alone.
BufferKind imported(BufferKind kind, const char* name) {
  kind.name = name;
  kind.imported = true;
  kind.make = [make = kind.make](std::size_t size) -> Result<std::shared_ptr<Buffer>> {
    HALYARD_TRY(auto made, make(size));
    HALYARD_TRY(const Fd fd, made->clone_fd());
    made.reset();
    return Importer().import_buffer(fd.get());
  };
  return kind;
}

// Mapped by a thread of its own, as pixel buffers of OpenGL are.
BufferKind pixel_buffer() {
  BufferKind kind{"fake_pixel_buffer", Memory::pbo, false, [](std::size_t size) {
                    static const auto thread = std::make_shared<test::FakeDeviceThread>();
                    return Result<std::shared_ptr<Buffer>>(std::make_shared<test::FakePixelBuffer>(
                        size, thread, std::make_shared<test::FakeLog>()));
                  }};
  kind.widens = false;
  return kind;
}

struct KeptFake final : Attachment {
  explicit KeptFake(std::size_t size) : fake(size) {}
  FakeDmaBuf fake;
};

// A DMA-BUF of a machine whose caches are not coherent: each map must begin and end as it should,
// or bytes are lost. It lives in this process alone.
BufferKind fake_dma() {
  BufferKind kind{"fake_dma", Memory::dma, true, [](std::size_t size) {
                    static const int owner = 0;
                    auto kept = std::make_unique<KeptFake>(size);
                    auto buffer = adopt_dma_buffer(kept->fake.fd(), size, true);
                    if (buffer) (*buffer)->attach(&owner, std::move(kept));
                    return buffer;
                  }};
  kind.slow = true;
  return kind;
}

std::vector<BufferKind> all_kinds() {
  const BufferKind posix_shm{"posix_shm", Memory::shm, true, make_posix_shm_buffer};
  const BufferKind raw_memory{"imported_memfd", Memory::shm, true, [](std::size_t size) {
                                return Importer().import_buffer(raw_memfd(size).get());
                              }};
  const BufferKind foreign{"foreign", Memory::mem, false, [](std::size_t size) {
                             void* data = std::aligned_alloc(64, (size + 63) / 64 * 64);
                             std::memset(data, 0, size);
                             return wrap_memory(data, size, [data] { std::free(data); });
                           }};
  return {
      {"heap", Memory::mem, false, [](std::size_t size) { return allocate(size, Memory::mem); }},
      foreign,
      {"shm", Memory::shm, true, [](std::size_t size) { return allocate(size, Memory::shm); }},
      posix_shm,
      raw_memory,
      imported(posix_shm, "imported_posix_shm"),
      dma_kind("udmabuf", "udmabuf"),
      dma_kind("dma_heap_system", "system"),
      imported(dma_kind("", "udmabuf"), "imported_udmabuf"),
      imported(dma_kind("", "system"), "imported_dma_heap"),
      pixel_buffer()};
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(kinds, BufferConformance, ::testing::ValuesIn(all_kinds()),
                         [](const auto& kind) { return kind.param.name; });
INSTANTIATE_TEST_SUITE_P(fakes, BufferConformance, ::testing::Values(fake_dma()),
                         [](const auto& kind) { return kind.param.name; });
INSTANTIATE_TEST_SUITE_P(kinds, BufferSharing, ::testing::ValuesIn(all_kinds()),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace conformance

namespace {

TEST(ShmBuffer, says_which_kernel_object_it_is_whenever_it_is_asked) {
  const auto buffer = *allocate(100, Memory::shm);
  const auto other = *allocate(100, Memory::shm);
  const auto expected = *fd_identity(buffer->fd());
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(buffer->identity());
    EXPECT_EQ(*buffer->identity(), expected);
    EXPECT_NE(other->identity(), expected);
  }
}

TEST(HeapBuffer, has_no_kernel_object) {
  const auto buffer = *allocate(100, Memory::mem);
  for (int i = 0; i < 2; ++i)
    EXPECT_FALSE(buffer->identity());
}

TEST(HeapBuffer, more_than_there_is_is_an_error) {
  EXPECT_FAILS(allocate(std::numeric_limits<std::size_t>::max() - 8, Memory::mem), Errc::no_memory);
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
  EXPECT_FAILS(buffer->map(Access::write), Errc::permission);
  EXPECT_FAILS(buffer->map(Access::read_write), Errc::permission);
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

TEST(Buffer, is_of_use_in_children_whatever_threads_of_the_parent_did_to_it) {
  const auto buffer = *allocate(128, Memory::mem);
  const std::array<ByteRegion, 1> first{{{0, 64, 1, 0}}};
  const std::array<ByteRegion, 1> second{{{64, 64, 1, 0}}};
  ASSERT_TRUE(buffer->map(Access::write, first) && buffer->map(Access::write, second));
  std::atomic<bool> may_end{false};
  std::thread asking([&] {
    while (!may_end)
      (void)buffer->attachment(&may_end);
  });
  std::thread writing([&] {
    while (!may_end)
      (void)buffer->map(Access::write, first);
  });
  const auto works = [&] {
    return buffer->attachment(&may_end) == nullptr && buffer->map(Access::write, second);
  };
  int served = 0;
  for (int i = 0; i < 200; ++i)
    served += test::is_true_in_child(works) ? 1 : 0;
  may_end = true;
  asking.join();
  writing.join();
  EXPECT_EQ(served, 200);
}

}  // namespace
}  // namespace halyard
