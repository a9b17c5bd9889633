// SPDX-License-Identifier: Apache-2.0
// DMA-BUFs from real heaps and udmabuf. Machines without them skip these, by name.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/system/mapped.h"
#include "conformance/buffer_support.h"
#include "halyard/dmabuf.h"
#include "halyard/tensor.h"
#include "support/result.h"

namespace halyard {
namespace {

AllocateOptions from(const std::string& heap) {
  return {.memory = Memory::dma, .dma_heaps = {heap}};
}

std::string text_of(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Runs `check` in a child process without rights; its exit status.
template <class Check>
int as_nobody(const Check& check) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(99);
    ::_exit(check());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class RealDmaBuf : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto tried = allocate(4096, from(GetParam()));
    if (!tried) GTEST_SKIP() << tried.error().message();
  }
  std::shared_ptr<Buffer> make(std::size_t size) {
    auto buffer = allocate(size, from(GetParam()));
    EXPECT_OK(buffer);
    return buffer ? *std::move(buffer) : nullptr;
  }
};

INSTANTIATE_TEST_SUITE_P(heaps, RealDmaBuf, ::testing::Values("system", "udmabuf"),
                         [](const auto& heap) { return heap.param; });

TEST_P(RealDmaBuf, is_zero_filled_at_any_size) {
  for (const std::size_t size : {1U, 4095U, 4096U, 5000U, 8U << 20U}) {
    const auto buffer = make(size);
    EXPECT_EQ(buffer->memory(), Memory::dma);
    EXPECT_EQ(buffer->size_bytes(), size);
    const auto map = *buffer->map(Access::read_write);
    ASSERT_EQ(map.bytes().size(), size);
    EXPECT_TRUE(std::all_of(map.bytes().begin(), map.bytes().end(),
                            [](std::byte b) { return b == std::byte{0}; }));
    map.writable_bytes()[size - 1] = std::byte{1};
    EXPECT_EQ(::lseek(buffer->fd(), 0, SEEK_END) % 4096, 0) << "whole pages";
  }
}

TEST_P(RealDmaBuf, is_a_dma_buf_to_the_kernel_and_closes_on_exec) {
  const auto buffer = make(4096);
  EXPECT_NE(text_of("/proc/self/fdinfo/" + std::to_string(buffer->fd())).find("exp_name"),
            std::string::npos);
  EXPECT_NE(::fcntl(buffer->fd(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_P(RealDmaBuf, shows_its_label_in_the_kernels_lists) {
  auto options = from(GetParam());
  options.label = "frame 7 of the left-hand camera, cut";
  const auto buffer = *allocate(4096, options);
  const std::string info = "/proc/self/fdinfo/" + std::to_string(buffer->fd());
  EXPECT_NE(text_of(info).find("frame 7 of the left-hand camera"), std::string::npos);
  EXPECT_EQ(text_of(info).find("camera, cut"), std::string::npos);
  ASSERT_TRUE(set_label(*buffer, "renamed"));
  EXPECT_NE(text_of(info).find("renamed"), std::string::npos);
}

TEST_P(RealDmaBuf, refuses_a_label_that_the_kernel_would_refuse) {
  const auto buffer = make(4096);
  EXPECT_TRUE(set_label(*buffer, std::string(31, 'x')));
  EXPECT_FAILS(set_label(*buffer, std::string(32, 'x')), Errc::invalid_argument);
}

TEST_P(RealDmaBuf, hands_out_and_takes_sync_files) {
  const auto buffer = make(4096);
  for (const Access access : {Access::read, Access::write, Access::read_write}) {
    ASSERT_VALUE(const auto fence, export_sync_file(*buffer, access));
    pollfd ready = {fence.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&ready, 1, 0), 1) << "nobody uses the buffer";
    EXPECT_OK(import_sync_file(*buffer, access, fence.get()));
  }
  EXPECT_FAILS(import_sync_file(*buffer, Access::write, buffer->fd()), Errc::invalid_argument);
}

TEST_P(RealDmaBuf, a_child_process_reads_and_writes_the_same_bytes) {
  const auto buffer = make(8192);
  buffer->map(Access::write)->writable_bytes()[5000] = std::byte{42};
  const pid_t child = ::fork();
  if (child == 0) {
    const auto mapped = MappedMemory::create(buffer->fd(), 8192, true);
    const bool seen = mapped && mapped->bytes()[5000] == std::byte{42};
    if (seen) mapped->bytes()[5001] = std::byte{43};
    ::_exit(seen ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(buffer->map(Access::read)->bytes()[5001], std::byte{43});
}

TEST_P(RealDmaBuf, leaves_no_descriptor_and_no_mapping_behind) {
  { const auto warm_up = make(4096)->map(Access::write); }
  const auto before = conformance::holdings();
  for (int round = 0; round < 500; ++round) {
    const auto buffer = make(4096);
    ASSERT_TRUE(buffer->map(Access::write));
    ASSERT_TRUE(buffer->map(Access::read));
  }
  EXPECT_EQ(conformance::holdings(), before);
}

TEST_P(RealDmaBuf, is_listed_as_usable) {
  const auto heaps = dma_heaps();
  const auto found = std::find_if(heaps.begin(), heaps.end(),
                                  [](const DmaHeap& heap) { return heap.name == GetParam(); });
  ASSERT_NE(found, heaps.end());
  EXPECT_TRUE(found->usable);
  EXPECT_TRUE(std::filesystem::exists(found->node));
}

TEST_P(RealDmaBuf, a_refusal_names_the_node_and_its_group) {
  if (::getuid() != 0) GTEST_SKIP() << "only root can become a user without rights";
  const auto heaps = dma_heaps();
  const auto mine = std::find_if(heaps.begin(), heaps.end(),
                                 [](const DmaHeap& heap) { return heap.name == GetParam(); });
  ASSERT_NE(mine, heaps.end());
  struct stat status = {};
  ASSERT_EQ(::stat(mine->node.c_str(), &status), 0);
  if ((status.st_mode & S_IWOTH) != 0) GTEST_SKIP() << mine->node << " is open to everybody";
  const int outcome = as_nobody([&mine] {
    const auto refused = allocate(4096, from(GetParam()));
    if (refused || refused.error().code != Errc::permission) return 1;
    const std::string text = refused.error().message();
    if (text.find(mine->node) == std::string::npos) return 2;
    return text.find("group ") == std::string::npos ? 3 : 0;
  });
  EXPECT_EQ(outcome, 0);
}

TEST(DmaBuf, images_have_a_pitch_of_whole_64_bytes) {
  const auto image = Tensor::create_image(101, 7, PixelFormat::rgb, DType::u8, Memory::dma);
  if (!image) GTEST_SKIP() << image.error().message();
  EXPECT_EQ(image->row_stride_bytes(), 320U);
  EXPECT_EQ(image->memory(), Memory::dma);
}

TEST(DmaBuf, is_the_first_choice_when_nothing_is_asked_for) {
  const auto available = memory_available(Memory::dma);
  if (!available) GTEST_SKIP() << available.error().message();
  EXPECT_EQ((*allocate(64, Memory::automatic))->memory(), Memory::dma);
}

TEST(DmaBuf, a_heap_that_is_not_there_is_named_and_nothing_else_serves) {
  EXPECT_FAILS(allocate(4096, from("no such heap")), Errc::unsupported, "no such heap");
}

TEST(DmaBuf, a_size_above_the_limit_of_udmabuf_names_the_limit) {
  std::size_t limit_mb = 0;
  std::ifstream("/sys/module/udmabuf/parameters/size_limit_mb") >> limit_mb;
  if (!allocate(4096, from("udmabuf")) || limit_mb == 0) GTEST_SKIP() << "no udmabuf here";
  EXPECT_FAILS(allocate((limit_mb + 1) << 20U, from("udmabuf")), Errc::no_memory, "size_limit_mb");
}

TEST(DmaBuf, more_than_there_is_is_an_error) {
  if (!memory_available(Memory::dma)) GTEST_SKIP() << "no DMA-BUF heap here";
  EXPECT_FAILS(allocate(std::size_t{1} << 50U, Memory::dma), Errc::no_memory);
}

std::size_t open_render_nodes() {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry, gone) == "/dev/dri/renderD128") ++count;
  }
  return count;
}

TEST(DmaBuf, those_of_heaps_share_one_render_node_as_long_as_they_live) {
  if (::access("/dev/dri/renderD128", R_OK | W_OK) != 0) GTEST_SKIP() << "no render node here";
  auto first = allocate(4096, from("system"));
  if (!first) GTEST_SKIP() << first.error().message();
  auto second = allocate(4096, from("system"));
  EXPECT_EQ(open_render_nodes(), 1U);
  first->reset();
  EXPECT_EQ(open_render_nodes(), 1U);
  second->reset();
  EXPECT_EQ(open_render_nodes(), 0U);
}

// Devices that the kernel lists at the buffer's inode; -1 where it shows no such list.
int devices_attached(const Buffer& buffer) {
  std::ifstream list("/sys/kernel/debug/dma_buf/bufinfo");
  const std::string inode = std::to_string(buffer.identity()->inode);
  bool found = false;
  for (std::string line; std::getline(list, line);) {
    found = found || line.find(std::string(8 - inode.size(), '0') + inode) != std::string::npos;
    int count = 0;
    if (found && std::sscanf(line.c_str(), "Total %d devices attached", &count) == 1) return count;
  }
  return -1;
}

TEST(DmaBuf, those_of_heaps_are_attached_to_the_gpu_and_those_of_udmabuf_are_not) {
  if (::access("/dev/dri/renderD128", R_OK | W_OK) != 0) GTEST_SKIP() << "no render node here";
  const auto heap = allocate(4096, from("system"));
  const auto udmabuf = allocate(4096, from("udmabuf"));
  if (!heap || !udmabuf) GTEST_SKIP() << "not both kinds of DMA-BUF here";
  const int attached = devices_attached(**heap);
  if (attached < 0) GTEST_SKIP() << "the kernel's list of DMA-BUFs cannot be read";
  EXPECT_EQ(attached, 1);
  EXPECT_EQ(devices_attached(**udmabuf), 0);
}

TEST(DmaBuf, calls_for_dma_bufs_refuse_other_memory) {
  for (const Memory kind : {Memory::mem, Memory::shm}) {
    const auto buffer = *allocate(4096, kind);
    EXPECT_FAILS(set_label(*buffer, "name"), Errc::invalid_argument);
    EXPECT_FAILS(export_sync_file(*buffer, Access::read), Errc::invalid_argument);
    EXPECT_FAILS(import_sync_file(*buffer, Access::read, 0), Errc::invalid_argument);
  }
}

}  // namespace
}  // namespace halyard
