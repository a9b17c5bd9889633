// SPDX-License-Identifier: Apache-2.0
// Labels and fences where the kernel does not know the calls.
#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "conformance/fake_dma.h"
#include "halyard/dmabuf.h"
#include "support/result.h"
#include "tensor/memory/buffer_kinds.h"

namespace halyard {
namespace {

using namespace std::chrono_literals;

TEST(DmaCalls, a_kernel_without_sync_files_is_unsupported) {
  const conformance::FakeDmaBuf fake(4096);
  const auto buffer = *adopt_dma_buffer(fake.fd(), 4096, true);
  EXPECT_FAILS(export_sync_file(*buffer, Access::read), Errc::unsupported);
  EXPECT_FAILS(import_sync_file(*buffer, Access::read, 0), Errc::unsupported);
  EXPECT_FAILS(import_sync_file(*buffer, Access::read, -1), Errc::invalid_argument);
  EXPECT_EQ(set_label(*buffer, "name").error().os_errno, ENOTTY);
  EXPECT_FAILS(set_label(*buffer, std::string(32, 'x')), Errc::invalid_argument);
  EXPECT_FAILS(set_label(*buffer, std::string_view("a\0b", 3)), Errc::invalid_argument);
}

Fd event() {
  return Fd(::eventfd(0, EFD_CLOEXEC));
}

TEST(DmaCalls, a_sync_file_is_waited_for_until_it_signals) {
  const Fd fence = event();
  EXPECT_FAILS(wait_sync_file(fence.get(), 0ms), Errc::timeout);
  EXPECT_FAILS(wait_sync_file(fence.get(), -1ms), Errc::timeout);
  EXPECT_FAILS(wait_sync_file(fence.get(), 5ms), Errc::timeout);
  std::thread signaller([&] { ::eventfd_write(fence.get(), 1); });
  EXPECT_OK(wait_sync_file(fence.get(), 30s));
  signaller.join();
  EXPECT_OK(wait_sync_file(fence.get(), 0ms));
}

TEST(DmaCalls, what_is_no_descriptor_is_not_waited_for) {
  EXPECT_FAILS(wait_sync_file(-1, 1s), Errc::invalid_argument);
  Fd closed = event();
  const int number = closed.get();
  closed.reset();
  EXPECT_FAILS(wait_sync_file(number, 1s), Errc::invalid_argument);
}

TEST(DmaCalls, fences_are_asked_for_in_the_direction_of_the_access) {
  const conformance::FakeDmaBuf fake(4096);
  const auto buffer = *adopt_dma_buffer(fake.fd(), 4096, true);
  std::vector<std::uint32_t> flags;
  const conformance::IoctlHook hook([&](int, unsigned long request, void* argument) {
    const auto* call = static_cast<const std::uint32_t*>(argument);
    if (request == 0xc0086202U) {  // DMA_BUF_IOCTL_EXPORT_SYNC_FILE
      flags.push_back(call[0]);
      return std::optional<int>(-EMFILE);
    }
    if (request != 0x40086203U) return std::optional<int>();  // DMA_BUF_IOCTL_IMPORT_SYNC_FILE
    flags.push_back(call[0]);
    return std::optional<int>(0);
  });
  for (const Access access : {Access::read, Access::write, Access::read_write}) {
    EXPECT_EQ(export_sync_file(*buffer, access).error().os_errno, EMFILE);
    EXPECT_TRUE(import_sync_file(*buffer, access, 0));
  }
  EXPECT_EQ(flags, (std::vector<std::uint32_t>{1, 1, 2, 2, 3, 3}));
}

}  // namespace
}  // namespace halyard
