// SPDX-License-Identifier: Apache-2.0
// What a viewer that does not keep up gets of a stream.
#include <gtest/gtest.h>

#include "serve/http/waiting_messages.h"

namespace halyard::test {
namespace {

using tool::StreamMessage;
using tool::WaitingMessages;
using MessageRole = StreamMessage::Role;

StreamMessage message(MessageRole role, const std::string& text,
                      const StreamMessage::Bytes& head = {}) {
  return {std::make_shared<const std::string>(text), role, head};
}

const auto head = std::make_shared<const std::string>("head");
const std::string large(tool::max_waiting_bytes / 2 + 1, 'x');

TEST(http_waiting, a_whole_message_replaces_what_waits) {
  WaitingMessages waiting;
  for (const char* text : {"one", "two", "three"})
    ASSERT_TRUE(waiting.add(message(MessageRole::whole, text)));
  EXPECT_EQ(*waiting.take().bytes, "three");
  EXPECT_TRUE(waiting.is_empty());
  EXPECT_EQ(waiting.take_skipped(), 2U);
  EXPECT_EQ(waiting.take_skipped(), 0U);
}

TEST(http_waiting, a_viewer_begins_with_the_head_and_a_first_message) {
  WaitingMessages waiting;
  ASSERT_TRUE(waiting.add(message(MessageRole::follows, "before")));
  EXPECT_TRUE(waiting.is_empty());
  ASSERT_TRUE(waiting.add(message(MessageRole::first, "key", head)));
  ASSERT_TRUE(waiting.add(message(MessageRole::follows, "next")));
  ASSERT_TRUE(waiting.add(message(MessageRole::first, "key 2", head)));
  const auto first = waiting.take();
  EXPECT_EQ(first.head, head);
  EXPECT_EQ(*first.bytes, "key");
  for (const char* text : {"next", "key 2"}) {
    const auto other = waiting.take();
    EXPECT_EQ(other.head, nullptr);
    EXPECT_EQ(*other.bytes, text);
  }
  EXPECT_EQ(waiting.take_skipped(), 0U);
}

TEST(http_waiting, a_slow_viewer_begins_again_at_a_first_message) {
  WaitingMessages waiting;
  ASSERT_TRUE(waiting.add(message(MessageRole::first, "key", head)));
  ASSERT_TRUE(waiting.add(message(MessageRole::follows, large)));
  ASSERT_TRUE(waiting.add(message(MessageRole::follows, large)));
  EXPECT_TRUE(waiting.is_empty());
  ASSERT_TRUE(waiting.add(message(MessageRole::follows, "lost")));
  EXPECT_TRUE(waiting.is_empty());
  ASSERT_TRUE(waiting.add(message(MessageRole::first, "key 2", head)));
  const auto next = waiting.take();
  EXPECT_EQ(*next.bytes, "key 2");
  EXPECT_EQ(next.head, head) << "the head had not been sent";
  EXPECT_EQ(waiting.take_skipped(), 4U);
}

TEST(http_waiting, a_first_message_replaces_more_than_the_limit) {
  WaitingMessages waiting;
  ASSERT_TRUE(waiting.add(message(MessageRole::first, large, head)));
  ASSERT_TRUE(waiting.add(message(MessageRole::first, large, head)));
  EXPECT_EQ(waiting.take_skipped(), 1U);
  waiting.take();
  EXPECT_TRUE(waiting.is_empty());
}

TEST(http_waiting, another_head_ends_the_stream) {
  WaitingMessages waiting;
  ASSERT_TRUE(waiting.add(message(MessageRole::first, "key", head)));
  EXPECT_FALSE(waiting.add(
      message(MessageRole::first, "key", std::make_shared<const std::string>("other"))));
}

}  // namespace
}  // namespace halyard::test
