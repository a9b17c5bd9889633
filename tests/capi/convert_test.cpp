// SPDX-License-Identifier: Apache-2.0
// Conversion in C: crops of both generations, turns, fences, deferred requests, what is refused.
#include <dlfcn.h>
#include <sys/eventfd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "halyard/fd.h"
#include "owned.h"

namespace {

using namespace halyard::test;

// A processor, a grey source of four quadrants (10, 20 over 30, 40), and a destination.
struct CapiConvert : testing::Test {
  Processor processor{hal_image_processor_new()};
  Tensor src = make_image(8, 8, HAL_PIXEL_FORMAT_GREY);
  Tensor dst = make_image(8, 8, HAL_PIXEL_FORMAT_GREY);

  CapiConvert() {
    const Map map(hal_tensor_map_create(src));
    auto* const at = static_cast<std::uint8_t*>(hal_tensor_map_data(map));
    for (int i = 0; i < 64; ++i)
      at[i] = static_cast<std::uint8_t>(10 + (i % 8 / 4) * 10 + (i / 32) * 20);
    paint(dst, 99);
  }
  int convert(const hal_crop* crop, hal_rotation rotation = HAL_ROTATION_NONE,
              hal_flip flip = HAL_FLIP_NONE) {
    return halyard::test::convert(processor, src, dst, rotation, flip, crop);
  }
  // The quadrants of the destination, in reading order.
  std::array<int, 4> quadrants() const {
    return {byte_at(dst, 0), byte_at(dst, 7), byte_at(dst, 56), byte_at(dst, 63)};
  }
};

TEST_F(CapiConvert, flips_first_then_turns_clockwise) {
  struct Row {
    hal_rotation rotation;
    hal_flip flip;
    std::array<int, 4> shows;
  };
  const std::array rows{
      Row{HAL_ROTATION_NONE, HAL_FLIP_NONE, {10, 20, 30, 40}},
      Row{HAL_ROTATION_NONE, HAL_FLIP_VERTICAL, {30, 40, 10, 20}},
      Row{HAL_ROTATION_NONE, HAL_FLIP_HORIZONTAL, {20, 10, 40, 30}},
      Row{HAL_ROTATION_ROTATE90, HAL_FLIP_NONE, {30, 10, 40, 20}},
      Row{HAL_ROTATION_ROTATE180, HAL_FLIP_NONE, {40, 30, 20, 10}},
      Row{HAL_ROTATION_ROTATE270, HAL_FLIP_NONE, {20, 40, 10, 30}},
      Row{HAL_ROTATION_ROTATE90, HAL_FLIP_HORIZONTAL, {40, 20, 30, 10}},
      Row{HAL_ROTATION_ROTATE90, HAL_FLIP_VERTICAL, {10, 30, 20, 40}},
  };
  for (const Row& row : rows) {
    errno = 77;
    ASSERT_DONE(convert(nullptr, row.rotation, row.flip));
    EXPECT_EQ(errno, 77);
    EXPECT_EQ(quadrants(), row.shows) << row.rotation << ' ' << row.flip;
  }
}

TEST_F(CapiConvert, crops_places_and_pads_as_0_24) {
  hal_crop crop = hal_crop_new();
  const hal_rect right = hal_rect_new(4, 0, 4, 4);
  const hal_rect corner = hal_rect_new(0, 0, 4, 4);
  hal_crop_set_src_rect(&crop, &right);
  ASSERT_EQ(convert(&crop), 0);
  EXPECT_EQ(quadrants(), (std::array{20, 20, 20, 20}));
  hal_crop_set_dst_rect(&crop, &corner);
  paint(dst, 99);
  ASSERT_DONE(convert(&crop));
  EXPECT_EQ(quadrants(), (std::array{20, 99, 99, 99})) << "without a colour the rest stays";
  hal_crop_set_dst_color(&crop, 7, 7, 7, 255);
  ASSERT_EQ(convert(&crop), 0);
  EXPECT_EQ(quadrants(), (std::array{20, 7, 7, 7}));
  hal_crop_set_src_rect(&crop, nullptr);
  hal_crop_set_dst_rect(&crop, nullptr);
  ASSERT_EQ(convert(&crop), 0);
  EXPECT_EQ(quadrants(), (std::array{10, 20, 30, 40})) << "NULL clears";
  const hal_region top = hal_region_new(0, 0, 8, 4);
  hal_crop_set_source(&crop, &top);
  hal_crop_set_letterbox(&crop, 0, 0, 0, 255);
  ASSERT_EQ(convert(&crop), 0);
  EXPECT_EQ(quadrants(), (std::array{0, 0, 0, 0}));
  EXPECT_EQ(byte_at(dst, 2 * 8), 10) << "letterboxed in either generation";
}

TEST_F(CapiConvert, crops_and_pads_as_0_27) {
  hal_crop_27 crop = hal_crop_new_27();
  EXPECT_EQ(crop.pad[3], 255);
  const auto run = [&] {
    return hal_image_processor_convert_27(processor, src, dst, HAL_ROTATION_NONE, HAL_FLIP_NONE,
                                          &crop);
  };
  const hal_region top = hal_region_new(0, 0, 8, 4);
  hal_crop_set_source_27(&crop, &top);
  ASSERT_EQ(run(), 0);
  EXPECT_EQ(quadrants(), (std::array{10, 20, 10, 20})) << "stretched";
  hal_crop_set_letterbox_27(&crop, 50, 50, 50, 255);
  ASSERT_EQ(run(), 0);
  EXPECT_EQ(quadrants(), (std::array{50, 50, 50, 50}));
  EXPECT_EQ(byte_at(dst, 16), 10);
  crop.fit = 2;
  EXPECT_ERROR(-1, EINVAL, "fit", run());
  crop.fit = HAL_FIT_STRETCH;
  hal_crop_set_source_27(&crop, nullptr);
  ASSERT_EQ(run(), 0);
  EXPECT_EQ(quadrants(), (std::array{10, 20, 30, 40}));
}

TEST_F(CapiConvert, refuses_rectangles_that_are_none) {
  for (const hal_rect& wrong : {hal_rect{0, 0, 0, 4}, hal_rect{5, 0, 4, 4}, hal_rect{0, 9, 1, 1},
                                hal_rect{SIZE_MAX, 0, 2, 2}, hal_rect{0, 0, SIZE_MAX, SIZE_MAX}}) {
    hal_crop crop = hal_crop_new();
    hal_crop_set_src_rect(&crop, &wrong);
    EXPECT_ERRNO(-1, EINVAL, convert(&crop));
    crop = hal_crop_new();
    hal_crop_set_dst_rect(&crop, &wrong);
    EXPECT_ERRNO(-1, EINVAL, convert(&crop));
    hal_crop_set_dst_color(&crop, 1, 2, 3, 4);
    EXPECT_ERRNO(-1, EINVAL, convert(&crop));
  }
  EXPECT_EQ(quadrants(), (std::array{99, 99, 99, 99})) << "failing writes nothing";
}

TEST_F(CapiConvert, refuses_what_it_cannot_convert) {
  const Tensor flat = make_tensor(HAL_DTYPE_U8, {64});
  const Tensor wide = make_image(8, 8, HAL_PIXEL_FORMAT_GREY, HAL_DTYPE_U64);
  const auto run = [&](const hal_tensor* from, hal_tensor* to) {
    return halyard::test::convert(processor, from, to);
  };
  EXPECT_ERRNO(-1, EINVAL, run(flat, dst));
  EXPECT_ERRNO(-1, EINVAL, run(src, src)) << "its own source";
  EXPECT_ERRNO(-1, ENOTSUP, run(src, wide));
  EXPECT_ERRNO(-1, EINVAL, run(nullptr, dst));
  EXPECT_ERRNO(-1, EINVAL, run(src, nullptr));
  EXPECT_ERRNO(-1, EINVAL, run(reinterpret_cast<hal_tensor*>(processor.get()), dst));
  EXPECT_ERRNO(-1, EINVAL, convert(nullptr, static_cast<hal_rotation>(4)));
  EXPECT_ERRNO(-1, EINVAL, convert(nullptr, static_cast<hal_rotation>(-1)));
  EXPECT_ERRNO(-1, EINVAL, convert(nullptr, HAL_ROTATION_NONE, static_cast<hal_flip>(3)));
}

TEST_F(CapiConvert, has_nothing_to_wait_for) {
  int fence = 7;
  EXPECT_DONE(hal_image_processor_convert_fence(processor, src, dst, HAL_ROTATION_NONE,
                                                HAL_FLIP_NONE, nullptr, &fence));
  EXPECT_EQ(fence, -1);
  EXPECT_EQ(quadrants(), (std::array{10, 20, 30, 40}));
  EXPECT_ERRNO(-1, EINVAL,
               hal_image_processor_convert_fence_27(processor, src, dst, HAL_ROTATION_NONE,
                                                    HAL_FLIP_NONE, nullptr, nullptr));
}

TEST_F(CapiConvert, waits_for_a_fence_before_it_reads) {
  const halyard::Fd event(::eventfd(1, EFD_CLOEXEC));
  int fence = 7;
  EXPECT_DONE(hal_image_processor_convert_after(processor, event.get(), src, dst, HAL_ROTATION_NONE,
                                                HAL_FLIP_NONE, nullptr, &fence));
  EXPECT_EQ(fence, -1);
  EXPECT_EQ(quadrants(), (std::array{10, 20, 30, 40}));
  EXPECT_DONE(hal_image_processor_convert_after(processor, -1, src, dst, HAL_ROTATION_NONE,
                                                HAL_FLIP_NONE, nullptr, &fence));
  EXPECT_ERRNO(-1, EINVAL,
               hal_image_processor_convert_after(processor, 1 << 20, src, dst, HAL_ROTATION_NONE,
                                                 HAL_FLIP_NONE, nullptr, &fence));
  EXPECT_ERRNO(-1, EINVAL,
               hal_image_processor_convert_after(processor, -1, src, dst, HAL_ROTATION_NONE,
                                                 HAL_FLIP_NONE, nullptr, nullptr));
}

TEST_F(CapiConvert, keeps_deferred_requests_until_flushed) {
  ASSERT_DONE(hal_image_processor_convert_deferred(processor, src, dst, HAL_ROTATION_NONE,
                                                   HAL_FLIP_NONE, nullptr));
  const Tensor other = make_image(8, 8, HAL_PIXEL_FORMAT_GREY);
  ASSERT_DONE(hal_image_processor_convert_deferred_27(processor, src, other, HAL_ROTATION_ROTATE180,
                                                      HAL_FLIP_NONE, nullptr));
  src.reset();
  EXPECT_EQ(byte_at(dst, 0), 99);
  ASSERT_DONE(hal_image_processor_flush(processor));
  EXPECT_EQ(quadrants(), (std::array{10, 20, 30, 40})) << "the source's handle may go";
  EXPECT_EQ(byte_at(other, 0), 40);
  EXPECT_EQ(hal_image_processor_flush(processor), 0) << "nothing is left";
}

TEST_F(CapiConvert, explains_who_takes_a_request) {
  const Owned<char> text(
      hal_processor_explain(processor, src, dst, HAL_ROTATION_NONE, HAL_FLIP_NONE, nullptr));
  ASSERT_TRUE(text);
  EXPECT_NE(std::strstr(text, "cpu"), nullptr) << text.get();
  EXPECT_EQ(byte_at(dst, 0), 99) << "it converts nothing";
  const Owned<char> newer(
      hal_processor_explain_27(processor, src, dst, HAL_ROTATION_NONE, HAL_FLIP_NONE, nullptr));
  ASSERT_TRUE(newer);
  EXPECT_STREQ(newer, text);
}

TEST(CapiVersions, are_two_of_one_name) {
  const auto find = [](const char* name, const char* version) {
    return ::dlvsym(RTLD_DEFAULT, name, version);
  };
  for (const std::string name :
       {"hal_tensor_new_image", "hal_tensor_decode_image", "hal_tensor_decode_image_file",
        "hal_crop_new", "hal_crop_set_source", "hal_crop_set_letterbox",
        "hal_image_processor_convert", "hal_image_processor_convert_fence",
        "hal_image_processor_convert_deferred", "hal_processor_explain",
        "hal_image_processor_create_image", "hal_import_image"}) {
    void* const older = find(name.c_str(), "HAL_0.24");
    void* const newer = find(name.c_str(), "HAL_0.27");
    ASSERT_TRUE(older != nullptr && newer != nullptr) << name;
    EXPECT_NE(older, newer) << name;
    EXPECT_EQ(newer, find((name + "_27").c_str(), "HAL_0.27")) << name;
    EXPECT_EQ(older, ::dlsym(RTLD_DEFAULT, name.c_str())) << name << ": the default";
  }
}

TEST(CapiProcessor, is_made_for_backends_that_are_here) {
  EXPECT_TRUE(Processor(hal_image_processor_new_with_backend(HAL_COMPUTE_BACKEND_CPU)));
  EXPECT_TRUE(Processor(hal_image_processor_new_with_backend(HAL_COMPUTE_BACKEND_AUTO)));
  // Here or not, the answer is clear.
  for (const auto backend : {HAL_COMPUTE_BACKEND_G2D, HAL_COMPUTE_BACKEND_OPENGL}) {
    errno = 0;
    const Processor made(hal_image_processor_new_with_backend(backend));
    if (made) continue;
    EXPECT_EQ(errno, ENOTSUP);
    EXPECT_NE(std::string(hal_last_error()).find("backend: is not available"), std::string::npos)
        << hal_last_error();
  }
  EXPECT_ERRNO(nullptr, EINVAL,
               hal_image_processor_new_with_backend(static_cast<hal_compute_backend>(4)));
}

TEST_F(CapiConvert, runs_on_opengl_where_it_is_asked_for) {
  ::setenv("HALYARD_ALLOW_SOFTWARE_GL", "1", 1);
  const Processor opengl(hal_image_processor_new_with_backend(HAL_COMPUTE_BACKEND_OPENGL));
  ::unsetenv("HALYARD_ALLOW_SOFTWARE_GL");
  if (!opengl) GTEST_SKIP() << hal_last_error();
  const Owned<char> text(
      hal_processor_explain(opengl, src, dst, HAL_ROTATION_NONE, HAL_FLIP_NONE, nullptr));
  ASSERT_TRUE(text);
  EXPECT_EQ(std::strstr(text, "opengl: runs it"), text.get()) << text.get();
  ASSERT_DONE(
      halyard::test::convert(opengl, src, dst, HAL_ROTATION_ROTATE90, HAL_FLIP_NONE, nullptr));
  EXPECT_EQ(quadrants(), (std::array<int, 4>{30, 10, 40, 20}));
}

TEST(CapiProcessor, makes_images) {
  const Processor processor(hal_image_processor_new());
  const Tensor older(
      hal_image_processor_create_image(processor, 20, 10, HAL_PIXEL_FORMAT_RGB, HAL_DTYPE_U8));
  ASSERT_TRUE(older) << hal_last_error();
  EXPECT_EQ(byte_at(older, 599), 0) << "zero-filled";
  const Tensor newer(hal_image_processor_create_image_27(processor, 20, 10, HAL_PIXEL_FORMAT_RGB,
                                                         HAL_DTYPE_F32, HAL_CPU_ACCESS_READ));
  ASSERT_TRUE(newer);
  EXPECT_EQ(hal_tensor_dtype(newer), HAL_DTYPE_F32);
  EXPECT_ERRNO(
      nullptr, EINVAL,
      hal_image_processor_create_image(nullptr, 20, 10, HAL_PIXEL_FORMAT_RGB, HAL_DTYPE_U8));
  EXPECT_ERRNO(
      nullptr, EINVAL,
      hal_image_processor_create_image(processor, 0, 10, HAL_PIXEL_FORMAT_RGB, HAL_DTYPE_U8));
}

}  // namespace
