// SPDX-License-Identifier: Apache-2.0
// The kernel's test camera and this library's memory: its buffers imported, and ours filled by it.
#include "vm/camera.h"

#include <gmock/gmock.h>

#include <map>
#include <set>

#include "halyard/buffer.h"
#include "halyard/tensor.h"
#include "ipc/helpers.h"
#include "vm/camera_frames.h"
#include "vm/camera_pixels.h"

namespace halyard::vm {
namespace {

using conformance::holdings;
using test::value_of;

constexpr std::size_t camera_width = CameraFrames::width, camera_height = CameraFrames::height;
constexpr std::size_t padded_bytes = 1536;
constexpr unsigned buffers = CameraFrames::buffers;

class CameraTest : public ::testing::TestWithParam<bool>, protected CameraFrames {
 protected:
  void SetUp() override {
    camera_ = Camera::open(GetParam());
    HALYARD_NEEDS(camera_, GetParam() ? "a vivid camera with buffers for each plane"
                                      : "a vivid camera with one buffer for all planes");
  }

  // One frame of the driver's, imported.
  void capture(Tensor& image, CameraFrame& frame) {
    ASSERT_TRUE(camera_->start()) << last_error();
    const auto next = camera_->next();
    ASSERT_TRUE(next) << last_error();
    frame = *next;
    image = value_of(import(frame));
  }

  void expect_drivers_bytes(const Tensor& image, const CameraFrame& frame) {
    std::vector<NodeMapping> memory;
    for (unsigned p = 0; p < format_.planes.size(); ++p) {
      memory.push_back(camera_->map_plane(frame.index, p));
      ASSERT_FALSE(memory.back().bytes().empty()) << last_error();
    }
    const auto map = value_of(image.map(Access::read));
    std::set<std::byte> values;
    for (std::size_t p = 0; p < map.plane_count(); ++p) {
      const MappedPlane& plane = map.plane(p);
      const DriverPlane theirs = driver_plane(format_, layout_.format, frame, memory, p);
      for (std::size_t row = 0; row < plane.rows; ++row) {
        const std::byte* ours = plane.data + row * plane.stride_bytes;
        const auto expected = theirs.bytes.subspan(row * theirs.stride_bytes, plane.row_bytes);
        ASSERT_EQ(std::memcmp(ours, expected.data(), plane.row_bytes), 0)
            << "plane " << p << ", row " << row;
        values.insert(expected.begin(), expected.end());
      }
    }
    EXPECT_GE(values.size(), 2U) << "something is shown";
  }

  // Bytes of the image by the library's count and by the driver's, whose rows are tight.
  void expect_drivers_size(const Tensor& image, const CameraFrame& frame) {
    std::size_t ours = 0, theirs = 0;
    for (std::size_t p = 0; p < image.plane_count(); ++p)
      ours += image.image_plane(p)->row_bytes * image.image_plane(p)->rows;
    for (std::size_t p = 0; p < format_.planes.size(); ++p)
      theirs += format_.planes[p].size_bytes - frame.offset_bytes[p];
    EXPECT_EQ(ours, theirs);
  }

  // Captures one frame and compares it with the driver's memory.
  void expect_frame(std::uint32_t fourcc, std::size_t stride) {
    ASSERT_NO_FATAL_FAILURE(prepare(fourcc, stride));
    ASSERT_TRUE(stride == 0 || format_.planes[0].stride_bytes == stride);
    Tensor image;
    CameraFrame frame;
    ASSERT_NO_FATAL_FAILURE(capture(image, frame));
    EXPECT_EQ(image.plane_count(), info(layout_.format).planes);
    EXPECT_EQ(image.memory(), Memory::dma);
    expect_drivers_bytes(image, frame);
    if (stride == 0) expect_drivers_size(image, frame);
    ASSERT_TRUE(camera_->stop()) << last_error();
  }

  // Captures a frame of one colour and reads it as the library understands the driver's codes.
  void expect_colour(std::uint32_t fourcc, const V4l2Colorimetry& codes, Scene scene,
                     const Rgb& expected) {
    ASSERT_TRUE(camera_->show(scene)) << last_error();
    ASSERT_NO_FATAL_FAILURE(prepare(fourcc, 0, codes));
    ASSERT_EQ(format_.codes, codes) << "what was asked is what the driver says";
    Tensor image;
    CameraFrame frame;
    ASSERT_NO_FATAL_FAILURE(capture(image, frame));
    {
      const auto map = value_of(image.map(Access::read));
      const Rgb got = colour_at(map, layout_.format, image.colorimetry(), 100, 100);
      EXPECT_TRUE(is_near(got, expected, 4)) << got << " is not " << expected;
    }
    ASSERT_TRUE(camera_->stop()) << last_error();
  }

  std::vector<std::uint32_t> known_formats() {
    std::vector<std::uint32_t> known;
    for (const std::uint32_t fourcc : camera_->formats())
      if (layout_from_v4l2(fourcc)) known.push_back(fourcc);
    return known;
  }

