// SPDX-License-Identifier: Apache-2.0
// From the kernel's test camera to a network, without a copy by the CPU: OpenGL reads the driver's
// buffers and writes the network's input, which belongs to a delegate. Needs a Mesa that imports
// DMA-BUFs: tests/vm/gl.sh.
#ifdef HALYARD_HAVE_GL
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <poll.h>

#include <cstdlib>
#include <set>
#include <string>

#include "base/copy_count.h"
#include "capi/owned.h"
#include "gl/memory/dma_image.h"
#include "gl/worker.h"
#include "halyard/image.h"
#include "image/gl/gl_objects.h"
#include "support/value_of.h"
#include "test_paths.h"
#include "vm/camera_frames.h"

namespace halyard::vm {
namespace {

using image::gl_stats;
using test::Owned;
using test::value_of;

constexpr int frames = 30;

class GlCamera : public ::testing::Test, protected CameraFrames {
 protected:
  void SetUp() override {
    ::setenv("HALYARD_ALLOW_SOFTWARE_GL", "1", 1);
    worker_ = test::any_worker();
    HALYARD_NEEDS(worker_ != nullptr && worker_->capabilities().dma_buf_import,
                  "an OpenGL that imports DMA-BUFs");
  }
  void TearDown() override { ::unsetenv("HALYARD_ALLOW_SOFTWARE_GL"); }
  void open(bool multiplanar) {
    camera_ = Camera::open(multiplanar);
    HALYARD_NEEDS(camera_, "a vivid camera");
  }
  /// Converts a frame on OpenGL, from the driver's buffer into a DMA-BUF, and compares it with the
  /// CPU's.
  void expect_frame_as_on_the_cpu(const Tensor& frame) {
    Processor gl = value_of(Processor::create({.backend = ComputeBackend::opengl}));
    Processor cpu = value_of(Processor::create({.backend = ComputeBackend::cpu}));
    const Tensor by_gl =
        value_of(Tensor::create_image(128, 96, PixelFormat::rgb, DType::u8, Memory::dma));
    const Tensor by_cpu =
        value_of(Tensor::create_image(128, 96, PixelFormat::rgb, DType::u8, Memory::mem));
    const auto copies = gl_stats().copies;
    EXPECT_TRUE(gl.convert({.src = frame, .dst = by_gl, .fit = Fit::letterbox}));
    EXPECT_TRUE(cpu.convert({.src = frame, .dst = by_cpu, .fit = Fit::letterbox}));
    EXPECT_EQ(gl_stats().copies, copies);
    EXPECT_EQ(gl.fallback_count(), 0U);
    EXPECT_LE(difference(by_gl, by_cpu), 1);
  }
  static int difference(const Tensor& a, const Tensor& b) {
    const TensorMap left = value_of(a.map(Access::read)), right = value_of(b.map(Access::read));
    const MappedPlane &p = left.plane(0), &q = right.plane(0);
    int out = 0;
    for (std::size_t y = 0; y < p.rows; ++y)
      for (std::size_t x = 0; x < p.row_bytes; ++x)
        out = std::max(out, std::abs(static_cast<int>(p.data[y * p.stride_bytes + x]) -
                                     static_cast<int>(q.data[y * q.stride_bytes + x])));
    return out;
  }
  /// Frames of every format that the library knows, and that OpenGL reads.
  void expect_every_format() {
    std::set<std::string> seen;
    ASSERT_TRUE(camera_->show(Scene::squares)) << last_error();
    for (const std::uint32_t fourcc : camera_->formats()) {
      const auto layout = layout_from_v4l2(fourcc);
      if (!layout) continue;
      SCOPED_TRACE(fourcc_to_string(fourcc));
      ASSERT_NO_FATAL_FAILURE(prepare(fourcc));
      ASSERT_TRUE(camera_->start()) << last_error();
      const auto next = camera_->next();
      ASSERT_TRUE(next) << last_error();
      {
        const Tensor frame = value_of(import(*next));
        expect_frame_as_on_the_cpu(frame);
      }
      ASSERT_TRUE(camera_->stop()) << last_error();
      seen.insert(fourcc_to_string(fourcc));
    }
    EXPECT_THAT(seen, ::testing::IsSupersetOf({"YUYV", "NV12", "NV21", "NV16", "YU12", "GREY",
                                               "RGB3", "BGR3", "AB24", "AR24", "RGGB"}));
  }

