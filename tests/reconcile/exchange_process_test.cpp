// SPDX-License-Identifier: Apache-2.0
// What a process can do with a buffer that it was given, and memory that is not what a blob says.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>

#include "halyard/buffer_exchange.h"
#include "reconcile/agreed.h"
#include "reconcile/attributes/blob.h"
#include "support/in_child.h"

namespace halyard {
namespace {

using namespace test;  // NOLINT: its helpers are what tests are written in

/// The memory that says that it is a DMA-BUF.
constinit ino_t dma_buf_inode = 0;

}  // namespace
}  // namespace halyard

// Goes before the C library's.
extern "C" int fstatfs(int fd, struct statfs* system) noexcept {
  const auto result = static_cast<int>(::syscall(SYS_fstatfs, fd, system));
  struct stat status = {};
  const bool is_known = result == 0 && halyard::dma_buf_inode != 0 && ::fstat(fd, &status) == 0;
  if (is_known && status.st_ino == halyard::dma_buf_inode) system->f_type = 0x444d4142;
  return result;
}

namespace halyard {
namespace {

std::string tensor_with_peer(const std::string& more, const std::string& alternatives = "[]") {
  return R"([{"name": "app", "keys": {"t.dtype": "u8", "t.shape": [2, 5, 6, 7],
    "g.cpu": "read_write", "g.perm": "read_write", )" +
         more + R"(}, "alternatives": )" + alternatives +
         R"(}, {"name": "peer", "pid": 1, "keys": {"g.cpu": "read"}}])";
}

// In the other process nothing gives writing: not the descriptor, and not a way around it.
TEST(ExchangeProcess, that_may_only_read_cannot_write) {
  auto buffer = value_of(allocate_negotiated(
                             agreed(tensor_with_peer(R"("g.heaps": ["memfd"], "g.export": true)"))))
                    .at(0);
  EXPECT_EQ(buffer.enforcement(), Enforcement::hard);
  const auto exported = value_of(export_buffer(buffer, "peer"));
  const int fd = exported.fd.get();
  constexpr int writing = PROT_READ | PROT_WRITE;
  EXPECT_TRUE(is_true_in_child(
      [&] { return ::mmap(nullptr, 4096, writing, MAP_SHARED, fd, 0) == MAP_FAILED; }));
  EXPECT_TRUE(is_true_in_child([&] { return ::pwrite(fd, "x", 1, 0) == -1; }));
  EXPECT_TRUE(is_true_in_child([&] { return ::ftruncate(fd, 0) == -1; }));
  EXPECT_TRUE(is_true_in_child([&] {
    const std::string path = "/proc/self/fd/" + std::to_string(fd);
    const Fd again(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    return ::mmap(nullptr, 4096, writing, MAP_SHARED, again.get(), 0) == MAP_FAILED &&
           ::pwrite(again.get(), "x", 1, 0) == -1 && ::ftruncate(again.get(), 0) == -1;
  }));
  value_of(buffer.lock(Access::write)).writable_bytes()[3] = std::byte{5};
  EXPECT_TRUE(is_true_in_child([&] {
    auto* const seen = static_cast<std::byte*>(::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0));
    return seen != MAP_FAILED && seen[3] == std::byte{5};
  })) << "its maker writes on";
}

class OrderTest : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Orders, OrderTest, ::testing::Values("NCHW", "NHWC", "NCxHWx2"));

/// Ten elements somewhere, each in its place by the strides that this process found.
bool has_elements(const NegotiatedBuffer& buffer, const std::vector<std::ptrdiff_t>& strides) {
  const Tensor tensor = value_of(buffer.tensor());
  const Layout& layout = tensor.layout();
  const auto map = value_of(tensor.map(Access::read));
  std::mt19937 random(3);
  for (int k = 0; k < 10; ++k) {
    std::ptrdiff_t at = 0;
    for (std::size_t axis = 0; axis < layout.rank; ++axis) {
      if (layout.stride_bytes[axis] != strides[axis]) return false;
      at += static_cast<std::ptrdiff_t>(random() % layout.shape[axis]) * strides[axis];
    }
    if (map.data()[at] != static_cast<std::byte>(at * 7 + 1)) return false;
  }
  return true;
}

TEST_P(OrderTest, is_the_same_in_both_processes) {
  const std::string tag = R"([{"tag": ")" + std::string(GetParam()) + "\"}]";
  auto buffer = value_of(allocate_negotiated(agreed(tensor_with_peer(
                             R"("g.heaps": ["memfd"], "g.export": true, "t.row_align": 32)", tag))))
                    .at(0);
  {
    const auto lock = value_of(buffer.lock(Access::write));
    const auto bytes = lock.writable_bytes();
    for (std::size_t at = 0; at < bytes.size(); ++at)
      bytes[at] = static_cast<std::byte>(at * 7 + 1);
  }
  const Layout layout = value_of(buffer.tensor()).layout();
  const std::vector<std::ptrdiff_t> strides(layout.stride_bytes.begin(), layout.stride_bytes.end());
  EXPECT_EQ(to_string(buffer.attributes().tensor_tag()), GetParam());
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  const Fd here(ends[0]), there(ends[1]);
  ASSERT_TRUE(send_buffer(here.get(), buffer, "peer"));
  const auto digest = buffer.attributes().digest();
  EXPECT_TRUE(is_true_in_child([&] {
    const auto imported = receive_buffer(there.get());
    return imported && imported->attributes().digest() == digest &&
           has_elements(*imported, strides);
  }));
}

/// The blob with another kind of memory in it.
std::vector<std::byte> with_heap(std::vector<std::byte> blob, Heap heap) {
  constexpr std::array<std::byte, 4> head{std::byte{0x05}, std::byte{0x80}};
  const auto record = std::ranges::search(blob, head);
  EXPECT_NE(record.begin(), blob.end());
  record.begin()[8] = static_cast<std::byte>(heap);
  const auto hash = blob_hash(std::span(blob).subspan(blob_head_bytes));
  std::memcpy(blob.data() + 16, hash.data(), hash.size());
  return blob;
}

// Such memory would be used without a word to the kernel.
TEST(ExchangeProcess, refuses_a_dma_buf_that_a_blob_calls_memory_without_a_descriptor) {
  const auto result = agreed(
      tensor_with_peer(R"("g.heaps": ["heap", "memfd", "pbo", "udmabuf", "dmabuf.system"])"));
  const auto memory = value_of(allocate(1 << 16, Memory::shm));
  const auto buffer = value_of(NegotiatedBuffer::adopt(result, memory));
  const auto exported = value_of(export_buffer(buffer, "peer"));
  const int fd = exported.fd.get();
  const auto import_as = [&](Heap heap) {
    return import_buffer(with_heap(exported.blob, heap), std::span(&fd, 1));
  };
  EXPECT_TRUE(import_as(Heap::memfd));
  EXPECT_FAILS(import_as(Heap::heap), Errc::corrupt);
  for (const Heap heap : {Heap::udmabuf, Heap::dmabuf_system}) {
    const auto refused = import_as(heap);
    EXPECT_FAILS(refused, Errc::invalid_argument, "g.heaps");
    EXPECT_FAILS(refused, "party \"peer\"");
  }
  dma_buf_inode = memory->identity()->inode;
  EXPECT_FAILS(import_as(Heap::heap), Errc::corrupt);
  EXPECT_FAILS(import_as(Heap::pbo), Errc::corrupt);
  EXPECT_TRUE(import_as(Heap::dmabuf_system));
  dma_buf_inode = 0;
}

}  // namespace
}  // namespace halyard
