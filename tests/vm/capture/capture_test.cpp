// SPDX-License-Identifier: Apache-2.0
// Camera on the kernel's test cameras: formats, memory of the driver and of the caller, controls,
// waits, refusals.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <set>

#include "halyard/buffer_engine.h"
#include "halyard/image.h"
#include "halyard/negotiated_buffer.h"
#include "halyard/pool.h"
#include "halyard/topic.h"
#include "reconcile/agreed.h"
#include "vm/capture/capture_fixture.h"

namespace halyard::vm {
namespace {

using std::chrono::milliseconds;
using test::value_of;

class CaptureTest : public CaptureFixture {
 protected:
  // A sample of the middle, 0..255, of a grey image or a place of a mosaic.
  static double level(const Tensor& image, std::size_t x, std::size_t y) {
    const auto map = value_of(image.map(Access::read));
    const std::byte* const row = map.plane(0).data + y * map.plane(0).stride_bytes;
    if (image.dtype() == DType::u8) return static_cast<double>(row[x]);
    std::uint16_t value = 0;
    std::memcpy(&value, row + 2 * x, 2);
    return value / 257.0;
  }

  void expect_green(const Tensor& image) {
    const ColorModel model = info(*image.format()).model;
    if (model == ColorModel::grey) {
      EXPECT_GT(level(image, 100, 100), 120) << "green is bright";
    } else if (model == ColorModel::bayer) {
      double sum = 0;
      for (const auto& [x, y] : {std::pair{100, 100}, {101, 100}, {100, 101}, {101, 101}})
        sum += level(image, static_cast<std::size_t>(x), static_cast<std::size_t>(y));
      EXPECT_NEAR(sum, 2 * 255, 24) << "two of four places are green";
    } else if (image.dtype() == DType::u8) {
      const auto map = value_of(image.map(Access::read));
      const Rgb got = colour_at(map, *image.format(), image.colorimetry(), 100, 100);
      EXPECT_TRUE(is_near(got, {0, 255, 0}, 6)) << got;
    }
  }

  static std::vector<Tensor> images_on(const char* heap, PixelFormat format) {
    std::vector<Tensor> images;
    for (int n = 0; n < 4; ++n) {
      const AllocateOptions options{Memory::dma, CpuAccess::read, "camera", {heap}};
      auto buffer = value_of(allocate(*image_bytes(format, DType::u8, width, height, 0), options));
      const std::array<Tensor::PlaneSource, 1> whole{{{std::move(buffer), 0, 0, 0}}};
      images.push_back(value_of(Tensor::wrap_image(whole, width, height, format)));
    }
    return images;
  }

