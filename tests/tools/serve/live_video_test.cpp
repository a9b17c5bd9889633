// SPDX-License-Identifier: Apache-2.0
#include "serve/live_video.h"

#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "support/result.h"
#include "tools/serve/raw_client.h"

namespace halyard::test {
namespace {

using namespace std::chrono_literals;
using tool::HttpStream;

class LiveVideoHandler final : public tool::HttpHandler {
 public:
  tool::HttpReply reply(const tool::HttpRequest&, const std::string&) override {
    tool::HttpReply out;
    out.stream = HttpStream::video;
    return out;
  }
};

class LiveVideoTest : public ::testing::Test {
 protected:
  void SetUp() override {
    tool::HttpServerOptions options;
    options.listen.port = 0;
    auto made = tool::HttpServer::create(std::move(options), handler);
    ASSERT_OK(made);
    server = *std::move(made);
    ASSERT_OK(server->start());
    video.emplace(*server, VideoStreamOptions{});
    if (!video->state().is_available) GTEST_SKIP() << video->state().error;
  }
  void add(Size size) {
    auto image =
        Tensor::create_image(static_cast<std::size_t>(size.width),
                             static_cast<std::size_t>(size.height), PixelFormat::nv12, DType::u8);
    ASSERT_OK(image);
    video->add(*image, std::chrono::steady_clock::now());
  }
  bool has_viewers(std::size_t count) {
    for (int i = 0; i < 1000; ++i) {
      if (server->viewers(HttpStream::video) == count) return true;
      std::this_thread::sleep_for(10ms);
    }
    return false;
  }
  /// Reads the reply's header fields, and waits until the server knows the viewer.
  void begin(RawClient& client, std::size_t viewers) {
    client.get("/stream.mp4");
    client.read_to("\r\n\r\n");
    EXPECT_TRUE(has_viewers(viewers));
  }
  LiveVideoHandler handler;
  std::unique_ptr<tool::HttpServer> server;
  std::optional<tool::LiveVideo> video;
};

TEST_F(LiveVideoTest, nothing_is_encoded_while_nobody_watches) {
  EXPECT_FALSE(video->is_wanted());
  EXPECT_FALSE(video->state().encoder.empty());
  RawClient client(server->port());
  begin(client, 1);
  EXPECT_TRUE(video->is_wanted());
  client.close();
  ASSERT_TRUE(has_viewers(0));
  EXPECT_FALSE(video->is_wanted());
}

TEST_F(LiveVideoTest, each_viewer_gets_a_key_frame_soon) {
  RawClient one(server->port()), two(server->port());
  begin(one, 1);
  ASSERT_NO_FATAL_FAILURE(add({320, 180}));
  EXPECT_NE(one.read_to("moof").find("ftyp"), std::string::npos);
  ASSERT_NO_FATAL_FAILURE(add({320, 180}));
  one.read_to("moof");
  begin(two, 2);
  ASSERT_NO_FATAL_FAILURE(add({320, 180}));
  EXPECT_NE(two.read_to("moof").find("ftyp"), std::string::npos);
  EXPECT_EQ(one.read_to("moof").find("ftyp"), std::string::npos);
}

TEST_F(LiveVideoTest, another_size_begins_a_new_video) {
  RawClient client(server->port());
  begin(client, 1);
  ASSERT_NO_FATAL_FAILURE(add({320, 180}));
  client.read_to("moof");
  ASSERT_NO_FATAL_FAILURE(add({160, 90}));
  EXPECT_TRUE(client.is_closed());
  RawClient again(server->port());
  begin(again, 1);
  ASSERT_NO_FATAL_FAILURE(add({160, 90}));
  EXPECT_NE(again.read_to("moof").find("ftyp"), std::string::npos);
}

TEST_F(LiveVideoTest, an_image_that_cannot_be_encoded_ends_the_video_and_says_why) {
  RawClient client(server->port());
  begin(client, 1);
  const auto grey = Tensor::create_image(64, 64, PixelFormat::grey, DType::u8);
  ASSERT_OK(grey);
  video->add(*grey, std::chrono::steady_clock::now());
  EXPECT_FALSE(video->is_wanted());
  EXPECT_NE(video->state().error.find("nv12"), std::string::npos) << video->state().error;
  client.close();
  ASSERT_TRUE(has_viewers(0));
  EXPECT_FALSE(video->is_wanted());
  RawClient again(server->port());
  begin(again, 1);
  EXPECT_TRUE(video->is_wanted());
  ASSERT_NO_FATAL_FAILURE(add({64, 64}));
  EXPECT_NE(again.read_to("moof").find("ftyp"), std::string::npos);
  EXPECT_EQ(video->state().error, "");
}

TEST(LiveVideo, an_encoder_that_is_not_there_is_named) {
  LiveVideoHandler handler;
  tool::HttpServerOptions options;
  options.listen.port = 0;
  const auto server = tool::HttpServer::create(std::move(options), handler);
  ASSERT_OK(server);
  VideoStreamOptions coding;
  coding.encoder = "none";
  const tool::LiveVideo video(**server, coding);
  EXPECT_FALSE(video.state().is_available);
  EXPECT_FALSE(video.state().error.empty());
}

}  // namespace
}  // namespace halyard::test
