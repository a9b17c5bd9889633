// SPDX-License-Identifier: Apache-2.0
// Memory for results: tensors and images in it, what it is filled with, and what parties may do.
#include "halyard/negotiated_buffer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "reconcile/agreed.h"

namespace halyard {
namespace {

using namespace test;  // NOLINT: its helpers are what tests are written in

TEST(NegotiatedBuffer, has_the_tensor_with_the_strides_that_were_agreed) {
  const auto result = agreed(R"([{"name": "app", "keys": {"t.dtype": "f16",
    "t.shape": [1, 3, 480, 650], "g.cpu": "read_write"}},
    {"name": "simd", "keys": {"t.row_align": 16}}, {"name": "dla", "keys": {"t.row_align": 64}}])");
  const auto buffer = value_of(allocate_negotiated(result)).at(0);
  const Tensor tensor = value_of(buffer.tensor());
  EXPECT_EQ(tensor.shape().size(), 4U);
  EXPECT_EQ(tensor.layout().stride_bytes[2], 1344);
  EXPECT_EQ(tensor.layout().stride_bytes[1], 645120);
  EXPECT_GE(buffer.buffer()->size_bytes(), 1935360U);
  EXPECT_FAILS(buffer.image(), Errc::unsupported);
}

TEST(NegotiatedBuffer, has_image_and_tensor_over_the_same_bytes) {
  auto buffer = one_buffer(R"([{"name": "app", "keys": {"i.w": 1000, "i.h": 600,
    "t.dtype": "u8", "t.shape": [1, 4, 600, 1000], "g.cpu": "read_write"},
    "alternatives": [{"tag": "rgba"}, {"tag": "NHWC"}]},
    {"name": "gpu", "keys": {"i.pitch_align": 256}}])");
  value_of(buffer.lock(Access::write)).writable_bytes()[3 * 4096 + 4 * 7 + 2] = std::byte{99};
  const Tensor tensor = value_of(buffer.tensor());
  const Tensor image = value_of(buffer.image());
  EXPECT_EQ(tensor.layout().stride_bytes[1], 4096);
  const auto pixels = value_of(image.map(Access::read));
  const auto numbers = value_of(tensor.map(Access::read));
  EXPECT_EQ(pixels.data()[3 * 4096 + 4 * 7 + 2], std::byte{99});
  EXPECT_EQ(numbers.data()[3 * 4096 + 4 * 7 + 2], std::byte{99});
}

TEST(NegotiatedBuffer, comes_as_often_as_the_parties_need_and_each_apart) {
  const auto result = agreed(R"([{"name": "app", "keys": {"t.dtype": "u8",
    "t.shape": [1, 1, 7, 13], "g.cpu": "read", "g.heaps": ["memfd"], "g.slack": 5}},
    {"name": "dec", "keys": {"g.camp": 11, "t.row_align": 16, "g.count_max": 16}}])");
  const auto buffers = value_of(allocate_negotiated(result));
  ASSERT_EQ(buffers.size(), 16U);
  std::set<std::uint64_t> inodes;
  for (const NegotiatedBuffer& each : buffers) {
    inodes.insert(each.buffer()->identity()->inode);
    EXPECT_EQ(value_of(each.tensor()).layout().stride_bytes[2], 16);
  }
  EXPECT_EQ(inodes.size(), 16U);
  EXPECT_FAILS(allocate_negotiated(result, {.count = 17}), Errc::exhausted);
}

TEST(NegotiatedBuffer, begins_where_the_parties_want_it) {
  for (const int align : {64, 192, 512, 65536}) {
    const std::string key = R"(, "g.base_align": )";
    const auto buffer = one_buffer(tensor_in("heap", key + std::to_string(align)));
    const auto map = value_of(buffer.buffer()->map(Access::read));
    EXPECT_EQ(
        reinterpret_cast<std::uintptr_t>(map.bytes().data()) % static_cast<std::uintptr_t>(align),
        0U);
  }
  EXPECT_FAILS(allocate_negotiated(agreed(tensor_in("memfd", R"(, "g.base_align": 65536)"))),
               Errc::unsupported, "must divide the page size for this memory: 65536");
}

TEST(NegotiatedBuffer, is_filled_with_what_padding_must_hold) {
  for (const char* const heap : {"heap", "memfd"}) {
    auto zero = one_buffer(tensor_in(heap, R"(, "g.pad_fill": "zero", "t.row_align": 128)"));
    auto value = one_buffer(tensor_in(heap, R"(, "g.pad_fill": {"value": 128})"));
    const auto all_are = [](NegotiatedBuffer& buffer, int wanted) {
      const auto lock = value_of(buffer.lock(Access::read));
      return std::ranges::all_of(lock.bytes(), [wanted](std::byte each) {
        return each == static_cast<std::byte>(wanted);
      });
    };
    EXPECT_TRUE(all_are(zero, 0));
    EXPECT_TRUE(all_are(value, 128));
  }
}

