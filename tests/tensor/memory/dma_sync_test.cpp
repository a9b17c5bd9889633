// SPDX-License-Identifier: Apache-2.0
// DMA_BUF_IOCTL_SYNC around CPU access, on a stand-in that shows poison where a call is missing.
#include <gtest/gtest.h>
#include <linux/dma-buf.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <vector>

#include "conformance/fake_dma.h"
#include "halyard/log.h"
#include "halyard/tensor.h"
#include "support/result.h"
#include "support/threads.h"
#include "tensor/memory/buffer_kinds.h"

namespace halyard {
namespace {

using conformance::FakeDmaBuf;

void fill(std::span<std::byte> bytes, int value) {
  std::fill(bytes.begin(), bytes.end(), static_cast<std::byte>(value));
}

bool all_are(std::span<const std::byte> bytes, int value) {
  return std::all_of(bytes.begin(), bytes.end(),
                     [value](std::byte b) { return b == static_cast<std::byte>(value); });
}

int sync(int fd, std::uint64_t flags) {
  dma_buf_sync call = {flags};
  return ::ioctl(fd, DMA_BUF_IOCTL_SYNC, &call);
}

std::string lines_of(const std::string& file, const std::string& with) {
  std::ifstream in(file);
  std::string found;
  for (std::string line; std::getline(in, line);) {
    if (line.find(with) != std::string::npos) found += line + "\n";
  }
  return found;
}

class DmaSyncTest : public ::testing::Test {
 protected:
  FakeDmaBuf fake_{8192};
  std::shared_ptr<Buffer> buffer_ = *adopt_dma_buffer(fake_.fd(), 8192, true);

