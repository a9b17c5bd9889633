// SPDX-License-Identifier: Apache-2.0
#include "halyard/detection_message.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "support/result.h"

namespace halyard::test {
namespace {

using Serializer = MessageSerializer<DetectionMessage>;

DetectionMessage some_message(std::size_t count) {
  DetectionMessage out;
  out.header.timestamp_ns = 123;
  EXPECT_OK(set_frame_id(out.header, "front"));
  out.index = 9;
  out.width = 640;
  out.height = 480;
  for (std::size_t i = 0; i < count; ++i) {
    const auto x = static_cast<float>(i);
    out.entries.push_back({{x, x, x + 1, x + 2}, 0.5F, static_cast<std::int32_t>(i), i});
  }
  return out;
}

std::vector<std::byte> bytes_of(const DetectionMessage& message) {
  std::vector<std::byte> out(Serializer::size(message));
  Serializer::write(message, out);
  return out;
}

TEST(DetectionMessage, is_the_same_after_writing_and_reading) {
  for (const std::size_t count : {0U, 1U, 300U}) {
    const DetectionMessage sent = some_message(count);
    const auto bytes = bytes_of(sent);
    EXPECT_EQ(bytes.size(), 64 + 32 * count);
    const DetectionMessage got = Serializer::read(bytes).value();
    EXPECT_EQ(std::memcmp(&got.header, &sent.header, sizeof sent.header), 0);
    EXPECT_EQ(got.index, 9U);
    EXPECT_EQ(got.width, 640U);
    EXPECT_EQ(got.height, 480U);
    ASSERT_EQ(got.entries.size(), count);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(got.entries[i].box, sent.entries[i].box);
      EXPECT_EQ(got.entries[i].label, sent.entries[i].label);
      EXPECT_EQ(got.entries[i].track, sent.entries[i].track);
    }
  }
}

TEST(DetectionMessage, refuses_bytes_of_another_length) {
  auto bytes = bytes_of(some_message(3));
  EXPECT_FAILS(Serializer::read({}), Errc::malformed, "64 bytes");
  EXPECT_FAILS(Serializer::read(std::span(bytes).first(63)), Errc::malformed, "64 bytes");
  EXPECT_FAILS(Serializer::read(std::span(bytes).first(159)), Errc::malformed, "32 bytes");
  EXPECT_FAILS(Serializer::read(std::span(bytes).first(128)), Errc::malformed, "3 entries");
  bytes[56] = std::byte{0xff};  // the count
  bytes[63] = std::byte{0xff};
  EXPECT_FAILS(Serializer::read(bytes), Errc::malformed, "32 bytes");
}

TEST(DetectionMessage, refuses_a_bad_header) {
  auto bytes = bytes_of(some_message(0));
  for (std::size_t i = 8; i < 40; ++i)
    bytes[i] = std::byte{'x'};
  EXPECT_FAILS(Serializer::read(bytes), Errc::malformed, "");
}

TEST(DetectionMessage, takes_any_bytes_without_harm) {
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::byte> bytes(random() % 300);
    for (std::byte& byte : bytes)
      byte = static_cast<std::byte>(random() % 4 == 0 ? random() : 0);
    const auto got = Serializer::read(bytes);
    if (got) {
      EXPECT_EQ(64 + 32 * got->entries.size(), bytes.size());
    }
  }
}

}  // namespace
}  // namespace halyard::test
