// SPDX-License-Identifier: Apache-2.0
// Messages that are made, moved and converted: all that takes memory from the default pool.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "halyard/depth_image.h"
#include "halyard/image_message.h"
#include "halyard/point_cloud.h"
#include "ipc/helpers.h"
#include "support/result.h"
#include "support/special_values.h"

namespace halyard {
namespace {

using namespace test;  // NOLINT: its helpers are what tests are written in

constexpr std::array<double, 16> identity = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};

// ---- images ----

TEST(ImageMakers, make_every_encoding) {
  for (const ImageEncodingInfo& row : all_encodings()) {
    SCOPED_TRACE(row.name);
    auto image = value_of(Image::create(33, 17, row.encoding));
    EXPECT_EQ(image.encoding(), row.encoding);
    EXPECT_EQ(image.width(), 33U);
    EXPECT_EQ(image.height(), 17U);
    EXPECT_EQ(image.tensor().format(), row.format);
    EXPECT_EQ(image.dtype(), row.dtype);
    EXPECT_EQ(image.frame_id(), "");
    std::vector<std::byte> bytes(image.nbytes(), std::byte{5});
    ASSERT_TRUE(image.copy_from(bytes));
    EXPECT_TRUE(Image::from_parts(image.tensor(), image.metadata()));
  }
}

TEST(ImageMakers, refuse_sizes_and_encodings) {
  EXPECT_FAILS(Image::create(0, 5, ImageEncoding::rgb8), Errc::invalid_argument);
  EXPECT_FAILS(Image::create(5, 0, ImageEncoding::rgb8), Errc::invalid_argument);
  EXPECT_FAILS(Image::create(65536, 1, ImageEncoding::rgb8), Errc::invalid_argument);
  EXPECT_FAILS(Image::create(SIZE_MAX, SIZE_MAX, ImageEncoding::rgb8), Errc::invalid_argument);
  EXPECT_FAILS(Image::create(4, 4, static_cast<ImageEncoding>(200)), Errc::invalid_argument);
  EXPECT_FAILS(Image::create_on(nullptr, 4, 4, ImageEncoding::rgb8, 11), Errc::invalid_argument);
  EXPECT_EQ(Image::create_on(nullptr, 4, 4, ImageEncoding::rgb8, 100)->step(), 100U);
}

// ---- point clouds ----

TEST(PointCloudMakers, make_clouds_of_numbers) {
  for (const DType dtype : {DType::i8, DType::u8, DType::i16, DType::u16, DType::i32, DType::u32,
                            DType::f32, DType::f64}) {
    for (std::size_t fields = 1; fields <= 16; ++fields) {
      const auto cloud = PointCloud::create(9, fields, dtype);
      ASSERT_TRUE(cloud) << cloud.error().message();
      EXPECT_EQ(cloud->point_count(), 9U);
      EXPECT_EQ(cloud->fields_per_point(), fields);
      EXPECT_EQ(cloud->point_step(), fields * size_of(dtype));
      EXPECT_EQ(cloud->dtype(), dtype);
      ASSERT_EQ(cloud->tensor().rank(), 2U);
      EXPECT_EQ(cloud->tensor().shape()[0], 9U);
      EXPECT_EQ(cloud->tensor().shape()[1], fields);
      EXPECT_TRUE(PointCloud::from_parts(cloud->tensor(), cloud->metadata()));
    }
  }
  EXPECT_TRUE(PointCloud::xyz(3)->is_xyz());
  EXPECT_TRUE(PointCloud::xyzi(3)->has_intensity());
  EXPECT_TRUE(PointCloud::xyzrgb(3)->has_color());
  EXPECT_FAILS(PointCloud::create(9, 0), Errc::invalid_argument);
  EXPECT_FAILS(PointCloud::create(9, 17), Errc::invalid_argument);
  EXPECT_FAILS(PointCloud::create(std::size_t{1} << 32, 3), Errc::invalid_argument);
  EXPECT_FAILS(PointCloud::create(SIZE_MAX, 3), Errc::invalid_argument);
  for (const DType dtype : {DType::f16, DType::bf16, DType::i64, DType::u64, DType::boolean})
    EXPECT_EQ(code_of(PointCloud::create(9, 3, dtype)), Errc::invalid_argument);
}

TEST(PointCloudMakers, copy_points_in) {
  const std::array<std::array<float, 3>, 2> xyz = {{{1, 2, 3}, {4, 5, 6}}};
  const PointCloud points = *PointCloud::from_xyz(xyz);
  EXPECT_EQ(*points.extract_xyz(), std::vector(xyz.begin(), xyz.end()));
  const std::array<std::array<float, 4>, 2> xyzi = {{{1, 2, 3, 0.5F}, {4, 5, 6, 0.25F}}};
  const PointCloud bright = *PointCloud::from_xyzi(xyzi);
  EXPECT_EQ((*bright.field<const float>("intensity"))(1), 0.25F);
  const std::array<std::array<float, 6>, 1> xyzrgb = {{{1, 2, 3, 0.1F, 0.2F, 0.3F}}};
  const PointCloud colored = *PointCloud::from_xyzrgb(xyzrgb);
  EXPECT_EQ((*colored.field<const float>("b"))(0), 0.3F);
  EXPECT_EQ(*colored.extract_xyz(), (std::vector{std::array{1.0F, 2.0F, 3.0F}}));
  const auto nothing = value_of(PointCloud::from_xyz({}));
  EXPECT_EQ(nothing.point_count(), 0U);
  EXPECT_EQ(nothing.nbytes(), 0U);
}

TEST(PointCloudMakers, make_clouds_of_any_fields) {
  const PointField fields[] = {*PointField::create("x", 0, PointDatatype::float32),
                               *PointField::create("y", 4, PointDatatype::float32),
                               *PointField::create("z", 8, PointDatatype::float32),
                               *PointField::create("ring", 16, PointDatatype::uint16),
                               *PointField::create("t", 24, PointDatatype::float64)};
  const auto tight = value_of(PointCloud::create_fields(7, 1, fields));
  EXPECT_EQ(tight.point_step(), 32U);
  EXPECT_EQ(tight.dtype(), DType::u8);
  EXPECT_EQ(tight.tensor().rank(), 2U);
  const auto organized = value_of(PointCloud::create_fields(7, 3, fields, 48));
  EXPECT_TRUE(organized.is_organized());
  EXPECT_EQ(organized.row_step(), 336U);
  EXPECT_EQ(organized.tensor().rank(), 3U);
  (*organized.field_rows<double>("t"))(2, 6) = 1.5;
  EXPECT_EQ((*organized.field<const double>("t"))(20), 1.5);
  EXPECT_TRUE(PointCloud::from_parts(organized.tensor(), organized.metadata()));
  EXPECT_EQ(PointCloud::create_fields(7, 3, std::span(fields).first(3))->dtype(), DType::f32);
  EXPECT_FAILS(PointCloud::create_fields(7, 1, fields, 31), Errc::invalid_argument);
  EXPECT_FAILS(PointCloud::create_fields(7, 0, fields), Errc::invalid_argument);
  EXPECT_FAILS(PointCloud::create_fields(7, 1, {}), Errc::invalid_argument);
  EXPECT_FAILS(PointCloud::create_fields(UINT32_MAX, UINT32_MAX, fields), Errc::invalid_argument);
  const PointField twice[] = {fields[0], fields[0]};
  EXPECT_FAILS(PointCloud::create_fields(7, 1, twice), Errc::invalid_argument);
  const PointField unnamed[] = {PointField{}};
  EXPECT_FAILS(PointCloud::create_fields(7, 1, unnamed), Errc::invalid_argument);
  const std::vector<PointField> many(17, fields[0]);
  EXPECT_FAILS(PointCloud::create_fields(7, 1, many), Errc::invalid_argument);
}

TEST(PointCloudTransform, moves_coordinates_and_keeps_the_rest) {
  std::mt19937 random(41);
  std::uniform_real_distribution<float> numbers(-10, 10);
  for (int round = 0; round < 40; ++round) {
    std::vector<std::array<float, 4>> points(1 + random() % 65);
    for (auto& point : points) {
      for (float& number : point)
        number = numbers(random);
    }
    std::array<double, 16> matrix = identity;
    for (std::size_t i = 0; i < 12; ++i)
      matrix[i] = numbers(random);
    PointCloud cloud = *PointCloud::from_xyzi(points);
    cloud.set_timestamp_ns(8);
    cloud.set_is_dense(false);
    ASSERT_TRUE(cloud.set_frame_id("lidar"));
    const auto moved = value_of(cloud.transform(matrix));
    EXPECT_EQ(moved.timestamp_ns(), 8U);
    EXPECT_EQ(moved.frame_id(), "lidar");
    EXPECT_FALSE(moved.is_dense());
    const auto xyz = *moved.extract_xyz();
    for (std::size_t i = 0; i < points.size(); ++i) {
      const auto& p = points[i];
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const double expected = matrix[4 * axis] * static_cast<double>(p[0]) +
                                matrix[4 * axis + 1] * static_cast<double>(p[1]) +
                                matrix[4 * axis + 2] * static_cast<double>(p[2]) +
                                matrix[4 * axis + 3];
        EXPECT_FLOAT_EQ(xyz[i][axis], static_cast<float>(expected));
      }
      EXPECT_EQ((*moved.field<const float>("intensity"))(i), p[3]);
    }
    EXPECT_EQ((*cloud.extract_xyz())[0][0], points[0][0]);
  }
}

