// SPDX-License-Identifier: Apache-2.0
// DMA-BUFs as CUDA sees them, with a runtime without a device and a memfd as the DMA-BUF.
#include "tensor/device/cuda_import.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "base/runtime/cuda_runtime.h"
#include "conformance/fake_dma.h"
#include "halyard/device.h"
#include "support/cuda/fake_cudart.h"
#include "support/descriptors.h"
#include "support/in_child.h"
#include "support/result.h"
#include "support/threads.h"
#include "tensor/memory/buffer_kinds.h"

namespace halyard {
namespace {

constexpr std::size_t size_bytes = 8192;

struct CudaImportTest : test::FakeCudaTest {
  conformance::FakeDmaBuf memory{size_bytes};
  std::shared_ptr<Buffer> buffer = make();

  std::shared_ptr<Buffer> make() { return *adopt_dma_buffer(memory.fd(), size_bytes, true); }
  Result<DeviceMap> map(void* stream = nullptr) {
    return map_device(buffer, DeviceKind::cuda, stream);
  }
};

std::byte* device_bytes(const DeviceMap& map) {
  return static_cast<std::byte*>(map.address());
}

TEST_F(CudaImportTest, cuda_and_the_cpu_see_the_same_bytes) {
  ASSERT_VALUE(const DeviceMap seen, map());
  EXPECT_EQ(seen.size_bytes(), size_bytes);
  EXPECT_EQ(seen.device(), DeviceKind::cuda);
  EXPECT_EQ(seen.device_number(), 0);
  EXPECT_EQ(seen.buffer(), buffer);
  device_bytes(seen)[size_bytes - 1] = std::byte{42};
  EXPECT_EQ(memory.cpu()[size_bytes - 1], std::byte{42});
  memory.cpu()[7] = std::byte{5};
  EXPECT_EQ(device_bytes(seen)[7], std::byte{5});
}

TEST_F(CudaImportTest, is_made_at_the_first_map_and_kept_until_the_buffer_dies) {
  EXPECT_EQ(cuda.calls("cudaImportExternalMemory"), 0);
  const std::size_t before = test::open_descriptors();
  void* address = nullptr;
  for (int round = 0; round < 3; ++round) {
    ASSERT_VALUE(const DeviceMap seen, map());
    if (round > 0) {
      EXPECT_EQ(seen.address(), address) << "the address stays";
    }
    address = seen.address();
  }
  EXPECT_EQ(cuda.calls("cudaImportExternalMemory"), 1);
  EXPECT_EQ(cuda.calls("cudaFree"), 0);
  EXPECT_EQ(cuda.live(), 2) << "the import and its address";
  EXPECT_EQ(test::open_descriptors(), before + 1) << "CUDA owns a descriptor of its own";
  buffer.reset();
  EXPECT_EQ(cuda.calls("cudaFree"), 1);
  EXPECT_EQ(cuda.calls("cudaDestroyExternalMemory"), 1);
  EXPECT_EQ(cuda.live(), 0);
  EXPECT_EQ(test::open_descriptors(), before - 1) << "the buffer's and CUDA's";
}

TEST_F(CudaImportTest, the_end_of_a_map_waits_for_its_stream) {
  int stream = 0;
  {
    ASSERT_VALUE(const DeviceMap seen, map(&stream));
    EXPECT_EQ(seen.stream(), &stream);
    EXPECT_EQ(cuda.calls("cudaStreamSynchronize"), 0);
    EXPECT_OK(seen.wait());
    cuda.fail("cudaStreamSynchronize", 700, 1);
    EXPECT_FAILS(seen.wait(), Errc::device, "700");
    EXPECT_EQ(cuda.calls("cudaStreamSynchronize"), 2);
  }
  EXPECT_EQ(cuda.calls("cudaStreamSynchronize"), 3);
  cuda.fail("cudaStreamSynchronize", 700, 1);
  EXPECT_OK(map()) << "a failure at the end is logged";
}

TEST_F(CudaImportTest, the_cpu_may_map_meanwhile_but_cuda_only_once) {
  const auto mapped = buffer->map(Access::read_write);
  ASSERT_OK(mapped);
  ASSERT_VALUE(DeviceMap seen, map());
  EXPECT_OK(buffer->map(Access::read));
  EXPECT_FAILS(map(), Errc::busy, "cuda");
  const DeviceMap moved = std::move(seen);
  EXPECT_EQ(seen.buffer(), nullptr);
  EXPECT_FAILS(map(), Errc::busy, "cuda");
}

TEST_F(CudaImportTest, memory_that_cuda_refuses_is_unsupported_with_cudas_reason) {
  const std::size_t before = test::open_descriptors();
  cuda.fail("cudaImportExternalMemory", 801, 1);
  EXPECT_FAILS(map(), Errc::unsupported, "cudaErrorNotSupported (801)");
  cuda.fail("cudaExternalMemoryGetMappedBuffer", 801, 1);
  EXPECT_FAILS(map(), Errc::unsupported, "no address");
  cuda.fail("cudaGetDevice", 999, 1);
  EXPECT_FAILS(map(), Errc::device, "999");
  cuda.fail("cudaImportExternalMemory", 2, 1);
  EXPECT_FAILS(map(), Errc::no_memory, "refuses");
  EXPECT_EQ(cuda.live(), 0);
  EXPECT_EQ(test::open_descriptors(), before) << "a refused descriptor is closed";
  EXPECT_OK(map()) << "nothing is left over";
}

TEST_F(CudaImportTest, failures_of_destruction_are_logged) {
  ASSERT_OK(map());
  cuda.fail("cudaFree", 700, 1);
  buffer.reset();
  EXPECT_EQ(cuda.calls("cudaDestroyExternalMemory"), 1) << "goes on after cudaFree() has failed";
  EXPECT_STREQ(cuda.faults(), "memory is destroyed before its address\n");
  EXPECT_EQ(cuda.live(), 1) << "the address that could not be freed";
  cuda.reset();
}

TEST_F(CudaImportTest, uses_the_device_of_the_thread_that_maps_first) {
  cuda.set("devices", 2);
  ASSERT_VALUE(const CudaRuntime* const runtime, cuda_runtime());
  ASSERT_EQ(runtime->set_device(1), 0);
  {
    ASSERT_VALUE(const DeviceMap seen, map());
    EXPECT_EQ(seen.device_number(), 1);
  }
  test::on_threads(1, [this](std::size_t) {
    ASSERT_VALUE(DeviceMap seen, map());
    EXPECT_EQ(seen.device_number(), 1);
    buffer.reset();
  });
  ASSERT_EQ(runtime->set_device(0), 0);
}

TEST_F(CudaImportTest, threads_that_map_first_at_once_share_one_import) {
  for (int round = 0; round < 20; ++round) {
    buffer = make();
    std::atomic<int> served{0};
    test::on_threads(4, [&](std::size_t) {
      for (int i = 0; i < 50; ++i) {
        const auto seen = map();
        if (seen) {
          ++served;
        } else {
          EXPECT_EQ(code_of(seen), Errc::busy);
        }
      }
    });
    EXPECT_GT(served, 0);
    EXPECT_EQ(cuda.live(), 2);
  }
  EXPECT_EQ(cuda.calls("cudaImportExternalMemory"), 20);
  buffer.reset();
}

TEST_F(CudaImportTest, a_child_of_fork_does_not_call_cuda) {
  ASSERT_VALUE(DeviceMap seen, map());
  auto other = make();
  EXPECT_TRUE(test::is_true_in_child([&] {
    const bool is_refused = code_of(map_device(other, DeviceKind::cuda)) == Errc::unsupported;
    seen = DeviceMap(std::move(seen));
    { const DeviceMap ended = std::move(seen); }
    const bool is_lost = code_of(map()) == Errc::unsupported;
    buffer.reset();
    return is_refused && is_lost && std::string_view(cuda.faults()).empty();
  }));
  EXPECT_EQ(cuda.live(), 2);
}

TEST_F(CudaImportTest, needs_a_stream_that_is_the_same_on_all_threads) {
  EXPECT_FAILS(map(reinterpret_cast<void*>(2)), Errc::invalid_argument, "cudaStreamPerThread");
  EXPECT_OK(map(reinterpret_cast<void*>(1))) << "cudaStreamLegacy";
}

TEST_F(CudaImportTest, is_not_made_for_other_memory_or_devices) {
  for (const Memory kind : {Memory::mem, Memory::shm}) {
    const auto other = *allocate(64, kind);
    EXPECT_FAILS(map_device(other, DeviceKind::cuda), Errc::unsupported, "no address in cuda");
  }
  EXPECT_FAILS(map_device(buffer, DeviceKind::vulkan), Errc::unsupported, "no address in vulkan");
  EXPECT_EQ(cuda.calls("cudaImportExternalMemory"), 0);
}

TEST_F(CudaImportTest, cuda_is_available_and_other_devices_are_not) {
  EXPECT_OK(device_available(DeviceKind::cuda));
  for (const DeviceKind kind : {DeviceKind::opencl, DeviceKind::vulkan, DeviceKind::rocm})
    EXPECT_FAILS(device_available(kind), Errc::unsupported, to_string(kind));
}

}  // namespace
}  // namespace halyard
