// SPDX-License-Identifier: Apache-2.0
// How images reach the GPU and come back: through imported DMA-BUFs, pixel buffers and copies, with
// the same pixels; what is kept from frame to frame; what is refused.
#ifdef HALYARD_HAVE_GL
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "gl/dma_memory.h"
#include "gl/memory/dma_image.h"
#include "gl/worker.h"
#include "halyard/log.h"
#include "image/differential.h"
#include "image/gl/gl_objects.h"
#include "image/images.h"
#include "support/allocations.h"
#include "support/result.h"

namespace halyard::test {
namespace {

using F = PixelFormat;
using image::gl_stats;
using image::GlStats;

class GlTransfer : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("HALYARD_ALLOW_SOFTWARE_GL", "1", 1);
    ::setenv("HALYARD_FORCE_BACKEND", "opengl", 1);
    worker_ = any_worker();
    if (worker_ == nullptr) GTEST_SKIP() << "no OpenGL ES on this machine";
    judge_.emplace();
    before_ = gl_stats();
  }
  void TearDown() override {
    judge_.reset();
    for (const char* name :
         {"HALYARD_FORCE_TRANSFER", "HALYARD_OPENGL_RENDERSURFACE", "HALYARD_FORCE_BACKEND"})
      ::unsetenv(name);
    ::unsetenv("HALYARD_ALLOW_SOFTWARE_GL");
    if (worker_ == nullptr) return;
    EXPECT_OK(worker_->run([]() -> Status { return {}; }));  // the queue is empty
    EXPECT_EQ(gl::live_dma_images(), 0U);
  }
  bool imports() const { return worker_->capabilities().dma_buf_import; }
  void use_transfer(const char* name) {
    ::setenv("HALYARD_FORCE_TRANSFER", name, 1);
    judge_.emplace();
  }
  /// An image of random bytes.
  Tensor dma_image(int width, int height, F format, DType dtype = DType::u8) {
    Tensor out = make_dma_image(static_cast<std::size_t>(width), static_cast<std::size_t>(height),
                                format, dtype);
    fill_random(random_, *out.buffer(), dtype);
    return out;
  }
  Tensor pbo_image(int width, int height, F format, DType dtype = DType::u8) {
    Tensor out = Tensor::create_image(static_cast<std::size_t>(width),
                                      static_cast<std::size_t>(height), format, dtype, Memory::pbo)
                     .value();
    fill_random(random_, *out.buffer(), dtype);
    return out;
  }
  Tensor heap_image(int width, int height, F format, DType dtype = DType::u8) {
    return random_image(random_, width, height, format, dtype);
  }
  /// Images by transfer since the last call.
  GlStats take() {
    const GlStats now = gl_stats();
    const GlStats out{now.dma_bufs - before_.dma_bufs, now.pixel_buffers - before_.pixel_buffers,
                      now.copies - before_.copies, now.shaders - before_.shaders};
    before_ = now;
    return out;
  }
  Processor& processor() { return judge_->processor(); }

  std::shared_ptr<gl::Worker> worker_;
  Random random_{5};
  std::optional<Judge> judge_;
  GlStats before_;
};

#define NEEDS_IMPORTS() \
  if (!imports()) GTEST_SKIP() << "this driver imports no DMA-BUFs"

constexpr F transfer_formats[] = {F::yuyv, F::nv12, F::nv16,       F::rgba,        F::rgb,  F::grey,
                                  F::bgra, F::vyuy, F::planar_rgb, F::planar_rgba, F::nv24, F::uyvy,
                                  F::yvyu, F::nv21, F::i420,       F::bgr};

TEST_F(GlTransfer, every_format_is_read_from_a_dma_buf) {
  NEEDS_IMPORTS();
  for (const F format : transfer_formats) {
    SCOPED_TRACE(to_string(format));
    EXPECT_TRUE(
        judge_->compare({.src = dma_image(38, 26, format), .dst = heap_image(22, 30, F::rgb)}));
    EXPECT_EQ(take().dma_bufs, 1U);
  }
}

TEST_F(GlTransfer, every_format_is_written_into_a_dma_buf) {
  NEEDS_IMPORTS();
  for (const F format : transfer_formats) {
    SCOPED_TRACE(to_string(format));
    Convert c{.src = heap_image(38, 26, F::nv12), .dst = dma_image(32, 30, format)};
    c.fit = Fit::letterbox;
    EXPECT_TRUE(judge_->compare(c));
    EXPECT_EQ(take().dma_bufs, 1U);
  }
}