  Map map(Access access) {
    auto mapped = buffer_->map_unclaimed(access);
    EXPECT_OK(mapped);
    return mapped ? *std::move(mapped) : Map();
  }
};

// The stand-in: each of these would show if Buffer left that call out.

TEST_F(DmaSyncTest, the_stand_in_shows_poison_without_a_start) {
  fill(fake_.device(), 7);
  EXPECT_TRUE(all_are(fake_.cpu(), 0xDD));
  ASSERT_EQ(sync(fake_.fd().get(), DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ), 0);
  EXPECT_TRUE(all_are(fake_.cpu(), 7));
}

TEST_F(DmaSyncTest, the_stand_in_keeps_bytes_from_the_device_without_an_end) {
  ASSERT_EQ(sync(fake_.fd().get(), DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW), 0);
  fill(fake_.cpu(), 9);
  EXPECT_TRUE(all_are(fake_.device(), 0));
  ASSERT_EQ(sync(fake_.fd().get(), DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW), 0);
  EXPECT_TRUE(all_are(fake_.device(), 9));
  EXPECT_TRUE(all_are(fake_.cpu(), 0xDD));
}

TEST_F(DmaSyncTest, the_stand_in_hands_over_nothing_for_the_wrong_direction) {
  ASSERT_EQ(sync(fake_.fd().get(), DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ), 0);
  fill(fake_.cpu(), 9);
  ASSERT_EQ(sync(fake_.fd().get(), DMA_BUF_SYNC_END | DMA_BUF_SYNC_READ), 0);
  EXPECT_TRUE(all_are(fake_.device(), 0));
}

TEST_F(DmaSyncTest, the_stand_in_drops_written_bytes_at_a_second_start) {
  ASSERT_EQ(sync(fake_.fd().get(), DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW), 0);
  fill(fake_.cpu(), 9);
  ASSERT_EQ(sync(fake_.fd().get(), DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ), 0);
  EXPECT_TRUE(all_are(fake_.cpu(), 0));
}

// One map.

TEST_F(DmaSyncTest, a_map_sees_what_the_device_wrote) {
  fill(fake_.device(), 21);
  EXPECT_TRUE(all_are(map(Access::read).bytes(), 21));
  fill(fake_.device(), 22);
  EXPECT_TRUE(all_are(map(Access::read).bytes(), 22)) << "also when it was mapped before";
}

TEST_F(DmaSyncTest, what_a_map_wrote_reaches_the_device) {
  for (const Access access : {Access::write, Access::read_write}) {
    const int value = static_cast<int>(access) + 40;
    fill(map(access).writable_bytes(), value);
    EXPECT_TRUE(all_are(fake_.device(), value));
  }
}

TEST_F(DmaSyncTest, a_writer_leaves_the_bytes_that_it_does_not_touch) {
  fill(fake_.device(), 5);
  map(Access::write).writable_bytes()[100] = std::byte{6};
  EXPECT_EQ(fake_.device()[100], std::byte{6});
  fake_.device()[100] = std::byte{5};
  EXPECT_TRUE(all_are(fake_.device(), 5));
}

TEST_F(DmaSyncTest, a_map_by_itself_makes_two_calls) {
  { const auto reading = map(Access::read); }
  EXPECT_EQ(fake_.take_calls(), "START|READ END|READ");
  { const auto writing = map(Access::write); }
  EXPECT_EQ(fake_.take_calls(), "START|RW END|RW");
  { const auto both = map(Access::read_write); }
  EXPECT_EQ(fake_.take_calls(), "START|RW END|RW");
}

TEST_F(DmaSyncTest, a_moved_map_ends_once) {
  {
    auto first = map(Access::read);
    Map second = std::move(first);
    first = std::move(second);
  }
  EXPECT_EQ(fake_.take_calls(), "START|READ END|READ");
}

TEST_F(DmaSyncTest, nothing_is_called_before_the_first_map_or_after_the_last) {
  buffer_.reset();
  EXPECT_EQ(fake_.take_calls(), "");
}

TEST_F(DmaSyncTest, an_image_whose_planes_share_the_buffer_makes_two_calls) {
  const std::array<Tensor::PlaneSource, 1> whole = {{{buffer_, 0, 64, 0}}};
  const auto image = *Tensor::wrap_image(whole, 64, 64, PixelFormat::nv12);
  { const auto writing = *image.map(Access::write); }
  EXPECT_EQ(fake_.take_calls(), "START|RW END|RW");
  { const auto reading = *image.map(Access::read); }
  EXPECT_EQ(fake_.take_calls(), "START|READ END|READ");
}

// Several maps at a time.

TEST_F(DmaSyncTest, readers_start_each_and_the_last_one_ends) {
  auto first = map(Access::read);
  auto second = map(Access::read);
  first = Map();
  EXPECT_EQ(fake_.take_calls(), "START|READ START|READ");
  EXPECT_TRUE(all_are(second.bytes(), 0));
  second = Map();
  EXPECT_EQ(fake_.take_calls(), "END|READ");
}

TEST_F(DmaSyncTest, a_reader_that_is_kept_does_not_make_later_ones_see_old_bytes) {
  const auto kept = map(Access::read);
  fill(fake_.device(), 77);
  EXPECT_TRUE(all_are(map(Access::read).bytes(), 77));
}

TEST_F(DmaSyncTest, a_reader_that_joins_a_writer_takes_nothing_from_it) {
  fill(fake_.device(), 1);
  {
    const auto writer = map(Access::write);
    writer.writable_bytes()[0] = std::byte{2};
    const auto reader = map(Access::read);
    EXPECT_EQ(reader.bytes()[0], std::byte{2});
    EXPECT_EQ(reader.bytes()[1], std::byte{1}) << "the writer had begun reading, too";
  }
  EXPECT_EQ(fake_.take_calls(), "START|RW END|RW");
  EXPECT_EQ(fake_.device()[0], std::byte{2});
}

TEST_F(DmaSyncTest, a_reader_that_leaves_a_writer_takes_nothing_from_it) {
  auto reader = map(Access::read);
  {
    const auto writer = map(Access::write);
    writer.writable_bytes()[0] = std::byte{2};
    reader = Map();
    EXPECT_EQ(fake_.take_calls(), "START|READ START|RW");
    writer.writable_bytes()[1] = std::byte{3};
  }
  EXPECT_EQ(fake_.take_calls(), "END|RW");
  EXPECT_EQ(fake_.device()[0], std::byte{2});
  EXPECT_EQ(fake_.device()[1], std::byte{3});
}

TEST_F(DmaSyncTest, a_writer_hands_over_its_bytes_while_readers_go_on_reading) {
  auto reader = map(Access::read);
  fill(map(Access::write).writable_bytes(), 8);
  EXPECT_EQ(fake_.take_calls(), "START|READ START|RW END|WRITE");
  EXPECT_TRUE(all_are(fake_.device(), 8));
  EXPECT_TRUE(all_are(reader.bytes(), 8)) << "no poison under a reader";
  reader = Map();
  EXPECT_EQ(fake_.take_calls(), "END|READ");
  EXPECT_TRUE(all_are(fake_.cpu(), 0xDD));
}

TEST_F(DmaSyncTest, writers_share_one_start_and_one_end) {
  auto first = map(Access::write);
  auto second = map(Access::read_write);
  first.writable_bytes()[0] = std::byte{1};
  first = Map();
  second.writable_bytes()[1] = std::byte{2};
  second = Map();
  EXPECT_EQ(fake_.take_calls(), "START|RW END|RW");
  EXPECT_EQ(fake_.device()[0], std::byte{1});
  EXPECT_EQ(fake_.device()[1], std::byte{2});
}

TEST_F(DmaSyncTest, threads_that_write_their_own_parts_lose_nothing) {
  constexpr std::size_t parts = 8;
  constexpr std::size_t part = 8192 / parts;
  test::on_threads(parts, [this](std::size_t i) {
    for (int round = 0; round < 200; ++round) {
      const std::array<ByteRegion, 1> mine = {{{i * part, part, 1, 0}}};
      ASSERT_VALUE(const auto writer, buffer_->map(Access::write, mine));
      fill(writer.writable_bytes().subspan(i * part, part), static_cast<int>(i) + round);
      ASSERT_VALUE(const auto reader, buffer_->map(Access::read));
      ASSERT_TRUE(all_are(reader.bytes().subspan(i * part, part), static_cast<int>(i) + round));
    }
  });
  for (std::size_t i = 0; i < parts; ++i)
    EXPECT_TRUE(all_are(fake_.device().subspan(i * part, part), static_cast<int>(i) + 199));
  EXPECT_TRUE(all_are(fake_.cpu(), 0xDD)) << "every access has ended";
}

TEST_F(DmaSyncTest, threads_that_read_see_the_bytes_at_any_time) {
  fill(fake_.device(), 3);
  test::on_threads(4, [this](std::size_t) {
    for (int round = 0; round < 500; ++round)
      ASSERT_TRUE(all_are(map(Access::read).bytes(), 3));
  });
}

// Failures.

TEST_F(DmaSyncTest, interrupted_calls_are_repeated) {
  fill(fake_.device(), 4);
  fake_.fail_next({EINTR, EAGAIN, EINTR, 0, EAGAIN, EINTR});
  EXPECT_TRUE(all_are(map(Access::read).bytes(), 4));
  EXPECT_EQ(fake_.failures_left(), 0U);
  EXPECT_EQ(fake_.take_calls(), "START|READ END|READ");
}

TEST_F(DmaSyncTest, a_failed_start_is_an_error_and_leaves_nothing) {
  fake_.fail_next({EIO});
  const auto before = lines_of("/proc/self/maps", "fake-dma-buf");
  const auto failed = buffer_->map(Access::read_write);
  EXPECT_FAILS(failed, Errc::os);
  EXPECT_EQ(failed.error().os_errno, EIO);
  EXPECT_EQ(lines_of("/proc/self/maps", "fake-dma-buf"), before);
  EXPECT_EQ(fake_.take_calls(), "");
  fill(buffer_->map(Access::write)->writable_bytes(), 12);
  EXPECT_TRUE(all_are(fake_.device(), 12));
  EXPECT_EQ(fake_.take_calls(), "START|RW END|RW");
}

TEST_F(DmaSyncTest, a_failed_start_beside_a_reader_leaves_the_reader_as_it_was) {
  fill(fake_.device(), 4);
  auto reader = map(Access::read);
  fake_.fail_next({EIO});
  EXPECT_FALSE(buffer_->map(Access::write));
  EXPECT_TRUE(all_are(reader.bytes(), 4));
  reader = Map();
  EXPECT_EQ(fake_.take_calls(), "START|READ END|READ");
}

TEST_F(DmaSyncTest, a_failed_end_is_logged_once_per_buffer) {
  std::vector<std::string> lines;
  set_log_sink(
      [&lines](LogLevel, std::string_view, std::string_view text) { lines.emplace_back(text); });
  for (int i = 0; i < 3; ++i) {
    const auto reader = map(Access::read);
    fake_.fail_next({EIO});
  }
  set_log_sink({});
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].find("DMA_BUF_IOCTL_SYNC(END) failed"), std::string::npos) << lines[0];
  fake_.take_calls();
  { const auto reader = map(Access::read); }
  EXPECT_EQ(fake_.take_calls(), "START|READ END|READ") << "the count is right again";
}

