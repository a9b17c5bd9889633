// SPDX-License-Identifier: Apache-2.0
// Textures over DMA-BUFs: what the GPU reads and writes are the bytes of the buffer; what is
// refused; what is kept, and for how long.
#ifdef HALYARD_HAVE_GL
#include "gl/memory/dma_image.h"

#include <epoxy/gl.h>

#include "gl/dma_memory.h"
#include "gl/worker.h"
#include "halyard/drm.h"
#include "support/result.h"

namespace halyard::test {
namespace {

using gl::DmaImage;
using gl::DmaImageLayout;
using gl::DmaImages;
using gl::DmaTarget;

constexpr std::uint32_t r8 = 0x20203852;
constexpr std::uint32_t gr88 = 0x38385247;
constexpr std::uint32_t abgr8888 = 0x34324241;

DmaImageLayout layout_of(std::uint32_t format, std::size_t texel, Size size, std::size_t offset,
                         std::size_t stride) {
  return {.drm_format = format,
          .texel_bytes = texel,
          .size = size,
          .offset_bytes = offset,
          .stride_bytes = stride};
}

class DmaImageTest : public testing::Test {
 protected:
  void SetUp() override {
    worker_ = any_worker();
    if (worker_ == nullptr) GTEST_SKIP() << "no OpenGL ES on this machine";
    if (!worker_->capabilities().dma_buf_import) GTEST_SKIP() << "this driver imports no DMA-BUFs";
  }
  void TearDown() override {
    if (worker_ == nullptr) return;
    EXPECT_OK(worker_->run([]() -> Status { return {}; }));  // the queue is empty
    EXPECT_EQ(gl::live_dma_images(), 0U);
  }

  Result<DmaImage> source(Buffer& buffer, const DmaImageLayout& layout) {
    DmaImage out;
    HALYARD_RETURN_IF_ERROR(worker_->run([&]() -> Status {
      HALYARD_TRY(out, DmaImages::of(buffer, worker_).source(buffer, layout));
      return {};
    }));
    return out;
  }
  Result<DmaImage> target(Buffer& buffer, const DmaImageLayout& layout,
                          DmaTarget binding = DmaTarget::texture) {
    DmaImage out;
    HALYARD_RETURN_IF_ERROR(worker_->run([&]() -> Status {
      HALYARD_TRY(out, DmaImages::of(buffer, worker_).target(buffer, layout, binding));
      return {};
    }));
    return out;
  }
  // The texels that the GPU sees, four bytes for each.
  std::vector<std::uint8_t> read(Buffer& buffer, const DmaImageLayout& layout) {
    const DmaImage image = target(buffer, layout).value();
    std::vector<std::uint8_t> out(static_cast<std::size_t>(layout.size.width) *
                                  static_cast<std::size_t>(layout.size.height) * 4);
    EXPECT_OK(worker_->run([&]() -> Status {
      glBindFramebuffer(GL_FRAMEBUFFER, image.framebuffer);
      glPixelStorei(GL_PACK_ALIGNMENT, 1);
      glPixelStorei(GL_PACK_ROW_LENGTH, 0);
      glReadPixels(0, 0, layout.size.width, layout.size.height, GL_RGBA, GL_UNSIGNED_BYTE,
                   out.data());
      return {};
    }));
    return out;
  }
  void fill(Buffer& buffer, const DmaImageLayout& layout, DmaTarget binding) {
    const DmaImage image = target(buffer, layout, binding).value();
    EXPECT_OK(worker_->run([&]() -> Status {
      glBindFramebuffer(GL_FRAMEBUFFER, image.framebuffer);
      glDisable(GL_SCISSOR_TEST);
      glClearColor(1.0F / 255, 2.0F / 255, 3.0F / 255, 4.0F / 255);
      glClear(GL_COLOR_BUFFER_BIT);
      glFinish();
      return {};
    }));
  }
  // Byte i of the buffer becomes i * 7 + seed.
  static void number(Buffer& buffer, std::size_t seed) {
    const Map map = buffer.map(Access::write).value();
    for (std::size_t i = 0; i < map.writable_bytes().size(); ++i)
      map.writable_bytes()[i] = static_cast<std::byte>(i * 7 + seed);
  }
  static std::uint8_t numbered(std::size_t i, std::size_t seed) {
    return static_cast<std::uint8_t>(i * 7 + seed);
  }

