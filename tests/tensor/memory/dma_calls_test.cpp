// SPDX-License-Identifier: Apache-2.0
// Labels and fences where the kernel does not know the calls.
#include <gtest/gtest.h>

#include <cerrno>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/fake_dma.h"
#include "halyard/dmabuf.h"
#include "support/result.h"
#include "tensor/memory/buffer_kinds.h"

namespace halyard {
namespace {

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
