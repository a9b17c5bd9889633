// SPDX-License-Identifier: Apache-2.0
// The kernel's test camera writes into memory that this library allocated: no copy anywhere.

#include "halyard/buffer.h"
#include "halyard/tensor.h"
#include "vm/camera.h"
#include "vm/camera_pixels.h"

namespace halyard::vm {
namespace {

constexpr std::size_t fill_width = 320, fill_height = 180;
constexpr unsigned count = 3;

using Frames = std::vector<Tensor>;

// Descriptors of an image for the driver: one per buffer.
std::vector<int> descriptors(const Tensor& image, std::size_t planes) {
  std::vector<int> fds;
  for (std::size_t p = 0; p < planes; ++p)
    fds.push_back(image.image_plane(p)->buffer->fd());
  return fds;
}

// All bytes of an image.
std::vector<std::byte> bytes_of(const Tensor& image) {
  std::vector<std::byte> all;
  const auto map = image.map(Access::read);
  EXPECT_TRUE(map) << map.error().message();
  for (std::size_t p = 0; map && p < map->plane_count(); ++p) {
    const MappedPlane& plane = map->plane(p);
    for (std::size_t row = 0; row < plane.rows; ++row) {
      const std::byte* data = plane.data + row * plane.stride_bytes;
      all.insert(all.end(), data, data + plane.row_bytes);
    }
  }
  return all;
}

Rgb middle(const Tensor& image) {
  const auto map = image.map(Access::read);
  EXPECT_TRUE(map) << map.error().message();
  return map ? colour_at(*map, *image.format(), image.colorimetry(), 100, 100) : Rgb{-1, -1, -1};
}

// Queues images and lets the camera fill them: two different frames, then a colour.
void expect_frames(Camera& camera, Frames& images, const CameraFormat& format) {
  const std::size_t planes = format.planes.size();
  const CopyStats copied = copy_stats();
  ASSERT_TRUE(camera.request(V4L2_MEMORY_DMABUF, count)) << last_error();
  for (unsigned i = 0; i < count; ++i) {
    images[i].set_colorimetry(colorimetry_from_v4l2(format.codes));
    ASSERT_TRUE(camera.queue(i, descriptors(images[i], planes))) << last_error();
  }
  ASSERT_TRUE(camera.start()) << last_error();
  const auto first = camera.next();
  const auto second = camera.next();
  ASSERT_TRUE(first && second) << last_error();
  EXPECT_EQ(copy_stats().bytes, copied.bytes);
  EXPECT_EQ(copy_stats().copies, copied.copies);
  ASSERT_NE(first->index, second->index);
  EXPECT_NE(bytes_of(images[first->index]), bytes_of(images[second->index])) << "the time is shown";
  ASSERT_TRUE(camera.show(Scene::red)) << last_error();
  ASSERT_TRUE(camera.queue(first->index, descriptors(images[first->index], planes)));
  ASSERT_TRUE(camera.queue(second->index, descriptors(images[second->index], planes)));
  // The third may have been under way when the colour changed.
  std::optional<CameraFrame> last;
  for (unsigned i = 0; i < count; ++i) {
    last = camera.next();
    ASSERT_TRUE(last) << last_error();
  }
  const Rgb got = middle(images[last->index]);
  EXPECT_TRUE(is_near(got, {255, 0, 0}, 4)) << got;
  ASSERT_TRUE(camera.stop()) << last_error();
}

class CameraFillTest : public ::testing::Test {
 protected:
  explicit CameraFillTest(bool multiplanar = false) : camera_(Camera::open(multiplanar)) {}
  void SetUp() override {
    HALYARD_NEEDS(camera_, "a vivid camera of this kind");
    const Status dma = memory_available(Memory::dma);
    HALYARD_NEEDS(dma, "a DMA-BUF heap");
    ASSERT_TRUE(camera_->show(Scene::squares)) << last_error();
  }
  CameraFormat format_as(const Tensor& image, std::size_t planes) {
    const auto fourcc = *v4l2_pixel_format({*image.format(), image.dtype()}, planes);
    const auto answer =
        camera_->set_format(fourcc, fill_width, fill_height, image.row_stride_bytes());
    EXPECT_TRUE(answer) << last_error();
    if (!answer) return {};
    EXPECT_EQ(answer->fourcc, fourcc);
    EXPECT_EQ(answer->planes[0].stride_bytes, image.row_stride_bytes());
    EXPECT_EQ(answer->planes.size(), planes);
    return *answer;
  }
  std::optional<Camera> camera_;
};

class CameraFillPlanesTest : public CameraFillTest {
 protected:
  CameraFillPlanesTest() : CameraFillTest(true) {}
};

TEST_F(CameraFillTest, images_in_dma_memory_are_what_the_camera_writes) {
  for (const PixelFormat format :
       {PixelFormat::nv12, PixelFormat::yuyv, PixelFormat::rgb, PixelFormat::bgra}) {
    SCOPED_TRACE(to_string(format));
    ASSERT_TRUE(camera_->show(Scene::squares)) << last_error();
    Frames images;
    for (unsigned i = 0; i < count; ++i)
      images.push_back(
          *Tensor::create_image(fill_width, fill_height, format, DType::u8, Memory::dma));
    expect_frames(*camera_, images, format_as(images[0], 1));
  }
}

TEST_F(CameraFillTest, every_kind_of_heap_serves) {
  for (const char* heap : {"system", "udmabuf"}) {
    SCOPED_TRACE(heap);
    ASSERT_TRUE(camera_->show(Scene::squares)) << last_error();
    AllocateOptions options{Memory::dma, CpuAccess::read, "camera", {heap}};
    Frames images;
    for (unsigned i = 0; i < count; ++i) {
      auto buffer =
          allocate(*image_bytes(PixelFormat::nv12, DType::u8, fill_width, fill_height, 0), options);
      HALYARD_NEEDS(buffer, heap);
      const std::array<Tensor::PlaneSource, 1> whole{{{*std::move(buffer), 0, 0, 0}}};
      images.push_back(*Tensor::wrap_image(whole, fill_width, fill_height, PixelFormat::nv12));
    }
    expect_frames(*camera_, images, format_as(images[0], 1));
  }
}

TEST_F(CameraFillPlanesTest, planes_may_have_buffers_of_their_own) {
  Frames images;
  for (unsigned i = 0; i < count; ++i) {
    const std::array<Tensor::PlaneSource, 2> planes{
        {{*allocate(fill_width * fill_height, Memory::dma), 0, 0, 0},
         {*allocate(fill_width * fill_height / 2, Memory::dma), 0, 0, 0}}};
    images.push_back(*Tensor::wrap_image(planes, fill_width, fill_height, PixelFormat::nv12));
  }
  expect_frames(*camera_, images, format_as(images[0], 2));
}

TEST_F(CameraFillTest, memory_that_is_no_dma_buf_is_refused_by_the_driver) {
  const auto image =
      *Tensor::create_image(fill_width, fill_height, PixelFormat::nv12, DType::u8, Memory::shm);
  format_as(image, 1);
  ASSERT_TRUE(camera_->request(V4L2_MEMORY_DMABUF, count)) << last_error();
  EXPECT_FALSE(camera_->queue(0, descriptors(image, 1)));
  EXPECT_TRUE(camera_->request(V4L2_MEMORY_DMABUF, 0)) << last_error();
}

}  // namespace
}  // namespace halyard::vm