TEST_F(DmaSyncTest, a_sink_that_hears_of_a_failed_end_may_map_the_buffer) {
  std::size_t seen = 0;
  set_log_sink([&](LogLevel, std::string_view, std::string_view) {
    seen = map(Access::read).bytes().size();
  });
  {
    const auto reader = map(Access::read);
    fake_.fail_next({EIO});
  }
  set_log_sink({});
  EXPECT_EQ(seen, 8192U);
}

// The mapping.

TEST_F(DmaSyncTest, the_memory_is_mapped_at_the_first_map_and_once) {
  const auto own = lines_of("/proc/self/maps", "fake-dma-buf");
  const auto* address = map(Access::read).bytes().data();
  const auto mapped = lines_of("/proc/self/maps", "fake-dma-buf");
  EXPECT_NE(mapped, own);
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(map(i % 2 == 0 ? Access::read : Access::write).bytes().data(), address);
  EXPECT_EQ(lines_of("/proc/self/maps", "fake-dma-buf"), mapped);
  buffer_.reset();
  EXPECT_EQ(lines_of("/proc/self/maps", "fake-dma-buf"), own);
}

TEST_F(DmaSyncTest, a_read_only_buffer_is_mapped_for_reading_alone) {
  const auto read_only = *adopt_dma_buffer(fake_.fd(), 8192, false);
  EXPECT_FAILS(read_only->map(Access::write), Errc::permission);
  EXPECT_FAILS(read_only->map_unclaimed(Access::read_write), Errc::permission);
  const auto reader = *read_only->map(Access::read);
  EXPECT_NE(lines_of("/proc/self/maps", "fake-dma-buf").find("r--s"), std::string::npos);
}

TEST_F(DmaSyncTest, a_kernel_that_refuses_the_mapping_is_an_error) {
  const auto too_large = *adopt_dma_buffer(fake_.fd(), std::size_t{1} << 62U, true);
  EXPECT_FAILS(too_large->map(Access::read), Errc::no_memory);
  EXPECT_EQ(fake_.take_calls(), "");
}

TEST(AdoptDmaBuffer, refuses_an_empty_descriptor_and_no_bytes) {
  EXPECT_FAILS(adopt_dma_buffer(Fd(), 64, true), Errc::invalid_argument);
  FakeDmaBuf fake(4096);
  EXPECT_FAILS(adopt_dma_buffer(fake.fd(), 0, true), Errc::invalid_argument);
}

}  // namespace
}  // namespace halyard
