// SPDX-License-Identifier: Apache-2.0
// The plugin of libcamera on the kernel's vimc. It runs in a boot of its own, with vimc; in others
// it is filtered out.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <thread>

#include "conformance/buffer_support.h"
#include "halyard/capture.h"
#include "support/descriptors.h"
#include "test_paths.h"
#include "vm/capture/capture_fixture.h"

namespace halyard::vm {
namespace {

using std::chrono::milliseconds;
using test::value_of;

class Libcamera : public CaptureFixture {
 protected:
  static constexpr char variable[] = "HALYARD_CAMERA_PLUGINS";
  void SetUp() override {
    const std::string file = std::string(HALYARD_BINARY_DIR) + "/plugins/cameras/libcamera.so";
    HALYARD_NEEDS(std::filesystem::exists(file), file);
    ::setenv(variable, file.c_str(), 1);
    const auto found = camera_info("libcamera:0");
    HALYARD_NEEDS(found, "a camera of libcamera");
    info_ = *found;
  }
  void TearDown() override { ::unsetenv(variable); }
  static CameraOptions vga(const std::string& fourcc = "RGB3") {
    CameraOptions options;
    options.fourcc = fourcc;
    options.width = 640;
    options.height = 480;
    return options;
  }
  // vimc shows colour bars.
  static std::set<std::vector<std::byte>> colors_of_middle_row(const Tensor& image) {
    const auto map = value_of(image.map(Access::read));
    const std::byte* const row = map.plane(0).data + 240 * map.plane(0).stride_bytes;
    std::set<std::vector<std::byte>> colors;
    for (std::size_t x = 40; x < 640; x += 80)
      colors.insert({row + 3 * x, row + 3 * x + 3});
    return colors;
  }
};

TEST_F(Libcamera, vimc_is_listed_with_its_formats_and_controls) {
  EXPECT_EQ(info_.path, "libcamera:platform/vimc.0 Sensor B");
  EXPECT_EQ(info_.driver, "libcamera");
  const auto has = [this](std::uint32_t fourcc) {
    return std::any_of(info_.formats.begin(), info_.formats.end(),
                       [fourcc](const CameraFormat& one) { return one.fourcc == fourcc; });
  };
  EXPECT_TRUE(has(V4L2_PIX_FMT_RGB24));
  EXPECT_TRUE(has(V4L2_PIX_FMT_BGR24));
  EXPECT_TRUE(info_.formats[0].sizes[0].contains(640, 480));
  ASSERT_EQ(info_.controls.size(), 3U);
  EXPECT_EQ(info_.controls[0].name, "brightness");
  EXPECT_EQ(info_.controls[0].minimum, -1000);
  const auto cameras = list_cameras();
  EXPECT_TRUE(std::any_of(cameras.begin(), cameras.end(),
                          [this](const CameraInfo& one) { return one.path == info_.path; }));
}

TEST_F(Libcamera, frames_are_its_buffers_without_a_copy) {
  Cam camera = value_of(Cam::open("libcamera:0", vga()));
  EXPECT_EQ(camera.mode().transfer, CameraTransfer::driver_buffers);
  const CopyStats before = copy_stats();
  std::set<std::string> memory;
  std::chrono::nanoseconds last{0};
  std::uint64_t sequence = 0;
  for (int n = 0; n < 12; ++n) {
    const auto frame = camera.next(patience);
    ASSERT_OK(frame);
    EXPECT_EQ(frame->image.memory(), Memory::dma);
    EXPECT_EQ(frame->image.size(), (Size{640, 480}));
    EXPECT_GT(frame->timestamp, last);
    EXPECT_TRUE(n == 0 || frame->sequence > sequence);
    last = frame->timestamp;
    sequence = frame->sequence;
    EXPECT_EQ(colors_of_middle_row(frame->image).size(), 8U) << "bars of eight colours";
  }
  const auto age = std::chrono::steady_clock::now().time_since_epoch() - last;
  EXPECT_LT(age, std::chrono::seconds(10)) << "its clock is the steady one";
  EXPECT_EQ(copy_stats().copies, before.copies);
  EXPECT_EQ(camera.stats().copies, 0U);
}

TEST_F(Libcamera, red_and_blue_are_where_the_format_has_them) {
  Cam camera = value_of(Cam::open(info_.path, vga()));
  const Tensor image = value_of(camera.next(patience)).image;
  ASSERT_EQ(image.format(), PixelFormat::rgb);
  const auto map = value_of(image.map(Access::read));
  const auto sample = [&map](std::size_t i) {
    return static_cast<int>(map.plane(0).data[3 * 120 + i]);  // the second bar is yellow
  };
  EXPECT_GT(sample(0), 128);
  EXPECT_GT(sample(1), 128);
  EXPECT_LT(sample(2), 128);
}

// This libcamera starts vimc in one of its formats only; `cam` of libcamera reports the same.
TEST_F(Libcamera, a_start_that_libcamera_refuses_is_an_error_with_its_reason) {
  const auto camera = Cam::open(info_.path, vga("BGR3"));
  if (!camera) {
    EXPECT_FAILS(camera, Errc::device, "Broken pipe");
  }
  EXPECT_OK(Cam::open(info_.path, vga())) << "the camera is free again";
}

TEST_F(Libcamera, what_it_does_not_offer_is_refused) {
  EXPECT_FAILS(Cam::open("libcamera:0", vga("NV12")), Errc::unsupported, "RGB3");
  EXPECT_FAILS(Cam::open("libcamera:7", vga()), Errc::not_found, "vimc.0 Sensor B");
  CameraOptions fast = vga();
  fast.rate = 30;
  EXPECT_FAILS(Cam::open("libcamera:0", fast), Errc::unsupported, "nobody can set it");
  const Cam camera = value_of(Cam::open("libcamera:0", vga()));
  EXPECT_FALSE(Cam::open("libcamera:0", vga()).has_value()) << "it runs already";
}

TEST_F(Libcamera, a_long_run_and_many_starts_leave_nothing_behind) {
  { const Cam warm = value_of(Cam::open("libcamera:0", vga())); }
  const std::size_t before = test::open_descriptors(), memory = dma_bufs();
  for (int round = 0; round < 6; ++round) {
    Tensor kept;
    {
      Cam camera = value_of(Cam::open("libcamera:0", vga()));
      for (int n = 0; n < (round == 0 ? 200 : 2); ++n)
        kept = value_of(camera.next(patience)).image;
      EXPECT_LE(test::open_descriptors(), before + 16);
    }
    EXPECT_EQ(colors_of_middle_row(kept).size(), 8U) << "an image outlives its camera";
  }
  EXPECT_EQ(test::open_descriptors(), before);
  EXPECT_EQ(dma_bufs(), memory);
}

TEST_F(Libcamera, a_wait_is_cancelled_and_controls_are_set) {
  Cam camera = value_of(Cam::open("libcamera:0", vga()));
  EXPECT_OK(camera.set_control("brightness", 500));
  EXPECT_EQ(value_of(camera.control("brightness")), 500);
  EXPECT_FAILS(camera.set_control("brightness", 2000), Errc::invalid_argument, "-1000 to 1000");
  std::vector<CameraFrame> held;
  while (held.size() < camera.mode().buffers)
    held.push_back(value_of(camera.next(patience)));
  EXPECT_FAILS(camera.next(milliseconds(300)), Errc::exhausted, "buffers");
  std::thread other([&camera] {
    std::this_thread::sleep_for(milliseconds(100));
    camera.cancel();
  });
  EXPECT_FAILS(camera.next(milliseconds(-1)), Errc::cancelled, "cancel()");
  other.join();
  held.clear();
  EXPECT_OK(camera.next(patience));
}

}  // namespace
}  // namespace halyard::vm
