// SPDX-License-Identifier: Apache-2.0
// Descriptions of images that are wrong, or that no driver takes: an error or a reason, the CPU's
// pixels where it may serve, and no call of the driver that would read beyond a buffer.
#ifdef HALYARD_HAVE_GL
#include <gtest/gtest.h>

#include <cstdlib>

#include "gl/dma_memory.h"
#include "gl/memory/dma_image.h"
#include "gl/worker.h"
#include "halyard/drm.h"
#include "image/differential.h"
#include "image/images.h"
#include "support/result.h"

namespace halyard::test {
namespace {

using F = PixelFormat;

class GlBadInput : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("HALYARD_ALLOW_SOFTWARE_GL", "1", 1);
    worker_ = any_worker();
    if (worker_ == nullptr) GTEST_SKIP() << "no OpenGL ES on this machine";
    judge_.emplace(ProcessorOptions{.backend = ComputeBackend::opengl});
  }
  void TearDown() override {
    judge_.reset();
    ::unsetenv("HALYARD_FORCE_BACKEND");
    ::unsetenv("HALYARD_ALLOW_SOFTWARE_GL");
  }
  std::shared_ptr<Buffer> random_dma(std::size_t bytes) {
    auto out = make_dma(bytes);
    fill_random(random_, *out, DType::u8);
    return out;
  }
  std::string first_line(const Convert& c) {
    const std::string report = judge_->processor().explain(c).value();
    return report.substr(0, report.find('\n'));
  }
  std::shared_ptr<gl::Worker> worker_;
  Random random_{33};
  std::optional<Judge> judge_;
};

TEST_F(GlBadInput, planes_in_the_wrong_order_are_refused_or_read_as_they_are_told) {
  // 4096 bytes are the least that a DMA-BUF has.
  const auto luma = random_dma(256 * 48);
  const auto chroma = random_dma(256 * 24);
  const auto wrap = [](const std::shared_ptr<Buffer>& first, const std::shared_ptr<Buffer>& second,
                       std::size_t height) {
    const Tensor::PlaneSource planes[] = {{first, 0, 256}, {second, 0, 256}};
    return Tensor::wrap_image(planes, 250, height, F::nv12);
  };
  EXPECT_OK(wrap(luma, chroma, 48));
  EXPECT_FAILS(wrap(chroma, luma, 48), Errc::invalid_argument);
  // Large enough in both orders: no one can know, and all backends read the same.
  EXPECT_TRUE(
      judge_->compare({.src = wrap(luma, chroma, 20).value(), .dst = zero_image(24, 24, F::rgb)}));
  EXPECT_TRUE(
      judge_->compare({.src = wrap(chroma, luma, 20).value(), .dst = zero_image(24, 24, F::rgb)}));
}

TEST_F(GlBadInput, planes_of_one_buffer_may_lie_in_any_order) {
  const auto buffer = random_dma(64 * 96);
  const Tensor::PlaneSource planes[] = {{buffer, 64 * 32, 64}, {buffer, 0, 64}};
  const Tensor frame = Tensor::wrap_image(planes, 60, 48, F::nv12).value();
  EXPECT_TRUE(judge_->compare({.src = frame, .dst = zero_image(24, 24, F::rgb)}));
}

TEST_F(GlBadInput, an_image_beyond_its_buffer_cannot_be_described) {
  const auto buffer = random_dma(4096);
  const std::size_t rows = buffer->size_bytes() / 64;
  const auto wrap = [&](std::size_t offset, std::size_t height) {
    const Tensor::PlaneSource whole{buffer, offset, 64};
    return Tensor::wrap_image({&whole, 1}, 64, height, F::grey);
  };
  EXPECT_OK(wrap(0, rows));
  EXPECT_FAILS(wrap(0, rows + 1), Errc::invalid_argument);
  EXPECT_FAILS(wrap(1, rows), Errc::invalid_argument);
}

TEST_F(GlBadInput, a_modifier_that_nobody_takes_is_an_error_with_its_name) {
  const auto buffer = random_dma(256 * 64);
  constexpr std::uint64_t of_arm = (std::uint64_t{8} << 56) | 1;
  const Tensor::PlaneSource whole{buffer, 0, 256};
  const Tensor tiled = Tensor::wrap_image({&whole, 1}, 64, 48, F::rgba, DType::u8, of_arm).value();
  const Convert c{.src = tiled, .dst = zero_image(24, 24, F::rgb)};
  for (int i = 0; i < 2; ++i) {  // the second time the refusal is known
    const auto done = judge_->processor().convert(c);
    EXPECT_FAILS(done, Errc::unsupported, modifier_to_string(of_arm));
  }
  const Convert into{.src = c.dst, .dst = tiled};
  EXPECT_FAILS(judge_->processor().convert(into), Errc::unsupported, modifier_to_string(of_arm));
  EXPECT_TRUE(judge_->compare(
      {.src = random_image(random_, 38, 26, F::nv12), .dst = zero_image(22, 30, F::rgb)}));
}

TEST_F(GlBadInput, what_is_larger_than_a_texture_is_left_to_the_cpu) {
  const std::int32_t most = worker_->capabilities().max_texture_size;
  const Convert c{.src = random_image(random_, most + 1, 2, F::grey),
                  .dst = zero_image(24, 2, F::grey)};
  EXPECT_NE(first_line(c).find("largest texture"), std::string::npos) << first_line(c);
  EXPECT_EQ(judge_->processor().plan(c)->backend(), "cpu");
  EXPECT_TRUE(judge_->compare(c));
  ::setenv("HALYARD_FORCE_BACKEND", "opengl", 1);
  EXPECT_FAILS(Processor::create()->convert(c), Errc::unsupported, "largest texture");
}

TEST_F(GlBadInput, an_import_larger_than_a_texture_is_cut_to_the_plane) {
  if (!worker_->capabilities().dma_buf_import) GTEST_SKIP() << "this driver imports no DMA-BUFs";
  // The buffer has more rows than a texture, the image has few.
  const auto most = static_cast<std::size_t>(worker_->capabilities().max_texture_size);
  const auto buffer = random_dma(64 * (most + 8));
  const Tensor::PlaneSource end{buffer, 64 * (most - 8), 64};
  const Tensor frame = Tensor::wrap_image({&end, 1}, 64, 16, F::grey).value();
  const Convert c{.src = frame, .dst = plain_image(24, 24, F::grey)};
  EXPECT_EQ(first_line(c),
            "opengl: runs it (src imported, dst copied; passes 1, "
            "planes uploaded 0, planes read back 1)");
  EXPECT_TRUE(judge_->compare(c));
}

TEST_F(GlBadInput, a_buffer_whose_object_is_shorter_is_copied_and_the_reason_is_kept) {
  if (!worker_->capabilities().dma_buf_import) GTEST_SKIP() << "this driver imports no DMA-BUFs";
  const auto buffer = DmaStandIn::create(64 * 48 * 2, 4096);
  fill_random(random_, *buffer, DType::u8);
  const Tensor::PlaneSource whole{buffer, 0, 64};
  const Convert c{.src = Tensor::wrap_image({&whole, 1}, 64, 48, F::nv12).value(),
                  .dst = plain_image(24, 24, F::rgb)};
  EXPECT_TRUE(judge_->compare(c));
  EXPECT_EQ(first_line(c),
            "opengl: runs it (src copied, dst copied; passes 1, "
            "planes uploaded 2, planes read back 1)");
}

}  // namespace
}  // namespace halyard::test
#endif
