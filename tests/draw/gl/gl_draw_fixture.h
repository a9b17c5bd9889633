// SPDX-License-Identifier: Apache-2.0
// Images that OpenGL draws on, on any renderer and in every memory, beside the same drawn by the
// CPU.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <utility>

#include "draw/gl/gl_draw.h"
#include "draw/mask_images.h"
#include "gl/dma_memory.h"
#include "gl/worker.h"
#include "halyard/draw.h"
#include "support/result.h"

namespace halyard::test {

/// Bytes of two images, compared.
struct Difference {
  int largest = 0;
  std::size_t beyond = 0;  ///< bytes that differ by more than 2
};

inline Difference difference(const Planes& a, const Planes& b) {
  Difference out;
  EXPECT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].size(), b[i].size());
    for (std::size_t k = 0; k < a[i].size(); ++k) {
      const int distance = std::abs(int{a[i][k]} - int{b[i][k]});
      out.largest = std::max(out.largest, distance);
      out.beyond += distance > 2 ? 1 : 0;
    }
  }
  return out;
}

class GlDrawing : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("HALYARD_ALLOW_SOFTWARE_GL", "1", 1);
    worker_ = any_worker();
    if (worker_ == nullptr) GTEST_SKIP() << "no OpenGL ES on this machine";
    before_ = draw::gl_draw_stats();
  }
  void TearDown() override {
    for (const char* name :
         {"HALYARD_FORCE_TRANSFER", "HALYARD_FORCE_BACKEND", "HALYARD_OPENGL_RENDERSURFACE",
          "HALYARD_PROTO_COMPUTE", "HALYARD_DISABLE_GL", "HALYARD_ALLOW_SOFTWARE_GL"})
      ::unsetenv(name);
  }
  bool imports() const { return worker_->capabilities().dma_buf_import; }

  /// The same pixels in another memory.
  static Tensor in_memory(const Tensor& image, Memory memory) {
    const auto width = image.width(), height = image.height();
    const PixelFormat format = *image.format();
    Tensor out = memory == Memory::dma
                     ? make_dma_image(width, height, format)
                     : Tensor::create_image(width, height, format, DType::u8, memory).value();
    EXPECT_OK(copy(image, out));
    out.set_colorimetry(image.colorimetry());
    return out;
  }
  /// Images drawn by OpenGL since the last call, by transfer.
  draw::GlDrawStats take() {
    const draw::GlDrawStats now = draw::gl_draw_stats();
    const draw::GlDrawStats out{now.dma_bufs - before_.dma_bufs,
                                now.pixel_buffers - before_.pixel_buffers,
                                now.copies - before_.copies, now.computes - before_.computes};
    before_ = now;
    return out;
  }
  /// Calls draw(image, backend) for the CPU, and for OpenGL with each memory. The most bytes beyond
  /// 2 codes of all memories.
  template <class Draw>
  std::size_t bytes_beyond(const Tensor& image, const Draw& draw) {
    Tensor by_cpu = in_memory(image, Memory::mem);
    draw(by_cpu, ComputeBackend::cpu);
    const Planes want = planes_of(by_cpu);
    EXPECT_GT(differences(want, planes_of(image)), 0U) << "nothing is drawn";
    std::size_t out = 0;
    for (const Memory memory : {Memory::mem, Memory::pbo, Memory::dma}) {
      if (memory == Memory::dma && !imports()) continue;
      Tensor by_gl = in_memory(image, memory);
      take();
      draw(by_gl, ComputeBackend::opengl);
      const draw::GlDrawStats seen = take();
      seen_.copies += seen.copies;
      seen_.pixel_buffers += seen.pixel_buffers;
      seen_.dma_bufs += seen.dma_bufs;
      EXPECT_GT(seen.copies + seen.pixel_buffers + seen.dma_bufs, 0U) << "OpenGL draws nothing";
      const Difference found = difference(planes_of(by_gl), want);
      if (found.beyond != 0) tell(found, memory);
      out = std::max(out, found.beyond);
    }
    return out;
  }

  std::shared_ptr<gl::Worker> worker_;
  draw::GlDrawStats before_;
  draw::GlDrawStats seen_;  ///< by bytes_beyond()

 private:
  static void tell(const Difference& found, Memory memory) {
    std::cout << "  " << to_string(memory) << ": " << found.beyond
              << " bytes beyond 2 codes, up to " << found.largest << '\n';
  }
};

}  // namespace halyard::test
