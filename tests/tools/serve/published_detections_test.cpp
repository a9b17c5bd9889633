// SPDX-License-Identifier: Apache-2.0
// What a publisher found is matched with its frames by their time.
#include "serve/input/published_detections.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <limits>
#include <thread>

#include "support/result.h"

namespace halyard::test {
namespace {

using namespace std::chrono_literals;
using tool::PublishedDetections;

constexpr Size frame_size{200, 100};

class PublishedDetectionsTest : public ::testing::Test {
 protected:
  PublishedDetectionsTest() {
    auto joined = PublishedDetections::open(name);
    EXPECT_OK(joined);
    found.emplace(*std::move(joined));
    TopicConfig config;
    config.role = TopicRole::publisher;
    auto sending = Topic<DetectionMessage>::create(name + "/detections", config);
    EXPECT_OK(sending);
    topic.emplace(*std::move(sending));
  }
  /// The objects of a frame, each with its label and its identity.
  void send(std::chrono::nanoseconds time,
            const std::vector<std::pair<std::int32_t, std::uint64_t>>& objects) {
    DetectionMessage message;
    message.header.timestamp_ns = static_cast<std::uint64_t>(time.count());
    message.width = 100;
    message.height = 50;
    for (const auto& [label, track] : objects)
      message.entries.push_back({{10, 20, 30, 40}, 0.5F, label, track});
    EXPECT_OK(topic->send(message));
  }
  std::vector<std::int32_t> labels_at(std::chrono::nanoseconds time, float score = 0) {
    std::vector<std::int32_t> out;
    for (const Detection& each : found->find(time, frame_size, score).detections)
      out.push_back(each.label);
    return out;
  }

  using Labels = std::vector<std::int32_t>;
  std::string name = fmt::format("published-{}", ::getpid());
  std::optional<PublishedDetections> found;
  std::optional<Topic<DetectionMessage>> topic;
};

TEST_F(PublishedDetectionsTest, frames_get_the_message_of_their_time) {
  send(10ms, {{1, 0}});
  send(20ms, {{2, 0}, {3, 0}});
  send(30ms, {{4, 0}});
  EXPECT_EQ(labels_at(20ms), (Labels{2, 3}));  // the first frame was dropped
  EXPECT_EQ(labels_at(30ms), Labels{4});
  EXPECT_EQ(labels_at(30ms), Labels{});
}

TEST_F(PublishedDetectionsTest, a_publisher_may_begin_again_at_an_earlier_time) {
  send(500ms, {{1, 0}});
  send(10ms, {{2, 0}});
  EXPECT_EQ(labels_at(10ms), Labels{2});
}

TEST_F(PublishedDetectionsTest, of_several_models_the_first_is_taken) {
  send(10ms, {{1, 0}});
  send(10ms, {{2, 0}});
  send(20ms, {{3, 0}});
  EXPECT_EQ(labels_at(10ms), Labels{1});
  EXPECT_EQ(labels_at(20ms), Labels{3});
}

TEST_F(PublishedDetectionsTest, a_message_that_comes_late_is_waited_for) {
  found.emplace(PublishedDetections::open(name, 60s).value());
  send(10ms, {{1, 0}});
  EXPECT_EQ(labels_at(10ms), Labels{1});
  std::thread late([this] {
    std::this_thread::sleep_for(5ms);
    send(20ms, {{2, 0}});
  });
  EXPECT_EQ(labels_at(20ms), Labels{2});
  late.join();
}

TEST_F(PublishedDetectionsTest, boxes_are_scaled_to_the_frame_and_identities_become_tracks) {
  send(10ms, {{1, 0}, {2, 7}});
  const auto& scene = found->find(10ms, frame_size, 0);
  ASSERT_EQ(scene.detections.size(), 2U);
  EXPECT_EQ(scene.detections[0].box, (Box{20, 40, 60, 80}));
  ASSERT_EQ(scene.tracks.size(), 1U);
  EXPECT_EQ(scene.tracks[0].id, 7U);
  EXPECT_EQ(scene.tracks[0].detection, 1);
  EXPECT_EQ(scene.tracks[0].box, scene.detections[1].box);
}

TEST_F(PublishedDetectionsTest, low_scores_are_left_out) {
  send(10ms, {{1, 0}});
  send(20ms, {{2, 0}});
  EXPECT_EQ(labels_at(10ms, 0.6F), Labels{});
  EXPECT_EQ(labels_at(20ms, 0.5F), Labels{2});
}

TEST_F(PublishedDetectionsTest, messages_without_a_size_or_a_real_score_are_empty) {
  DetectionMessage message;
  message.header.timestamp_ns = 1;
  message.entries.push_back({{1, 2, 3, 4}, 0.5F, 1, 0});
  EXPECT_OK(topic->send(message));
  message.header.timestamp_ns = 2;
  message.width = message.height = 10;
  message.entries[0].score = std::numeric_limits<float>::quiet_NaN();
  EXPECT_OK(topic->send(message));
  EXPECT_EQ(labels_at(1ns), Labels{});
  EXPECT_EQ(labels_at(2ns), Labels{});
}

}  // namespace
}  // namespace halyard::test