TEST_F(GlTransfer, every_element_type_is_written_into_a_dma_buf) {
  NEEDS_IMPORTS();
  for (const DType dtype :
       {DType::u8, DType::i8, DType::u16, DType::f16, DType::bf16, DType::f32}) {
    SCOPED_TRACE(to_string(dtype));
    for (const F format : {F::rgb, F::planar_rgb}) {
      EXPECT_TRUE(judge_->compare(
          {.src = dma_image(38, 26, F::nv12), .dst = dma_image(32, 20, format, dtype)}));
      EXPECT_EQ(take().dma_bufs, 2U);
    }
  }
}

TEST_F(GlTransfer, targets_may_be_bound_as_renderbuffers) {
  NEEDS_IMPORTS();
  ::setenv("HALYARD_OPENGL_RENDERSURFACE", "1", 1);
  judge_.emplace();
  EXPECT_TRUE(
      judge_->compare({.src = dma_image(38, 26, F::nv12), .dst = dma_image(32, 20, F::rgb)}));
  EXPECT_EQ(take().dma_bufs, 2U);
}

TEST_F(GlTransfer, rows_that_end_inside_a_texel_are_copied) {
  NEEDS_IMPORTS();
  EXPECT_TRUE(
      judge_->compare({.src = dma_image(38, 26, F::nv12), .dst = dma_image(31, 20, F::rgb)}));
  const GlStats seen = take();
  EXPECT_EQ(seen.dma_bufs, 1U);
  EXPECT_EQ(seen.copies, 1U);
}

TEST_F(GlTransfer, slices_and_batches_of_one_buffer_share_its_import) {
  NEEDS_IMPORTS();
  const Tensor frame = dma_image(96, 64, F::rgba);
  const Tensor source = dma_image(40, 40, F::nv12);
  const std::uint64_t before = gl::dma_image_imports();
  for (const auto& [x, y] : {std::pair(0U, 0U), {32U, 8U}, {64U, 32U}}) {
    Tensor part = frame.slice(Region{static_cast<int>(x), static_cast<int>(y), 32, 32}).value();
    EXPECT_TRUE(judge_->compare({.src = source, .dst = part}));
  }
  EXPECT_EQ(take().dma_bufs, 6U);
  // The luma and the chroma of the source, and the frame.
  EXPECT_EQ(gl::dma_image_imports() - before, 3U);
}

TEST_F(GlTransfer, maps_mosaics_and_wide_filters_work_inside_a_buffer) {
  NEEDS_IMPORTS();
  for (const F from : {F::rgba, F::grey, F::bayer_rggb}) {
    SCOPED_TRACE(to_string(from));
    const Tensor frame = dma_image(128, 96, from);
    const Tensor canvas = dma_image(96, 64, F::bgra);
    Convert c{.src = frame.slice(Region{16, 8, 96, 80}).value(),
              .dst = canvas.slice(Region{32, 16, 32, 32}).value()};
    c.filter = Filter::lanczos3;
    c.antialias = true;
    EXPECT_TRUE(judge_->compare(c));
    c.affine = Affine{{0.4, 0.2, 3, -0.2, 0.4, 15}};
    EXPECT_TRUE(judge_->compare(c));
  }
  EXPECT_EQ(take().dma_bufs, 12U);
}

TEST_F(GlTransfer, neighbours_of_a_slice_keep_their_bytes) {
  NEEDS_IMPORTS();
  const Tensor frame = dma_image(64, 32, F::rgba);
  const auto bytes_now = [&] {
    const Map map = frame.buffer()->map(Access::read).value();
    return std::vector<std::byte>(map.bytes().begin(), map.bytes().end());
  };
  const auto before = bytes_now();
  const Tensor part = frame.slice(Region{16, 8, 16, 8}).value();
  ASSERT_OK(processor().convert({.src = heap_image(20, 20, F::rgb), .dst = part}));
  const auto after = bytes_now();
  const std::size_t stride = frame.row_stride_bytes();
  for (std::size_t i = 0; i < before.size(); ++i) {
    const std::size_t x = i % stride, y = i / stride;
    const bool is_inside = x >= 64 && x < 128 && y >= 8 && y < 16;
    if (!is_inside) {
      ASSERT_EQ(before[i], after[i]) << "byte " << i;
    }
  }
}

