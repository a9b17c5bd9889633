// SPDX-License-Identifier: Apache-2.0
// Class maps against resizing every plane of scores in double precision and taking the largest.
#include "halyard/semantic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "decode/mask/mask_frames.h"
#include "support/allocations.h"
#include "support/result.h"

namespace halyard::test {
namespace {

struct ScoreMap {
  Tensor scores;
  SemanticOptions options;
  int classes = 0, width = 0, height = 0;
  std::vector<double> values;  ///< [C][H][W], in what is compared
  naive::Plane plane(int k) const {
    const auto size = static_cast<std::size_t>(width * height);
    const auto* from = values.data() + static_cast<std::size_t>(k) * size;
    return {width, height, std::vector<double>(from, from + size)};
  }
};

// Smooth blobs with noise, so that there are uniform cells, borders and busy places.
template <class T>
ScoreMap head_of(unsigned seed, int classes, int height, int width, SemanticLayout layout,
                 bool per_class = false, std::size_t batches = 0) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, 1);
  ScoreMap out;
  out.classes = classes;
  out.width = width;
  out.height = height;
  out.options.layout = layout;
  out.options.batch = batches > 0 ? batches - 1 : 0;
  const auto c = static_cast<std::size_t>(classes), n = static_cast<std::size_t>(width * height);
  std::vector<double> phase(c);
  for (double& p : phase)
    p = 3 * normal(random);
  const bool first = layout == SemanticLayout::classes_first;
  std::vector<std::size_t> shape{c, static_cast<std::size_t>(height),
                                 static_cast<std::size_t>(width)};
  if (!first) shape = {shape[1], shape[2], c};
  if (batches > 0) shape.insert(shape.begin(), batches);
  const Quantization q = quantization_of<T>(c, per_class, shape.size() - (first ? 3 : 1));
  std::vector<T> stored(c * n * std::max<std::size_t>(1, batches));
  out.values.resize(c * n);
  const std::size_t offset = stored.size() - c * n;
  for (std::size_t k = 0; k < c; ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      const double x = static_cast<double>(i % shape[first ? shape.size() - 1 : shape.size() - 2]);
      const double y = static_cast<double>(i) / width;
      const double noise = x > width * 0.7 ? 1.0 : 0.02;
      const T value = stored_of<T>(std::sin(x / 5 + phase[k]) + std::cos(y / 4 - phase[k]) +
                                   noise * normal(random));
      stored[offset + (first ? k * n + i : i * c + k)] = value;
      out.values[k * n + i] =
          per_class ? real_of(value, static_cast<double>(q.scale_at(k)), q.zero_point_at(k))
                    : real_of(value, 1, 0);
    }
  }
  out.scores = tensor_of<T>(shape, stored);
  if (std::is_integral_v<T>) {
    EXPECT_TRUE(out.scores.set_quantization(q));
  }
  return out;
}

Tensor plane_of(int height, int width, DType dtype = DType::u8) {
  return *Tensor::create(dtype, {static_cast<std::size_t>(height), static_cast<std::size_t>(width)},
                         Memory::mem);
}

template <class T>
std::vector<int> values_of(const Tensor& plane) {
  const auto map = *plane.map(Access::read);
  const auto flat = *map.flat<const T>();
  return {flat.begin(), flat.end()};
}

