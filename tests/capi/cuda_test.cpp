// SPDX-License-Identifier: Apache-2.0
// CUDA maps in C, with a CUDA runtime without a device: pixel buffers, DMA-BUFs, and every failure.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/memfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "capi/handles.h"
#include "halyard/buffer.h"
#include "halyard/device.h"
#include "owned.h"
#include "support/cuda/fake_cudart.h"

namespace halyard::test {
namespace {

// A memfd that says that it is a DMA-BUF.
class MemfdBuffer final : public Buffer {
 public:
  explicit MemfdBuffer(std::size_t size)
      : Buffer(size, Memory::dma),
        fd_(static_cast<int>(::syscall(SYS_memfd_create, "dma", MFD_CLOEXEC))) {
    EXPECT_EQ(::ftruncate(fd_.get(), static_cast<off_t>(size)), 0);
  }
  ~MemfdBuffer() override { release_attachments(); }
  int fd() const noexcept override { return fd_.get(); }

 private:
  Result<std::span<std::byte>> begin_access(Access) override {
    return make_error(Errc::unsupported, "access: not needed");
  }
  void end_access(Access) noexcept override {}
  Fd fd_;
};

// The library looks for the runtime once: this one must be there before another case asks for CUDA.
struct CudartFirst : testing::Environment {
  void SetUp() override { FakeCudart::get(); }
};
testing::Environment* const cudart_first = testing::AddGlobalTestEnvironment(new CudartFirst);

struct CapiCuda : FakeCudaTest {
  CapiCuda() { ::setenv("HALYARD_ALLOW_SOFTWARE_GL", "1", 1); }
  ~CapiCuda() override { ::unsetenv("HALYARD_ALLOW_SOFTWARE_GL"); }

  static Tensor dma_tensor() {
    auto buffer = std::make_shared<MemfdBuffer>(8192);
    auto* const handle = new hal_tensor;
    const std::size_t shape[] = {4, 1024};
    handle->tensor =
        *halyard::Tensor::wrap(std::move(buffer), *Layout::contiguous(DType::u8, shape), 4096);
    return Tensor(handle);
  }
};

TEST_F(CapiCuda, is_available_with_a_runtime_and_a_device) {
  EXPECT_TRUE(hal_is_cuda_available());
}

TEST_F(CapiCuda, maps_dma_bufs_from_the_tensors_first_byte_on) {
  const Tensor tensor = dma_tensor();
  void* const map = hal_tensor_cuda_map(tensor);
  ASSERT_NE(map, nullptr) << hal_last_error();
  std::size_t size = 0;
  auto* const address = static_cast<unsigned char*>(hal_tensor_cuda_device_ptr(map, &size));
  ASSERT_NE(address, nullptr);
  EXPECT_EQ(size, 4096U);
  address[5] = 77;
  unsigned char written = 0;
  EXPECT_EQ(::pread(tensor->tensor.buffer()->fd(), &written, 1, 4096 + 5), 1);
  EXPECT_EQ(written, 77);
  EXPECT_ERROR(nullptr, EBUSY, "mapped already", hal_tensor_cuda_map(tensor));
  hal_tensor_cuda_unmap(map);
  EXPECT_EQ(cuda.calls("cudaStreamSynchronize"), 1);
}

TEST_F(CapiCuda, memory_that_cuda_refuses_is_a_usual_answer_with_a_reason) {
  const Tensor tensor = dma_tensor();
  cuda.fail("cudaImportExternalMemory", 801, 1);
  errno = 77;
  EXPECT_EQ(hal_tensor_cuda_map(tensor), nullptr);
  EXPECT_EQ(errno, 77);
  EXPECT_NE(std::strstr(hal_last_error(), "cudaErrorNotSupported"), nullptr) << hal_last_error();
}

TEST_F(CapiCuda, failures_have_an_errno) {
  const Tensor tensor = dma_tensor();
  cuda.fail("cudaImportExternalMemory", 2, 1);
  EXPECT_ERROR(nullptr, ENOMEM, "refuses", hal_tensor_cuda_map(tensor));
  cuda.fail("cudaGetDevice", 999, 1);
  EXPECT_ERROR(nullptr, EIO, "999", hal_tensor_cuda_map(tensor));
  EXPECT_ERRNO(nullptr, EINVAL, hal_tensor_cuda_map(nullptr));
}

TEST_F(CapiCuda, images_in_several_buffers_have_no_address) {
  const Tensor first = dma_tensor();
  const auto second = std::make_shared<MemfdBuffer>(8192);
  const halyard::Tensor::PlaneSource planes[] = {{first->tensor.buffer()}, {second}};
  auto* const handle = new hal_tensor;
  handle->tensor = *halyard::Tensor::wrap_image(planes, 64, 32, PixelFormat::nv12);
  const Tensor image(handle);
  errno = 77;
  EXPECT_EQ(hal_tensor_cuda_map(image), nullptr);
  EXPECT_EQ(errno, 77);
  EXPECT_NE(std::strstr(hal_last_error(), "several buffers"), nullptr) << hal_last_error();
}

TEST_F(CapiCuda, a_map_outlives_its_tensor) {
  Tensor tensor = make_tensor(HAL_DTYPE_U8, {1000}, HAL_TENSOR_MEMORY_PBO);
  if (tensor == nullptr) GTEST_SKIP() << hal_last_error();
  void* const map = hal_tensor_cuda_map(tensor);
  ASSERT_NE(map, nullptr) << hal_last_error();
  tensor = Tensor();
  EXPECT_EQ(cuda.mapped(), 1);
  static_cast<unsigned char*>(hal_tensor_cuda_device_ptr(map, nullptr))[999] = 1;
  hal_tensor_cuda_unmap(map);
  // Pixel buffers are deleted in order on the worker: a map of another one comes after that.
  const Tensor other = make_tensor(HAL_DTYPE_U8, {10}, HAL_TENSOR_MEMORY_PBO);
  const Map mapped(hal_tensor_map_create(other));
  EXPECT_EQ(cuda.live(), 0);
}

}  // namespace
}  // namespace halyard::test
