// SPDX-License-Identifier: Apache-2.0
// Images of a processor on a machine without a heap of DMA-BUFs: the GPU's driver makes them.
#ifdef HALYARD_HAVE_GL
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "gl/worker.h"
#include "image/gl/gl_objects.h"
#include "image/images.h"
#include "support/result.h"

namespace halyard::test {
namespace {

using F = PixelFormat;

class GlNoHeap : public testing::Test {
 protected:
  void SetUp() override { ::setenv("HALYARD_ALLOW_SOFTWARE_GL", "1", 1); }
  void TearDown() override { ::unsetenv("HALYARD_ALLOW_SOFTWARE_GL"); }
};

// The variable is read once for each process.
void run_again_without_a_heap() {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command = "HALYARD_TENSOR_DMA_HEAP=none " + program +
                              " --gtest_filter=GlNoHeap.images_are_the_drivers 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

TEST_F(GlNoHeap, images_are_the_drivers) {
  if (memory_available(Memory::dma)) return run_again_without_a_heap();
  WORKER_OR_SKIP(worker);
  Processor gl = Processor::create({.backend = ComputeBackend::opengl}).value();
  const bool exports =
      worker->capabilities().dma_buf_export && worker->capabilities().dma_buf_import;
  Random random{4};
  for (const F format : {F::rgb, F::nv12, F::planar_rgb, F::grey}) {
    SCOPED_TRACE(to_string(format));
    ASSERT_VALUE(const Tensor dst, gl.create_image(40, 26, format, {.label = "exported"}));
    EXPECT_EQ(dst.memory(), exports ? Memory::dma : Memory::pbo);
    Convert c{.src = random_image(random, 50, 34, F::rgb), .dst = dst};
    const auto before = image::gl_stats();
    ASSERT_OK(gl.convert(c));
    EXPECT_EQ(image::gl_stats().dma_bufs - before.dma_bufs, exports ? 1U : 0U);
    Tensor by_gl = zero_image(40, 26, format);
    ASSERT_OK(copy(dst, by_gl));
    c.dst = zero_image(40, 26, format);
    ASSERT_OK(Processor::create({.backend = ComputeBackend::cpu}).value().convert(c));
    EXPECT_LE(greatest_difference(by_gl, c.dst), 1);
  }
  EXPECT_FAILS(gl.create_image(0, 26, F::rgb), Errc::invalid_argument);
  ASSERT_VALUE(const Tensor heap, gl.create_image(38, 26, F::rgb, {.memory = Memory::mem}));
  EXPECT_EQ(heap.memory(), Memory::mem);
}

}  // namespace
}  // namespace halyard::test
#endif