  std::uint32_t nv12() const { return GetParam() ? V4L2_PIX_FMT_NV12M : V4L2_PIX_FMT_NV12; }
};

TEST_P(CameraTest, frames_hold_the_drivers_pixels_in_every_format) {
  std::set<std::string> seen;
  for (const std::uint32_t fourcc : known_formats()) {
    SCOPED_TRACE(fourcc_to_string(fourcc));
    for (const auto& [stride, scene] : {std::pair{std::size_t{0}, Scene::squares},
                                        {std::size_t{0}, Scene::noise},
                                        {padded_bytes, Scene::squares},
                                        {padded_bytes, Scene::noise}}) {
      ASSERT_TRUE(camera_->show(scene)) << last_error();
      ASSERT_NO_FATAL_FAILURE(expect_frame(fourcc, stride));
    }
    seen.insert(fourcc_to_string(fourcc));
  }
  EXPECT_THAT(seen, ::testing::IsSupersetOf({"YUYV", "NV12", "NV21", "NV16", "NV24", "YU12", "GREY",
                                             "Y16 ", "RGB3", "BGR3", "AB24", "AR24", "RGGB"}));
  if (GetParam()) {
    EXPECT_THAT(seen, ::testing::IsSupersetOf({"NM12", "NM21", "NM16", "YM12"}));
  }
}

TEST_P(CameraTest, colours_are_those_that_the_camera_shows) {
  const std::vector<V4l2Colorimetry> meanings = {
      {V4L2_COLORSPACE_SRGB, 0, 0, 0},
      {V4L2_COLORSPACE_REC709, 0, 0, 0},
      {V4L2_COLORSPACE_SMPTE170M, 0, 0, V4L2_QUANTIZATION_FULL_RANGE},
      {V4L2_COLORSPACE_BT2020, 0, 0, 0},
      {V4L2_COLORSPACE_SRGB, 0, V4L2_YCBCR_ENC_709, V4L2_QUANTIZATION_LIM_RANGE},
      {V4L2_COLORSPACE_JPEG, 0, 0, 0}};
  int compared = 0;
  for (const std::uint32_t fourcc : known_formats()) {
    const PixelLayout layout = *layout_from_v4l2(fourcc);
    const ColorModel model = info(layout.format).model;
    if (layout.dtype != DType::u8 || (model != ColorModel::rgb && model != ColorModel::yuv))
      continue;
    for (const V4l2Colorimetry& codes : meanings) {
      if (model == ColorModel::rgb && codes != meanings[0]) continue;
      SCOPED_TRACE(fourcc_to_string(fourcc) + ", colour space " + std::to_string(codes.colorspace));
      ASSERT_NO_FATAL_FAILURE(expect_colour(fourcc, codes, Scene::red, {255, 0, 0}));
      ASSERT_NO_FATAL_FAILURE(expect_colour(fourcc, codes, Scene::green, {0, 255, 0}));
      ASSERT_NO_FATAL_FAILURE(expect_colour(fourcc, codes, Scene::blue, {0, 0, 255}));
      ++compared;
    }
  }
  EXPECT_GT(compared, 40);
}

TEST_P(CameraTest, frame_after_frame_the_same_buffers_come_back_and_nothing_is_left_behind) {
  ASSERT_NO_FATAL_FAILURE(prepare(nv12()));
  ASSERT_TRUE(camera_->start()) << last_error();
  std::map<unsigned, std::vector<Tensor>> held;
  std::optional<conformance::Holdings> before;
  for (int n = 0; n < 40; ++n) {
    const auto frame = camera_->next();
    ASSERT_TRUE(frame) << last_error();
    const auto image = value_of(import(*frame));
    { ASSERT_TRUE(image.map(Access::read)); }
    auto& first = held.try_emplace(frame->index, std::vector{image}).first->second.front();
    for (std::size_t p = 0; p < image.plane_count(); ++p) {
      EXPECT_EQ(image.image_plane(p)->buffer->id(), first.image_plane(p)->buffer->id());
    }
    ASSERT_TRUE(camera_->queue(frame->index)) << last_error();
    if (held.size() < buffers) continue;
    if (!before) before = holdings();
    EXPECT_EQ(holdings(), *before) << "frame " << n;
  }
  EXPECT_EQ(held.size(), buffers);
  EXPECT_EQ(importer_.size(), buffers * format_.planes.size());
  ASSERT_TRUE(camera_->stop()) << last_error();
  held.clear();
  EXPECT_EQ(importer_.size(), 0U);
  EXPECT_EQ(holdings().descriptors, before->descriptors - buffers * format_.planes.size())
      << "those that the importer had duplicated";
}

TEST_P(CameraTest, an_image_outlives_the_camera) {
  Tensor image;
  CameraFrame frame;
  ASSERT_TRUE(camera_->show(Scene::green)) << last_error();
  ASSERT_NO_FATAL_FAILURE(prepare(nv12()));
  ASSERT_NO_FATAL_FAILURE(capture(image, frame));
  ASSERT_TRUE(camera_->stop()) << last_error();
  exported_.clear();
  camera_.reset();
  const auto map = value_of(image.map(Access::read));
  const Rgb got = colour_at(map, PixelFormat::nv12, image.colorimetry(), 100, 100);
  EXPECT_TRUE(is_near(got, {0, 255, 0}, 4)) << got;
}

INSTANTIATE_TEST_SUITE_P(Vivid, CameraTest, ::testing::Bool(), [](const auto& each) {
  return each.param ? "buffers_for_each_plane" : "one_buffer_for_all_planes";
});

}  // namespace
}  // namespace halyard::vm
