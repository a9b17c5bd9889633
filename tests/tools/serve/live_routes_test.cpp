// SPDX-License-Identifier: Apache-2.0
// What each path answers, and what it refuses.
#include "serve/live_routes.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "input/json_document.h"
#include "support/folder.h"
#include "support/result.h"

namespace halyard::test {
namespace {

using tool::HttpReply;
using tool::HttpRequest;
using tool::HttpStream;
using tool::Json;
using tool::LiveControls;

const std::string secret = "0123456789abcdef";

class LiveRoutesTest : public ::testing::Test {
 protected:
  LiveRoutesTest() { serve(""); }
  void serve(const std::string& token) {
    tool::HttpServerOptions options;
    options.listen.port = 0;
    auto made = tool::HttpServer::create(std::move(options), routes);
    ASSERT_OK(made);
    server = *std::move(made);
    video.emplace(*server, VideoStreamOptions{});
    routes.bind(*server, *video);
    routes.set_access({token, true, false, 8080, {}});
  }
  HttpReply get(const std::string& path) {
    HttpRequest request;
    request.method = "GET";
    request.path = path;
    request.fields = {{"host", "localhost:8080"}};
    if (!cookie.empty()) request.fields.emplace_back("cookie", cookie);
    return routes.reply(request, "127.0.0.1");
  }
  HttpReply post(const std::string& path, const std::string& body,
                 const std::string& type = "application/json") {
    HttpRequest request;
    request.method = "POST";
    request.path = path;
    request.body = body;
    request.fields = {
        {"host", "localhost:8080"}, {"origin", "http://localhost:8080"}, {"content-type", type}};
    if (!cookie.empty()) request.fields.emplace_back("cookie", cookie);
    return routes.reply(request, "127.0.0.1");
  }
  static std::string field(const HttpReply& reply, const std::string& name) {
    for (const auto& [own, value] : reply.fields)
      if (own == name) return value;
    return {};
  }