  std::shared_ptr<gl::Worker> worker_;
};

TEST_F(DmaImageTest, texels_are_the_bytes_of_the_buffer_at_any_place_and_stride) {
  for (const auto& [format, texel] : {std::pair(r8, 1U), std::pair(gr88, 2U), {abgr8888, 4U}}) {
    for (const auto& [offset, stride] : {std::pair(0U, 64U), {256U, 96U}, {4096U, 272U}}) {
      SCOPED_TRACE(testing::Message() << texel << " at " << offset << " by " << stride);
      const auto buffer = make_dma(8192);
      const auto layout = layout_of(format, texel, {13, 5}, offset, stride);
      for (const std::size_t seed : {3U, 90U}) {  // the second: without a new import
        number(*buffer, seed);
        const auto texels = read(*buffer, layout);
        for (std::size_t y = 0; y < 5; ++y)
          for (std::size_t x = 0; x < 13 * texel; ++x)
            ASSERT_EQ(texels[(y * 13 + x / texel) * 4 + x % texel],
                      numbered(offset + y * stride + x, seed));
      }
    }
  }
}

TEST_F(DmaImageTest, the_gpu_writes_the_texels_and_nothing_beside_them) {
  for (const DmaTarget binding : {DmaTarget::texture, DmaTarget::renderbuffer}) {
    const auto buffer = make_dma(4096);
    number(*buffer, 0);
    fill(*buffer, layout_of(abgr8888, 4, {5, 3}, 128, 64), binding);
    const Map map = buffer->map(Access::read).value();
    for (std::size_t i = 0; i < 4096; ++i) {
      const bool is_inside = i >= 128 && i < 128 + 3 * 64 && (i - 128) % 64 < 20;
      ASSERT_EQ(static_cast<std::uint8_t>(map.bytes()[i]), is_inside ? i % 4 + 1 : numbered(i, 0))
          << "byte " << i;
    }
  }
}

TEST_F(DmaImageTest, each_layout_is_imported_once) {
  const auto buffer = make_dma(4096);
  const std::uint64_t before = gl::dma_image_imports();
  for (int i = 0; i < 100; ++i) {
    EXPECT_OK(source(*buffer, layout_of(r8, 1, {64, 64}, 0, 64)));
    EXPECT_OK(target(*buffer, layout_of(abgr8888, 4, {16, 64}, 0, 64)));
  }
  EXPECT_EQ(gl::dma_image_imports() - before, 2U);
  EXPECT_EQ(gl::live_dma_images(), 2U);
}

TEST_F(DmaImageTest, of_many_layouts_the_latest_64_are_kept) {
  const auto buffer = make_dma(1 << 16);
  const auto layout = [](int i) { return layout_of(r8, 1, {16 + i, 4}, 0, 256); };
  for (int i = 0; i < 100; ++i)
    EXPECT_OK(source(*buffer, layout(i)));
  EXPECT_EQ(gl::live_dma_images(), 64U);
  const std::uint64_t before = gl::dma_image_imports();
  for (int i = 36; i < 100; ++i)
    EXPECT_OK(source(*buffer, layout(i)));
  EXPECT_EQ(gl::dma_image_imports(), before);
  EXPECT_OK(source(*buffer, layout(35)));
  EXPECT_EQ(gl::dma_image_imports(), before + 1);
}

TEST_F(DmaImageTest, images_die_with_their_buffers) {
  for (int i = 0; i < 200; ++i) {
    const auto buffer = make_dma(4096);
    EXPECT_OK(source(*buffer, layout_of(r8, 1, {64, 64}, 0, 64)));
  }
  EXPECT_OK(worker_->run([]() -> Status { return {}; }));
  EXPECT_EQ(gl::live_dma_images(), 0U);
}

TEST_F(DmaImageTest, layouts_that_leave_the_buffer_never_reach_the_driver) {
  const auto buffer = make_dma(4096);
  const std::size_t size = buffer->size_bytes();
  const std::uint64_t before = gl::dma_image_imports();
  struct Case {
    DmaImageLayout layout;
    const char* reason;
  };
  for (const auto& [layout, reason] :
       {Case{layout_of(r8, 1, {64, static_cast<int>(size / 64) + 1}, 0, 64), "beyond its buffer"},
        Case{layout_of(r8, 1, {64, static_cast<int>(size / 64)}, 1, 64), "beyond its buffer"},
        Case{layout_of(abgr8888, 4, {17, 2}, 0, 64), "shorter than a row"},
        Case{layout_of(r8, 1, {1, 1}, std::size_t{1} << 40, 64), "beyond what EGL counts"},
        Case{layout_of(r8, 1, {1, 2}, 0, std::size_t{1} << 40), "beyond what EGL counts"},
        Case{layout_of(r8, 1, {0, 2}, 0, 64), "larger than a texture"},
        Case{layout_of(r8, 1, {64, -1}, 0, 64), "larger than a texture"},
        Case{layout_of(r8, 1, {1 << 30, 1}, 0, 1 << 30), "larger than a texture"}}) {
    EXPECT_FAILS(source(*buffer, layout), Errc::invalid_argument, reason);
    EXPECT_FAILS(target(*buffer, layout), Errc::invalid_argument, reason);
  }
  EXPECT_EQ(gl::dma_image_imports(), before);
  EXPECT_TRUE(DmaImages::has_refused(*buffer, *worker_));
}

TEST_F(DmaImageTest, what_the_driver_refuses_is_told_and_remembered) {
  const auto buffer = make_dma(4096);
  EXPECT_FALSE(DmaImages::has_refused(*buffer, *worker_));
  EXPECT_OK(source(*buffer, layout_of(r8, 1, {64, 8}, 0, 64)));
  EXPECT_FALSE(DmaImages::has_refused(*buffer, *worker_));
  const auto nonsense = layout_of(0x21212121, 4, {16, 8}, 0, 64);
  EXPECT_FAILS(source(*buffer, nonsense), Errc::unsupported, "does not import the DMA-BUF");
  EXPECT_TRUE(DmaImages::has_refused(*buffer, *worker_));
  EXPECT_FAILS(source(*buffer, nonsense), Errc::unsupported, "EGL_BAD");
}

TEST_F(DmaImageTest, a_modifier_that_the_driver_does_not_know_is_refused) {
  const auto buffer = make_dma(4096);
  auto layout = layout_of(abgr8888, 4, {16, 8}, 0, 64);
  layout.modifier = (std::uint64_t{8} << 56) | 1;  // an arrangement of Arm
  EXPECT_FAILS(source(*buffer, layout), Errc::unsupported, "opengl: the driver");
}

TEST_F(DmaImageTest, a_descriptor_of_fewer_bytes_never_reaches_the_driver) {
  const auto buffer = DmaStandIn::create(1 << 16, 4096);
  const std::uint64_t before = gl::dma_image_imports();
  EXPECT_FAILS(source(*buffer, layout_of(r8, 1, {64, 8}, 0, 64)), Errc::invalid_argument,
               "4096 of 65536 bytes");
  EXPECT_EQ(gl::dma_image_imports(), before);
}

TEST_F(DmaImageTest, other_memory_is_refused) {
  for (const Memory memory : {Memory::mem, Memory::shm}) {
    const auto buffer = allocate(4096, memory).value();
    EXPECT_FAILS(source(*buffer, layout_of(r8, 1, {64, 8}, 0, 64)), Errc::unsupported,
                 "not a DMA-BUF");
  }
}

}  // namespace
}  // namespace halyard::test
#endif
