// SPDX-License-Identifier: Apache-2.0
// Decoding and tracking in one call: boxes are the tracks', and all that a network gives of an
// object follows its track.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "decode/head/heads.h"
#include "decode/tensors.h"
#include "halyard/scene.h"
#include "support/allocations.h"
#include "support/result.h"
#include "track/kinds.h"

namespace halyard::test {
namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds frame_time{33'333'333};
constexpr std::size_t boxes = 64;  // that the network gives
constexpr std::size_t behind = 4;  // numbers of a box behind its two scores
constexpr std::size_t rows = 4 + 2 + behind;
constexpr Size input{640, 640};

struct Object {
  Box box;
  float score = 0.9F;
  int label = 0;
  float mark = 0;  // what follows the scores
};

enum class Extra { masks, stored_masks, keypoints, angle };

ModelDescription description_of(Extra extra) {
  const std::size_t features = extra == Extra::angle ? rows - behind + 1 : rows;
  auto model = model_of(input, {output_of(OutputRole::detection, {1, features, boxes})});
  if (extra == Extra::keypoints) model.keypoints = KeypointShape{2, 2};
  if (extra == Extra::angle) model.task = Task::obb;
  if (extra == Extra::masks || extra == Extra::stored_masks)
    model.outputs.push_back(output_of(OutputRole::prototypes, {1, 8, 8, behind}));
  return model;
}

Decoder decoder_of(Extra extra) {
  return *Decoder::create(description_of(extra), DecodeOptions::hal());
}

std::vector<float> head_of(const std::vector<Object>& objects, std::size_t features) {
  std::vector<float> out(features * boxes, 0);
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const Object& o = objects[i];
    const std::size_t at = 5 * i % boxes;  // not in the order of the objects
    const auto row = [&](std::size_t r) -> float& { return out[r * boxes + at]; };
    row(0) = (o.box.x1 + o.box.x2) / 2, row(1) = (o.box.y1 + o.box.y2) / 2;
    row(2) = o.box.width(), row(3) = o.box.height();
    row(4 + static_cast<std::size_t>(o.label)) = o.score;
    for (std::size_t r = 6; r < features; ++r)
      row(r) = o.mark + static_cast<float>(r - 6);
  }
  return out;
}

std::vector<Tensor> outputs_of(const std::vector<Object>& objects, Extra extra) {
  const std::size_t features = extra == Extra::angle ? rows - behind + 1 : rows;
  const std::vector<float> head = head_of(objects, features);
  std::vector<Tensor> out{tensor_of<float>({1, features, boxes}, head)};
  if (extra == Extra::stored_masks) {
    std::vector<std::int16_t> stored;
    for (const float v : head)
      stored.push_back(static_cast<std::int16_t>(std::lround(v * 32)));
    out[0] = quantized_of<std::int16_t>({1, features, boxes}, stored, 1 / 32.0F, 0);
  }
  if (extra == Extra::masks || extra == Extra::stored_masks)
    out.push_back(filled<float>({1, 8, 8, behind}, 1));
  return out;
}

Box square(float x, float y, float side = 60) {
  return {x, y, x + side, y + side};
}

TrackedFrame tracked(const Decoder& decoder, Tracker& tracker, const std::vector<Object>& objects,
                     int frame, Extra extra = Extra::masks) {
  TrackedFrame out;
  EXPECT_OK(decode_tracked(decoder, tracker, outputs_of(objects, extra), frame * frame_time, out));
  return out;
}

void expect_near(const Box& a, const Box& b, float tolerance) {
  for (const auto side : {&Box::x1, &Box::y1, &Box::x2, &Box::y2})
    EXPECT_NEAR(a.*side, b.*side, tolerance);
}

// ---- closed forms ----------------------------------------------------------------------------

