// SPDX-License-Identifier: Apache-2.0
// Memory of DRM drivers as tensors, and tensors as frames of a display driver.
#include "vm/drm_node.h"

#include <gmock/gmock.h>

#include <array>
#include <vector>

#include "halyard/buffer.h"
#include "halyard/drm.h"
#include "halyard/import.h"
#include "halyard/tensor.h"
#include "ipc/helpers.h"

namespace halyard::vm {
namespace {

using conformance::holdings;
using test::value_of;

constexpr std::uint32_t node_width = 101, node_height = 37;

std::byte mark(std::size_t row, std::size_t column) {
  return static_cast<std::byte>(row * 13 + column * 3 + 1);
}

class DrmNodeTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    node_ = DrmNode::open(GetParam());
    HALYARD_NEEDS(node_, std::string("the DRM driver ") + GetParam());
  }

  // An image over a new buffer of the driver, with the driver's own mapping of it.
  void make() {
    const auto created = node_->create(node_width, node_height, 32);
    ASSERT_TRUE(created) << last_error();
    dumb = *created;
    theirs = node_->map(dumb);
    ASSERT_FALSE(theirs.bytes().empty()) << last_error();
    const Fd fd = node_->export_handle(dumb.handle);
    ASSERT_TRUE(fd) << last_error();
    const std::array<PlaneDescriptor, 1> planes{{{fd.get(), dumb.stride_bytes}}};
    image = value_of(importer_.import_image(planes, node_width, node_height, PixelFormat::bgra));
  }

  std::optional<DrmNode> node_;
  Importer importer_;
  Tensor image;
  NodeMapping theirs;
  DumbBuffer dumb;
};

TEST_P(DrmNodeTest, pixels_written_through_a_tensor_are_the_drivers) {
  ASSERT_NO_FATAL_FAILURE(make());
  EXPECT_EQ(image.memory(), Memory::dma);
  {
    const auto map = value_of(image.map(Access::write));
    const MappedPlane& plane = map.plane(0);
    EXPECT_EQ(plane.row_bytes, std::size_t{node_width} * 4);
    for (std::size_t row = 0; row < node_height; ++row) {
      for (std::size_t c = 0; c < plane.row_bytes; ++c)
        plane.writable[row * plane.stride_bytes + c] = mark(row, c);
    }
  }
  for (std::size_t row = 0; row < node_height; ++row) {
    for (std::size_t c = 0; c < std::size_t{node_width} * 4; ++c)
      ASSERT_EQ(theirs.bytes()[row * dumb.stride_bytes + c], mark(row, c)) << row << ' ' << c;
  }
}

TEST_P(DrmNodeTest, pixels_written_by_the_driver_are_the_tensors) {
  ASSERT_NO_FATAL_FAILURE(make());
  for (std::size_t row = 0; row < node_height; ++row) {
    for (std::size_t c = 0; c < std::size_t{node_width} * 4; ++c)
      theirs.bytes()[row * dumb.stride_bytes + c] = mark(row, c);
  }
  const auto map = value_of(image.map(Access::read));
  for (std::size_t row = 0; row < node_height; ++row) {
    for (std::size_t c = 0; c < std::size_t{node_width} * 4; ++c) {
      ASSERT_EQ(map.plane(0).data[row * map.plane(0).stride_bytes + c], mark(row, c))
          << row << ' ' << c;
    }
  }
}

TEST_P(DrmNodeTest, a_buffer_exported_again_is_the_same_one) {
  ASSERT_NO_FATAL_FAILURE(make());
  const auto before = holdings();
  for (int n = 0; n < 200; ++n) {
    const Fd again = node_->export_handle(dumb.handle);
    ASSERT_TRUE(again) << last_error();
    const auto buffer = value_of(importer_.import_buffer(again.get()));
    EXPECT_EQ(buffer->id(), image.buffer()->id());
  }
  EXPECT_EQ(holdings(), before);
  EXPECT_EQ(importer_.size(), 1U);
}

TEST_P(DrmNodeTest, our_memory_is_taken_and_comes_back_as_itself) {
  for (const char* heap : {"system", "udmabuf"}) {
    SCOPED_TRACE(heap);
    const auto buffer =
        allocate(65536, AllocateOptions{Memory::dma, CpuAccess::read_write, "drm", {heap}});
    HALYARD_NEEDS(buffer, std::string("the heap ") + heap);
    const auto handle = node_->import_fd((*buffer)->fd());
    ASSERT_TRUE(handle) << last_error();
    const Fd back = node_->export_handle(*handle);
    ASSERT_TRUE(back) << last_error();
    EXPECT_EQ(*back.identity(), *(*buffer)->identity());
    EXPECT_TRUE(node_->close(*handle)) << last_error();
  }
}

