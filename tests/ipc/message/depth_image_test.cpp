// SPDX-License-Identifier: Apache-2.0
// Depth images over tensors of the test's own: pixels, ranges, and statistics against plain loops.
#include "halyard/depth_image.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "image/cpu/each_target.h"
#include "ipc/helpers.h"
#include "support/result.h"
#include "support/special_values.h"

namespace halyard {
namespace {

using namespace test;  // NOLINT: its helpers are what tests are written in

static_assert(std::is_trivially_copyable_v<DepthImageMetadata>);
static_assert(std::is_standard_layout_v<DepthImageMetadata>);

constexpr float infinite = std::numeric_limits<float>::infinity();

DepthImage depth(std::size_t width, std::size_t height, DType dtype) {
  return *DepthImage::wrap(*Tensor::create(dtype, {height, width}, Memory::mem));
}

// Rows with gaps of 0..4 numbers that would spoil any statistics.
template <class T>
DepthImage strided(std::size_t width, std::size_t height, std::mt19937& random, T gap) {
  const std::size_t step = (width + random() % 5) * sizeof(T);
  const std::size_t offset = random() % 3 * sizeof(T);
  const auto buffer = *allocate(offset + step * height, Memory::mem);
  {
    const Map map = *buffer->map(Access::write);
    for (std::size_t at = 0; at + sizeof(T) <= map.bytes().size(); at += sizeof(T))
      std::memcpy(map.writable_bytes().data() + at, &gap, sizeof gap);
  }
  const Layout layout{.dtype = *dtype_of<T>,
                      .rank = 2,
                      .shape = {height, width},
                      .stride_bytes = {static_cast<std::ptrdiff_t>(step), sizeof(T)}};
  return *DepthImage::wrap(*Tensor::wrap(buffer, layout, offset));
}

TEST(DepthImage, says_what_it_is) {
  const DepthImage meters = depth(5, 3, DType::f32);
  EXPECT_EQ(meters.width(), 5U);
  EXPECT_EQ(meters.height(), 3U);
  EXPECT_EQ(meters.step(), 20U);
  EXPECT_EQ(meters.nbytes(), 60U);
  EXPECT_TRUE(meters.is_meters());
  EXPECT_FALSE(meters.is_millimeters());
  EXPECT_EQ(meters.depth_scale(), 1.0F);
  EXPECT_EQ(meters.min_depth(), 0.0F);
  EXPECT_EQ(meters.max_depth(), infinite);
  EXPECT_TRUE(depth(5, 3, DType::u16).is_millimeters());
}

TEST(DepthImage, wraps_rows_and_grey_images) {
  EXPECT_TRUE(DepthImage::wrap(*Tensor::create(DType::f32, {4, 6, 1})));
  const Tensor grey = *Tensor::create_image(6, 4, PixelFormat::grey, DType::u16, Memory::mem);
  const auto part = value_of(DepthImage::wrap(*grey.slice({2, 1, 3, 2})));
  EXPECT_EQ(part.step(), 12U);
  EXPECT_EQ(part.width(), 3U);
  const auto refused = [](const Tensor& tensor, const char* text) {
    EXPECT_FAILS(DepthImage::wrap(tensor), Errc::invalid_argument, text);
  };
  refused(Tensor(), "empty");
  for (const DType dtype : {DType::u8, DType::i16, DType::f16, DType::f64, DType::u32})
    refused(*Tensor::create(dtype, {4, 4}), "dtype");
  refused(*Tensor::create(DType::f32, {4}), "rank 1");
  refused(*Tensor::create(DType::f32, {4, 4, 3}), "[H, W]");
  refused(*Tensor::create_image(4, 4, PixelFormat::bayer_rggb, DType::u16), "grey");
  refused(*Tensor::create(DType::u16, {1, 65536}), "65535");
  const Tensor rows = *Tensor::create(DType::u16, {4, 6});
  const AxisRange columns[] = {AxisRange::all(4), {0, 3, 2, true}};
  refused(*rows.part(columns), "adjacent");
  const AxisRange upwards[] = {{3, 4, -1, true}};
  refused(*rows.part(upwards), "overlap");
}

TEST(DepthImage, keeps_metres) {
  DepthImage image = depth(4, 4, DType::f32);
  ASSERT_TRUE(image.set_depth(1, 2, 3.5F));
  EXPECT_EQ(*image.get_depth(1, 2), 3.5F);
  ASSERT_TRUE(image.set_depth(1, 2, nan));
  EXPECT_TRUE(std::isnan(*image.get_depth(1, 2)));
  ASSERT_TRUE(image.set_depth(1, 2, 0));
  EXPECT_EQ(*image.get_depth(1, 2), 0);
  for (const float bad : {-1.0F, infinite, -infinite})
    EXPECT_EQ(code_of(image.set_depth(1, 2, bad)), Errc::invalid_argument);
  EXPECT_FAILS(image.get_depth_u16(1, 2), Errc::invalid_argument);
}

TEST(DepthImage, rounds_to_units) {
  DepthImage image = depth(4, 4, DType::u16);
  const std::pair<float, int> cases[] = {{1.0F, 1000},      {1.0004F, 1000}, {1.0006F, 1001},
                                         {0.0004F, 0},      {0.0006F, 1},    {65.535F, 65535},
                                         {65.5354F, 65535}, {0, 0},          {0.25F, 250}};
  for (const auto& [meters, unit] : cases) {
    ASSERT_TRUE(image.set_depth(3, 3, meters)) << meters;
    EXPECT_EQ(*image.get_depth_u16(3, 3), unit) << meters;
    EXPECT_NEAR(*image.get_depth(3, 3), static_cast<float>(unit) / 1000, 1e-6);
  }
  for (const float bad : {-0.001F, 65.536F, 1e30F, infinite, -infinite, nan}) {
    EXPECT_FAILS(image.set_depth(3, 3, bad), Errc::invalid_argument, "meters") << bad;
  }
  EXPECT_EQ(*image.get_depth_u16(3, 3), 250);
  ASSERT_TRUE(image.set_depth_scale(0.25F));  // of some stereo cameras
  ASSERT_TRUE(image.set_depth(0, 0, 1.0F));
  EXPECT_EQ(*image.get_depth_u16(0, 0), 4000);
  ASSERT_TRUE(image.set_depth(0, 0, 0.000125F));  // half a unit, exactly
  EXPECT_EQ(*image.get_depth_u16(0, 0), 1);
  EXPECT_FAILS(image.set_depth(0, 0, 16.385F), Errc::invalid_argument);
}

TEST(DepthImage, keeps_every_unit_through_metres) {
  DepthImage image = depth(1, 1, DType::u16);
  for (const float scale : {1.0F, 0.1F, 0.25F, 5.0F, 0.3F}) {
    ASSERT_TRUE(image.set_depth_scale(scale));
    for (unsigned unit = 0; unit < 65536; unit += 13) {
      const auto raw = static_cast<std::uint16_t>(unit);
      ASSERT_TRUE(image.copy_from(std::as_bytes(std::span(&raw, 1))));
      const float meters = *image.get_depth(0, 0);
      EXPECT_NEAR(meters, unit * static_cast<double>(scale) / 1000, 1e-7 * meters + 1e-12);
      ASSERT_TRUE(image.set_depth(0, 0, meters)) << unit;
      ASSERT_EQ(*image.get_depth_u16(0, 0), unit) << scale;
    }
  }
}

TEST(DepthImage, refuses_pixels_outside) {
  DepthImage image = depth(4, 3, DType::u16);
  for (const auto& [x, y] : {std::pair<std::size_t, std::size_t>{4, 0}, {0, 3}, {SIZE_MAX, 0}}) {
    EXPECT_FAILS(image.get_depth(x, y), Errc::invalid_argument);
    EXPECT_FAILS(image.get_depth_u16(x, y), Errc::invalid_argument);
    EXPECT_FAILS(image.set_depth(x, y, 1), Errc::invalid_argument, "4 x 3");
  }
}

TEST(DepthImage, honours_its_range) {
  DepthImage image = depth(4, 1, DType::u16);
  ASSERT_TRUE(image.set_depth_range(0.5F, 2));
  EXPECT_TRUE(image.set_depth(0, 0, 0.5F));
  EXPECT_TRUE(image.set_depth(1, 0, 2));
  EXPECT_TRUE(image.set_depth(2, 0, 0));
  EXPECT_FAILS(image.set_depth(3, 0, 0.4F), Errc::invalid_argument, "0.5");
  EXPECT_FAILS(image.set_depth(3, 0, 2.1F), Errc::invalid_argument);
  const auto statistics = *image.depth_statistics();
  EXPECT_EQ(statistics.count, 2U);
  EXPECT_EQ(statistics.min, 0.5F);
  EXPECT_EQ(statistics.max, 2.0F);
  EXPECT_EQ(statistics.mean, 1.25);
  for (const auto& [min, max] :
       {std::pair{-1.0F, 1.0F}, {2.0F, 1.0F}, {nan, 1.0F}, {0.0F, nan}, {infinite, infinite}}) {
    EXPECT_EQ(code_of(image.set_depth_range(min, max)), Errc::invalid_argument);
  }
  for (const float scale : {0.0F, -1.0F, infinite, nan})
    EXPECT_EQ(code_of(image.set_depth_scale(scale)), Errc::invalid_argument);
  EXPECT_EQ(image.max_depth(), 2.0F);
  EXPECT_EQ(image.depth_scale(), 1.0F);
}

// ---- statistics ----

struct Expected {
  float min = infinite;
  float max = 0;
  double sum = 0;
  std::uint64_t count = 0;
};

Expected plain_statistics(const DepthImage& image) {
  Expected e;
  for (std::size_t y = 0; y < image.height(); ++y) {
    for (std::size_t x = 0; x < image.width(); ++x) {
      const float d = *image.get_depth(x, y);
      if (!std::isfinite(d) || d <= 0 || d < image.min_depth() || d > image.max_depth()) continue;
      e.min = std::min(e.min, d);
      e.max = std::max(e.max, d);
      e.sum += static_cast<double>(d);
      ++e.count;
    }
  }
  return e;
}

void expect_statistics(const DepthImage& image) {
  const Expected expected = plain_statistics(image);
  const auto found = value_of(image.depth_statistics());
  ASSERT_EQ(found.count, expected.count);
  if (expected.count == 0) {
    EXPECT_EQ(found.min, 0);
    EXPECT_EQ(found.max, 0);
    EXPECT_EQ(found.mean, 0);
    return;
  }
  EXPECT_EQ(found.min, expected.min);
  EXPECT_EQ(found.max, expected.max);
  EXPECT_NEAR(found.mean, expected.sum / static_cast<double>(expected.count),
              1e-7 * expected.sum / static_cast<double>(expected.count));
}

TEST(DepthStatistics, of_units_are_those_of_a_plain_loop) {
  for_each_target([] {
    std::mt19937 random(21);
    for (int round = 0; round < 50; ++round) {
      DepthImage image = strided<std::uint16_t>(1 + random() % 65, 1 + random() % 65, random,
                                                round % 2 == 0 ? 65535 : 1);
      const TensorMap map = *image.tensor().map(Access::write);
      const auto rows = *map.view<std::uint16_t, 2>();
      for (const auto row : rows) {
        for (std::uint16_t& unit : row)
          unit = static_cast<std::uint16_t>(random() % 3 == 0 ? 0 : random());
      }
      expect_statistics(image);
      ASSERT_TRUE(image.set_depth_scale(0.1F + static_cast<float>(random() % 30)));
      const auto low = static_cast<float>(random() % 50);
      ASSERT_TRUE(image.set_depth_range(low, low + static_cast<float>(random() % 50)));
      expect_statistics(image);
    }
  });
}

TEST(DepthStatistics, of_metres_are_those_of_a_plain_loop) {
  for_each_target([] {
    std::mt19937 random(22);
    std::uniform_real_distribution<float> depths(-1, 30);
    for (int round = 0; round < 50; ++round) {
      DepthImage image = strided<float>(1 + random() % 130, 1 + random() % 40, random,
                                        round % 2 == 0 ? 1e9F : 1e-9F);
      const TensorMap map = *image.tensor().map(Access::write);
      const float odd[] = {nan, infinite, -infinite, 0, -0.0F, 1e-45F, 3.4e38F};
      const auto rows = *map.view<float, 2>();
      for (const auto row : rows) {
        for (float& d : row)
          d = random() % 8 == 0 ? odd[random() % (round % 3 == 0 ? 7 : 5)] : depths(random);
      }
      expect_statistics(image);
      ASSERT_TRUE(image.set_depth_range(5, 20));
      expect_statistics(image);
    }
  });
}

TEST(DepthStatistics, have_the_same_bits_on_every_target) {
  std::mt19937 random(23);
  DepthImage image = depth(641, 33, DType::f32);
  {
    const TensorMap map = *image.tensor().map(Access::write);
    std::lognormal_distribution<float> depths(1, 2);
    const auto all = *map.flat<float>();
    for (float& d : all)
      d = depths(random);
  }
  const DepthStatistics first = *image.depth_statistics();
  for_each_target([&] {
    const DepthStatistics again = *image.depth_statistics();
    EXPECT_EQ(std::memcmp(&first.mean, &again.mean, sizeof first.mean), 0);
    EXPECT_EQ(first.min, again.min);
    EXPECT_EQ(first.max, again.max);
    EXPECT_EQ(first.count, again.count);
  });
}

TEST(DepthStatistics, of_extreme_rows_do_not_overflow) {
  DepthImage image = depth(65535, 3, DType::u16);
  const std::vector<std::uint16_t> all(65535 * 3, 65535);
  ASSERT_TRUE(image.copy_from(std::as_bytes(std::span(all))));
  for_each_target([&] {
    const auto found = *image.depth_statistics();
    EXPECT_EQ(found.count, all.size());
    EXPECT_EQ(found.min, 65.535F);
    EXPECT_NEAR(found.mean, 65.535, 1e-9);
  });
  // Nothing is valid: the scale is beyond any range.
  ASSERT_TRUE(image.set_depth_scale(3e38F));
  ASSERT_TRUE(image.set_depth_range(0, 1));
  EXPECT_EQ(image.depth_statistics()->count, 0U);
  ASSERT_TRUE(image.set_depth_scale(1e-45F));
  EXPECT_TRUE(image.depth_statistics());
}

TEST(DepthImage, is_an_image_of_the_field) {
  DepthImage image = depth(5, 3, DType::u16);
  image.set_timestamp_ns(9);
  ASSERT_TRUE(image.set_frame_id("depth"));
  const auto units = value_of(image.as_image());
  EXPECT_EQ(units.encoding(), ImageEncoding::depth16);
  EXPECT_EQ(units.timestamp_ns(), 9U);
  EXPECT_EQ(units.frame_id(), "depth");
  EXPECT_EQ(units.data()->data(), image.data()->data());
  EXPECT_EQ(depth(5, 3, DType::f32).as_image()->encoding(), ImageEncoding::mono32f);
  // And back.
  const auto back = value_of(DepthImage::wrap(units.tensor()));
  EXPECT_EQ(back.data()->data(), image.data()->data());
  EXPECT_EQ(back.tensor().rank(), 2U);
}

}  // namespace
}  // namespace halyard