TEST_F(GlTransfer, recycled_buffers_are_imported_once_each) {
  NEEDS_IMPORTS();
  std::vector<Tensor> frames;
  std::vector<Tensor> results;
  for (int i = 0; i < 4; ++i) {
    frames.push_back(dma_image(64, 48, F::nv12));
    results.push_back(dma_image(32, 32, F::rgb));
  }
  const std::uint64_t before = gl::dma_image_imports();
  const int rounds = 10000 / slowness;
  for (std::size_t i = 0; i < static_cast<std::size_t>(rounds); ++i)
    ASSERT_OK(processor().convert({.src = frames[i % 4], .dst = results[(i * 3) % 4]}));
  // Luma and chroma of four sources, and four destinations.
  EXPECT_EQ(gl::dma_image_imports() - before, 12U);
  EXPECT_EQ(take().copies, 0U);
}

TEST_F(GlTransfer, a_reused_buffer_of_another_geometry_gives_its_own_pixels) {
  NEEDS_IMPORTS();
  const auto buffer = make_dma(1 << 16);
  fill_random(random_, *buffer, DType::u8);
  for (const auto& [width, height] : {std::pair(64U, 48U), {48U, 64U}, {64U, 48U}, {128U, 20U}}) {
    const Tensor::PlaneSource whole{buffer, 0, width};
    const Tensor frame = Tensor::wrap_image({&whole, 1}, width, height, F::nv12).value();
    EXPECT_TRUE(judge_->compare({.src = frame, .dst = heap_image(24, 24, F::rgb)}));
  }
}

TEST_F(GlTransfer, planes_in_buffers_of_their_own_are_imported_each) {
  NEEDS_IMPORTS();
  const auto luma = make_dma(64 * 48);
  const auto chroma = make_dma(64 * 24);
  fill_random(random_, *luma, DType::u8);
  fill_random(random_, *chroma, DType::u8);
  const Tensor::PlaneSource planes[] = {{luma, 0, 64}, {chroma, 0, 64}};
  const Tensor frame = Tensor::wrap_image(planes, 60, 48, F::nv12).value();
  EXPECT_TRUE(judge_->compare({.src = frame, .dst = dma_image(24, 24, F::rgb)}));
  EXPECT_EQ(take().dma_bufs, 2U);
}

TEST_F(GlTransfer, a_buffer_that_cannot_be_imported_is_copied_from_then_on) {
  NEEDS_IMPORTS();
  const auto buffer = DmaStandIn::create(64 * 48 * 2, 4096);
  fill_random(random_, *buffer, DType::u8);
  const Tensor::PlaneSource whole{buffer, 0, 64};
  const Tensor frame = Tensor::wrap_image({&whole, 1}, 64, 48, F::nv12).value();
  const std::uint64_t before = gl::dma_image_imports();
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(judge_->compare({.src = frame, .dst = dma_image(24, 24, F::rgb)}));
  EXPECT_EQ(gl::dma_image_imports() - before, 2U);  // destinations of the second and third
  const GlStats seen = take();
  EXPECT_EQ(seen.dma_bufs, 2U);
  EXPECT_EQ(seen.copies, 4U);
}

TEST_F(GlTransfer, pixel_buffers_are_used_without_a_map) {
  for (const F format : transfer_formats) {
    SCOPED_TRACE(to_string(format));
    EXPECT_TRUE(
        judge_->compare({.src = pbo_image(38, 26, format), .dst = pbo_image(32, 30, F::rgba)}));
    EXPECT_EQ(take().pixel_buffers, 2U);
    EXPECT_TRUE(
        judge_->compare({.src = pbo_image(37, 26, F::rgb), .dst = pbo_image(32, 24, format)}));
    EXPECT_EQ(take().pixel_buffers, 2U);
  }
}

TEST_F(GlTransfer, pixel_buffers_whose_rows_end_inside_a_texel_are_mapped) {
  EXPECT_TRUE(
      judge_->compare({.src = pbo_image(31, 21, F::rgb), .dst = pbo_image(31, 20, F::rgb)}));
  const GlStats seen = take();
  EXPECT_EQ(seen.pixel_buffers, 1U);
  EXPECT_EQ(seen.copies, 1U);
}

TEST_F(GlTransfer, a_mapped_pixel_buffer_is_neither_source_nor_destination) {
  const Convert c{.src = pbo_image(32, 24, F::rgba), .dst = pbo_image(16, 16, F::rgba)};
  for (const Tensor& mapped : {c.src, c.dst}) {
    const auto map = mapped.map(Access::read).value();
    EXPECT_FAILS(processor().convert(c), Errc::busy, "");
  }
  EXPECT_OK(processor().convert(c));
  EXPECT_OK(c.dst.map(Access::read_write));
}

