// SPDX-License-Identifier: Apache-2.0
// The stream whose messages depend on those before them.
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "serve/http/http_server.h"
#include "support/result.h"
#include "tools/serve/raw_client.h"

namespace halyard::test {
namespace {

using namespace std::chrono_literals;
using tool::HttpReply;
using tool::HttpRequest;
using tool::HttpStream;
using tool::StreamMessage;
using Role = StreamMessage::Role;

class VideoHandler final : public tool::HttpHandler {
 public:
  HttpReply reply(const HttpRequest&, const std::string&) override {
    HttpReply out;
    out.stream = HttpStream::video;
    return out;
  }
};

class HttpVideoTest : public ::testing::Test {
 protected:
  void SetUp() override {
    tool::HttpServerOptions options;
    options.listen.port = 0;
    auto made = tool::HttpServer::create(std::move(options), handler);
    ASSERT_OK(made);
    server = *std::move(made);
    ASSERT_OK(server->start());
  }
  void push(Role role, const std::string& text) {
    server->push(HttpStream::video, {std::make_shared<const std::string>(text), role,
                                     role == Role::first ? head : nullptr});
  }
  bool comes_true(const std::function<bool()>& condition) {
    for (int i = 0; i < 1000; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(10ms);
    }
    return false;
  }
  void begin(RawClient& client, std::size_t viewers) {
    client.get("/stream.mp4");
    EXPECT_NE(client.read_to("\r\n\r\n").find("Content-Type: video/mp4\r\n"), std::string::npos);
    // The place is taken before the reply is sent, the stream begins after it.
    EXPECT_TRUE(comes_true([&] { return server->viewers(HttpStream::video) == viewers; }));
  }
  VideoHandler handler;
  std::unique_ptr<tool::HttpServer> server;
  StreamMessage::Bytes head = std::make_shared<const std::string>("<head>");
};

TEST_F(HttpVideoTest, each_viewer_begins_with_the_head_and_a_first_message) {
  RawClient early(server->port()), late(server->port());
  begin(early, 1);
  // Whatever the server has taken of these when the stream begins, none comes before a first one.
  push(Role::follows, "<none>");
  push(Role::first, "<key 1>");
  push(Role::follows, "<next>");
  EXPECT_EQ(early.read_to("<next>"), "<head><key 1><next>");
  begin(late, 2);
  push(Role::follows, "<last>");
  push(Role::first, "<key 2>");
  EXPECT_EQ(early.read_to("<key 2>"), "<last><key 2>");
  EXPECT_EQ(late.read_to("<key 2>"), "<head><key 2>");
  EXPECT_EQ(server->arrivals(HttpStream::video), 2U);
}

TEST_F(HttpVideoTest, another_head_ends_the_stream_of_each_viewer) {
  RawClient client(server->port());
  begin(client, 1);
  push(Role::first, "<key>");
  EXPECT_EQ(client.read_to("<key>"), "<head><key>");
  head = std::make_shared<const std::string>("<other>");
  push(Role::first, "<key>");
  EXPECT_TRUE(client.is_closed());
  EXPECT_TRUE(comes_true([&] { return server->viewers(HttpStream::video) == 0; }));
  RawClient again(server->port());
  begin(again, 1);
  push(Role::first, "<key>");
  EXPECT_EQ(again.read_to("<key>"), "<other><key>");
}

TEST_F(HttpVideoTest, a_slow_viewer_skips_to_a_first_message_and_others_do_not) {
  RawClient slow(server->port(), 4096), good(server->port());
  begin(slow, 1);
  begin(good, 2);
  push(Role::first, "<key>");
  const std::string large(200'000, 'x');
  int number = 0;
  for (; server->stats().video_skipped == 0 && number < 500; ++number) {
    push(Role::follows, large + "<" + std::to_string(number) + ">");
    good.read_to("<" + std::to_string(number) + ">");
  }
  ASSERT_GT(server->stats().video_skipped, 0U);
  push(Role::follows, "<lost>");
  push(Role::first, "<again>");
  EXPECT_EQ(good.read_to("<again>"), "<lost><again>");
  const std::string taken = slow.read_to("<again>");
  EXPECT_EQ(taken.substr(0, 11), "<head><key>");
  EXPECT_EQ(taken.find("<lost>"), std::string::npos);
  EXPECT_EQ(taken.substr(taken.size() - 7), "<again>");
  EXPECT_EQ(server->stats().slow_viewers, 0U);
}

}  // namespace
}  // namespace halyard::test