bool is_mapped_here(const Buffer& buffer) {
  std::ifstream maps("/proc/self/maps");
  const std::string inode = " " + std::to_string(buffer.identity()->inode) + " ";
  for (std::string line; std::getline(maps, line);)
    if (line.find(inode) != std::string::npos) return true;
  return false;
}

TEST(NegotiatedBuffer, that_is_unmapped_is_never_mapped) {
  auto buffer = one_buffer(R"([{"name": "app", "keys": {"t.dtype": "u8", "t.shape": [1, 1, 64, 64],
    "g.policy": "unmapped", "g.heaps": ["memfd"]}}])");
  EXPECT_FAILS(buffer.lock(Access::read), Errc::unsupported, "unmapped");
  EXPECT_FAILS(value_of(buffer.tensor()).map(Access::read), Errc::unsupported);
  ASSERT_GE(buffer.buffer()->fd(), 0) << "others may still use it";
  EXPECT_FALSE(is_mapped_here(*buffer.buffer()));
}

constexpr const char* writer_and_reader = R"([{"name": "a", "keys": {"t.dtype": "u8",
  "t.shape": [1, 1, 64, 64], "g.cpu": "read_write", "g.perm": "read_write"}},
  {"name": "b", "keys": {"g.perm": "read"}}, {"name": "c", "keys": {"g.cpu": "read"}}])";

TEST(NegotiatedBuffer, gives_each_party_what_it_asked_for) {
  const auto result = agreed(writer_and_reader);
  const auto as = [&](const char* party) {
    return value_of(allocate_negotiated(result, {.party = party, .count = 1})).at(0);
  };
  EXPECT_TRUE(as("a").lock(Access::write));
  EXPECT_FAILS(as("b").lock(Access::read), Errc::permission);
  EXPECT_TRUE(as("c").lock(Access::read));
  EXPECT_FAILS(as("c").lock(Access::write), Errc::permission, "write asked, read allowed");
  EXPECT_FAILS(allocate_negotiated(result, {.party = "d"}), Errc::not_found);
}

TEST(NegotiatedBuffer, says_which_nodes_are_missing) {
  if (std::filesystem::exists("/dev/dma_heap") || std::filesystem::exists("/dev/udmabuf"))
    GTEST_SKIP() << "this machine has DMA-BUFs";
  const Error error = error_of(allocate_negotiated(agreed(R"([{"name": "app", "keys": {
    "t.dtype": "u8", "t.shape": [1, 1, 64, 64],
    "g.heaps": ["dmabuf.system", "udmabuf", "v4l2.mmap"]}}])")));
  EXPECT_EQ(error.code, Errc::unsupported);
  for (const char* const word : {"dmabuf.system", "/dev/dma_heap", "/dev/udmabuf", "adopt()"})
    EXPECT_NE(error.message().find(word), std::string::npos) << error.message();
}

TEST(NegotiatedBuffer, falls_back_in_the_order_of_the_result) {
  if (std::filesystem::exists("/dev/dma_heap")) GTEST_SKIP() << "this machine has heaps";
  const auto result = agreed(R"([{"name": "app", "keys": {"t.dtype": "u8",
    "t.shape": [1, 1, 64, 64], "g.heaps": ["dmabuf.system", "memfd"], "g.attach": "dma"}}])");
  EXPECT_EQ(result.heap(), Heap::dmabuf_system);
  EXPECT_EQ(value_of(allocate_negotiated(result)).at(0).heap(), Heap::memfd);
}

// What other processes can do.

constexpr const char* exported = R"(, "g.export": true, "g.perm": "read_write")";

TEST(NegotiatedBuffer, that_no_other_party_writes_is_kept_from_writers_by_the_kernel) {
  auto buffer = one_buffer(tensor_in("memfd", exported));
  EXPECT_EQ(buffer.enforcement(), Enforcement::hard);
  const int fd = buffer.buffer()->fd();
  EXPECT_EQ(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
  const char byte = 1;
  EXPECT_EQ(::pwrite(fd, &byte, 1, 0), -1);
  EXPECT_EQ(::ftruncate(fd, 0), -1);
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  const Fd again(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_EQ(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, again.get(), 0), MAP_FAILED);
  value_of(buffer.lock(Access::write)).writable_bytes()[8] = std::byte{5};
  void* const seen = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0);
  ASSERT_NE(seen, MAP_FAILED);
  EXPECT_EQ(static_cast<const std::byte*>(seen)[8], std::byte{5}) << "its maker writes on";
  ::munmap(seen, 4096);
}

TEST(NegotiatedBuffer, that_does_not_leave_the_process_is_not_sealed_against_writers) {
  auto buffer = one_buffer(tensor_in("memfd", R"(, "g.export": false, "g.perm": "read_write")"));
  EXPECT_EQ(buffer.enforcement(), Enforcement::advisory);
  const char byte = 1;
  EXPECT_EQ(::pwrite(buffer.buffer()->fd(), &byte, 1, 0), 1);
}