TEST_F(GlTransfer, copies_pass_through_staging_where_it_is_asked_for) {
  for (const char* transfer : {"pbo", "sync"}) {
    use_transfer(transfer);
    for (const F format : transfer_formats) {
      SCOPED_TRACE(testing::Message() << transfer << " " << to_string(format));
      EXPECT_TRUE(
          judge_->compare({.src = heap_image(38, 26, format), .dst = heap_image(22, 30, F::rgb)}));
      EXPECT_TRUE(
          judge_->compare({.src = heap_image(37, 26, F::rgb), .dst = heap_image(26, 31, format)}));
    }
    EXPECT_EQ(take().copies, 4 * std::size(transfer_formats));
    EXPECT_TRUE(
        judge_->compare({.src = dma_image(38, 26, F::nv12), .dst = dma_image(32, 20, F::rgb)}));
    EXPECT_EQ(take().copies, 2U);
  }
}

TEST_F(GlTransfer, a_queue_reads_back_what_it_drew) {
  for (const char* transfer : {"pbo", "sync"}) {
    use_transfer(transfer);
    std::vector<Convert> queued;
    std::vector<Convert> at_once;
    for (int i = 0; i < 20; ++i) {
      queued.push_back({.src = heap_image(38, 26, F::nv12), .dst = zero_image(22, 30, F::rgb)});
      at_once.push_back({.src = queued.back().src, .dst = zero_image(22, 30, F::rgb)});
    }
    for (const Convert& c : queued)
      ASSERT_OK(processor().convert_deferred(c));
    ASSERT_OK(processor().flush());
    for (std::size_t i = 0; i < queued.size(); ++i) {
      ASSERT_OK(processor().convert(at_once[i]));
      EXPECT_EQ(bytes_of(queued[i].dst), bytes_of(at_once[i].dst));
    }
  }
}

TEST_F(GlTransfer, nothing_is_made_in_the_steady_state) {
  std::vector<Convert> all{
      {.src = heap_image(38, 26, F::nv12), .dst = heap_image(22, 30, F::rgb)},
      {.src = pbo_image(38, 26, F::nv12), .dst = pbo_image(24, 30, F::planar_rgb, DType::f32)}};
  if (imports())
    all.push_back({.src = dma_image(38, 26, F::nv12), .dst = dma_image(24, 30, F::rgb)});
  for (const char* transfer : {"dmabuf", "pbo"}) {
    use_transfer(transfer);
    const auto frame = [&] {
      for (const Convert& c : all)
        EXPECT_TRUE(processor().convert(c));
    };
    frame();
    const std::uint64_t imported = gl::dma_image_imports();
    take();
    EXPECT_EQ(allocations_of(frame), 0U);
    EXPECT_EQ(take().shaders, 0U);
    EXPECT_EQ(gl::dma_image_imports(), imported);
  }
}

TEST_F(GlTransfer, an_unknown_transfer_is_named) {
  ::setenv("HALYARD_FORCE_TRANSFER", "magic", 1);
  EXPECT_FAILS(Processor::create(), Errc::unsupported, "HALYARD_FORCE_TRANSFER");
}

TEST_F(GlTransfer, the_path_of_nv12_is_checked_and_a_sampler_is_refused_aloud) {
  std::string told;
  set_log_sink([&](LogLevel, std::string_view, std::string_view text) { told += text; });
  const auto make = [](const char* path) {
    ::setenv("HALYARD_NV_CONVERT_PATH", path, 1);
    auto out = Processor::create();
    ::unsetenv("HALYARD_NV_CONVERT_PATH");
    return out;
  };
  EXPECT_FAILS(make("magic"), Errc::unsupported, "HALYARD_NV_CONVERT_PATH");
  for (const char* const path : {"auto", "Shader", ""})
    EXPECT_OK(make(path));
  EXPECT_EQ(told.find("HALYARD_NV_CONVERT_PATH"), std::string::npos) << told;
  EXPECT_OK(make("sampler"));
  set_log_sink(nullptr);
  EXPECT_NE(told.find("HALYARD_NV_CONVERT_PATH=sampler is not followed"), std::string::npos);
}

TEST_F(GlTransfer, a_read_only_destination_is_refused) {
  EXPECT_FAILS(
      processor().convert({.src = heap_image(8, 8, F::rgb), .dst = read_only_image(8, 8, F::rgb)}),
      Errc::permission, "read-only");
}

}  // namespace
}  // namespace halyard::test
#endif