// Pixels where another class is as good but for rounding are left out.
void check_accurate(const ScoreMap& head, Size size, SemanticMapper& mapper) {
  const Size input = head.options.input.value_or(Size{head.width, head.height});
  const RegionF content = head.options.content.value_or(RegionF(0, 0, input.width, input.height));
  const bool wide = head.classes > 256;
  Tensor out = plane_of(size.height, size.width, wide ? DType::u16 : DType::u8);
  ASSERT_OK(mapper.map(head.scores, head.options, out));
  const auto got = wide ? values_of<std::uint16_t>(out) : values_of<std::uint8_t>(out);
  std::vector<naive::Plane> planes;
  double largest = 1;
  for (int k = 0; k < head.classes; ++k)
    planes.push_back(naive::resampled(head.plane(k), input, content, size));
  for (const double v : head.values)
    largest = std::max(largest, std::abs(v));
  std::size_t wrong = 0, unclear = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    double best = planes[0].values[i], second = -1e30;
    int label = 0;
    for (int k = 1; k < head.classes; ++k) {
      const double v = planes[static_cast<std::size_t>(k)].values[i];
      second = std::max(second, std::min(v, best));
      if (v <= best) continue;
      best = v;
      label = k;
    }
    const bool tie = best - second < 1e-6 * largest;
    unclear += tie;
    wrong += !tie && got[i] != label;
  }
  EXPECT_EQ(wrong, 0U) << "of " << got.size();
  EXPECT_LT(unclear, got.size() / 10);
}

template <class T>
void check_type(SemanticLayout layout) {
  SCOPED_TRACE(std::string(to_string(*dtype_of<T>)) + " " +
               std::to_string(static_cast<int>(layout)));
  SemanticMapper mapper;
  check_accurate(head_of<T>(1, 5, 21, 35, layout), {140, 84}, mapper);
  check_accurate(head_of<T>(2, 19, 16, 16, layout, false, 2), {50, 61}, mapper);
  check_accurate(head_of<T>(3, 2, 40, 33, layout), {20, 17}, mapper);  // shrunk
  check_accurate(head_of<T>(4, 7, 24, 24, layout), {24, 24}, mapper);  // as it is
  check_accurate(head_of<T>(5, 3, 1, 9, layout), {30, 8}, mapper);
  check_accurate(head_of<T>(6, 3, 9, 1, layout), {8, 30}, mapper);
}

constexpr SemanticLayout layouts[] = {SemanticLayout::classes_first, SemanticLayout::classes_last};

TEST(SemanticMaps, equal_resizing_all_scores_and_taking_the_largest) {
  for (const SemanticLayout layout : layouts) {
    check_type<float>(layout);
    check_type<Half>(layout);
    check_type<BFloat16>(layout);
    check_type<std::uint16_t>(layout);
    check_type<std::int16_t>(layout);
  }
}

TEST(SemanticMaps, bytes_equal_it) {
  for (const SemanticLayout layout : layouts) {
    check_type<std::int8_t>(layout);
    check_type<std::uint8_t>(layout);
  }
}

TEST(SemanticMaps, scales_of_classes_count) {
  SemanticMapper mapper;
  for (const SemanticLayout layout : layouts) {
    check_accurate(head_of<std::int8_t>(6, 9, 20, 20, layout, true), {77, 55}, mapper);
    check_accurate(head_of<std::uint16_t>(7, 9, 20, 20, layout, true, 1), {77, 55}, mapper);
  }
}

TEST(SemanticMaps, many_classes_need_wider_ids) {
  SemanticMapper mapper;
  ScoreMap head = head_of<float>(8, 300, 12, 20, SemanticLayout::classes_first);
  check_accurate(head, {61, 40}, mapper);
  Tensor out = plane_of(8, 8);
  EXPECT_FAILS(mapper.map(head.scores, head.options, out), "300 classes");
}

TEST(SemanticMaps, undo_the_letterbox) {
  SemanticMapper mapper;
  ScoreMap head = head_of<float>(9, 6, 32, 32, SemanticLayout::classes_first);
  head.options.input = {128, 128};
  head.options.content = RegionF(0, 28, 128, 72);
  check_accurate(head, {160, 90}, mapper);
  head.options.content = RegionF(10.5, 28.25, 80, 72.5);
  check_accurate(head, {91, 53}, mapper);
}

