// SPDX-License-Identifier: Apache-2.0
// The engine v4l2.capture and a real driver: what the driver answers is what is agreed on, and the
// camera writes into the buffers that follow.
#include <array>
#include <filesystem>
#include <fstream>

#include "halyard/buffer_engine.h"
#include "halyard/negotiated_buffer.h"
#include "reconcile/agreed.h"
#include "support/result.h"
#include "vm/camera.h"

namespace halyard::vm {
namespace {

using test::value_of;

constexpr std::size_t negotiated_width = 320, negotiated_height = 180;

class CameraNegotiationTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    camera_ = Camera::open(GetParam());
    HALYARD_NEEDS(camera_, "a vivid camera of this kind");
  }

  static std::vector<EngineParty> parties(const std::string& node, PixelFormat format,
                                          std::size_t columns = negotiated_width) {
    AttributeList app("app"), gpu("gpu");
    EXPECT_TRUE(app.set_image(columns, negotiated_height));
    EXPECT_TRUE(app.accept(LayoutTag::image(format)));
    EXPECT_TRUE(app.set_cpu(CpuAccess::read));
    EXPECT_TRUE(gpu.set(Key::pitch_align, 256));
    auto engine = value_of(make_buffer_engine("v4l2.capture", R"({"device": ")" + node + R"("})"));
    return {{app, nullptr}, {gpu, nullptr}, {AttributeList("camera"), engine}};
  }

  std::optional<Camera> camera_;
};
INSTANTIATE_TEST_SUITE_P(Cameras, CameraNegotiationTest, ::testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "planes" : "whole");
});

TEST_P(CameraNegotiationTest, the_drivers_answer_is_the_pitch) {
  for (const PixelFormat format : {PixelFormat::nv12, PixelFormat::yuyv, PixelFormat::rgb}) {
    SCOPED_TRACE(to_string(format));
    const auto result = value_of(reconcile_engines(parties(camera_->node(), format)));
    const std::size_t stride = result.planes()[0].stride_bytes;
    EXPECT_EQ(stride % 256, 0U);
    const auto said = result.explain(Key::pitch_exact);
    ASSERT_EQ(said.size(), 1U);
    EXPECT_EQ(said[0].party, "camera");
    EXPECT_EQ(said[0].engine, "v4l2.capture");
    EXPECT_EQ(said[0].source, "TRY_FMT answer");
    // What the driver does when it is told.
    const auto answer = camera_->set_format(*v4l2_pixel_format({format}), negotiated_width,
                                            negotiated_height, stride);
    ASSERT_TRUE(answer) << last_error();
    ASSERT_EQ(answer->planes.size(), 1U);
    EXPECT_EQ(answer->planes[0].stride_bytes, stride);
    EXPECT_EQ(result.value(Key::size_min)->low, answer->planes[0].size_bytes);
    EXPECT_GE(result.allocated_bytes(), answer->planes[0].size_bytes);
  }
}

TEST_P(CameraNegotiationTest, its_memory_is_what_the_driver_takes) {
  const auto before = value_of(reconcile_engines(parties(camera_->node(), PixelFormat::nv12)));
  const std::uint64_t heaps = before.value(Key::heaps)->low;
  EXPECT_NE(heaps & bit(Heap::dmabuf_system), 0U);
  EXPECT_NE(heaps & bit(Heap::v4l2_mmap), 0U);
  EXPECT_EQ(heaps & bit(Heap::memfd), 0U);
  // Also while another program has the camera's buffers, whose format stays as it is.
  ASSERT_TRUE(camera_->set_format(*v4l2_pixel_format({PixelFormat::rgb}), negotiated_width,
                                  negotiated_height));
  ASSERT_TRUE(camera_->request(V4L2_MEMORY_MMAP, 3)) << last_error();
  for (unsigned i = 0; i < 3; ++i)
    ASSERT_TRUE(camera_->queue(i)) << last_error();
  ASSERT_TRUE(camera_->start()) << last_error();
  const auto during = value_of(reconcile_engines(parties(camera_->node(), PixelFormat::nv12)));
  EXPECT_EQ(during.planes()[0].stride_bytes, before.planes()[0].stride_bytes);
  EXPECT_TRUE(camera_->next()) << last_error();
  ASSERT_TRUE(camera_->stop()) << last_error();
  ASSERT_TRUE(camera_->request(V4L2_MEMORY_MMAP, 0)) << last_error();
}

