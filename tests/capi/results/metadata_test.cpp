// SPDX-License-Identifier: Apache-2.0
// Quantization, colorimetry and device memory in C.
#include <array>
#include <cmath>
#include <limits>

#include "capi/handles.h"
#include "capi/owned.h"
#include "halyard/device.h"

namespace {

using namespace halyard::test;

Tensor bytes(hal_dtype dtype, std::size_t count = 8) {
  return Tensor(hal_tensor_new(dtype, &count, 1, HAL_TENSOR_MEMORY_MEM, nullptr));
}

TEST(CapiMetadata, keeps_quantization_of_a_tensor) {
  const Tensor tensor = bytes(HAL_DTYPE_I8);
  errno = 77;
  EXPECT_EQ(hal_tensor_quantization(tensor), nullptr);
  EXPECT_EQ(errno, 77) << "none is no failure";
  ASSERT_DONE(hal_tensor_set_quantization(tensor, 0.25F, -3));
  const Owned<HalTensorQuant> quant(hal_tensor_quantization(tensor));
  ASSERT_TRUE(quant);
  EXPECT_EQ(hal_quantization_kind(quant), HAL_TENSOR_QUANT_KIND_PER_TENSOR);
  EXPECT_EQ(hal_quantization_scale_len(quant), 1U);
  EXPECT_EQ(hal_quantization_scale_at(quant, 0), 0.25F);
  EXPECT_EQ(hal_quantization_scale_at(quant, 1), 0.0F);
  EXPECT_EQ(hal_quantization_zero_point_at(quant, 0), -3);
  EXPECT_EQ(hal_quantization_zero_point_at(quant, 1), 0);
  EXPECT_FALSE(hal_quantization_is_symmetric(quant));
  EXPECT_FALSE(hal_quantization_axis(quant, nullptr));
  ASSERT_DONE(hal_tensor_set_quantization(tensor, 2.0F, 0));
  const Owned<HalTensorQuant> symmetric(hal_tensor_quantization(tensor));
  EXPECT_EQ(hal_quantization_kind(symmetric), HAL_TENSOR_QUANT_KIND_PER_TENSOR_SYMMETRIC);
  EXPECT_TRUE(hal_quantization_is_symmetric(symmetric));
  EXPECT_EQ(hal_quantization_zero_point_at(quant, 0), -3) << "a copy";
}

TEST(CapiMetadata, refuses_quantization_that_means_nothing) {
  const Tensor tensor = bytes(HAL_DTYPE_U8);
  for (const float scale : {0.0F, -1.0F, std::nanf(""), std::numeric_limits<float>::infinity()})
    EXPECT_ERRNO(-1, EINVAL, hal_tensor_set_quantization(tensor, scale, 0));
  EXPECT_ERRNO(-1, EINVAL, hal_tensor_set_quantization(tensor, 1.0F, 256));
  EXPECT_ERRNO(-1, EINVAL, hal_tensor_set_quantization(tensor, 1.0F, -1));
  EXPECT_ERRNO(-1, EINVAL, hal_tensor_set_quantization(bytes(HAL_DTYPE_F32).get(), 1.0F, 0));
  EXPECT_EQ(hal_tensor_quantization(tensor), nullptr);
}

TEST(CapiMetadata, tells_quantization_per_channel) {
  const Tensor tensor = make_tensor(HAL_DTYPE_I8, {2, 3});
  ASSERT_TRUE(tensor->tensor.set_quantization(
      halyard::Quantization{.scale = {1, 2, 3}, .zero_point = {0, 5, 0}, .axis = 1}));
  const Owned<HalTensorQuant> quant(hal_tensor_quantization(tensor));
  std::size_t axis = 9;
  EXPECT_TRUE(hal_quantization_axis(quant, &axis));
  EXPECT_EQ(axis, 1U);
  EXPECT_EQ(hal_quantization_kind(quant), HAL_TENSOR_QUANT_KIND_PER_CHANNEL);
  EXPECT_EQ(hal_quantization_scale_len(quant), 3U);
  EXPECT_EQ(hal_quantization_zero_point_at(quant, 1), 5);
}

TEST(CapiMetadata, keeps_colorimetry_as_it_was_set) {
  const Tensor tensor = make_image(4, 4, HAL_PIXEL_FORMAT_NV12);
  hal_colorimetry got{9, 9, 9, 9};
  ASSERT_DONE(hal_tensor_colorimetry(tensor, &got));
  EXPECT_EQ(got.space + got.transfer + got.encoding + got.range, 0) << "nothing is filled in";
  const hal_colorimetry set{4, 7, 1, 2};
  hal_tensor_set_colorimetry(tensor, &set);
  ASSERT_DONE(hal_tensor_colorimetry(tensor, &got));
  EXPECT_EQ(got.space, 4);
  EXPECT_EQ(got.transfer, 0) << "7 is no transfer";
  EXPECT_EQ(got.encoding, 1);
  EXPECT_EQ(got.range, 2);
  hal_tensor_set_colorimetry(tensor, nullptr);
  ASSERT_DONE(hal_tensor_colorimetry(tensor, &got));
  EXPECT_EQ(got.encoding, 0);
  EXPECT_ERRNO(-1, EINVAL, hal_tensor_colorimetry(tensor, nullptr));
  hal_tensor_set_colorimetry(nullptr, &set);
}

TEST(CapiMetadata, reads_the_numbers_of_v4l2) {
  struct Row {
    std::array<std::uint32_t, 4> from;
    std::array<int, 4> to;
  };
  // Colour space, transfer, encoding, quantization; 0 is V4L2's default.
  const std::array rows{Row{{1, 1, 1, 2}, {4, 1, 1, 2}},  Row{{3, 0, 0, 0}, {1, 0, 2, 2}},
                        Row{{10, 7, 0, 0}, {2, 3, 3, 2}}, Row{{7, 2, 0, 0}, {3, 2, 1, 1}},
                        Row{{8, 5, 0, 0}, {3, 5, 1, 2}},  Row{{5, 0, 2, 1}, {4, 0, 2, 1}}};
  for (const Row& row : rows) {
    hal_colorimetry got{};
    ASSERT_DONE(
        hal_colorimetry_from_v4l2(row.from[0], row.from[1], row.from[2], row.from[3], &got));
    EXPECT_EQ(got.space, row.to[0]) << row.from[0];
    EXPECT_EQ(got.transfer, row.to[1]) << row.from[0];
    EXPECT_EQ(got.encoding, row.to[2]) << row.from[0];
    EXPECT_EQ(got.range, row.to[3]) << row.from[0];
  }
  EXPECT_ERRNO(-1, EINVAL, hal_colorimetry_from_v4l2(1, 1, 1, 1, nullptr));
}

// Means a CUDA registration: the device's address is some number.
struct FakeCuda : halyard::DeviceAttachment {
  halyard::DeviceKind device() const noexcept override { return halyard::DeviceKind::cuda; }
  halyard::Result<void*> begin(void*) override { return reinterpret_cast<void*>(0x1000); }
  void end(void*) noexcept override {}
  bool excludes_cpu() const noexcept override { return false; }
};

TEST(CapiMetadata, maps_for_cuda_where_something_was_registered) {
  const Tensor whole = make_tensor(HAL_DTYPE_U8, {4, 16});
  errno = 77;
  EXPECT_EQ(hal_tensor_cuda_map(whole), nullptr);
  EXPECT_EQ(errno, 77) << "a usual answer";
  ASSERT_TRUE(halyard::attach_device(*whole->tensor.buffer(), std::make_unique<FakeCuda>()));
  const Tensor second(hal_tensor_batch(whole, 1));
  void* const map = hal_tensor_cuda_map(second);
  ASSERT_NE(map, nullptr) << hal_last_error();
  std::size_t size = 0;
  EXPECT_EQ(hal_tensor_cuda_device_ptr(map, &size), reinterpret_cast<void*>(0x1010));
  EXPECT_EQ(size, 48U);
  EXPECT_ERRNO(nullptr, EBUSY, hal_tensor_cuda_map(whole));
  hal_tensor_cuda_unmap(map);
  hal_tensor_cuda_unmap(hal_tensor_cuda_map(whole));
}

TEST(CapiMetadata, declines_memory_of_other_systems) {
  const std::size_t count = 8;
  const Tensor tensor = bytes(HAL_DTYPE_U8);
  int surface = 0;
  std::size_t width = 0;
  EXPECT_ERRNO(nullptr, ENOTSUP,
               hal_tensor_from_iosurface(HAL_DTYPE_U8, &surface, &count, 1, nullptr));
  EXPECT_ERRNO(nullptr, ENOTSUP,
               hal_tensor_from_hardware_buffer(HAL_DTYPE_U8, &surface, &count, 1, nullptr));
  EXPECT_ERRNO(nullptr, ENOTSUP, hal_tensor_hardware_buffer_ptr(tensor));
  EXPECT_ERRNO(-1, ENOTSUP, hal_tensor_hardware_buffer_physical_dims(tensor, &width, &width));
  EXPECT_ERRNO(0U, ENOTSUP, hal_tensor_iosurface_id(tensor));
  EXPECT_ERRNO(nullptr, ENOTSUP, hal_tensor_iosurface_ref(tensor));
  EXPECT_FALSE(hal_platform_compression_support(HAL_PIXEL_FORMAT_RGBA, HAL_DTYPE_U8));
  EXPECT_FALSE(hal_is_iosurface_available());
  EXPECT_EQ(hal_is_cuda_available(),
            halyard::device_available(halyard::DeviceKind::cuda).has_value());
}

TEST(CapiMetadata, says_what_memory_there_is) {
  const Tensor dma = make_tensor(HAL_DTYPE_U8, {64}, HAL_TENSOR_MEMORY_DMA);
  EXPECT_EQ(hal_is_dma_available(), dma != nullptr);
  EXPECT_EQ(hal_is_gpu_buffer_available(), dma != nullptr);
  const Tensor shm = make_tensor(HAL_DTYPE_U8, {64}, HAL_TENSOR_MEMORY_SHM);
  EXPECT_EQ(hal_is_shm_available(), shm != nullptr);
  EXPECT_ERRNO(-1, ENOTSUP, hal_tensor_dmabuf_clone(shm));
  EXPECT_ERRNO(-1, ENOTSUP, hal_tensor_dmabuf_clone(bytes(HAL_DTYPE_U8).get()));
}

}  // namespace