TEST(SemanticMaps, are_the_same_on_all_processors) {
  for (const SemanticLayout layout : layouts) {
    const ScoreMap head = head_of<float>(10, 30, 40, 50, layout);
    std::vector<int> first;
    for_each_target([&] {
      Tensor out = plane_of(123, 211);
      ASSERT_TRUE(semantic_map(head.scores, head.options, out));
      if (first.empty()) first = values_of<std::uint8_t>(out);
      EXPECT_EQ(first, values_of<std::uint8_t>(out));
    });
  }
}

TEST(SemanticMaps, fast_takes_the_nearest_best_class) {
  ScoreMap head = head_of<float>(11, 8, 10, 12, SemanticLayout::classes_first);
  head.options.mode = SemanticMode::fast;
  Tensor out = plane_of(33, 41);
  ASSERT_TRUE(semantic_map(head.scores, head.options, out));
  const auto got = values_of<std::uint8_t>(out);
  for (int y = 0; y < 33; ++y) {
    for (int x = 0; x < 41; ++x) {
      const int sx = static_cast<int>((x + 0.5) * 12 / 41),
                sy = static_cast<int>((y + 0.5) * 10 / 33);
      int label = 0;
      for (int k = 1; k < 8; ++k) {
        if (head.plane(k).at(sx, sy) > head.plane(label).at(sx, sy)) label = k;
      }
      ASSERT_EQ(got[static_cast<std::size_t>(y * 41 + x)], label) << x << ", " << y;
    }
  }
}

TEST(SemanticMaps, the_first_of_equal_classes_wins) {
  for (const SemanticMode mode : {SemanticMode::accurate, SemanticMode::fast}) {
    const Tensor scores = tensor_of<std::uint8_t>({3, 1, 2}, {1, 2, 3, 2, 3, 2});
    Tensor out = plane_of(1, 2);
    const SemanticOptions options{.mode = mode};
    ASSERT_TRUE(semantic_map(scores, options, out));
    EXPECT_EQ(values_of<std::uint8_t>(out), (std::vector<int>{1, 0}));
  }
}

TEST(SemanticMaps, model_pack_picks_per_pixel) {
  // [1, 2, 2, 3]: [[1, 2], [0, 0]].
  const Tensor scores =
      tensor_of<std::uint8_t>({1, 2, 2, 3}, {0, 9, 3, 1, 2, 8, 5, 5, 5, 200, 3, 0});
  Tensor out = plane_of(2, 2);
  const SemanticOptions options{.layout = SemanticLayout::classes_last};
  ASSERT_TRUE(semantic_map(scores, options, out));
  EXPECT_EQ(values_of<std::uint8_t>(out), (std::vector<int>{1, 2, 0, 0}));
}

TEST(SemanticMaps, one_class_is_foreground_from_half_on) {
  SemanticOptions options{.layout = SemanticLayout::classes_last};
  for (const SemanticMode mode : {SemanticMode::accurate, SemanticMode::fast}) {
    options.mode = mode;
    Tensor out = plane_of(1, 3);
    ASSERT_TRUE(semantic_map(tensor_of<std::uint8_t>({1, 1, 3, 1}, {127, 128, 255}), options, out));
    EXPECT_EQ(values_of<std::uint8_t>(out), (std::vector<int>{0, 1, 1}));
    ASSERT_TRUE(semantic_map(tensor_of<std::int8_t>({1, 3, 1}, {-1, 0, 127}), options, out));
    EXPECT_EQ(values_of<std::uint8_t>(out), (std::vector<int>{0, 1, 1}));
    // A constant plane stays what it is: nothing is stretched.
    ASSERT_TRUE(semantic_map(tensor_of<float>({1, 3, 1}, {0.7F, 0.7F, 0.7F}), options, out));
    EXPECT_EQ(values_of<std::uint8_t>(out), (std::vector<int>{1, 1, 1}));
  }
}