TEST(NegotiatedBuffer, that_another_process_writes_is_not_and_says_so) {
  const auto result = agreed(R"([{"name": "app", "keys": {"t.dtype": "u8",
    "t.shape": [1, 1, 64, 64], "g.cpu": "read_write", "g.heaps": ["memfd"], "g.export": true}},
    {"name": "peer", "pid": 1, "keys": {"g.perm": "read_write"}}])");
  EXPECT_EQ(value_of(allocate_negotiated(result)).at(0).enforcement(), Enforcement::advisory);
  EXPECT_EQ(one_buffer(tensor_in("heap")).enforcement(), Enforcement::none);
}

// adopt()

TEST(NegotiatedBuffer, is_laid_over_memory_that_exists) {
  const auto result = agreed(tensor_in("heap"));
  const auto memory = value_of(allocate(8192, Memory::mem));
  const auto buffer = value_of(NegotiatedBuffer::adopt(result, memory));
  EXPECT_EQ(buffer.buffer(), memory);
  EXPECT_EQ(value_of(buffer.tensor()).buffer(), memory);
  EXPECT_FAILS(NegotiatedBuffer::adopt(result, value_of(allocate(100, Memory::mem))),
               Errc::invalid_argument);
  EXPECT_FAILS(NegotiatedBuffer::adopt(result, value_of(allocate(8192, Memory::shm))),
               Errc::unsupported);
  EXPECT_FAILS(NegotiatedBuffer::adopt(result, nullptr), Errc::invalid_argument);
}

// Pools of frames.

TEST(NegotiatedBuffer, has_the_layout_that_pools_give) {
  const auto result = agreed(R"([{"name": "app", "keys": {"i.w": 200, "i.h": 48, "g.cpu": "read",
    "g.pad_fill": "zero"}, "alternatives": [{"tag": "nv12"}]},
    {"name": "gpu", "keys": {"i.pitch_align": 256, "g.base_align": 512}}])");
  const FrameLayout frame = value_of(result.frame_layout());
  EXPECT_TRUE(frame.check());
  EXPECT_EQ(frame.describe(), "nv12 200x48 pitch 256/256");
  EXPECT_EQ(frame.align_bytes, 512U);
  EXPECT_EQ(frame.size_bytes, result.allocated_bytes());
  EXPECT_EQ(frame.fill, std::uint8_t{0});
  EXPECT_FAILS(agreed(tensor_in("dmabuf.cma")).frame_layout(), Errc::unsupported);
  EXPECT_FAILS(agreed(tensor_in("heap")).frame_layout(), Errc::unsupported);
  const auto odd = agreed(R"([{"name": "app", "keys": {"t.dtype": "u8",
    "t.shape": [1, 1, 64, 64], "g.base_align": 192}}])");
  EXPECT_FAILS(odd.frame_layout(), Errc::unsupported, "192");
}

// Phases.

// What was agreed on is not changed afterwards, and lists alone are not agreed on.
template <class T>
concept allocates = requires(const T& what) {
  allocate_negotiated(what);
};
template <class T>
concept can_be_set = requires(T& what) {
  what.set(Key::row_align, 64U);
};
static_assert(allocates<Reconciled> && !allocates<AttributeList>);
static_assert(can_be_set<AttributeList> && !can_be_set<Reconciled>);

TEST(BufferModule, makes_buffers_before_it_is_sealed_and_not_after) {
  BufferModule module;
  const auto result = agreed(tensor_in("heap"));
  auto buffers = value_of(module.allocate(result, {.count = 3}));
  const auto memory = value_of(allocate(8192, Memory::mem));
  EXPECT_TRUE(module.adopt(result, memory));
  EXPECT_EQ(module.live_buffers(), 3U);
  EXPECT_TRUE(module.seal());
  EXPECT_FAILS(module.allocate(result), Errc::permission, "the phase is run");
  EXPECT_FAILS(module.adopt(result, memory), Errc::permission);
  EXPECT_FAILS(module.seal(), Errc::permission);
  EXPECT_TRUE(buffers[0].lock(Access::write));
  EXPECT_TRUE(module.begin_deinit());
  EXPECT_FAILS(module.begin_deinit(), Errc::permission);
  EXPECT_FAILS(module.allocate(result), Errc::permission);
  buffers.clear();
  EXPECT_EQ(module.live_buffers(), 0U);
}

TEST(BufferModule, may_go_before_its_buffers) {
  std::vector<NegotiatedBuffer> buffers;
  {
    BufferModule module;
    buffers = value_of(module.allocate(agreed(tensor_in("memfd"))));
  }
  EXPECT_TRUE(buffers[0].lock(Access::write));
}

}  // namespace
}  // namespace halyard
