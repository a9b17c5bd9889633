// SPDX-License-Identifier: Apache-2.0
// Masks whose values can be worked out by hand, and what is refused.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "mask_frames.h"
#include "support/result.h"
#include "support/special_values.h"

namespace halyard::test {
namespace {

// One prototype channel of float logits, and one mask with coefficient 1.
MaskPrototypes plain(std::size_t height, std::size_t width, const std::vector<float>& logits,
                     Size input) {
  MaskPrototypes out;
  out.prototypes = tensor_of<float>({height, width, 1}, logits);
  out.input = input;
  out.clear(1);
  const float one = 1;
  EXPECT_TRUE(out.append({reinterpret_cast<const std::byte*>(&one), 4, DType::f32, nullptr}));
  return out;
}

std::vector<std::uint8_t> made(const MaskPrototypes& prototypes, Box box,
                               const MaskOptions& options, Region* region = nullptr) {
  MaskSet set;
  const Detection detection{box};
  const Status status = materialize(prototypes, {&detection, 1}, options, set);
  EXPECT_TRUE(status) << status.error().message();
  if (!status) return {};
  if (region != nullptr) *region = set[0].region;
  return pasted(set, 0);
}

using Bytes = std::vector<std::uint8_t>;

TEST(MaskRules, logits_are_interpolated_at_half_pixel_centres_and_clamped) {
  // Samples at -0.25 (clamped: -1), 0.25 (0: not above), 0.75 (2), 1.25 (clamped: 3).
  EXPECT_EQ(made(plain(1, 2, {-1, 3}, {4, 1}), {0, 0, 4, 1}, {}), (Bytes{0, 0, 255, 255}));
  // The thresholded prototypes enlarged would be on in the right half of these too.
  EXPECT_EQ(made(plain(1, 2, {-3, 1}, {4, 1}), {0, 0, 4, 1}, {}), (Bytes{0, 0, 0, 255}));
}

TEST(MaskRules, boxes_round_outwards_on_the_prototypes_grid) {
  const MaskPrototypes p = plain(4, 4, std::vector<float>(16, 1), {8, 8});
  Region region;
  const MaskOptions small{MaskRule::prototype, {}, {}};
  made(p, {2.1F, 2, 3.9F, 4.1F}, small, &region);
  EXPECT_EQ(region, (Region{1, 1, 1, 2}));
  made(p, {-5, -5, 12, 12}, small, &region);  // 1.5 of the input: clipped
  EXPECT_EQ(region, (Region{0, 0, 4, 4}));
  made(p, {8, 8, 8, 8}, small, &region);  // at least a pixel
  EXPECT_EQ(region, (Region{3, 3, 1, 1}));
  made(p, {6, 7, 2, 3}, small, &region);  // inverted
  EXPECT_EQ(region, (Region{1, 1, 2, 3}));
}

// Every cell edge as a fraction: some of those floats lie just above the edge, and a product in
// double precision would take one column more than programs do that crop by the box.
TEST(MaskRules, rectangles_follow_from_the_box_in_single_precision) {
  constexpr int grid = 160, extent = 20;
  const MaskPrototypes p = plain(1, grid, std::vector<float>(grid, 1), {1, 1});
  for (int i = 0; i + extent <= grid; ++i) {
    const Box box{static_cast<float>(i) / grid, 0, static_cast<float>(i + extent) / grid, 1};
    Region region;
    made(p, box, {MaskRule::prototype, {}, {}}, &region);
    const float low = std::floor(box.x1 * grid), high = std::ceil(box.x2 * grid);
    ASSERT_EQ(region.x, static_cast<int>(low)) << i;
    ASSERT_EQ(region.x + region.width, static_cast<int>(high)) << i;
    ASSERT_EQ(region.width, extent) << i;
  }
}

TEST(MaskRules, boxes_round_to_the_nearest_pixel_of_the_target) {
  const MaskPrototypes p = plain(4, 4, std::vector<float>(16, 1), {8, 8});
  Region region;
  made(p, {1.2F, 1.8F, 5.4F, 5.6F}, {}, &region);
  EXPECT_EQ(region, (Region{1, 2, 4, 4}));
  made(p, {1.1F, 1.1F, 1.2F, 1.2F}, {}, &region);
  EXPECT_EQ(region, (Region{1, 1, 1, 1}));
  made(p, {-16, -16, -9, -9}, {}, &region);
  EXPECT_EQ(region, (Region{0, 0, 1, 1}));
}

TEST(MaskRules, trainers_keep_what_lies_between_the_edges) {
  const MaskPrototypes p = plain(4, 4, std::vector<float>(16, 1), {8, 8});
  Region region;
  const MaskOptions exact{MaskRule::ultralytics, {}, {}};
  made(p, {1.2F, 2, 5.4F, 5}, exact, &region);  // 2..5 and 2..4
  EXPECT_EQ(region, (Region{2, 2, 4, 3}));
  made(p, {1.2F, 2, 1.8F, 5}, exact, &region);  // no column between
  EXPECT_EQ(region, (Region{}));
  const MaskOptions quick{MaskRule::ultralytics_quick, {}, {}};
  // Columns 1 and 2 of the prototypes stay; half-way to their neighbours logits fall to half.
  const Bytes bytes = made(p, {1.2F, 0, 5.4F, 8}, quick, &region);
  EXPECT_EQ(Bytes(bytes.begin(), bytes.begin() + 8), (Bytes{0, 255, 255, 255, 255, 255, 255, 0}));
}

TEST(MaskRules, probabilities_are_rounded) {
  MaskPrototypes p;
  p.prototypes = tensor_of<float>({1, 1, 2}, {1, 1});
  p.input = {1, 1};
  p.clear(2);
  for (const float c : {3.0F, -3.0F, 0.0F, 1000.0F, -1000.0F}) {
    const float row[2] = {c, c};
    ASSERT_TRUE(p.append({reinterpret_cast<const std::byte*>(row), 4, DType::f32, nullptr}));
  }
  const std::vector<Detection> detections(5, Detection{{0, 0, 1, 1}});
  MaskSet set;
  ASSERT_TRUE(materialize(p, detections, {MaskRule::probability, {}, {}}, set));
  // sigmoid(6), sigmoid(-6), sigmoid(0)
  const int want[] = {254, 1, 128, 255, 0};
  for (std::size_t i = 0; i < 5; ++i)
    EXPECT_EQ(set[i].data[0], want[i]) << i;
}

TEST(MaskRules, fractions_are_those_of_the_content) {
  const MaskPrototypes p = plain(4, 4, std::vector<float>(16, 1), {8, 8});
  const Detection detection{{2.5F, 2.5F, 3.5F, 8}};
  MaskSet set;
  ASSERT_TRUE(materialize(p, {&detection, 1}, {MaskRule::prototype, {}, RegionF(0, 2, 8, 4)}, set));
  // Columns 1 of 4; rows 1..3, of which content is 1 and 2.
  EXPECT_EQ(set.fraction(0), RegionF(0.25, 0, 0.25, 1));
}

TEST(MaskRules, content_is_undone_in_the_samples) {
  // A 4 x 2 image letterboxed into 4 x 4: rows 1 and 2 of the input.
  const MaskPrototypes p = plain(4, 1, {-1, -1, 1, 1}, {4, 4});
  EXPECT_EQ(made(p, {0, 0, 4, 4}, {MaskRule::logits, Size{1, 2}, RegionF(0, 1, 4, 2)}),
            (Bytes{0, 255}));
}

TEST(MaskRules, na_n_is_off) {
  const MaskPrototypes p = plain(1, 2, {nan, 1}, {2, 1});
  EXPECT_EQ(made(p, {0, 0, 2, 1}, {MaskRule::prototype, {}, {}}), (Bytes{0, 255}));
  EXPECT_EQ(made(p, {0, 0, 2, 1}, {MaskRule::probability, {}, {}}), (Bytes{0, 186}));
}

TEST(MaskRules, no_detections_are_no_error) {
  MaskPrototypes p = plain(2, 2, {1, 1, 1, 1}, {4, 4});
  MaskSet set;
  p.clear(1);
  EXPECT_TRUE(materialize(p, {}, {}, set));
  EXPECT_TRUE(set.empty());
  EXPECT_EQ(set.frame(), (Size{4, 4}));
}

TEST(MaskRules, select_reorders_rows) {
  MaskPrototypes p = plain(1, 1, {1}, {1, 1});
  const float minus = -1;
  ASSERT_TRUE(p.append({reinterpret_cast<const std::byte*>(&minus), 4, DType::f32, nullptr}));
  ASSERT_TRUE(p.select({{1, 0, 1}}));
  EXPECT_EQ(p.coefficients, (std::vector<float>{-1, 1, -1}));
  EXPECT_FALSE(p.select({{3}}));
}

// ---- refusals ----

struct Request {
  MaskPrototypes prototypes = plain(4, 4, std::vector<float>(16, 1), {8, 8});
  std::vector<Detection> detections{Detection{{0, 0, 8, 8}}};
  MaskOptions options = {};
};

// A good request that is edited.
template <class Edit>
void expect_request_refused(Edit edit, const char* text, Errc code = Errc::invalid_argument) {
  Request r;
  edit(r);
  MaskSet set;
  EXPECT_FAILS(materialize(r.prototypes, r.detections, r.options, set), code, text) << text;
  EXPECT_TRUE(set.empty());
}

TEST(MaskRefusals, boxes_that_count_other_units) {
  expect_request_refused([](Request& r) { r.detections[0].box = {0, 0, 24, 8}; }, "detections[0]");
  expect_request_refused([](Request& r) { r.detections[0].box = {0, 16.5F, 8, 4}; }, "twice");
  expect_request_refused([](Request& r) { r.detections[0].box = {nan, 0, 8, 4}; }, "finite");
  const Request r;
  const Detection clipped{{0, 0, 12, 8}};  // one and a half inputs
  MaskSet set;
  EXPECT_TRUE(materialize(r.prototypes, {&clipped, 1}, r.options, set));
}

TEST(MaskRefusals, rows_that_do_not_fit) {
  expect_request_refused([](Request& r) { r.detections.clear(); }, "one row per detection");
  expect_request_refused(
      [](Request& r) {
        r.prototypes.channels = 2;
        r.prototypes.coefficients = {1, 1};
      },
      "1 channels, 2 coefficients");
  expect_request_refused([](Request& r) { r.prototypes.coefficients[0] = nan; },
                         "coefficients: must be finite");
  expect_request_refused(
      [](Request& r) {
        r.prototypes.stored = {300};
        r.prototypes.stored_dtype = DType::u8;
      },
      "stored_dtype");
}

TEST(MaskRefusals, tensors_that_are_no_prototypes) {
  const auto expect = [](const Tensor& given, const char* text,
                         Errc code = Errc::invalid_argument) {
    expect_request_refused([&](Request& r) { r.prototypes.prototypes = given; }, text, code);
  };
  expect(filled<float>({4, 4}), "shape [4, 4]");
  expect(filled<double>({4, 4, 1}), "f64", Errc::unsupported);
  expect(filled<std::int8_t>({4, 4, 1}), "integers need quantization");
  expect({}, "prototypes");
  Tensor rows = filled<std::int8_t>({4, 4, 1});
  ASSERT_TRUE(rows.set_quantization(Quantization{{1, 1, 1, 1}, {}, 0}));
  expect(rows, "along the channels", Errc::unsupported);
  expect_request_refused([](Request& r) { r.prototypes.batch = 1; }, "batch");
}

TEST(MaskRefusals, sizes_and_contents) {
  expect_request_refused([](Request& r) { r.options.size = {0, 5}; }, "size: width and height");
  expect_request_refused(
      [](Request& r) {
        r.options = {MaskRule::prototype, Size{8, 8}, {}};
      },
      "must not be set");
  expect_request_refused([](Request& r) { r.options.content = RegionF(0, 0, 0, 8); }, "content");
  expect_request_refused([](Request& r) { r.options.content = RegionF(4, 0, 8, 8); }, "inside");
  expect_request_refused(
      [](Request& r) {
        r.options = {MaskRule::ultralytics, {}, RegionF(0, 0.5, 8, 7)};
      },
      "whole pixels");
  expect_request_refused([](Request& r) { r.prototypes.input = {0, 8}; }, "input");
}

TEST(MaskRefusals, rows_that_are_no_coefficients) {
  MaskPrototypes p;
  const float value[2] = {1, std::numeric_limits<float>::infinity()};
  CoefficientRow row{reinterpret_cast<const std::byte*>(value), 4, DType::f32, nullptr};
  EXPECT_FAILS(p.append(row), "clear()");
  p.clear(2);
  EXPECT_FAILS(p.append(row), "finite");
  EXPECT_TRUE(p.empty());
  row.dtype = DType::f64;
  EXPECT_FAILS(p.append(row), Errc::unsupported);
  row.dtype = DType::i8;
  EXPECT_FAILS(p.append(row), "need quantization");
  Quantization q{{1, 2, 3}, {}, 0};
  row.quantization = &q;
  EXPECT_FAILS(p.append(row), "3 scales");
  q = Quantization::per_tensor(0);
  EXPECT_FAILS(p.append(row), "above 0");
  q = Quantization::per_tensor(1, std::numeric_limits<std::int32_t>::min());
  EXPECT_FAILS(p.append(row), "-2147483648, i8 holds -128..127");
}

TEST(MaskRows, keep_their_integers_as_long_as_all_are_alike) {
  MaskPrototypes p;
  p.clear(2);
  const std::int8_t bytes[4] = {5, 99, -3, 99};  // every other element
  const Quantization q = Quantization::per_tensor(0.5F, 1);
  CoefficientRow row{reinterpret_cast<const std::byte*>(bytes), 2, DType::i8, &q};
  ASSERT_TRUE(p.append(row));
  EXPECT_EQ(p.coefficients, (std::vector<float>{2, -2}));
  EXPECT_EQ(p.stored, (std::vector<std::int32_t>{5, -3}));
  const Quantization other = Quantization::per_tensor(0.25F, 1);
  row.quantization = &other;
  ASSERT_TRUE(p.append(row));
  EXPECT_TRUE(p.stored.empty());
  EXPECT_EQ(p.size(), 2U);
}

}  // namespace
}  // namespace halyard::test