TEST(SemanticMaps, na_n_is_the_lowest_score) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const Tensor scores = tensor_of<float>({3, 1, 3}, {nan, -1, nan, -7, nan, nan, -9, -2, infinity});
  Tensor out = plane_of(1, 3);
  ASSERT_TRUE(semantic_map(scores, {}, out));
  EXPECT_EQ(values_of<std::uint8_t>(out), (std::vector<int>{1, 0, 2}));
}

TEST(SemanticMaps, ready_maps_are_resampled_by_nearest) {
  const SemanticOptions options{.layout = SemanticLayout::class_map};
  Tensor out = plane_of(2, 4);
  ASSERT_TRUE(semantic_map(tensor_of<std::int64_t>({1, 1, 2}, {3, 255}), options, out));
  EXPECT_EQ(values_of<std::uint8_t>(out), (std::vector<int>{3, 3, 255, 255, 3, 3, 255, 255}));
  EXPECT_FAILS(semantic_map(tensor_of<std::int32_t>({1, 2}, {3, 256}), options, out),
               "256 at (2, 0)");
  EXPECT_FAILS(semantic_map(tensor_of<std::int8_t>({1, 2}, {3, -1}), options, out), "does not fit");
  EXPECT_FAILS(semantic_map(tensor_of<float>({1, 2}, {3, 1}), options, out),
               "class maps: integers");
  Tensor wide = plane_of(1, 2, DType::u16);
  ASSERT_TRUE(semantic_map(tensor_of<std::uint32_t>({1, 2, 1}, {300, 65535}), options, wide));
  EXPECT_EQ(values_of<std::uint16_t>(wide), (std::vector<int>{300, 65535}));
}

TEST(SemanticMaps, confidence_is_the_interpolated_best_score) {
  const Tensor scores = tensor_of<float>({2, 1, 2}, {1, 0.25F, 0, 0.5F});
  Tensor out = plane_of(1, 4), reals = plane_of(1, 4, DType::f32), bytes = plane_of(1, 4);
  SemanticOptions options;
  for (const SemanticMode mode : {SemanticMode::accurate, SemanticMode::fast}) {
    options.mode = mode;
    options.confidence = SemanticConfidence::score;
    ASSERT_TRUE(semantic_map(scores, options, out, &reals));
    const auto map = *reals.map(Access::read);
    const auto flat = *map.flat<const float>();
    EXPECT_THAT(std::vector<float>(flat.begin(), flat.end()),
                ::testing::ElementsAre(1, 0.875F, 0.625F, 0.5F));
    ASSERT_TRUE(semantic_map(scores, options, out, &bytes));
    EXPECT_EQ(values_of<std::uint8_t>(bytes), (std::vector<int>{255, 223, 159, 128}));
    // 1 / (1 + e^-1) and 1 / (1 + e^-0.25)
    options.confidence = SemanticConfidence::softmax;
    ASSERT_TRUE(semantic_map(scores, options, out, &bytes));
    EXPECT_EQ(values_of<std::uint8_t>(bytes), (std::vector<int>{186, 176, 154, 143})) << "softmax";
  }
}

TEST(SemanticMaps, a_reused_mapper_allocates_nothing) {
  ScoreMap head = head_of<std::int8_t>(12, 20, 30, 40, SemanticLayout::classes_last);
  for (const SemanticMode mode : {SemanticMode::accurate, SemanticMode::fast}) {
    head.options.mode = mode;
    SemanticMapper mapper;
    Tensor out = plane_of(100, 120), confidence = plane_of(100, 120, DType::f32);
    EXPECT_EQ(test::allocations_of(
                  [&] { ASSERT_TRUE(mapper.map(head.scores, head.options, out, &confidence)); }),
              0U);
  }
}