TEST(PointCloudTransform, takes_doubles_gaps_and_no_points) {
  const PointField fields[] = {*PointField::create("x", 4, PointDatatype::float64),
                               *PointField::create("y", 12, PointDatatype::float64),
                               *PointField::create("z", 20, PointDatatype::float32)};
  const PointCloud cloud = *PointCloud::create_fields(3, 2, fields, 40);
  std::array<double, 16> matrix = identity;
  matrix[3] = 1e9;
  const auto bytes = *PointCloud(cloud).data_mut();
  std::fill(bytes.begin(), bytes.end(), std::byte{0});
  const auto moved = value_of(cloud.transform(matrix));
  EXPECT_EQ(moved.point_step(), 40U);
  double x = 0;
  std::memcpy(&x, moved.point_at(5)->data() + 4, sizeof x);
  EXPECT_EQ(x, 1e9);
  EXPECT_EQ(PointCloud::xyz(0)->transform(matrix)->point_count(), 0U);
}

TEST(PointCloudTransform, refuses_what_is_no_motion) {
  const PointCloud cloud = *PointCloud::xyz(2);
  std::array<double, 16> matrix = identity;
  matrix[15] = 2;
  EXPECT_FAILS(cloud.transform(matrix), Errc::invalid_argument);
  matrix = identity;
  matrix[12] = 1;
  EXPECT_FAILS(cloud.transform(matrix), Errc::invalid_argument);
  matrix = identity;
  matrix[7] = std::numeric_limits<double>::infinity();
  EXPECT_FAILS(cloud.transform(matrix), Errc::invalid_argument);
  EXPECT_FAILS(PointCloud::create(2, 2)->transform(identity), Errc::invalid_argument);
  EXPECT_FAILS(PointCloud::create(2, 3, DType::i32)->transform(identity), Errc::invalid_argument);
}

