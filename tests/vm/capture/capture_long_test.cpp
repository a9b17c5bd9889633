// SPDX-License-Identifier: Apache-2.0
// Camera on the kernel's test cameras over time: injected failures, unplugging, and long runs.
#include <cstdio>
#include <cstdlib>

#include "conformance/buffer_support.h"
#include "halyard/image.h"
#include "vm/capture/capture_fixture.h"

namespace halyard::vm {
namespace {

using conformance::holdings;
using std::chrono::milliseconds;
using test::value_of;

class CaptureLongTest : public CaptureFixture {
 protected:
  static bool write_file(const std::string& path, const std::string& text) {
    std::ofstream file(path);
    file << text;
    file.flush();
    return file.good();
  }
  static bool unbind() { return write_file(driver() + "unbind", "vivid.0"); }
  static bool bind() { return write_file(driver() + "bind", "vivid.0"); }
  static std::string driver() { return "/sys/bus/platform/drivers/vivid/"; }
};

TEST_P(CaptureLongTest, damaged_frames_are_skipped_and_missing_ones_counted) {
  Cam camera = value_of(Cam::open(path(), small()));
  value_of(camera.next(patience));
  EXPECT_OK(camera.set_control("percentage_of_dropped_buffers", 50));
  std::uint64_t lost = 0;
  for (int n = 0; n < 30; ++n)
    lost += value_of(camera.next(patience)).lost;
  EXPECT_OK(camera.set_control("percentage_of_dropped_buffers", 0));
  EXPECT_GE(lost, 1U);
  EXPECT_EQ(camera.stats().lost, lost);
}

TEST_P(CaptureLongTest, a_failed_queue_is_an_error_and_is_opened_again_where_asked) {
  {
    Cam camera = value_of(Cam::open(path(), small()));
    value_of(camera.next(patience));
    EXPECT_OK(camera.set_control("inject_fatal_streaming_error", 1));
    auto frame = camera.next(patience);
    for (int n = 0; frame && n < 8; ++n)
      frame = camera.next(patience);
    EXPECT_FAILS(frame, Errc::device, "input or output error");
    if (!frame) {
      EXPECT_EQ(frame.error().os_errno, EIO);
    }
  }
  CameraOptions options = small();
  options.reopens = true;
  Cam camera = value_of(Cam::open(path(), options));
  value_of(camera.next(patience));
  EXPECT_OK(camera.set_control("inject_fatal_streaming_error", 1));
  for (int n = 0; n < 10; ++n)
    value_of(camera.next(patience));
  EXPECT_EQ(camera.stats().reopened, 1U);
}

// The driver goes away and comes back under other numbers.
TEST_P(CaptureLongTest, an_unplugged_camera_is_told_and_comes_back) {
  CameraOptions options = small();
  Tensor kept;
  {
    Cam camera = value_of(Cam::open(path(), options));
    kept = value_of(camera.next(patience)).image;
    const auto before = bytes_of(kept);
    ASSERT_TRUE(unbind());
    auto frame = camera.next(patience);
    for (int n = 0; frame && n < 8; ++n)
      frame = camera.next(patience);
    EXPECT_FAILS(frame, Errc::device, "unplugged");
    if (!frame) {
      EXPECT_EQ(frame.error().os_errno, ENODEV);
    }
    EXPECT_EQ(bytes_of(kept), before) << "the image outlives the device";
    EXPECT_FAILS(Cam::open(path(), options), Errc::not_found, path());
  }
  kept = Tensor();
  ASSERT_TRUE(bind());
  ASSERT_TRUE(find(GetParam()));
  options.reopens = true;
  Cam camera = value_of(Cam::open(find(GetParam())->path, options));
  value_of(camera.next(patience));
  ASSERT_TRUE(unbind());
  auto frame = camera.next(milliseconds(300));
  while (frame)
    frame = camera.next(milliseconds(300));
  EXPECT_FAILS(frame, Errc::timeout, "has not come back");
  ASSERT_TRUE(bind());
  EXPECT_OK(camera.next(patience));
  EXPECT_EQ(camera.stats().reopened, 1U);
}

TEST_P(CaptureLongTest, openings_leave_nothing_behind) {
  const std::size_t before = dma_bufs();
  std::optional<conformance::Holdings> held;
  for (int n = 0; n < 5; ++n) {
    {
      Cam camera = value_of(Cam::open(path(), small()));
      for (int k = 0; k < 3; ++k)
        bytes_of(value_of(camera.next(patience)).image);
    }
    if (!held) held = holdings();
    EXPECT_EQ(holdings(), *held);
    EXPECT_EQ(dma_bufs(), before);
  }
}

long resident_kib() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("VmRSS:")) return std::atol(line.c_str() + 6);
  return 0;
}

// 1080p30 into a network's input. HALYARD_TEST_CAMERA_SECONDS: how long; 5 seconds.
TEST_P(CaptureLongTest, a_long_run_stays_flat) {
  const char* const asked = std::getenv("HALYARD_TEST_CAMERA_SECONDS");
  const std::chrono::seconds length(asked != nullptr ? std::atoi(asked) : 5);
  Cam camera = value_of(Cam::open(path(), {.format = PixelFormat::nv12}));
  // OpenGL from cameras has tests of its own.
  auto processor = value_of(Processor::create({.backend = ComputeBackend::cpu}));
  auto input = value_of(Tensor::create_image(640, 640, PixelFormat::planar_rgb, DType::f32));
  const auto take = [&] {
    const CameraFrame frame = value_of(camera.next(patience));
    EXPECT_OK(processor.convert({.src = frame.image, .dst = input, .fit = Fit::letterbox}));
  };
  for (int n = 0; n < 20; ++n)
    take();
  const auto held = holdings();
  const std::size_t buffers = dma_bufs();
  const long resident = resident_kib();
  const CopyStats copied = copy_stats();
  const CameraStats first = camera.stats();
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < length)
    take();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const CameraStats last = camera.stats();
  const long growth = resident_kib() - resident;
  EXPECT_EQ(holdings(), held);
  EXPECT_EQ(dma_bufs(), buffers);
  EXPECT_LE(growth, 1024) << "KiB";
  EXPECT_EQ(copy_stats().copies, copied.copies);
  EXPECT_GT(last.frames, first.frames);
  std::printf(
      "camera: %zux%zu at %.2f, %.1f s: %llu frames (%.2f per second), %llu lost, %llu "
      "corrupt, %llu copies, memory %+ld KiB, %zu descriptors, %zu DMA-BUF lines\n",
      camera.mode().width, camera.mode().height, camera.mode().rate, took.count(),
      static_cast<unsigned long long>(last.frames - first.frames),
      static_cast<double>(last.frames - first.frames) / took.count(),
      static_cast<unsigned long long>(last.lost - first.lost),
      static_cast<unsigned long long>(last.corrupt - first.corrupt),
      static_cast<unsigned long long>(last.copies), growth, held.descriptors, buffers);
}

INSTANTIATE_TEST_SUITE_P(Vivid, CaptureLongTest, ::testing::Bool(), planes_name);

}  // namespace
}  // namespace halyard::vm