  std::vector<std::byte> reference(const std::string& fourcc, std::string_view pattern) {
    Cam camera = value_of(Cam::open(path(), small(fourcc)));
    show(camera, pattern);
    return bytes_of(fresh(camera).image);
  }
};

TEST_P(CaptureTest, every_format_shows_the_pattern) {
  std::set<std::string> seen;
  for (const CameraFormat& format : info_.formats) {
    if (!format.is_readable()) continue;
    const std::string fourcc = fourcc_to_string(format.fourcc);
    SCOPED_TRACE(fourcc);
    const CopyStats before = copy_stats();
    Cam camera = value_of(Cam::open(path(), small(fourcc)));
    show(camera, "100% Green");
    const CameraFrame frame = fresh(camera);
    EXPECT_EQ(frame.image.width(), width);
    EXPECT_EQ(frame.image.format(), format.layout->format);
    EXPECT_EQ(frame.image.dtype(), format.layout->dtype);
    expect_green(frame.image);
    const bool is_narrow = format.sample_bits != 0;
    EXPECT_EQ(camera.mode().transfer,
              is_narrow ? CameraTransfer::expanded : CameraTransfer::driver_buffers);
    if (!is_narrow) {
      EXPECT_EQ(frame.image.memory(), Memory::dma);
      EXPECT_EQ(copy_stats().copies, before.copies);
    }
    seen.insert(fourcc);
  }
  EXPECT_THAT(seen, ::testing::IsSupersetOf({"YUYV", "UYVY", "NV12", "NV21", "NV16", "NV24", "YU12",
                                             "GREY", "Y10 ", "Y12 ", "Y16 ", "RGB3", "BGR3", "AB24",
                                             "AR24", "RGGB", "RG10", "RG12", "RG16"}));
  if (GetParam()) {
    EXPECT_THAT(seen, ::testing::IsSupersetOf({"NM12", "NM21", "NM16", "YM12"}));
  }
}

TEST_P(CaptureTest, without_wishes_the_camera_gives_1080_rows_of_a_colour_format) {
  Cam camera = value_of(Cam::open(path()));
  EXPECT_EQ(camera.mode().width, 1920U);
  EXPECT_EQ(camera.mode().height, 1080U);
  EXPECT_EQ(camera.mode().layout, (PixelLayout{PixelFormat::nv12}));
  EXPECT_NEAR(camera.mode().rate, 30, 0.1);
  EXPECT_OK(camera.next(patience));
}

TEST_P(CaptureTest, the_driver_writes_into_dma_heap_and_udmabuf_buffers_of_ours) {
  for (const PixelFormat format : {PixelFormat::nv12, PixelFormat::yuyv, PixelFormat::rgb}) {
    const std::string fourcc = fourcc_to_string(*v4l2_pixel_format({format}));
    const auto expected = reference(fourcc, "100% Color Squares");
    for (const char* heap : {"system", "udmabuf"}) {
      SCOPED_TRACE(fourcc + " on " + heap);
      const auto images = images_on(heap, format);
      const CopyStats before = copy_stats();
      Cam camera = value_of(Cam::open(path(), with_images(images)));
      EXPECT_EQ(camera.mode().transfer, CameraTransfer::caller_buffers);
      show(camera, "100% Color Squares");
      const CameraFrame frame = fresh(camera);
      const auto is_ours = [&](const Tensor& image) {
        return image.buffer()->id() == frame.image.buffer()->id();
      };
      EXPECT_TRUE(std::any_of(images.begin(), images.end(), is_ours));
      EXPECT_EQ(copy_stats().copies, before.copies);
      EXPECT_EQ(bytes_of(frame.image), expected);
    }
  }
}

TEST_P(CaptureTest, images_may_have_a_buffer_for_each_plane) {
  std::vector<Tensor> images;
  for (int n = 0; n < 3; ++n) {
    const std::array<Tensor::PlaneSource, 2> planes{
        {{value_of(allocate(width * height + 65536, Memory::dma)), 0, 0, 0},
         {value_of(allocate(width * height + 65536, Memory::dma)), 0, 0, 0}}};
    images.push_back(value_of(Tensor::wrap_image(planes, width, height, PixelFormat::nv12)));
  }
  if (!GetParam()) {
    EXPECT_FAILS(Cam::open(path(), with_images(images)), Errc::unsupported, "it offers");
    return;
  }
  const auto expected = reference("NM12", "100% Color Squares");
  Cam camera = value_of(Cam::open(path(), with_images(images)));
  show(camera, "100% Color Squares");
  const CameraFrame frame = fresh(camera);
  EXPECT_EQ(bytes_of(frame.image), expected);
}

TEST_P(CaptureTest, the_driver_writes_into_slots_of_a_pool) {
  const auto pool = value_of(TensorPool::create(4711, TensorPoolConfig::small()));
  for (const char* fourcc : {"NV12", "NM12", "YUYV", "RGB3"}) {
    if (std::string_view(fourcc) == "NM12" && !GetParam()) continue;
    SCOPED_TRACE(fourcc);
    const auto expected = reference(fourcc, "100% Color Squares");
    CameraOptions options = small(fourcc);
    options.pool = pool;
    const CopyStats before = copy_stats();
    {
      Cam camera = value_of(Cam::open(path(), options));
      EXPECT_EQ(camera.mode().transfer, CameraTransfer::caller_buffers);
      show(camera, "100% Color Squares");
      fresh(camera);
      std::vector<CameraFrame> kept;
      for (int n = 0; n < 8; ++n)
        kept.push_back(value_of(camera.next(patience)));
      for (const CameraFrame& frame : kept) {
        EXPECT_EQ(bytes_of(frame.image), expected);
        EXPECT_TRUE(TensorHandle::is_handle(frame.image));
      }
      EXPECT_EQ(pool->stats().allocated_slots, camera.mode().buffers + 8);
    }
    EXPECT_EQ(copy_stats().copies, before.copies);
    EXPECT_EQ(pool->stats().allocated_slots, 0U);
  }
}

// As a subscriber in another process does: it knows the slot by its descriptor alone.
TEST_P(CaptureTest, a_slot_that_a_topic_has_is_not_written_again) {
  const auto pool = value_of(TensorPool::create(4711, TensorPoolConfig::small()));
  CameraOptions options = small("NV12");
  options.pool = pool;
  Cam camera = value_of(Cam::open(path(), options));
  auto topic = value_of(Topic<Tensor>::create("camera.slots"));
  auto reader = value_of(Topic<Tensor>::create("camera.slots"));
  EXPECT_OK(camera.set_control("test_pattern", "100% Green"));
  fresh(camera);
  std::vector<std::byte> sent;
  const CopyStats before = copy_stats();
  {
    const CameraFrame frame = value_of(camera.next(patience));
    sent = bytes_of(frame.image);
    EXPECT_OK(topic.send(frame.image));
  }
  const auto received = reader.recv();
  ASSERT_TRUE(received);
  EXPECT_OK(camera.set_control("test_pattern", "100% Red"));
  for (int n = 0; n < 20; ++n)
    EXPECT_OK(camera.next(patience));
  EXPECT_EQ(bytes_of(*received), sent);
  EXPECT_EQ(copy_stats().copies, before.copies);
}

TEST_P(CaptureTest, the_driver_writes_into_a_reconciled_layout) {
  AttributeList app("app"), gpu("gpu");
  EXPECT_OK(app.set_image(width, height));
  EXPECT_OK(app.accept(LayoutTag::image(PixelFormat::nv12)));
  EXPECT_OK(app.set_cpu(CpuAccess::read));
  EXPECT_OK(gpu.set(Key::pitch_align, 256));
  const auto engine =
      value_of(make_buffer_engine("v4l2.capture", R"({"device": ")" + path() + R"("})"));
  const EngineParty parties[] = {{app, nullptr}, {gpu, nullptr}, {AttributeList("camera"), engine}};
  const auto result = value_of(reconcile_engines(parties));
  auto buffers = value_of(allocate_negotiated(result, {.count = 3}));
  std::vector<Tensor> images;
  for (const NegotiatedBuffer& buffer : buffers)
    images.push_back(value_of(buffer.image()));
  const auto expected = reference("NV12", "100% Color Squares");
  const CopyStats before = copy_stats();
  Cam camera = value_of(Cam::open(path(), with_images(images)));
  EXPECT_EQ(camera.mode().stride_bytes % 256, 0U);
  show(camera, "100% Color Squares");
  const CameraFrame frame = fresh(camera);
  EXPECT_EQ(bytes_of(frame.image), expected);
  EXPECT_EQ(copy_stats().copies, before.copies);
}

TEST_P(CaptureTest, from_the_driver_to_a_networks_input_nothing_is_copied) {
  Cam camera = value_of(Cam::open(path(), {.format = PixelFormat::nv12}));
  EXPECT_OK(camera.set_control("test_pattern", "100% Green"));
  EXPECT_OK(camera.set_control("osd_text_mode", "None"));
  // OpenGL from cameras has tests of its own.
  auto processor = value_of(Processor::create({.backend = ComputeBackend::cpu}));
  auto input = value_of(Tensor::create_image(640, 640, PixelFormat::planar_rgb, DType::f32));
  fresh(camera);
  const CopyStats before = copy_stats();
  for (int n = 0; n < 10; ++n) {
    const CameraFrame frame = value_of(camera.next(patience));
    EXPECT_OK(processor.convert({.src = frame.image, .dst = input, .fit = Fit::letterbox}));
  }
  EXPECT_EQ(copy_stats().copies, before.copies);
  EXPECT_EQ(copy_stats().bytes, before.bytes);
  EXPECT_EQ(camera.stats().copies, 0U);
  const auto map = value_of(input.map(Access::read));
  const auto values = value_of(map.view<const float, 3>());
  EXPECT_LT(values(0, 320, 320), 0.03F);
  EXPECT_GT(values(1, 320, 320), 0.97F);
  EXPECT_LT(values(2, 320, 320), 0.03F);
}

TEST_P(CaptureTest, controls_have_names_ranges_and_menus) {
  Cam camera = value_of(Cam::open(path(), small()));
  std::map<std::string, CameraControl> controls;
  for (CameraControl& control : value_of(camera.controls()))
    controls[control.name] = std::move(control);
  EXPECT_EQ(controls["brightness"].kind, CameraControlKind::integer);
  EXPECT_EQ(controls["brightness"].maximum, 255);
  EXPECT_EQ(controls["test_pattern"].kind, CameraControlKind::menu);
  EXPECT_GT(controls["test_pattern"].menu.size(), 10U);
  EXPECT_EQ(controls["button"].kind, CameraControlKind::button);
  for (const std::int64_t value : {0, 200, 255}) {
    EXPECT_OK(camera.set_control("brightness", value));
    EXPECT_EQ(value_of(camera.control("brightness")), value);
  }
  EXPECT_OK(camera.set_control("brightness", controls["brightness"].default_value));
  EXPECT_FAILS(camera.set_control("brightness", 256), Errc::invalid_argument, "0 to 255");
  EXPECT_FAILS(camera.set_control("test_pattern", "Mona Lisa"), Errc::invalid_argument, "Colorbar");
}

TEST_P(CaptureTest, waits_end_by_time_by_cancel_and_by_a_release) {
  Cam camera = value_of(Cam::open(path(), [this] {
    CameraOptions slow = small();
    slow.buffers = 2;
    return slow;
  }()));
  std::thread canceller([&] {
    std::this_thread::sleep_for(milliseconds(20));
    camera.cancel();
  });
  Result<CameraFrame> last = camera.next(patience);
  std::vector<CameraFrame> kept;
  while (last && kept.size() < camera.mode().buffers) {
    kept.push_back(*std::move(last));
    last = camera.next(milliseconds(-1));
  }
  canceller.join();
  EXPECT_FAILS(last, Errc::cancelled, "cancel()");
  while (kept.size() < camera.mode().buffers)
    kept.push_back(value_of(camera.next(patience)));
  EXPECT_FAILS(camera.next(milliseconds(100)), Errc::exhausted, "holds all buffers");
  std::thread releaser([&] { kept.pop_back(); });
  EXPECT_OK(camera.next(patience));
  releaser.join();
}

TEST_P(CaptureTest, the_newest_frame_is_the_one_that_is_given) {
  CameraOptions options = small();
  options.latest_only = true;
  Cam camera = value_of(Cam::open(path(), options));
  value_of(camera.next(patience));
  std::this_thread::sleep_for(milliseconds(400));
  const CameraFrame late = value_of(camera.next(patience));
  const auto age = std::chrono::steady_clock::now().time_since_epoch() - late.timestamp;
  EXPECT_GE(camera.stats().dropped, 1U);
  EXPECT_GT(age.count(), 0) << "both are CLOCK_MONOTONIC";
  const CameraFrame after = value_of(camera.next(patience));
  EXPECT_GT(after.timestamp, late.timestamp);
  EXPECT_EQ(after.sequence, late.sequence + 1 + after.lost);
}

TEST_P(CaptureTest, refusals_have_their_reasons) {
  const Cam first = value_of(Cam::open(path(), small()));
  EXPECT_FAILS(Cam::open(path(), small()), Errc::busy, "another program uses it");
  EXPECT_FAILS(Cam::open("/dev/null"), Errc::unsupported, "no V4L2 camera");
  EXPECT_FAILS(Cam::open("/dev/video99"), Errc::not_found, "/dev/video99");
  const pid_t child = ::fork();
  if (child == 0) {
    const bool is_nobody = ::setgid(65534) == 0 && ::setuid(65534) == 0;
    const auto refused = Cam::open(path());
    ::_exit(is_nobody && !refused && refused.error().code == Errc::permission ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_P(CaptureTest, sizes_and_rates_that_are_not_offered_are_told) {
  CameraOptions options = small("NV12");
  options.width = 322;
  EXPECT_FAILS(Cam::open(path(), options), Errc::unsupported, "320x180");
  options = small("NV12");
  options.rate = 777;
  EXPECT_FAILS(Cam::open(path(), options), Errc::unsupported, "777 at 320x180; it offers");
  EXPECT_FAILS(Cam::open(path(), small("HEVC")), Errc::unsupported, "it offers");
}

INSTANTIATE_TEST_SUITE_P(Vivid, CaptureTest, ::testing::Bool(), planes_name);

}  // namespace
}  // namespace halyard::vm