TEST(SemanticViews, find_the_axes_by_names_or_by_the_family) {
  const auto view = [](std::vector<std::size_t> shape, std::vector<AxisName> axes, Family family,
                       std::size_t batch = 0) {
    OutputDescription output;
    output.family = family;
    output.axes = std::move(axes);
    return semantic_view(*Layout::contiguous(DType::u8, shape), output, batch);
  };
  const auto expect = [](const Result<SemanticView>& found, std::array<std::size_t, 3> shape,
                         std::array<std::ptrdiff_t, 3> strides, std::ptrdiff_t offset) {
    ASSERT_OK(found);
    EXPECT_TRUE(std::ranges::equal(found->layout.dims(), shape));
    EXPECT_TRUE(std::equal(strides.begin(), strides.end(), found->layout.stride_bytes.begin()));
    EXPECT_EQ(found->offset_bytes, offset);
  };
  using enum AxisName;
  expect(view({2, 3, 4, 5}, {}, Family::semantic, 1), {4, 5, 3}, {5, 1, 20}, 60);
  expect(view({2, 4, 5, 3}, {}, Family::modelpack, 1), {4, 5, 3}, {15, 3, 1}, 60);
  expect(view({4, 5, 3}, {}, Family::modelpack), {4, 5, 3}, {15, 3, 1}, 0);
  expect(view({5, 3, 4}, {width, num_classes, height}, Family::semantic), {4, 5, 3}, {1, 12, 4}, 0);
  expect(view({4, 5}, {height, width}, Family::semantic), {4, 5, 1}, {5, 1, 0}, 0);
  // Names that do not tell height and width apart decide nothing.
  expect(view({3, 4, 5}, {num_classes, height, padding}, Family::semantic), {4, 5, 3}, {5, 1, 20},
         0);
  EXPECT_FAILS(view({4, 5}, {}, Family::semantic), Errc::invalid_argument, "height, width");
  EXPECT_FAILS(view({2, 3, 4, 5}, {}, Family::semantic, 2), Errc::invalid_argument, "2 of 2");
  EXPECT_FAILS(view({3, 4, 5}, {}, Family::semantic, 1), Errc::invalid_argument, "1 of 1");
}

TEST(SemanticMaps, what_is_refused) {
  const Tensor scores = tensor_of<float>({2, 1, 2}, {1, 2, 3, 4});
  Tensor out = plane_of(2, 2), other = plane_of(2, 3);
  EXPECT_FAILS(semantic_map(tensor_of<float>({2, 2}, {1, 2, 3, 4}), {}, out), "shape [2, 2]");
  EXPECT_FAILS(semantic_map(tensor_of<double>({1, 1, 2}, {1, 2}), {}, out), "f64");
  Tensor bad = tensor_of<float>({2, 2}, {1, 2, 3, 4});
  EXPECT_FAILS(semantic_map(scores, {}, bad), "u8 or u16");
  EXPECT_FAILS(semantic_map(scores, {.batch = 1}, out), "batch");
  EXPECT_FAILS(semantic_map(scores, {.content = RegionF(0, 0, 3, 1)}, out), "content");
  EXPECT_FAILS(semantic_map(scores, {}, out, &other), "extent of out");
  EXPECT_FAILS(semantic_map(tensor_of<std::uint8_t>({1, 1, 2}, {1, 2}), {}, out, &out),
               "needs quantization");
  Tensor rows = tensor_of<std::int8_t>({2, 2, 1}, {1, 2, 3, 4});
  ASSERT_TRUE(rows.set_quantization(Quantization{{1, 2}, {}, 1}));
  EXPECT_FAILS(semantic_map(rows, {}, out), "along the classes");
  Tensor empty;
  EXPECT_FAILS(semantic_map(scores, {}, empty), "out");
  for (const auto& [height, width] : {std::pair(0, 2), {2, 0}}) {
    Tensor flat = plane_of(height, width);
    EXPECT_FAILS(semantic_map(scores, {}, flat), "out");
  }
  EXPECT_FAILS(semantic_map(empty, {}, out), "scores");
}

}  // namespace
}  // namespace halyard::test