TEST(DecodeTracked, gives_the_object_and_then_its_coasting_track_at_the_same_box) {
  const Decoder decoder = decoder_of(Extra::masks);
  ByteTrack tracker = *ByteTrack::create();
  const Box box = square(128, 192);
  const TrackedFrame seen = tracked(decoder, tracker, {{box, 0.9F, 1, 7}}, 0);
  ASSERT_EQ(seen.live, 1U);
  ASSERT_EQ(seen.decoded.detections.size(), 1U);
  expect_near(seen.decoded.detections[0].box, box, 1e-4F);
  EXPECT_EQ(seen.decoded.detections[0].anchor, 0);
  EXPECT_EQ(seen.decoded.masks.size(), 1U);
  EXPECT_EQ(seen.tracks[0].id, 1U);
  EXPECT_EQ(seen.tracks[0].detection, 0);

  const TrackedFrame coasting = tracked(decoder, tracker, {}, 1);
  EXPECT_EQ(coasting.live, 0U);
  ASSERT_EQ(coasting.decoded.detections.size(), 1U);
  ASSERT_EQ(coasting.tracks.size(), 1U);
  expect_near(coasting.decoded.detections[0].box, box, 1e-4F);
  EXPECT_EQ(coasting.decoded.detections[0].score, 0.9F);
  EXPECT_EQ(coasting.decoded.detections[0].label, 1);
  EXPECT_EQ(coasting.decoded.detections[0].anchor, -1);
  EXPECT_EQ(coasting.tracks[0].id, 1U);
  EXPECT_EQ(coasting.tracks[0].detection, -1);
  EXPECT_TRUE(coasting.decoded.masks.empty());
  EXPECT_EQ(coasting.decoded.masks.channels, behind);
}

TEST(DecodeTracked, boxes_are_the_smoothed_ones) {
  const Decoder decoder = decoder_of(Extra::masks);
  ByteTrack tracker = *ByteTrack::create();
  tracked(decoder, tracker, {{square(100, 100), 0.9F, 0, 0}}, 0);
  const TrackedFrame out = tracked(decoder, tracker, {{square(110, 100), 0.8F, 0, 0}}, 1);
  ASSERT_EQ(out.live, 1U);
  EXPECT_EQ(out.decoded.detections[0].box, out.tracks[0].box);
  EXPECT_GT(out.decoded.detections[0].box.x1, 100);  // a quarter of the correction and less
  EXPECT_LT(out.decoded.detections[0].box.x1, 103);
  EXPECT_EQ(out.decoded.detections[0].score, 0.8F);
}

TEST(DecodeTracked, live_tracks_come_first_by_id_and_coasting_ones_behind_without_masks) {
  const Decoder decoder = decoder_of(Extra::masks);
  ByteTrack tracker = *ByteTrack::create();
  const Object a{square(10, 10), 0.95F, 0, 10}, b{square(200, 10), 0.9F, 1, 20},
      c{square(400, 10), 0.85F, 0, 30};
  tracked(decoder, tracker, {a, b, c}, 0);
  Object late_a = a, late_c = c;
  late_a.score = 0.71F, late_c.score = 0.99F;  // the decoder now gives c first
  const TrackedFrame out = tracked(decoder, tracker, {late_a, late_c}, 1);
  ASSERT_EQ(out.tracks.size(), 3U);
  EXPECT_EQ(out.live, 2U);
  EXPECT_EQ(out.tracks[0].id, 1U);
  EXPECT_EQ(out.tracks[1].id, 3U);
  EXPECT_EQ(out.tracks[2].id, 2U);
  EXPECT_EQ(out.decoded.detections[2].label, 1);
  EXPECT_EQ(out.decoded.masks.coefficients, (std::vector<float>{10, 11, 12, 13, 30, 31, 32, 33}));
  MaskSet masks;
  EXPECT_TRUE(
      materialize(out.decoded.masks, std::span(out.decoded.detections).first(out.live), {}, masks));
  EXPECT_EQ(masks.size(), 2U);
}

TEST(DecodeTracked, what_the_tracker_does_not_take_up_is_left_out) {
  const Decoder decoder = decoder_of(Extra::keypoints);
  ByteTrack tracker = *ByteTrack::create();
  const Object weak{square(300, 300), 0.6F, 0, 50};  // decoded, but starts no track
  const TrackedFrame out =
      tracked(decoder, tracker, {weak, {square(10, 10), 0.8F, 1, 60}}, 0, Extra::keypoints);
  ASSERT_EQ(out.decoded.detections.size(), 1U);
  EXPECT_EQ(out.decoded.detections[0].label, 1);
  ASSERT_EQ(out.decoded.keypoints.size(), 2U);
  EXPECT_EQ(out.decoded.keypoints[0].at.x, 60);
  // The same low score continues a track that is there.
  const TrackedFrame next =
      tracked(decoder, tracker, {{square(10, 10), 0.6F, 1, 70}}, 1, Extra::keypoints);
  ASSERT_EQ(next.live, 1U);
  EXPECT_EQ(next.tracks[0].updates, 2U);
  EXPECT_EQ(next.decoded.keypoints[1].at.x, 72);
}