TEST_P(DrmNodeTest, memory_that_is_no_dma_buf_is_refused) {
  const auto buffer = *allocate(65536, Memory::shm);
  EXPECT_FALSE(node_->import_fd(buffer->fd()));
  EXPECT_EQ(errno, EINVAL);
}

INSTANTIATE_TEST_SUITE_P(Drivers, DrmNodeTest, ::testing::Values("vgem", "vkms"),
                         [](const auto& each) { return std::string(each.param); });

// Bytes of a DMA-BUF: whole pages, so more than the Buffer over it may show.
std::size_t size_of_object(int fd) {
  return static_cast<std::size_t>(::lseek(fd, 0, SEEK_END));
}

// A display driver refuses codes that it does not know, strides below a row of that format, and
// frames that end behind their buffer: what it takes is what we said.
class DisplayTest : public ::testing::Test {
 protected:
  void SetUp() override {
    node_ = DrmNode::open("vkms");
    HALYARD_NEEDS(node_, "the DRM driver vkms");
    // How many formats there are depends on the kernel.
    for (const std::uint32_t fourcc : node_->formats()) {
      const auto layout = layout_from_drm(fourcc);
      if (layout && drm_fourcc(*layout) == fourcc) layouts_.push_back(*layout);
    }
    ASSERT_THAT(layouts_, ::testing::Contains(PixelLayout{PixelFormat::bgra}));
  }

  // Our image as the driver wants it described; its memory must be handed over before.
  static drm::FrameBuffer frame_of(const Tensor& image, std::uint32_t handle) {
    drm::FrameBuffer frame{};
    frame.width = static_cast<std::uint32_t>(image.width());
    frame.height = static_cast<std::uint32_t>(image.height());
    frame.format = *drm_fourcc({*image.format(), image.dtype()});
    for (std::size_t p = 0; p < image.plane_count(); ++p) {
      const ImagePlane plane = *image.image_plane(p);
      frame.handles[p] = handle;
      frame.pitches[p] = static_cast<std::uint32_t>(plane.stride_bytes);
      frame.offsets[p] = static_cast<std::uint32_t>(plane.offset_bytes);
    }
    return frame;
  }

  // Shortens the rows of a plane to what is used, moves it to the end of the memory, and goes one
  // byte beyond each.
  void expect_limits(const Tensor& image, const drm::FrameBuffer& frame, std::size_t p) {
    const ImagePlane plane = *image.image_plane(p);
    drm::FrameBuffer narrow = frame;
    narrow.pitches[p] = static_cast<std::uint32_t>(plane.row_bytes);
    EXPECT_TRUE(node_->takes(narrow)) << "plane " << p << ": " << last_error();
    narrow.pitches[p] -= 1;
    EXPECT_FALSE(node_->takes(narrow)) << "plane " << p << ": a row does not fit";
    drm::FrameBuffer late = frame;
    const std::size_t used = (plane.rows - 1) * plane.stride_bytes + plane.row_bytes;
    late.offsets[p] = static_cast<std::uint32_t>(size_of_object(plane.buffer->fd()) - used);
    EXPECT_TRUE(node_->takes(late)) << "plane " << p << ": " << last_error();
    late.offsets[p] += 1;
    EXPECT_FALSE(node_->takes(late)) << "plane " << p << ": it ends behind its buffer";
  }

  std::optional<DrmNode> node_;
  std::vector<PixelLayout> layouts_;
};

TEST_F(DisplayTest, our_images_are_taken_as_frames_and_counted_as_we_count) {
  for (const auto& [format, dtype] : layouts_) {
    SCOPED_TRACE(std::string(to_string(format)) + " " + std::string(to_string(dtype)));
    const auto image = Tensor::create_image(320, 180, format, dtype, Memory::dma);
    HALYARD_NEEDS(image, "DMA-BUF memory");
    const auto handle = node_->import_fd(image->buffer()->fd());
    ASSERT_TRUE(handle) << last_error();
    const drm::FrameBuffer frame = frame_of(*image, *handle);
    EXPECT_TRUE(node_->takes(frame)) << last_error();
    for (std::size_t p = 0; p < image->plane_count(); ++p)
      expect_limits(*image, frame, p);
    EXPECT_TRUE(node_->close(*handle)) << last_error();
  }
}

}  // namespace
}  // namespace halyard::vm
