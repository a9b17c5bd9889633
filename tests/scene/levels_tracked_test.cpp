// SPDX-License-Identifier: Apache-2.0
// Tracks over a head of levels with distributions of distances: an object that passes from one
// level to the other stays the same one.
#include <gtest/gtest.h>

#include <array>

#include "decode/head/heads.h"
#include "decode/tensors.h"
#include "halyard/scene.h"
#include "support/result.h"
#include "track/kinds.h"

namespace halyard::test {
namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds level_time{33'333'333};
constexpr std::size_t bins = 16, classes = 2, extent = 256;
constexpr std::array<std::size_t, 2> strides{8, 16};
constexpr float reach = 40;  // of every box to each of its sides, in pixels

struct LevelObject {
  float x = 0, y = 0;  // centre, snapped to that of its cell
  std::size_t level = 0;
  std::size_t label = 0;
};

float snapped(float v, std::size_t level) {
  const auto stride = static_cast<float>(strides[level]);
  return (std::floor(v / stride) + 0.5F) * stride;
}

Box box_of(const LevelObject& o) {
  const float x = snapped(o.x, o.level), y = snapped(o.y, o.level);
  return {x - reach, y - reach, x + reach, y + reach};
}

OutputDescription part_of(OutputRole role, std::size_t stride, std::size_t features) {
  OutputDescription out;
  out.role = role;
  out.name = std::string(to_string(role)) + std::to_string(stride);
  out.shape = {1, extent / stride, extent / stride, features};
  out.axes = {AxisName::batch, AxisName::height, AxisName::width, AxisName::num_features};
  out.stride = Stride{static_cast<std::uint32_t>(stride), static_cast<std::uint32_t>(stride)};
  return out;
}

ModelDescription description() {
  using test::output_of;
  const std::size_t cells = 32 * 32 + 16 * 16;
  auto out = test::model_of(
      {extent, extent}, {output_of(OutputRole::boxes, {1, 4, cells}),
                         output_of(OutputRole::scores, {1, classes, cells}, BoxUnits::fraction)});
  out.outputs[0].encoding = BoxEncoding::dfl;
  out.outputs[1].activation = Activation::sigmoid;
  out.outputs[1].box_units = {};
  for (const std::size_t stride : strides) {
    out.outputs[0].parts.push_back(part_of(OutputRole::boxes, stride, 4 * bins));
    out.outputs[1].parts.push_back(part_of(OutputRole::scores, stride, classes));
  }
  return out;
}

// Logits in quarters. Two equal bins have their mean between them.
std::vector<Tensor> outputs_of(const std::vector<LevelObject>& objects) {
  std::vector<Tensor> boxes, scores;
  for (std::size_t l = 0; l < strides.size(); ++l) {
    const std::size_t side = extent / strides[l];
    std::vector<std::int8_t> bin(side * side * 4 * bins, 0), logit(side * side * classes, -127);
    for (const LevelObject& o : objects) {
      if (o.level != l) continue;
      const auto stride = static_cast<float>(strides[l]);
      const std::size_t cell =
          static_cast<std::size_t>(o.y / stride) * side + static_cast<std::size_t>(o.x / stride);
      logit[cell * classes + o.label] = 12;
      const float distance = reach / stride;
      for (std::size_t s = 0; s < 4; ++s) {
        std::int8_t* at = &bin[(cell * 4 + s) * bins];
        at[static_cast<std::size_t>(std::floor(distance))] = 127;
        at[static_cast<std::size_t>(std::ceil(distance))] = 127;
      }
    }
    boxes.push_back(quantized_of<std::int8_t>({1, side, side, 4 * bins}, bin, 0.25F, 0));
    scores.push_back(quantized_of<std::int8_t>({1, side, side, classes}, logit, 0.25F, 0));
    boxes.back().set_name("boxes" + std::to_string(strides[l]));
    scores.back().set_name("scores" + std::to_string(strides[l]));
  }
  return {boxes[0], boxes[1], scores[0], scores[1]};
}

// One walks to the right and is found by the other level half-way; one stands.
std::vector<LevelObject> objects_at(int frame) {
  return {{60 + 2 * static_cast<float>(frame), 60, frame < 20 ? 0U : 1U, 0}, {180, 180, 1, 1}};
}

void expect_near_box(const Box& a, const Box& b, float tolerance) {
  for (const auto side : {&Box::x1, &Box::y1, &Box::x2, &Box::y2})
    EXPECT_NEAR(a.*side, b.*side, tolerance);
}

class LevelsTracked : public EveryTracker {};

TEST_P(LevelsTracked, keep_an_object_that_passes_from_level_to_level) {
  ASSERT_VALUE(const auto decoder, Decoder::create(description()));
  Tracker tracker = make_tracker(GetParam());
  TrackedFrame frame;
  for (int i = 0; i < 40; ++i) {
    SCOPED_TRACE(i);
    const auto objects = objects_at(i);
    const auto outputs = outputs_of(objects);
    ASSERT_OK(decode_tracked(decoder, tracker, outputs, i * level_time, frame));
    const Decoded given = test::decode_all(description(), outputs);
    ASSERT_EQ(given.detections.size(), 2U);
    for (const Detection& d : given.detections)
      expect_near_box(d.box, box_of(objects[static_cast<std::size_t>(d.label)]), 1e-3F);
    if (i < 3) continue;  // SORT and OC-SORT trust a track then
    ASSERT_EQ(frame.live, 2U);
    ASSERT_EQ(frame.tracks.size(), 2U);
    for (std::size_t k = 0; k < 2; ++k) {
      const auto& object = objects[static_cast<std::size_t>(frame.tracks[k].label)];
      EXPECT_LE(frame.tracks[k].id, 2U) << "another id";
      EXPECT_EQ(frame.tracks[k].updates, static_cast<std::uint32_t>(i + 1));
      EXPECT_EQ(frame.decoded.detections[k].label, frame.tracks[k].label);
      EXPECT_EQ(frame.decoded.detections[k].anchor < 32 * 32, object.level == 0);
      expect_near_box(frame.decoded.detections[k].box, box_of(object), 10);
    }
    EXPECT_NE(frame.tracks[0].label, frame.tracks[1].label);
  }
}

INSTANTIATE_TEST_SUITE_P(All, LevelsTracked, ::testing::ValuesIn(all_kinds), kind_name);

}  // namespace
}  // namespace halyard::test