TEST(DecodeTracked, decodes_the_batch_element_asked_for) {
  const Decoder decoder = decoder_of(Extra::keypoints);
  auto both = head_of({{square(10, 10), 0.9F, 0, 1}}, rows);
  const auto second = head_of({{square(200, 10), 0.9F, 1, 2}}, rows);
  both.insert(both.end(), second.begin(), second.end());
  const Tensor tensor = tensor_of<float>({2, rows, boxes}, both);
  ByteTrack tracker = *ByteTrack::create();
  TrackedFrame out;
  ASSERT_TRUE(decode_tracked(decoder, tracker, {&tensor, 1}, nanoseconds{0}, out, 1));
  ASSERT_EQ(out.live, 1U);
  EXPECT_EQ(out.tracks[0].label, 1);
}

TEST(DecodeTracked, classes_of_the_image_pass_and_the_tracker_moves_on) {
  const Decoder decoder =
      *Decoder::create(model_of({8, 8}, {output_of(OutputRole::classification, {1, 7})}));
  const Tensor scores = tensor_of<float>({1, 7}, {0, 0, 0, 0, 0.9F, 0.1F, 0});
  ByteTrack tracker = *ByteTrack::create();
  TrackedFrame out;
  ASSERT_TRUE(decode_tracked(decoder, tracker, {&scores, 1}, frame_time, out));
  EXPECT_EQ(out.decoded.classes[0].label, 4);
  EXPECT_TRUE(out.tracks.empty());
  EXPECT_FALSE(tracker.update({}, nanoseconds{0}));
}

// ---- every tracker, every head ---------------------------------------------------------------

class TrackedBy : public EveryTracker {};

// Objects that wander, come and go; scores that change the decoder's order in every frame.
class Wanderers {
 public:
  explicit Wanderers(unsigned seed) : random_(seed) {}
  std::vector<Object> next() {
    std::vector<Object> out;
    for (int i = 0; i < 12; ++i) {
      if (unit_(random_) < 0.2F) continue;
      const float x = 20 + 150 * static_cast<float>(i % 4) + 5 * unit_(random_);
      const float y = 20 + 200 * static_cast<float>(i / 4) + 5 * unit_(random_);
      out.push_back({square(x, y, 50 + 5 * unit_(random_)), 0.5F + 0.49F * unit_(random_), i % 2,
                     static_cast<float>(i)});
    }
    std::shuffle(out.begin(), out.end(), random_);
    return out;
  }

 private:
  std::mt19937 random_;
  std::uniform_real_distribution<float> unit_{0, 1};
};

template <class T>
std::vector<T> row_of(const std::vector<T>& values, std::size_t each, std::size_t row) {
  if (values.empty()) return {};
  const auto from = values.begin() + static_cast<std::ptrdiff_t>(row * each);
  return {from, from + static_cast<std::ptrdiff_t>(each)};
}

// What the frame has of one live track is what the decoder gave at the index that the tracker
// names.
void expect_taken(const TrackedFrame& frame, std::size_t i, const Decoded& given,
                  std::size_t from) {
  const Decoded& own = frame.decoded;
  EXPECT_EQ(own.detections[i].anchor, given.detections[from].anchor);
  EXPECT_EQ(own.detections[i].score, given.detections[from].score);
  EXPECT_EQ(own.detections[i].label, given.detections[from].label);
  EXPECT_EQ(row_of(own.rotated, 1, i), row_of(given.rotated, 1, from));
  EXPECT_EQ(row_of(own.keypoints, own.keypoints_each, i),
            row_of(given.keypoints, given.keypoints_each, from));
  EXPECT_EQ(row_of(own.masks.coefficients, own.masks.channels, i),
            row_of(given.masks.coefficients, given.masks.channels, from));
  EXPECT_EQ(row_of(own.masks.stored, own.masks.channels, i),
            row_of(given.masks.stored, given.masks.channels, from));
}

void expect_whole(const TrackedFrame& frame, const Decoded& given,
                  const std::vector<Track>& tracks) {
  ASSERT_EQ(frame.tracks.size(), tracks.size());
  ASSERT_EQ(frame.decoded.detections.size(), tracks.size());
  EXPECT_EQ(frame.decoded.rotated.size(), given.rotated.empty() ? 0 : frame.live);
  EXPECT_EQ(frame.decoded.keypoints.size(), frame.live * given.keypoints_each);
  EXPECT_EQ(frame.decoded.masks.size(), given.masks.channels == 0 ? 0 : frame.live);
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    const auto known = std::find_if(tracks.begin(), tracks.end(), [&](const Track& track) {
      return track.id == frame.tracks[i].id;
    });
    ASSERT_NE(known, tracks.end());
    EXPECT_EQ(frame.decoded.detections[i].box, known->box);
    EXPECT_EQ(known->detection >= 0, i < frame.live);
    EXPECT_EQ(frame.tracks[i].detection, i < frame.live ? static_cast<std::int32_t>(i) : -1);
    if (i > 0 && i != frame.live) {
      EXPECT_LT(frame.tracks[i - 1].id, frame.tracks[i].id);
    }
    if (i < frame.live) expect_taken(frame, i, given, static_cast<std::size_t>(known->detection));
  }
}

