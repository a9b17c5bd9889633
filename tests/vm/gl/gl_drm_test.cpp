// SPDX-License-Identifier: Apache-2.0
// OpenGL reads and writes memory of DRM drivers. Needs a Mesa that imports DMA-BUFs, and a boot
// with one of the drivers alone: tests/vm/gl.sh.
#ifdef HALYARD_HAVE_GL
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>

#include "gl/worker.h"
#include "halyard/image.h"
#include "halyard/import.h"
#include "image/gl/gl_objects.h"
#include "support/value_of.h"
#include "vm/drm_node.h"

namespace halyard::vm {
namespace {

using image::gl_stats;
using test::value_of;

constexpr std::uint32_t width = 64, height = 36;

class GlDrm : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    ::setenv("HALYARD_ALLOW_SOFTWARE_GL", "1", 1);
    node_ = DrmNode::open(GetParam());
    HALYARD_NEEDS(node_, std::string("the DRM driver ") + GetParam());
    worker_ = test::any_worker();
    HALYARD_NEEDS(worker_ != nullptr && worker_->capabilities().dma_buf_import,
                  "an OpenGL that imports DMA-BUFs");
  }
  void TearDown() override { ::unsetenv("HALYARD_ALLOW_SOFTWARE_GL"); }

  struct Frame {
    DumbBuffer dumb;
    NodeMapping theirs;
    Tensor image;
  };
  Frame make() {
    Frame out;
    const auto created = node_->create(width, height, 32);
    EXPECT_TRUE(created) << last_error();
    if (!created) return out;
    out.dumb = *created;
    out.theirs = node_->map(out.dumb);
    const Fd fd = node_->export_handle(out.dumb.handle);
    EXPECT_TRUE(fd) << last_error();
    const std::array<PlaneDescriptor, 1> planes{{{fd.get(), out.dumb.stride_bytes}}};
    out.image = value_of(importer_.import_image(planes, width, height, PixelFormat::bgra));
    return out;
  }

  std::optional<DrmNode> node_;
  std::shared_ptr<gl::Worker> worker_;
  Importer importer_;
};

TEST_P(GlDrm, the_drivers_memory_is_read_and_written_without_a_copy) {
  Frame from = make();
  Frame to = make();
  ASSERT_EQ(from.theirs.bytes().size(), from.dumb.size_bytes);
  ASSERT_EQ(to.theirs.bytes().size(), to.dumb.size_bytes);
  const auto at = [](const Frame& frame, std::size_t x, std::size_t y) {
    return frame.theirs.bytes().data() + y * frame.dumb.stride_bytes + 4 * x;
  };
  for (std::size_t i = 0; i < from.dumb.size_bytes; ++i)
    from.theirs.bytes()[i] = static_cast<std::byte>(i * 7 + i / 256);
  Processor gl = value_of(Processor::create({.backend = ComputeBackend::opengl}));
  const auto before = gl_stats();
  const auto placed = gl.convert({.src = from.image, .dst = to.image, .flip = Flip::horizontal});
  ASSERT_TRUE(placed) << placed.error().message();
  EXPECT_EQ(gl_stats().copies, before.copies);
  EXPECT_EQ(gl_stats().dma_bufs - before.dma_bufs, 2U);
  for (std::size_t y = 0; y < height; ++y)
    for (std::size_t x = 0; x < width; ++x)
      ASSERT_EQ(std::memcmp(at(to, x, y), at(from, width - 1 - x, y), 4), 0) << x << ", " << y;
}
INSTANTIATE_TEST_SUITE_P(drivers, GlDrm, ::testing::Values("vkms", "vgem"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace halyard::vm
#endif
