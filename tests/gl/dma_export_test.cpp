// SPDX-License-Identifier: Apache-2.0
// DMA-BUFs that the driver of the GPU makes.
#ifdef HALYARD_HAVE_GL
#include <gtest/gtest.h>

#include <algorithm>

#include "gl/memory/dma_export.h"
#include "gl/memory/dma_image.h"
#include "gl/worker.h"
#include "halyard/drm.h"
#include "support/result.h"

namespace halyard::test {
namespace {

TEST(DmaExport, drivers_without_it_are_refused_by_name) {
  WORKER_OR_SKIP(worker);
  const auto made = gl::export_dma_buffer(*worker, 4096);
  if (worker->capabilities().dma_buf_export) {
    EXPECT_OK(made);
  } else {
    EXPECT_FAILS(made, Errc::unsupported, "exports no DMA-BUFs");
  }
}

constexpr std::uint32_t export_abgr8888 = 0x34324241;

class DmaExported : public testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    worker_ = any_worker();
    if (worker_ == nullptr || !worker_->capabilities().dma_buf_export)
      GTEST_SKIP() << "this driver exports no DMA-BUFs";
  }
  std::shared_ptr<gl::Worker> worker_;
};

TEST_P(DmaExported, is_a_buffer_like_those_of_a_heap) {
  ASSERT_VALUE(const auto buffer, gl::export_dma_buffer(*worker_, GetParam()));
  EXPECT_EQ(buffer->memory(), Memory::dma);
  EXPECT_GE(buffer->size_bytes(), GetParam());
  {
    ASSERT_VALUE(const Map map, buffer->map(Access::read_write));
    const auto bytes = map.writable_bytes();
    EXPECT_TRUE(std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; }));
    std::ranges::fill(bytes, std::byte{7});
  }
  ASSERT_OK(worker_->run([&]() -> Status {
    gl::DmaImages& images = gl::DmaImages::of(*buffer, worker_);
    HALYARD_TRY(
        const gl::DmaImage image,
        images.target(
            *buffer,
            {.drm_format = export_abgr8888, .texel_bytes = 4, .size = {16, 1}, .stride_bytes = 64},
            gl::DmaTarget::texture));
    EXPECT_NE(image.framebuffer, 0U);
    return {};
  }));
}
INSTANTIATE_TEST_SUITE_P(sizes, DmaExported,
                         testing::Values(1, 4096, 4097, 640 * 480 * 3, 3840 * 2160 * 4));

TEST(DmaExport, sizes_that_no_texture_has_are_refused) {
  WORKER_OR_SKIP(worker);
  if (!worker->capabilities().dma_buf_export) GTEST_SKIP() << "this driver exports no DMA-BUFs";
  EXPECT_FAILS(gl::export_dma_buffer(*worker, 0), Errc::invalid_argument, "size_bytes");
  EXPECT_FAILS(gl::export_dma_buffer(*worker, std::size_t{1} << 40), Errc::invalid_argument,
               "size_bytes");
}

}  // namespace
}  // namespace halyard::test
#endif