// ---- depth images ----

TEST(DepthImageMakers, make_metres_and_millimetres) {
  const auto meters = value_of(DepthImage::meters(6, 4));
  EXPECT_EQ(meters.width(), 6U);
  EXPECT_EQ(meters.height(), 4U);
  EXPECT_EQ(meters.tensor().shape()[0], 4U);
  EXPECT_TRUE(meters.is_meters());
  EXPECT_TRUE(DepthImage::millimeters(6, 4)->is_millimeters());
  EXPECT_TRUE(DepthImage::from_parts(meters.tensor(), meters.metadata()));
  for (const DType dtype : {DType::u8, DType::i16, DType::f16, DType::f64, DType::u32}) {
    EXPECT_FAILS(DepthImage::create(6, 4, dtype), Errc::invalid_argument, "dtype");
  }
  EXPECT_FAILS(DepthImage::meters(0, 4), Errc::invalid_argument);
  EXPECT_FAILS(DepthImage::meters(4, 65536), Errc::invalid_argument);
}

DepthImage some_depths(std::size_t width, std::size_t height, DType dtype, std::mt19937& random) {
  DepthImage image = *DepthImage::create(width, height, dtype);
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      const float depth =
          random() % 5 == 0 ? 0 : 0.001F + static_cast<float>(random() % 80000) / 1000;
      EXPECT_TRUE(image.set_depth(x, y, dtype == DType::u16 ? std::min(depth, 65.0F) : depth));
    }
  }
  if (dtype == DType::f32) must(image.set_depth(0, 0, nan));
  return image;
}

bool counts(const DepthImage& image, float depth) {
  return depth > 0 && depth >= image.min_depth() && depth <= image.max_depth();
}

TEST(DepthConversion, goes_both_ways_and_rounds) {
  std::mt19937 random(42);
  for (int round = 0; round < 60; ++round) {
    const DType dtype = round % 2 == 0 ? DType::u16 : DType::f32;
    DepthImage image = some_depths(1 + random() % 65, 1 + random() % 30, dtype, random);
    if (round % 3 == 1) must(image.set_depth_range(2, 40));
    if (round % 4 == 1) must(image.set_depth_scale(0.5F));
    image.set_timestamp_ns(6);
    ASSERT_TRUE(image.set_frame_id("d"));
    const auto meters = image.to_meters();
    const auto units = image.to_millimeters();
    ASSERT_TRUE(meters && units);
    EXPECT_TRUE(meters->is_meters());
    EXPECT_TRUE(units->is_millimeters());
    EXPECT_EQ(meters->max_depth(), image.max_depth());
    EXPECT_EQ(units->depth_scale(), image.depth_scale());
    EXPECT_EQ(units->timestamp_ns(), 6U);
    EXPECT_EQ(meters->frame_id(), "d");
    for (std::size_t y = 0; y < image.height(); ++y) {
      for (std::size_t x = 0; x < image.width(); ++x) {
        const float depth = *image.get_depth(x, y);
        const float found = *meters->get_depth(x, y);
        const int unit = *units->get_depth_u16(x, y);
        if (!counts(image, depth)) {
          EXPECT_TRUE(std::isnan(found));
          EXPECT_EQ(unit, 0);
          continue;
        }
        EXPECT_EQ(found, depth);
        const double exact = static_cast<double>(depth) * 1000 / image.depth_scale();
        if (exact > 65535.5) {
          EXPECT_EQ(unit, 0);
        } else {
          EXPECT_NEAR(unit, exact, 0.50001);
        }
      }
    }
  }
}