  std::shared_ptr<gl::Worker> worker_;
};

TEST_F(GlCamera, opengl_reads_frames_of_every_format) {
  ASSERT_NO_FATAL_FAILURE(open(false));
  expect_every_format();
}

TEST_F(GlCamera, opengl_reads_frames_with_a_buffer_for_each_plane) {
  ASSERT_NO_FATAL_FAILURE(open(true));
  expect_every_format();
}

/// The delegate of npu_delegate.c, through the C interface.
class GlDelegate : public GlCamera {
 protected:
  static constexpr const char* path = HALYARD_BINARY_DIR "/tests/vm/libhalyard_test_npu.so";

  void SetUp() override {
    GlCamera::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    ASSERT_NO_FATAL_FAILURE(open(false));
    ASSERT_NO_FATAL_FAILURE(prepare(V4L2_PIX_FMT_NV12));
    library_ = hal_delegate_open(path);
    ASSERT_NE(library_, nullptr) << hal_last_error();
    delegate_ = hal_delegate_instance(library_);
    ASSERT_NE(delegate_, nullptr) << hal_last_error();
    ASSERT_EQ(hal_delegate_has_dmabuf(library_, delegate_), 1);
    input_.reset(hal_delegate_tensor(library_, delegate_, 0));
    output_.reset(hal_delegate_tensor(library_, delegate_, 1));
    ASSERT_TRUE(input_ && output_) << hal_last_error();
    void* const handle = ::dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    ASSERT_NE(handle, nullptr);
    run_ = reinterpret_cast<int (*)()>(::dlsym(handle, "npu_run"));
    ::dlclose(handle);  // the library above keeps it loaded
    ASSERT_NE(run_, nullptr);
    make_decoder();
    processor_.reset(hal_image_processor_new_with_backend(HAL_COMPUTE_BACKEND_OPENGL));
    ASSERT_TRUE(processor_) << hal_last_error();
  }
  void TearDown() override {
    input_.reset();
    output_.reset();
    hal_delegate_close(library_);
    GlCamera::TearDown();
  }
  void make_decoder() {
    const Owned<hal_decoder_params> params(hal_decoder_params_new());
    const std::size_t shape[] = {1, 7, 84};
    const HalDimName dims[] = {HAL_DIM_NAME_BATCH, HAL_DIM_NAME_NUM_FEATURES,
                               HAL_DIM_NAME_NUM_BOXES};
    const int index = hal_decoder_params_add_output(params, HAL_OUTPUT_TYPE_DETECTION,
                                                    HAL_DECODER_TYPE_ULTRALYTICS, shape, dims, 3);
    ASSERT_DONE(hal_decoder_params_output_set_normalized(params, index, 0));
    ASSERT_DONE(hal_decoder_params_set_decoder_version(params, HAL_DECODER_VERSION_YOLOV8));
    ASSERT_DONE(hal_decoder_params_set_input_dims(params, 64, 64));
    decoder_.reset(hal_decoder_new(params));
    ASSERT_TRUE(decoder_) << hal_last_error();
  }
  /// The driver's buffer as a C program imports it, with the camera's colours.
  test::Tensor import_frame(const CameraFrame& frame) {
    hal_plane_descriptor* const plane = hal_plane_descriptor_new(exported_[frame.index][0].get());
    EXPECT_DONE(hal_plane_descriptor_set_stride(plane, format_.planes[0].stride_bytes));
    EXPECT_DONE(hal_plane_descriptor_set_offset(plane, frame.offset_bytes[0]));
    return test::Tensor(hal_import_image(processor_, plane, nullptr, width, height,
                                         HAL_PIXEL_FORMAT_NV12, HAL_DTYPE_U8));
  }
  /// From the driver's buffer to boxes in pixels of the network's input.
  void infer(const hal_tensor* frame, test::Boxes& boxes) {
    hal_crop_27 crop = hal_crop_new_27();
    hal_crop_set_letterbox_27(&crop, 0, 0, 0, 255);
    int fence = -1;
    ASSERT_DONE(hal_image_processor_convert_after(processor_, -1, frame, input_, HAL_ROTATION_NONE,
                                                  HAL_FLIP_NONE, &crop, &fence));
    const Fd done(fence);
    EXPECT_EQ(static_cast<bool>(done), worker_->capabilities().native_fences);
    pollfd wait = {done.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&wait, done ? 1 : 0, done ? 10'000 : 0), done ? 1 : 0);
    ASSERT_DONE(hal_delegate_sync_for_device(library_, delegate_, 0));
    ASSERT_EQ(run_(), 0);
    ASSERT_DONE(hal_delegate_sync_for_cpu(library_, delegate_, 1));
    const hal_tensor* const outputs[] = {output_};
    ASSERT_DONE(hal_decoder_decode(decoder_, outputs, 1, boxes.out(), nullptr));
  }
  /// The camera fills 64 x 36 pixels of the input, in the middle, with one colour.
  void expect_box(const test::Boxes& boxes, std::size_t label) {
    ASSERT_EQ(hal_detect_box_list_len(boxes), 1U);
    hal_detect_box box;
    ASSERT_DONE(hal_detect_box_list_get(boxes, 0, &box));
    EXPECT_EQ(box.label, label);
    EXPECT_FLOAT_EQ(box.score, 0.9F);
    EXPECT_NEAR(box.xmin, 0, 0.01);
    EXPECT_NEAR(box.ymin, 14, 0.01);
    EXPECT_NEAR(box.xmax, 64, 0.01);
    EXPECT_NEAR(box.ymax, 50, 0.01);
  }

  hal_delegate_library* library_ = nullptr;
  hal_delegate_t delegate_ = nullptr;
  int (*run_)() = nullptr;
  Owned<hal_decoder> decoder_;
  test::Processor processor_;
  test::Tensor input_, output_;
};

TEST_F(GlDelegate, frames_become_boxes_without_a_copy) {
  const auto gl_before = gl_stats();
  const auto copies_before = counted_copies();
  const auto imports_before = gl::dma_image_imports();
  test::Tensor kept[buffers];
  ASSERT_TRUE(camera_->start()) << last_error();
  const Scene scenes[] = {Scene::red, Scene::green, Scene::blue};
  test::Boxes boxes;
  for (std::size_t label = 0; label < std::size(scenes); ++label) {
    ASSERT_TRUE(camera_->show(scenes[label])) << last_error();
    for (int i = 0; i < frames; ++i) {
      SCOPED_TRACE("class " + std::to_string(label) + ", frame " + std::to_string(i));
      const auto next = camera_->next();
      ASSERT_TRUE(next) << last_error();
      if (!kept[next->index]) kept[next->index] = import_frame(*next);
      ASSERT_TRUE(kept[next->index]) << hal_last_error();
      ASSERT_NO_FATAL_FAILURE(infer(kept[next->index], boxes));
      // Buffers that were filled before the change show the colour before.
      if (i >= static_cast<int>(buffers)) {
        ASSERT_NO_FATAL_FAILURE(expect_box(boxes, label));
      }
      ASSERT_TRUE(camera_->queue(next->index)) << last_error();
    }
  }
  ASSERT_TRUE(camera_->stop()) << last_error();
  EXPECT_EQ(counted_copies().bytes, copies_before.bytes);
  EXPECT_EQ(gl_stats().copies, gl_before.copies);
  EXPECT_EQ(gl_stats().dma_bufs - gl_before.dma_bufs, 2U * 3 * frames) << "both sides of each run";
  EXPECT_EQ(gl::dma_image_imports() - imports_before, 2 * buffers + 1)
      << "luma and chroma of each buffer of the camera, and the network's input";
}

}  // namespace
}  // namespace halyard::vm
#endif