  Folder folder;
  tool::LiveFeed feed{{"clip", true, false, true, false, {"boat", "buoy"}}};
  tool::Recorder recorder{""};
  tool::PoolWatch pools;
  tool::LiveRoutes routes{{feed, recorder, pools}, "{\"schema\":1,\"name\":\"m\"}"};
  std::unique_ptr<tool::HttpServer> server;
  std::optional<tool::LiveVideo> video;
  std::string cookie;
};

TEST_F(LiveRoutesTest, pages_and_documents_have_their_types) {
  EXPECT_EQ(get("/").type, "text/html; charset=utf-8");
  EXPECT_EQ(get("/view.js").type, "text/javascript; charset=utf-8");
  EXPECT_EQ(get("/style.css").status, 200);
  EXPECT_EQ(get("/icon.svg").type, "image/svg+xml");
  EXPECT_EQ(get("/api/model").body, "{\"schema\":1,\"name\":\"m\"}\n");
  EXPECT_EQ(get("/video.js").type, "text/javascript; charset=utf-8");
  EXPECT_EQ(get("/stream.mjpg").stream, HttpStream::images);
  EXPECT_EQ(get("/events").stream, HttpStream::events);
  EXPECT_NE(get("/metrics").body.find("\nhalyard_frames_total 0\n"), std::string::npos);
}

TEST_F(LiveRoutesTest, paths_are_compared_whole) {
  for (const char* path :
       {"/..", "/../", "/../../etc/passwd", "/./", "//", "/index.html", "/page/view.js",
        "/%2e%2e/etc/passwd", "/view.js/", "/VIEW.JS", "/api", "/api/", "/api/state/",
        "/api/../view.js", "/view.js%00", "/\\..\\", "/embed.cmake", "/login.html"})
    EXPECT_EQ(get(path).status, 404) << path;
}

TEST_F(LiveRoutesTest, the_state_holds_the_last_frame) {
  tool::LiveFrame frame;
  frame.index = 7;
  frame.read = std::chrono::steady_clock::now();
  frame.size = {640, 360};
  frame.labels = {0, 0, 1, 9};
  frame.tracks = 2;
  frame.stages = {{"model", 10, 2500}};
  feed.add(frame);
  const Json state = Json::parse(get("/api/state").body);
  EXPECT_EQ(state["schema"], 1);
  EXPECT_EQ(state["status"], "running");
  EXPECT_EQ(state["source"]["width"], 640);
  EXPECT_EQ(state["objects"]["detections"], 4);
  EXPECT_EQ(state["objects"]["labels"][0]["count"], 2);
  EXPECT_EQ(state["objects"]["labels"][2]["label"], "class 9");
  EXPECT_EQ(state["timeline"][0]["frame"], 7);
  EXPECT_EQ(state["timeline"][0]["stages"][0], Json({"model", 0.01, 2.5}));
  EXPECT_EQ(state["frames"]["passed"], 1);
  tool::LiveFeed::Hooks hooks;
  hooks.counts = [] {
    tool::LiveCounts counts;
    counts.dropped = 3;
    counts.last_error = "the camera is gone";
    counts.stages = {{"model", 2000, 9000}};
    return counts;
  };
  feed.set_hooks(std::move(hooks));
  feed.set_ended();
  const Json after = Json::parse(get("/api/state").body);
  EXPECT_EQ(after["status"], "ended");
  EXPECT_EQ(after["error"], "the camera is gone");
  EXPECT_EQ(after["frames"]["dropped"], 3);
  EXPECT_EQ(after["stages"][0]["p99_ms"], 9.0);
}

TEST_F(LiveRoutesTest, controls_change_what_they_name) {
  LiveControls applied;
  tool::LiveFeed::Hooks hooks;
  hooks.apply = [&](const LiveControls& controls) { return applied = controls, Status(); };
  feed.set_hooks(std::move(hooks));
  const HttpReply reply = post("/api/controls", "{\"score\": 0.5, \"masks\": false}");
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(applied.score, 0.5F);
  EXPECT_EQ(applied.iou, 0.45F);
  EXPECT_FALSE(applied.has_masks);
  EXPECT_EQ(Json::parse(reply.body)["score"], 0.5);
  EXPECT_EQ(get("/api/controls").body, reply.body);
  hooks.apply = [](const LiveControls&) -> Status {
    return make_error(Errc::invalid_argument, "no");
  };
  feed.set_hooks(std::move(hooks));
  EXPECT_EQ(post("/api/controls", "{\"paused\": true}").status, 400);
  EXPECT_FALSE(feed.controls().is_paused);
}

TEST_F(LiveRoutesTest, wrong_controls_name_the_key_and_change_nothing) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "JSON object"},
      {"{", "JSON object"},
      {"[]", "JSON object"},
      {"null", "JSON object"},
      {"\xff\xfe", "JSON object"},
      {std::string(10'000, '['), "JSON object"},
      {"{\"score\": 1.5}", "score"},
      {"{\"score\": -0.1}", "score"},
      {"{\"score\": \"0.5\"}", "score"},
      {"{\"score\": null}", "score"},
      {"{\"iou\": 1e999}", "JSON object"},
      {"{\"paused\": 1}", "paused"},
      {"{\"speed\": 1}", "speed"},
      {"{\"boxes\": false, \"speed\": 1}", "speed"},
  };
  for (const auto& [body, text] : cases) {
    const HttpReply reply = post("/api/controls", body);
    EXPECT_EQ(reply.status, 400) << body.substr(0, 80);
    EXPECT_NE(reply.body.find(text), std::string::npos) << reply.body;
  }
  EXPECT_EQ(feed.controls(), LiveControls());
}

TEST_F(LiveRoutesTest, methods_and_types_are_checked) {
  EXPECT_EQ(post("/api/controls", "{}", "text/plain").status, 415);
  EXPECT_EQ(post("/api/controls", "{}", "").status, 415);
  EXPECT_EQ(post("/api/controls", "{}", "application/json; charset=utf-8").status, 200);
  EXPECT_EQ(post("/api/state", "{}").status, 405);
  EXPECT_EQ(post("/nothing", "{}").status, 404);
  EXPECT_EQ(get("/api/record").status, 405);
  const HttpReply reply = post("/api/record", "{\"on\": true}");
  EXPECT_EQ(reply.status, 400);
  EXPECT_NE(reply.body.find("--record-to"), std::string::npos);
  EXPECT_EQ(post("/api/record", "{\"on\": 1}").status, 400);
  EXPECT_EQ(post("/api/record", "{\"on\": true, \"x\": 1}").status, 400);
}

TEST_F(LiveRoutesTest, a_snapshot_is_the_newest_image) {
  EXPECT_FALSE(feed.wants_image());
  const HttpReply none = get("/api/snapshot");
  EXPECT_EQ(none.status, 503);
  EXPECT_EQ(field(none, "Retry-After"), "1");
  EXPECT_TRUE(feed.wants_image());
  feed.set_image(std::make_shared<const std::string>("jpeg"));
  const HttpReply reply = get("/api/snapshot");
  EXPECT_EQ(reply.type, "image/jpeg");
  EXPECT_EQ(*reply.shared, "jpeg");
  EXPECT_NE(field(reply, "Content-Disposition").find("attachment"), std::string::npos);
}

TEST_F(LiveRoutesTest, with_a_token_only_the_login_page_is_open) {
  serve(secret);
  for (const char* path : {"/stream.mjpg", "/stream.mp4", "/events", "/api/state", "/api/model",
                           "/api/snapshot", "/api/pools", "/metrics", "/view.js", "/nothing"})
    EXPECT_EQ(get(path).status, 401) << path;
  EXPECT_EQ(field(get("/"), "Location"), "/login");
  EXPECT_EQ(get("/login").status, 200);
  EXPECT_EQ(get("/style.css").status, 200);
  EXPECT_EQ(post("/api/controls", "{}").status, 401);
  const std::string form = "application/x-www-form-urlencoded";
  const HttpReply wrong = post("/login", "token=0123456789abcdeX", form);
  EXPECT_EQ(wrong.status, 401);
  EXPECT_NE(wrong.body.find("This is not the token."), std::string::npos);
  EXPECT_EQ(field(wrong, "Set-Cookie"), "");
  const HttpReply right = post("/login", "token=" + secret, form);
  EXPECT_EQ(right.status, 303);
  cookie = field(right, "Set-Cookie");
  cookie = cookie.substr(0, cookie.find(';'));
  EXPECT_EQ(get("/").status, 200);
  EXPECT_EQ(post("/api/controls", "{}").status, 200);
  EXPECT_EQ(field(post("/logout", ""), "Location"), "/login");
  EXPECT_EQ(get("/api/state").status, 401);
}

TEST_F(LiveRoutesTest, other_sites_and_names_are_refused) {
  HttpRequest request;
  request.method = "GET";
  request.path = "/";
  request.fields = {{"host", "evil.example"}};
  EXPECT_EQ(routes.reply(request, "").status, 421);
  request.method = "POST";
  request.path = "/api/controls";
  request.fields = {{"host", "localhost:8080"}, {"content-type", "application/json"}};
  EXPECT_EQ(routes.reply(request, "").status, 403);
  request.fields.emplace_back("origin", "http://evil.example");
  EXPECT_EQ(routes.reply(request, "").status, 403);
  request.path = "/login";
  EXPECT_EQ(routes.reply(request, "").status, 403);
}

TEST_F(LiveRoutesTest, a_recording_needs_a_frame) {
  tool::Recorder other{folder.path()};
  if (!other.state().is_available) GTEST_SKIP() << "this build has no FFmpeg";
  ASSERT_OK(other.start(25));
  EXPECT_TRUE(other.is_on());
  other.finish();
  EXPECT_NE(other.state().error.find("no frame"), std::string::npos);
  EXPECT_EQ(folder.entries(), 0U);
  ASSERT_OK(other.start(25));
  for (int i = 0; i < 3; ++i)
    other.add(*Tensor::create_image(64, 48, PixelFormat::nv12, DType::u8));
  other.finish();
  EXPECT_EQ(other.state().error, "");
  EXPECT_EQ(other.state().frames, 3U);
  EXPECT_EQ(folder.entries(), 1U);
}

}  // namespace
}  // namespace halyard::test