TEST_P(CameraNegotiationTest, the_camera_writes_into_buffers_that_were_agreed_on) {
  const auto result = value_of(reconcile_engines(parties(camera_->node(), PixelFormat::rgb)));
  auto buffers = value_of(allocate_negotiated(result, {.count = 3}));
  const std::size_t stride = result.planes()[0].stride_bytes;
  ASSERT_TRUE(camera_->set_format(*v4l2_pixel_format({PixelFormat::rgb}), negotiated_width,
                                  negotiated_height, stride));
  ASSERT_TRUE(camera_->show(Scene::green)) << last_error();
  ASSERT_TRUE(camera_->request(V4L2_MEMORY_DMABUF, 3)) << last_error();
  for (unsigned i = 0; i < 3; ++i) {
    const std::array<int, 1> fd{buffers.at(i).buffer()->fd()};
    ASSERT_TRUE(camera_->queue(i, fd)) << last_error();
  }
  auto work = value_of(buffers.at(0).submit());
  ASSERT_TRUE(camera_->start()) << last_error();
  const auto frame = camera_->next();
  ASSERT_TRUE(frame) << last_error();
  work.finish();
  NegotiatedBuffer& written = buffers.at(frame->index);
  const auto image = value_of(written.image());
  EXPECT_EQ(image.row_stride_bytes(), stride);
  const auto lock = value_of(written.lock(Access::read, std::chrono::seconds(10)));
  std::size_t wrong = 0;
  for (std::size_t y = 0; y < negotiated_height; ++y)
    for (std::size_t x = 0; x < negotiated_width; ++x) {
      const std::byte* const at = lock.bytes().data() + y * stride + 3 * x;
      const bool is_green = at[0] < std::byte{8} && at[1] > std::byte{247} && at[2] < std::byte{8};
      if (!is_green) ++wrong;
    }
  EXPECT_EQ(wrong, 0U);
  ASSERT_TRUE(camera_->stop()) << last_error();
  ASSERT_TRUE(camera_->request(V4L2_MEMORY_DMABUF, 0)) << last_error();
}

TEST_P(CameraNegotiationTest, a_size_that_the_camera_has_not_is_told) {
  Conflict conflict;
  const auto result =
      reconcile_engines(parties(camera_->node(), PixelFormat::nv12, 322), {}, &conflict);
  EXPECT_FAILS(result, "not 322x180 NV12");
  EXPECT_FAILS(result, camera_->node());
}

TEST(CameraNegotiation, other_devices_are_refused_by_name) {
  const auto negotiated = [](const std::string& node) {
    AttributeList app("app");
    EXPECT_TRUE(app.set_image(negotiated_width, negotiated_height));
    EXPECT_TRUE(app.accept(LayoutTag::image(PixelFormat::nv12)));
    const auto engine = make_buffer_engine("v4l2.capture", R"({"device": ")" + node + R"("})");
    const EngineParty parties[] = {{app, nullptr}, {AttributeList("camera"), *engine}};
    return reconcile_engines(parties);
  };
  EXPECT_FAILS(negotiated("/dev/null"), "the device is not a V4L2 camera");
  std::string output;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/sys/class/video4linux", none)) {
    std::ifstream file(entry.path() / "name");
    std::string name;
    std::getline(file, name);
    if (name.ends_with("-vid-out")) output = "/dev/" + entry.path().filename().string();
  }
  HALYARD_NEEDS(!output.empty(), "an output device of vivid");
  EXPECT_FAILS(negotiated(output), "the device captures nothing");
}

}  // namespace
}  // namespace halyard::vm
