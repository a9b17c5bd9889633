// SPDX-License-Identifier: Apache-2.0
// Which tensor becomes which output: by name, by shape, beside other tensors, without axes of 1.
#include "halyard/output_matcher.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/result.h"

namespace halyard {
namespace {

using Shape = std::vector<std::size_t>;

Tensor tensor(const Shape& shape, std::string name = {}) {
  Tensor out = *Tensor::create(DType::f32, shape, Memory::mem);
  out.set_name(std::move(name));
  return out;
}

ModelDescription described(std::vector<OutputDescription> outputs) {
  ModelDescription out;
  out.outputs = std::move(outputs);
  return out;
}

// Indices in `tensors` of what was matched; a tensor over other bytes: -1.
std::vector<int> order_of(std::span<const Tensor> matched, std::span<const Tensor> tensors) {
  std::vector<int> out;
  for (const Tensor& each : matched) {
    int at = -1;
    for (std::size_t i = 0; i < tensors.size(); ++i)
      if (aliases(tensors[i], each)) at = static_cast<int>(i);
    out.push_back(at);
  }
  return out;
}

const ModelDescription head =
    described({{.name = "boxes", .shape = {1, 4, 10}}, {.name = "scores", .shape = {1, 3, 10}}});

TEST(OutputMatcher, gives_the_tensors_themselves_where_they_fit_in_their_order) {
  const OutputMatcher matcher(head);
  std::vector<Tensor> storage;
  for (const auto& tensors : {std::vector{tensor({1, 4, 10}), tensor({1, 3, 10})},
                              std::vector{tensor({4, 10}), tensor({2, 3, 10})}}) {
    const auto matched = matcher.match(tensors, storage);
    ASSERT_TRUE(matched);
    EXPECT_EQ(matched->data(), tensors.data());
  }
}

TEST(OutputMatcher, finds_outputs_in_any_order_beside_others) {
  std::vector<Tensor> storage;
  const std::vector tensors{tensor({1, 3, 10}), tensor({7}), tensor({1, 4, 10})};
  const auto matched = OutputMatcher(head).match(tensors, storage);
  ASSERT_TRUE(matched) << matched.error().message();
  EXPECT_EQ(order_of(*matched, tensors), (std::vector<int>{2, 0}));
  EXPECT_EQ((*matched)[0].name(), "boxes");
}

TEST(OutputMatcher, trusts_a_name_before_the_shape_and_an_exact_shape_before_others) {
  const ModelDescription twins =
      described({{.name = "a", .shape = {1, 4, 10}}, {.name = "b", .shape = {1, 4, 10}}});
  std::vector<Tensor> storage;
  const std::vector named{tensor({1, 4, 10}, "b"), tensor({1, 4, 10}, "a")};
  EXPECT_EQ(order_of(*OutputMatcher(twins).match(named, storage), named), (std::vector<int>{1, 0}));
  const std::vector wrong{tensor({1, 5, 10}, "a"), tensor({1, 4, 10}), tensor({4, 10}, "b")};
  EXPECT_EQ(order_of(*OutputMatcher(twins).match(wrong, storage), wrong), (std::vector<int>{1, 2}));
  const ModelDescription one = described({{.shape = {1, 4, 10}}});
  const std::vector exact{tensor({4, 10}), tensor({3, 4, 10}), tensor({1, 4, 10})};
  EXPECT_EQ(order_of(*OutputMatcher(one).match(exact, storage), exact), (std::vector<int>{2}));
}

TEST(OutputMatcher, adds_and_removes_axes_of_1_at_the_end) {
  const OutputMatcher matcher(described({{.shape = {1, 10, 1}}, {.shape = {1, 6}}}));
  std::vector<Tensor> storage;
  const std::vector tensors{tensor({1, 10}), tensor({1, 6, 1, 1})};
  const auto matched = matcher.match(tensors, storage);
  ASSERT_TRUE(matched) << matched.error().message();
  EXPECT_EQ(order_of(*matched, tensors), (std::vector<int>{0, 1}));
  EXPECT_EQ(Shape((*matched)[0].shape().begin(), (*matched)[0].shape().end()), (Shape{1, 10, 1}));
  EXPECT_EQ(Shape((*matched)[1].shape().begin(), (*matched)[1].shape().end()), (Shape{1, 6}));
}

TEST(OutputMatcher, lists_parts_instead_of_their_output) {
  OutputDescription whole{.shape = {1, 4, 10}};
  whole.parts = {{.name = "xy", .shape = {1, 2, 10}}, {.name = "wh", .shape = {1, 2, 10}}};
  const OutputMatcher matcher(described({whole, {.name = "scores", .shape = {1, 3, 10}}}));
  ASSERT_EQ(matcher.outputs().size(), 3U);
  EXPECT_EQ(matcher.outputs()[1].name, "wh");
  EXPECT_EQ(matcher.outputs()[2].name, "scores");
}

TEST(OutputMatcher, knows_the_batch_of_tensors_and_description) {
  const ModelDescription with_priors =
      described({{.role = OutputRole::priors, .shape = {1, 10, 4}},
                 {.role = OutputRole::boxes, .shape = {2, 10, 4}},
                 {.role = OutputRole::scores,
                  .shape = {10, 3},
                  .axes = {AxisName::num_boxes, AxisName::num_classes}}});
  const OutputMatcher matcher(with_priors);
  EXPECT_EQ(matcher.described_batch(), 2U);
  const auto extent = [&](std::size_t priors, std::size_t boxes) {
    return matcher.batch_extent(
        std::vector{tensor({priors, 10, 4}), tensor({boxes, 10, 4}), tensor({10, 3})});
  };
  EXPECT_EQ(*extent(1, 5), 5U);
  EXPECT_EQ(*extent(5, 5), 5U);
  EXPECT_FAILS(extent(4, 5), Errc::invalid_argument, "batch extents of the tensors differ");
  EXPECT_EQ(*OutputMatcher(head).batch_extent(std::vector{tensor({4, 10}), tensor({3, 10})}), 1U);
  EXPECT_EQ(OutputMatcher(described({{.axes = {}}})).described_batch(), 1U);
}

TEST(OutputMatcher, refuses_what_it_cannot_place) {
  const OutputMatcher matcher(head);
  std::vector<Tensor> storage;
  EXPECT_FAILS(matcher.match({}, storage), Errc::invalid_argument, "no tensor is given");
  EXPECT_FAILS(matcher.match(std::vector{tensor({1, 4, 10}), tensor({1, 2, 10})}, storage),
               Errc::invalid_argument, "output 1 is [1, 3, 10]; given: [1, 4, 10], [1, 2, 10]");
  EXPECT_FAILS(matcher.match(std::vector{tensor({1, 4, 10})}, storage), Errc::invalid_argument);
  EXPECT_FAILS(matcher.match(std::vector<Tensor>(65, tensor({1, 4, 10})), storage),
               Errc::invalid_argument, "at most 64");
  EXPECT_TRUE(matcher.match(std::vector{tensor({1, 4, 10}), tensor({1, 3, 10}), tensor({1, 3, 10})},
                            storage));
}

}  // namespace
}  // namespace halyard
