// SPDX-License-Identifier: Apache-2.0
// Point clouds over tensors of the test's own: fields, points, strides, and what is refused.
#include "halyard/point_cloud.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>

#include "ipc/helpers.h"
#include "support/result.h"

namespace halyard {
namespace {

using test::value_of;

static_assert(std::is_trivially_copyable_v<PointCloudMetadata>);
static_assert(std::is_standard_layout_v<PointCloudMetadata>);
static_assert(std::has_unique_object_representations_v<PointCloudMetadata>);

PointField field(std::string_view name, std::uint32_t offset, PointDatatype datatype,
                 std::uint32_t count = 1) {
  return *PointField::create(name, offset, datatype, count);
}

template <class T>
void put(std::vector<std::byte>& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

Tensor floats(std::size_t points, std::size_t fields) {
  Tensor tensor = *Tensor::create(DType::f32, {points, fields}, Memory::mem);
  const TensorMap map = *tensor.map(Access::write);
  auto all = *map.flat<float>();
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<float>(i) + 0.5F;
  return tensor;
}

TEST(PointDatatype, has_the_codes_of_point_field) {
  const std::pair<unsigned, DType> codes[] = {{1, DType::i8},  {2, DType::u8},  {3, DType::i16},
                                              {4, DType::u16}, {5, DType::i32}, {6, DType::u32},
                                              {7, DType::f32}, {8, DType::f64}};
  for (unsigned code = 0; code < 256; ++code) {
    const auto dtype = dtype_from(static_cast<PointDatatype>(code));
    ASSERT_EQ(dtype.has_value(), code >= 1 && code <= 8) << code;
    if (!dtype) continue;
    EXPECT_EQ(dtype, codes[code - 1].second);
    EXPECT_EQ(point_datatype_from(*dtype), static_cast<PointDatatype>(code));
  }
  for (const DType dtype : {DType::f16, DType::bf16, DType::i64, DType::u64, DType::boolean})
    EXPECT_FALSE(point_datatype_from(dtype));
}

TEST(PointField, has_a_short_name) {
  const auto made = value_of(PointField::create("intensity", 12, PointDatatype::float32, 3));
  EXPECT_EQ(made.name(), "intensity");
  EXPECT_EQ(made.offset, 12U);
  EXPECT_EQ(made.count, 3U);
  EXPECT_TRUE(PointField::create(std::string(15, 'a'), 0, PointDatatype::int8));
  for (const std::string& name : {std::string(), std::string(16, 'a'), std::string("\xff"),
                                  std::string("a\0b", 3), std::string(5000, 'b')}) {
    EXPECT_FAILS(PointField::create(name, 0, PointDatatype::int8), Errc::invalid_argument, "name");
  }
  EXPECT_FAILS(PointField::create("x", 0, PointDatatype::int8, 0), Errc::invalid_argument);
  EXPECT_FAILS(PointField::create("x", 0, PointDatatype{}), Errc::invalid_argument);
  EXPECT_FAILS(PointField::create("x", 0, static_cast<PointDatatype>(9)), Errc::invalid_argument);
}

TEST(PointCloud, names_the_numbers_of_a_tensor) {
  const auto names = [](std::size_t fields) {
    std::string all;
    const PointCloud cloud = *PointCloud::wrap(floats(2, fields));
    for (const PointField& f : cloud.fields())
      all += std::string(f.name()) + " ";
    return all;
  };
  EXPECT_EQ(names(1), "f0 ");
  EXPECT_EQ(names(2), "f0 f1 ");
  EXPECT_EQ(names(3), "x y z ");
  EXPECT_EQ(names(4), "x y z intensity ");
  EXPECT_EQ(names(5), "x y z intensity f4 ");
  EXPECT_EQ(names(6), "x y z r g b ");
  EXPECT_EQ(names(7), "x y z intensity f4 f5 f6 ");
  const PointCloud cloud = *PointCloud::wrap(floats(2, 16));
  EXPECT_EQ(cloud.fields_per_point(), 16U);
  EXPECT_EQ(cloud.fields()[15].offset, 60U);
}

TEST(PointCloud, says_what_it_has) {
  const PointCloud xyz = *PointCloud::wrap(floats(10, 3));
  EXPECT_EQ(xyz.point_count(), 10U);
  EXPECT_EQ(xyz.width(), 10U);
  EXPECT_EQ(xyz.height(), 1U);
  EXPECT_FALSE(xyz.is_organized());
  EXPECT_EQ(xyz.point_step(), 12U);
  EXPECT_EQ(xyz.row_step(), 120U);
  EXPECT_EQ(xyz.nbytes(), 120U);
  EXPECT_TRUE(xyz.is_xyz());
  EXPECT_TRUE(xyz.is_dense());
  EXPECT_FALSE(xyz.has_intensity());
  EXPECT_FALSE(xyz.has_color());
  EXPECT_FALSE(xyz.is_bigendian());
  const PointCloud xyzi = *PointCloud::wrap(floats(10, 4));
  EXPECT_FALSE(xyzi.is_xyz());
  EXPECT_TRUE(xyzi.has_intensity());
  EXPECT_TRUE(PointCloud::wrap(floats(10, 6))->has_color());
  EXPECT_FALSE(PointCloud::wrap(floats(10, 7))->has_color());
  const PointField packed[] = {field("rgb", 0, PointDatatype::float32),
                               field("i", 4, PointDatatype::float32)};
  const PointCloud colored = *PointCloud::wrap(floats(10, 2), packed);
  EXPECT_TRUE(colored.has_color());
  EXPECT_TRUE(colored.has_intensity());
  EXPECT_NE(colored.find_field("rgb"), nullptr);
  EXPECT_EQ(colored.find_field("rg"), nullptr);
  PointCloud sparse = xyz;
  sparse.set_is_dense(false);
  EXPECT_EQ(sparse.metadata().is_dense, 0);
  EXPECT_TRUE(xyz.is_dense());
}

TEST(PointCloud, shows_points_and_fields_without_a_copy) {
  const Tensor tensor = floats(7, 4);
  const PointCloud cloud = *PointCloud::wrap(tensor);
  const auto y = value_of(cloud.field<const float>("y"));
  ASSERT_EQ(y.extent(0), 7U);
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(y(i), static_cast<float>(i * 4 + 1) + 0.5F);
    const auto point = value_of(cloud.point_at(i));
    ASSERT_EQ(point.size(), 16U);
    float last = 0;
    std::memcpy(&last, point.data() + 12, 4);
    EXPECT_EQ(last, static_cast<float>(i * 4 + 3) + 0.5F);
  }
  const auto writable = value_of(cloud.field<float>("intensity"));
  writable(6) = 99;
  EXPECT_EQ((*tensor.map(Access::read)->flat<const float>())[27], 99);
  EXPECT_FAILS(cloud.point_at(7), Errc::invalid_argument);
  EXPECT_FAILS(cloud.point_at(SIZE_MAX), Errc::invalid_argument);
  EXPECT_FAILS(cloud.field<const float>("w"), Errc::invalid_argument);
  EXPECT_FAILS(cloud.field<const double>("x"), Errc::invalid_argument);
  EXPECT_FAILS(cloud.field<const std::uint32_t>("x"), Errc::invalid_argument);
}

TEST(PointCloud, reads_fields_of_many_types) {
  // x y z f64, ring u16, flags u8, time u32 after a gap: 40 bytes a point.
  const PointField fields[] = {
      field("x", 0, PointDatatype::float64),    field("y", 8, PointDatatype::float64),
      field("z", 16, PointDatatype::float64),   field("ring", 24, PointDatatype::uint16),
      field("flags", 26, PointDatatype::uint8), field("t", 32, PointDatatype::uint32),
      field("odd", 27, PointDatatype::float32)};
  std::vector<std::byte> bytes(6 * 40);
  for (std::size_t i = 0; i < 6; ++i) {
    put(bytes, i * 40, 1.25 * static_cast<double>(i));
    put(bytes, i * 40 + 8, -2.0);
    put(bytes, i * 40 + 16, 1e300);
    put(bytes, i * 40 + 24, static_cast<std::uint16_t>(60000 + i));
    put(bytes, i * 40 + 26, static_cast<std::uint8_t>(200 + i));
    put(bytes, i * 40 + 32, static_cast<std::uint32_t>(4000000000U + i));
  }
  Tensor tensor = *Tensor::create(DType::u8, {2, 3, 40}, Memory::mem);
  ASSERT_TRUE(copy_packed(bytes, tensor));
  const auto cloud = value_of(PointCloud::wrap(tensor, fields));
  EXPECT_TRUE(cloud.is_organized());
  EXPECT_EQ(cloud.point_count(), 6U);
  EXPECT_EQ((*cloud.field<const double>("x"))(5), 6.25);
  EXPECT_EQ((*cloud.field<const std::uint16_t>("ring"))(4), 60004);
  EXPECT_EQ((*cloud.field_rows<const std::uint8_t>("flags"))(1, 2), 205);
  EXPECT_EQ((*cloud.field<const std::uint32_t>("t"))(3), 4000000003U);
  EXPECT_FAILS(cloud.field<const float>("odd"), Errc::unsupported, "27");
  EXPECT_EQ(cloud.point_at(5)->size(), 36U);
  const auto points = value_of(cloud.extract_xyz());
  EXPECT_EQ(points[5][0], 6.25F);
  EXPECT_EQ(points[5][1], -2.0F);
  EXPECT_TRUE(std::isinf(points[5][2]));
}

TEST(PointCloud, takes_points_and_rows_that_lie_apart) {
  std::mt19937 random(9);
  for (int round = 0; round < 200; ++round) {
    const std::size_t width = 1 + random() % 65;
    const std::size_t height = 1 + random() % 20;
    const std::size_t point_step = 12 + 4 * (random() % 4);
    const std::size_t row_step = width * point_step + 4 * (random() % 5);
    const auto buffer = *allocate(64 + height * row_step, Memory::mem);
    const Layout layout{.dtype = DType::f32,
                        .rank = 3,
                        .shape = {height, width, 3},
                        .stride_bytes = {static_cast<std::ptrdiff_t>(row_step),
                                         static_cast<std::ptrdiff_t>(point_step), 4}};
    const Tensor tensor = *Tensor::wrap(buffer, layout, 16);
    {
      const TensorMap map = *tensor.map(Access::write);
      const auto view = *map.view<float, 3>();
      for (std::size_t y = 0; y < height; ++y) {
        for (std::size_t x = 0; x < width; ++x) {
          for (std::size_t k = 0; k < 3; ++k)
            view(y, x, k) = static_cast<float>(y * 1000 + x * 10 + k);
        }
      }
    }
    const auto cloud = value_of(PointCloud::wrap(tensor));
    EXPECT_EQ(cloud.row_step(), row_step);
    const auto received = value_of(PointCloud::from_parts(tensor, cloud.metadata()));
    const auto points = *received.extract_xyz();
    ASSERT_EQ(points.size(), width * height);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const std::size_t y = i / width;
      const std::size_t x = i % width;
      for (std::size_t k = 0; k < 3; ++k)
        EXPECT_EQ(points[i][k], static_cast<float>(y * 1000 + x * 10 + k));
    }
    const auto z = *received.field_rows<const float>("z");
    EXPECT_EQ(z(height - 1, width - 1),
              static_cast<float>((height - 1) * 1000 + (width - 1) * 10 + 2));
    const auto flat = received.field<const float>("z");
    EXPECT_EQ(code_of(flat),
              height == 1 || row_step == width * point_step ? Errc::ok : Errc::unsupported);
    float x = 0;
    std::memcpy(&x, received.point_at(points.size() - 1)->data(), 4);
    EXPECT_EQ(x, points.back()[0]);
  }
}

TEST(PointCloud, extracts_coordinates_that_are_not_aligned_or_in_order) {
  const PointField fields[] = {field("z", 1, PointDatatype::float32),
                               field("x", 5, PointDatatype::float64),
                               field("y", 13, PointDatatype::float32)};
  std::vector<std::byte> bytes(3 * 17);
  for (std::size_t i = 0; i < 3; ++i) {
    put(bytes, i * 17 + 1, static_cast<float>(i) + 0.25F);
    put(bytes, i * 17 + 5, static_cast<double>(i) + 0.5);
    put(bytes, i * 17 + 13, static_cast<float>(i) + 0.75F);
  }
  Tensor tensor = *Tensor::create(DType::u8, {3, 17}, Memory::mem);
  ASSERT_TRUE(copy_packed(bytes, tensor));
  const auto points = value_of(PointCloud::wrap(tensor, fields)->extract_xyz());
  EXPECT_EQ(points[2], (std::array{2.5F, 2.75F, 2.25F}));
}

TEST(PointCloud, extracts_coordinates_of_floats_alone) {
  const PointField no_z[] = {field("x", 0, PointDatatype::float32),
                             field("y", 4, PointDatatype::float32)};
  EXPECT_FAILS(PointCloud::wrap(floats(3, 3), no_z)->extract_xyz(), Errc::invalid_argument, "z");
  const PointCloud whole = *PointCloud::wrap(*Tensor::create(DType::i32, {4, 3}));
  EXPECT_FAILS(whole.extract_xyz(), Errc::invalid_argument);
}

TEST(PointCloud, without_points_is_legal) {
  const auto buffer = *allocate(64, Memory::mem);
  const std::size_t shape[] = {0, 3};
  const Tensor tensor = *Tensor::wrap(buffer, *Layout::contiguous(DType::f32, shape));
  const auto cloud = value_of(PointCloud::wrap(tensor));
  EXPECT_EQ(cloud.point_count(), 0U);
  EXPECT_EQ(cloud.extract_xyz()->size(), 0U);
  EXPECT_EQ(cloud.field<const float>("x")->size(), 0U);
  EXPECT_FAILS(cloud.point_at(0), Errc::invalid_argument);
  EXPECT_TRUE(PointCloud::from_parts(tensor, cloud.metadata()));
}

TEST(PointCloud, refuses_tensors_that_are_none) {
  const auto refused = [](const Result<PointCloud>& cloud, const char* text) {
    EXPECT_FAILS(cloud, Errc::invalid_argument, text);
  };
  refused(PointCloud::wrap(Tensor()), "tensor");
  refused(PointCloud::wrap(*Tensor::create(DType::f32, {3})), "rank 1");
  refused(PointCloud::wrap(*Tensor::create(DType::f32, {3, 3, 3, 3})), "rank 4");
  refused(PointCloud::wrap(*Tensor::create_image(3, 3, PixelFormat::rgb)), "image");
  refused(PointCloud::wrap(floats(3, 17)), "17");
  refused(PointCloud::wrap(*Tensor::create(DType::f16, {3, 3})), "f16");
  refused(PointCloud::wrap(*Tensor::create(DType::i64, {3, 3})), "i64");
  const AxisRange every_second[] = {AxisRange::all(3), {0, 2, 2, true}};
  refused(PointCloud::wrap(*floats(3, 4).part(every_second)), "stride");
  const AxisRange backwards[] = {{2, 3, -1, true}};
  refused(PointCloud::wrap(*floats(3, 4).part(backwards)), "stride");
  const PointField beyond[] = {field("x", 12, PointDatatype::float64)};
  refused(PointCloud::wrap(floats(3, 4), beyond), "exceeds the point");
  // Inside the step to the next point, but outside the tensor's own elements.
  const AxisRange three[] = {AxisRange::all(3), {0, 3, 1, true}};
  const PointField fourth[] = {field("i", 12, PointDatatype::float32)};
  refused(PointCloud::wrap(*floats(3, 4).part(three), fourth), "exceed the point");
  const PointField twice[] = {field("x", 0, PointDatatype::float32),
                              field("x", 4, PointDatatype::float32)};
  refused(PointCloud::wrap(floats(3, 4), twice), "unique");
}

TEST(PointCloud, copies_bytes_in) {
  PointCloud cloud = *PointCloud::wrap(*Tensor::create(DType::f32, {2, 3}, Memory::mem));
  const std::array<float, 6> values = {1, 2, 3, 4, 5, 6};
  ASSERT_TRUE(cloud.copy_from(std::as_bytes(std::span(values))));
  EXPECT_EQ((*cloud.extract_xyz())[1], (std::array{4.0F, 5.0F, 6.0F}));
  EXPECT_FAILS(cloud.copy_from({}), Errc::invalid_argument);
}

}  // namespace
}  // namespace halyard