TEST_P(TrackedBy, is_what_both_give_one_after_the_other) {
  for (const Extra extra : {Extra::masks, Extra::stored_masks, Extra::keypoints, Extra::angle}) {
    SCOPED_TRACE(static_cast<int>(extra));
    const Decoder decoder = decoder_of(extra);
    Tracker tracker = make_tracker(GetParam());
    Tracker other = make_tracker(GetParam());
    Wanderers wanderers(5);
    TrackedFrame frame;
    std::size_t max_live = 0, max_coasting = 0;
    for (int i = 0; i < 60; ++i) {
      const std::vector<Tensor> outputs = outputs_of(wanderers.next(), extra);
      Decoded given;
      ASSERT_TRUE(decoder.decode_into(outputs, given));
      ASSERT_VALUE(const auto tracks, other.update(given.detections, i * frame_time));
      ASSERT_TRUE(decode_tracked(decoder, tracker, outputs, i * frame_time, frame));
      expect_whole(frame, given, tracks);
      max_live = std::max(max_live, frame.live);
      max_coasting = std::max(max_coasting, frame.tracks.size() - frame.live);
    }
    EXPECT_GE(max_live, 6U);
    EXPECT_GE(max_coasting, 1U);
  }
}

TEST_P(TrackedBy, keeps_its_state_when_the_call_fails) {
  const Decoder decoder = decoder_of(Extra::keypoints);
  Tracker tracker = make_tracker(GetParam());
  const Object object{square(100, 100), 0.9F, 0, 1};
  tracked(decoder, tracker, {object}, 5, Extra::keypoints);
  const std::vector<Track> before = tracker.tracks();
  ASSERT_EQ(before.size(), 1U);
  TrackedFrame out;
  const auto outputs = outputs_of({object}, Extra::keypoints);
  const Tensor narrow = filled<float>({1, 5, boxes});
  EXPECT_FALSE(decode_tracked(decoder, tracker, {&narrow, 1}, 6 * frame_time, out));
  EXPECT_FALSE(decode_tracked(decoder, tracker, {}, 6 * frame_time, out));
  EXPECT_FALSE(decode_tracked(decoder, tracker, outputs, 6 * frame_time, out, 1));
  EXPECT_FAILS(decode_tracked(decoder, tracker, outputs, 4 * frame_time, out), "when");
  EXPECT_EQ(tracker.tracks()[0].box, before[0].box);
  EXPECT_EQ(tracker.tracks()[0].updates, before[0].updates);
  // Had the tracker moved to frame 6, frame 5 again would be refused.
  EXPECT_TRUE(decode_tracked(decoder, tracker, outputs, 5 * frame_time, out));
  EXPECT_EQ(out.tracks[0].updates, 2U);
}

TEST_P(TrackedBy, allocates_nothing_in_the_steady_state) {
  for (const Extra extra : {Extra::masks, Extra::stored_masks, Extra::keypoints, Extra::angle}) {
    const Decoder decoder = decoder_of(extra);
    Tracker tracker = make_tracker(GetParam());
    Wanderers wanderers(3);
    std::vector<std::vector<Tensor>> scene;
    for (int i = 0; i < 60; ++i)
      scene.push_back(outputs_of(wanderers.next(), extra));
    TrackedFrame frame;
    nanoseconds start{0};
    bool good = true;
    const auto run = [&] {
      for (int i = 0; i < 60; ++i)
        good = good && bool(decode_tracked(decoder, tracker, scene[static_cast<std::size_t>(i)],
                                           start + i * frame_time, frame));
      start += std::chrono::seconds(10);  // all tracks end
    };
    run();
    run();
    const std::uint64_t before = allocations();
    run();
    EXPECT_EQ(allocations() - before, 0U);
    EXPECT_TRUE(good);
  }
}

INSTANTIATE_TEST_SUITE_P(All, TrackedBy, ::testing::ValuesIn(all_kinds), kind_name);

}  // namespace
}  // namespace halyard::test
