// SPDX-License-Identifier: Apache-2.0
// Heaps and a render node that are not here: which heap serves engines that take the address alone,
// and which memory stays attached.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/dma-heap.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>
#include <cstring>
#include <filesystem>

#include "conformance/fake_dma.h"
#include "reconcile/agreed.h"

namespace halyard {
namespace {

using namespace test;  // NOLINT: its helpers are what tests are written in

/// Nodes that can be opened although they are not there: paths, one after the other.
constinit const char* fake_nodes[4] = {};

bool is_fake(const char* path) {
  for (const char* const each : fake_nodes)
    if (each != nullptr && std::strcmp(each, path) == 0) return true;
  return false;
}

}  // namespace
}  // namespace halyard

// Goes before the C library's.
extern "C" int open(const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const unsigned mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, unsigned) : 0;
  va_end(arguments);
  const char* const real = halyard::is_fake(path) ? "/dev/null" : path;
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, real, flags, mode));
}

namespace halyard {
namespace {

constexpr const char* system_heap = "/dev/dma_heap/system";
constexpr const char* uncached_heap = "/dev/dma_heap/system-uncached";
constexpr const char* render_node = "/dev/dri/renderD128";

class DeviceHeapsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::filesystem::exists("/dev/dma_heap") || std::filesystem::exists(render_node))
      GTEST_SKIP() << "this machine has heaps or a GPU";
  }
  void TearDown() override { std::fill(std::begin(fake_nodes), std::end(fake_nodes), nullptr); }

  std::optional<int> serve(unsigned long request, void* argument) {
    if (request == DMA_HEAP_IOCTL_ALLOC) {
      auto* const asked = static_cast<dma_heap_allocation_data*>(argument);
      asked->fd = static_cast<__u32>(memory_.fd().release());
      return 0;
    }
    if (request == 0xc00c642eU) {  // DRM_IOCTL_PRIME_FD_TO_HANDLE
      *static_cast<std::uint32_t*>(argument) = 1;
      ++attached_;
      return 0;
    }
    if (request != 0x40086409U) return std::nullopt;  // DRM_IOCTL_GEM_CLOSE
    ++closed_;
    return 0;
  }

  /// An engine that takes the address alone, and a CPU that reads what it wrote.
  static Reconciled for_address_only(const std::string& heaps) {
    return agreed(R"([{"name": "npu", "keys": {"t.dtype": "u8", "t.shape": [1, 1, 64, 64],
      "g.attach": "phys", "g.heaps": [)" +
                  heaps + R"(]}}, {"name": "app", "keys": {"g.cpu": "read"}}])");
  }

  conformance::FakeDmaBuf memory_{4096};
  int attached_ = 0, closed_ = 0;
  conformance::IoctlHook hook_{
      [this](int, unsigned long request, void* argument) { return serve(request, argument); }};
};

TEST_F(DeviceHeapsTest, a_cached_heap_is_attached_as_long_as_the_buffer_lives) {
  fake_nodes[0] = system_heap;
  fake_nodes[1] = render_node;
  {
    const auto buffers = value_of(allocate_negotiated(for_address_only(R"("dmabuf.system")")));
    EXPECT_EQ(buffers[0].heap(), Heap::dmabuf_system);
    EXPECT_EQ(buffers[0].anchor(), AnchorState::held);
    EXPECT_EQ(attached_, 1);
    EXPECT_EQ(closed_, 0);
  }
  EXPECT_EQ(closed_, 1);
}

TEST_F(DeviceHeapsTest, without_a_render_node_an_uncached_heap_serves) {
  fake_nodes[0] = system_heap;
  fake_nodes[1] = uncached_heap;
  const auto buffers =
      value_of(allocate_negotiated(for_address_only(R"("dmabuf.system", "dmabuf.uncached")")));
  EXPECT_EQ(buffers[0].heap(), Heap::dmabuf_uncached);
  EXPECT_EQ(buffers[0].anchor(), AnchorState::none);
  EXPECT_EQ(attached_, 0);
}

TEST_F(DeviceHeapsTest, without_either_nothing_is_allocated) {
  fake_nodes[0] = system_heap;
  EXPECT_FAILS(allocate_negotiated(for_address_only(R"("dmabuf.system")")), Errc::unsupported,
               render_node);
}

}  // namespace
}  // namespace halyard
