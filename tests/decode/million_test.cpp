// SPDX-License-Identifier: Apache-2.0
// A head of a million boxes that all pass: what comes out is known beforehand, and work that grew
// with the square of their number would not end in the time that a test has.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "decode/head/heads.h"
#include "decode/tensors.h"

namespace halyard::test {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__x86_64__)
constexpr std::size_t side = 200;  // what watches or emulates every access takes 50 times as long
#else
constexpr std::size_t side = 1000;
#endif
constexpr std::size_t million_boxes = side * side;

std::uint32_t mixed(std::size_t i) {
  return static_cast<std::uint32_t>(i * 2654435761U) >> 20;  // 4096 values
}

struct Million {
  ModelDescription description =
      model_of({static_cast<std::int32_t>(2 * side), static_cast<std::int32_t>(2 * side)},
               {output_of(OutputRole::detection, {1, 6, million_boxes})});
  std::vector<float> values = std::vector<float>(6 * million_boxes, 0.0F);
  std::vector<float> scores;

  // Every box in a cell of its own, or all of them in one place. Many scores are equal.
  explicit Million(bool is_one_place) {
    for (std::size_t i = 0; i < million_boxes; ++i) {
      values[i] = is_one_place ? 1 : 2 * static_cast<float>(i % side) + 1;
      values[million_boxes + i] = is_one_place ? 1 : 2 * static_cast<float>(i / side) + 1;
      values[2 * million_boxes + i] = values[3 * million_boxes + i] = 1;
      scores.push_back(0.5F + static_cast<float>(mixed(i)) / 8192);
      values[(4 + i % 2) * million_boxes + i] = scores.back();
    }
  }

  // Best first; of equal scores the earlier box.
  std::vector<std::int32_t> in_order() const {
    std::vector<std::int32_t> out(million_boxes);
    std::iota(out.begin(), out.end(), 0);
    std::stable_sort(out.begin(), out.end(), [&](std::int32_t a, std::int32_t b) {
      return scores[static_cast<std::size_t>(a)] > scores[static_cast<std::size_t>(b)];
    });
    return out;
  }
};

DecodeOptions with(Nms nms, std::size_t top_k, std::size_t maximum) {
  const DecodeOptions out{.nms = nms, .pre_nms_top_k = top_k, .max_detections = maximum};
  return out;
}

void expect_first(const Million& head, const Tensor& tensor, const DecodeOptions& options,
                  const std::vector<std::int32_t>& order, std::size_t count) {
  const auto found = decode_all(head.description, {tensor}, options).detections;
  ASSERT_EQ(found.size(), count);
  for (std::size_t i = 0; i < count; ++i) {
    const Detection& d = found[i];
    const auto box = static_cast<std::size_t>(order[i]);
    ASSERT_EQ(d.anchor, order[i]) << i;
    ASSERT_EQ(d.score, head.scores[box]);
    ASSERT_EQ(d.label, static_cast<std::int32_t>(box % 2));
    const float x = 2 * static_cast<float>(box % side), y = 2 * static_cast<float>(box / side);
    ASSERT_EQ(d.box, (Box{x + 0.5F, y + 0.5F, x + 1.5F, y + 1.5F}));
  }
}

TEST(Million, boxes_that_nobody_overlaps_all_come_out_best_first) {
  const Million head(false);
  const Tensor tensor = tensor_of<float>({1, 6, million_boxes}, head.values);
  const auto order = head.in_order();
  expect_first(head, tensor, with(Nms::none, 0, 0), order, million_boxes);
  expect_first(head, tensor, with(Nms::class_aware, 0, 0), order, million_boxes);
}

TEST(Million, boxes_give_as_many_as_the_options_say) {
  const Million head(false);
  const Tensor tensor = tensor_of<float>({1, 6, million_boxes}, head.values);
  const auto order = head.in_order();
  expect_first(head, tensor, with(Nms::class_aware, 30000, 0), order, 30000);
  expect_first(head, tensor, with(Nms::class_aware, 0, 300), order, 300);
  expect_first(head, tensor, with(Nms::class_agnostic, 7, 300), order, 7);
  expect_first(head, tensor, with(Nms::none, 0, 1), order, 1);
}

TEST(Million, boxes_of_one_place_are_one_of_each_class) {
  const Million head(true);
  const Tensor tensor = tensor_of<float>({1, 6, million_boxes}, head.values);
  const auto order = head.in_order();
  const auto first_of = [&](int label) {
    return *std::find_if(order.begin(), order.end(),
                         [&](std::int32_t i) { return i % 2 == label; });
  };
  const auto found =
      decode_all(head.description, {tensor}, with(Nms::class_aware, 0, 0)).detections;
  ASSERT_EQ(found.size(), 2U);
  for (const Detection& d : found)
    EXPECT_EQ(d.anchor, first_of(d.label));
  const auto one =
      decode_all(head.description, {tensor}, with(Nms::class_agnostic, 0, 0)).detections;
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].anchor, order[0]);
}

// As bytes the two classes of a box are compared a million times, as they are stored.
TEST(Million, boxes_of_bytes_are_those_of_their_floats) {
  std::vector<std::uint8_t> bytes(6 * million_boxes);
  std::vector<float> reals;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] =
        static_cast<std::uint8_t>(i < 4 * million_boxes ? 100 + mixed(i) % 50 : mixed(i) % 256);
    reals.push_back(static_cast<float>(bytes[i]) * (1 / 256.0F));
  }
  const Tensor stored = quantized_of<std::uint8_t>({1, 6, million_boxes}, bytes, 1 / 256.0F, 0);
  const Tensor floats = tensor_of<float>({1, 6, million_boxes}, reals);
  auto description = Million(true).description;
  description.outputs[0].box_units = BoxUnits::fraction;
  const DecodeOptions options = with(Nms::class_aware, 0, 0);
  const auto found = decode_all(description, {stored}, options).detections;
  EXPECT_FALSE(found.empty());
  EXPECT_EQ(found, decode_all(description, {floats}, options).detections);
}

}  // namespace
}  // namespace halyard::test
