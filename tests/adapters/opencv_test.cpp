// SPDX-License-Identifier: Apache-2.0
// Tensors as cv::Mat and back: equal addresses, type codes, strides, owners, refusals.
#include <gtest/gtest.h>

#ifndef HALYARD_HAVE_OPENCV

TEST(OpenCv, is_here) {
  GTEST_SKIP() << "OpenCV's headers were not found (libopencv-core-dev)";
}

#else

#include <array>
#include <cstdint>
#include <opencv2/core.hpp>
#include <string>
#include <utility>
#include <vector>

#include "halyard/opencv.h"
#include "support/result.h"

namespace halyard {
namespace {

using F = PixelFormat;

const std::byte* address_of(const cv::Mat& mat) {
  return reinterpret_cast<const std::byte*>(mat.data);
}

Tensor image(PixelFormat format, std::size_t stride = 0) {
  return *Tensor::create_image(6, 4, format, {.memory = Memory::mem, .stride_bytes = stride});
}

TEST(OpenCv, sees_an_image_in_place_with_its_padding) {
  const auto before = copy_stats().copies;
  const Tensor tensor = image(F::rgb, 64);
  const auto map = *tensor.map(Access::read_write);
  cv::Mat mat = *mat_of(map);
  EXPECT_EQ(address_of(mat), map.data());
  EXPECT_EQ(mat.type(), CV_8UC3);
  EXPECT_EQ(mat.size(), cv::Size(6, 4));
  EXPECT_EQ(mat.step[0], 64U);
  mat.at<cv::Vec3b>(3, 5) = cv::Vec3b(1, 2, 3);
  EXPECT_EQ((*map.view<const std::uint8_t, 3>())(3, 5, 2), 3);
  EXPECT_EQ(cv::sum(mat), cv::Scalar(1, 2, 3));
  EXPECT_EQ(copy_stats().copies, before);
}

TEST(OpenCv, has_a_type_code_for_the_element_types_that_it_knows) {
  const std::pair<DType, int> expected[] = {{DType::u8, CV_8UC1},   {DType::i8, CV_8SC1},
                                            {DType::u16, CV_16UC1}, {DType::i16, CV_16SC1},
                                            {DType::i32, CV_32SC1}, {DType::f16, CV_16FC1},
                                            {DType::f32, CV_32FC1}, {DType::f64, CV_64FC1}};
  for (const auto& [dtype, type] : expected) {
    const auto tensor = *Tensor::create(dtype, {2, 3}, Memory::mem);
    const auto mat = mat_of(*tensor.map(Access::read));
    ASSERT_TRUE(mat) << to_string(dtype);
    EXPECT_EQ(mat->type(), type) << to_string(dtype);
    EXPECT_EQ(mat->size(), cv::Size(3, 2));
  }
  for (const DType dtype : {DType::u32, DType::u64, DType::i64, DType::bf16, DType::boolean}) {
    const auto tensor = *Tensor::create(dtype, {2, 3}, Memory::mem);
    EXPECT_FAILS(mat_of(*tensor.map(Access::read)), Errc::unsupported) << to_string(dtype);
  }
}

TEST(OpenCv, takes_a_part_of_an_image) {
  const Tensor tensor = image(F::rgba);
  const auto part = *tensor.slice({2, 1, 3, 2});
  const auto map = *part.map(Access::read);
  const auto mat = *mat_of(map);
  EXPECT_EQ(mat.type(), CV_8UC4);
  EXPECT_EQ(address_of(mat), tensor.map(Access::read)->data() + 24 + 8);
  EXPECT_EQ(mat.step[0], 24U);
}

TEST(OpenCv, takes_images_plane_by_plane) {
  const Tensor nv12 = image(F::nv12);
  const auto map = *nv12.map(Access::read);
  const auto luma = *mat_of_plane(map, 0);
  const auto chroma = *mat_of_plane(map, 1);
  EXPECT_EQ(luma.type(), CV_8UC1);
  EXPECT_EQ(luma.size(), cv::Size(6, 4));
  EXPECT_EQ(chroma.type(), CV_8UC2);
  EXPECT_EQ(chroma.size(), cv::Size(3, 2));
  EXPECT_EQ(address_of(chroma), map.plane(1).data);
  EXPECT_EQ(chroma.step[0], map.plane(1).stride_bytes);
  EXPECT_FAILS(mat_of_plane(map, 2), Errc::invalid_argument);
  const auto planar = *image(F::planar_rgb).map(Access::read);
  EXPECT_EQ(mat_of_plane(planar, 2)->type(), CV_8UC1);
  EXPECT_EQ(address_of(*mat_of_plane(planar, 2)), planar.plane(2).data);
  EXPECT_EQ(mat_of_plane(*image(F::yuyv).map(Access::read), 0)->type(), CV_8UC2);
}

TEST(OpenCv, refuses_tensors_that_no_mat_can_describe) {
  const auto flat = *Tensor::create(DType::u8, {12}, Memory::mem);
  EXPECT_FAILS(mat_of(*flat.map(Access::read)), Errc::invalid_argument);
  const auto planar = *image(F::planar_rgb).map(Access::read);
  EXPECT_FAILS(mat_of(planar), Errc::unsupported) << "its channels lie apart";
  const auto wide = *Tensor::create(DType::u8, {2, 2, 513}, Memory::mem);
  EXPECT_FAILS(mat_of(*wide.map(Access::read)), Errc::unsupported);
  const auto none = *Tensor::create(DType::u8, {2, 0}, Memory::mem);
  EXPECT_FAILS(mat_of(*none.map(Access::read)), Errc::unsupported);
  const auto buffer = *allocate(64, Memory::mem);
  const auto with_strides = [&buffer](std::ptrdiff_t row, std::ptrdiff_t column) {
    const Layout layout{
        .dtype = DType::i16, .rank = 2, .shape = {3, 4}, .stride_bytes = {row, column}};
    const auto tensor = *Tensor::wrap(buffer, layout, 32);
    return code_of(mat_of(*tensor.map(Access::read)));
  };
  EXPECT_EQ(with_strides(8, 2), Errc::ok);
  EXPECT_EQ(with_strides(8, 4), Errc::unsupported) << "pixels apart";
  EXPECT_EQ(with_strides(-8, 2), Errc::unsupported) << "bottom up";
  EXPECT_EQ(with_strides(4, 2), Errc::unsupported) << "rows overlap";
  EXPECT_EQ(with_strides(9, 2), Errc::unsupported) << "rows begin amid an element";
}

TEST(OpenCv, refuses_planes_in_several_places_as_one_mat) {
  const auto part = *image(F::nv12).slice({2, 2, 4, 2});
  const auto map = *part.map(Access::read);
  EXPECT_FAILS(mat_of(map), Errc::unsupported);
  EXPECT_TRUE(mat_of_plane(map, 1));
}

TEST(OpenCv, lends_a_mat_as_a_tensor_that_keeps_it_alive) {
  const auto before = copy_stats().copies;
  Tensor tensor;
  const std::byte* address = nullptr;
  {
    const cv::Mat mat(3, 5, CV_16UC3, cv::Scalar(1, 2, 3));
    address = address_of(mat);
    tensor = *wrap_mat(mat);
    EXPECT_EQ(mat.u->refcount, 2);
  }
  EXPECT_EQ(tensor.dtype(), DType::u16);
  EXPECT_EQ(std::vector(tensor.shape().begin(), tensor.shape().end()),
            (std::vector<std::size_t>{3, 5, 3}));
  const auto map = *tensor.map(Access::read_write);
  EXPECT_EQ(map.data(), address);
  const auto view = *map.view<std::uint16_t, 3>();
  EXPECT_EQ(view(2, 4, 2), 3);
  EXPECT_EQ(address_of(*mat_of(map)), address);
  EXPECT_EQ(copy_stats().copies, before);
}

TEST(OpenCv, lets_go_of_the_mat_with_the_last_tensor) {
  const cv::Mat mat(3, 5, CV_32FC1, cv::Scalar(7));
  {
    const Tensor tensor = *wrap_mat(mat);
    EXPECT_EQ(tensor.rank(), 2U);
    const Tensor copy = tensor;
    EXPECT_EQ(mat.u->refcount, 2);
  }
  EXPECT_EQ(mat.u->refcount, 1);
}

TEST(OpenCv, lends_parts_of_mats_and_mats_of_more_dimensions) {
  const cv::Mat whole(8, 8, CV_8UC3, cv::Scalar(0, 0, 0));
  const auto part = *wrap_mat(whole(cv::Rect(2, 3, 4, 5)));
  EXPECT_EQ(part.layout().stride_bytes[0], 24);
  EXPECT_EQ(part.map(Access::read)->data(), address_of(whole) + 3 * 24 + 6);
  EXPECT_EQ(part.as_image()->format(), F::rgb);
  const std::array<int, 3> sizes{2, 3, 4};
  const cv::Mat cube(3, sizes.data(), CV_64FC1);
  const auto tensor = *wrap_mat(cube);
  EXPECT_EQ(tensor.rank(), 3U);
  EXPECT_EQ(tensor.shape()[2], 4U);
  EXPECT_TRUE(tensor.layout().is_contiguous());
}

TEST(OpenCv, refuses_mats_that_no_tensor_can_describe) {
  EXPECT_FAILS(wrap_mat(cv::Mat()), Errc::invalid_argument);
  const std::array<int, 8> sizes{1, 1, 1, 1, 1, 1, 1, 2};
  EXPECT_TRUE(wrap_mat(cv::Mat(8, sizes.data(), CV_8UC1)));
  EXPECT_FAILS(wrap_mat(cv::Mat(8, sizes.data(), CV_8UC2)), Errc::unsupported);
}

}  // namespace
}  // namespace halyard

#endif