TEST(DepthConversion, leaves_out_what_is_no_measurement) {
  DepthImage image = *DepthImage::meters(8, 1);
  const std::array<float, 8> values = {
      nan, std::numeric_limits<float>::infinity(), -1, 0, 1e30F, 65.535F, 65.536F, 0.0005F};
  ASSERT_TRUE(image.copy_from(std::as_bytes(std::span(values))));
  const DepthImage units = *image.to_millimeters();
  const std::array<int, 8> expected = {0, 0, 0, 0, 0, 65535, 0, 1};
  for (std::size_t x = 0; x < 8; ++x)
    EXPECT_EQ(*units.get_depth_u16(x, 0), expected[x]) << x;
}

TEST(Deprojection, puts_points_on_their_rays) {
  std::mt19937 random(43);
  const CameraIntrinsics camera{.fx = 525.5, .fy = 520.25, .cx = 15.75, .cy = 9.5};
  for (int round = 0; round < 40; ++round) {
    const DType dtype = round % 2 == 0 ? DType::u16 : DType::f32;
    DepthImage image = some_depths(1 + random() % 65, 1 + random() % 30, dtype, random);
    if (round % 3 == 1) must(image.set_depth_range(2, 40));
    image.set_timestamp_ns(6);
    ASSERT_TRUE(image.set_frame_id("optical"));
    const auto cloud = image.deproject(camera);
    const auto valid = image.deproject_valid(camera);
    ASSERT_TRUE(cloud) << cloud.error().message();
    ASSERT_TRUE(valid) << valid.error().message();
    EXPECT_EQ(cloud->width(), image.width());
    EXPECT_EQ(cloud->height(), image.height());
    EXPECT_EQ(cloud->timestamp_ns(), 6U);
    EXPECT_EQ(valid->frame_id(), "optical");
    EXPECT_TRUE(valid->is_dense());
    EXPECT_TRUE(cloud->is_xyz());
    const auto points = *cloud->extract_xyz();
    std::vector<std::array<float, 3>> expected;
    for (std::size_t y = 0; y < image.height(); ++y) {
      for (std::size_t x = 0; x < image.width(); ++x) {
        const float depth = *image.get_depth(x, y);
        const auto& point = points[y * image.width() + x];
        if (!counts(image, depth)) {
          EXPECT_TRUE(std::isnan(point[0]) && std::isnan(point[1]) && std::isnan(point[2]));
          continue;
        }
        expected.push_back(point);
        const auto z = static_cast<double>(depth);
        EXPECT_FLOAT_EQ(point[0], static_cast<float>((static_cast<double>(x) - 15.75) * z / 525.5));
        EXPECT_FLOAT_EQ(point[1], static_cast<float>((static_cast<double>(y) - 9.5) * z / 520.25));
        EXPECT_EQ(point[2], depth);
      }
    }
    EXPECT_EQ(cloud->is_dense(), expected.size() == points.size());
    EXPECT_EQ(*valid->extract_xyz(), expected);
  }
}

TEST(Deprojection, of_nothing_is_an_empty_cloud) {
  DepthImage image = *DepthImage::millimeters(4, 4);
  ASSERT_TRUE(image.copy_from(std::vector<std::byte>(32)));
  const CameraIntrinsics camera{.fx = 1, .fy = 1, .cx = 0, .cy = 0};
  EXPECT_EQ(image.deproject_valid(camera)->point_count(), 0U);
  EXPECT_EQ(image.deproject(camera)->point_count(), 16U);
}

TEST(Deprojection, needs_a_camera) {
  const DepthImage image = *DepthImage::meters(4, 4);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const CameraIntrinsics& camera :
       {CameraIntrinsics{}, CameraIntrinsics{-1, 1, 0, 0}, CameraIntrinsics{1, 0, 0, 0},
        CameraIntrinsics{1, 1, nan, 0}, CameraIntrinsics{1, 1, 0, nan},
        CameraIntrinsics{std::numeric_limits<double>::infinity(), 1, 0, 0}}) {
    EXPECT_EQ(code_of(image.deproject(camera)), Errc::invalid_argument);
    EXPECT_FAILS(image.deproject_valid(camera), Errc::invalid_argument);
  }
}

}  // namespace
}  // namespace halyard
