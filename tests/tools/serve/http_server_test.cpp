// SPDX-License-Identifier: Apache-2.0
// The server against clients that send and take bytes as they like.
#include "serve/http/http_server.h"

#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "support/result.h"
#include "tools/serve/raw_client.h"

namespace halyard::test {
namespace {

using namespace std::chrono_literals;
using tool::HttpReply;
using tool::HttpRequest;
using tool::HttpServer;
using tool::HttpServerOptions;
using tool::HttpStream;

class EchoHandler final : public tool::HttpHandler {
 public:
  HttpReply reply(const HttpRequest& request, const std::string& peer) override {
    HttpReply out;
    if (request.path == "/images") out.stream = HttpStream::images;
    if (request.path == "/events") out.stream = HttpStream::events;
    out.type = "text/plain";
    out.body = request.method + " " + request.path + " " + peer + " " + request.body;
    return out;
  }
  void tick() override { ++ticks; }
  std::atomic<int> ticks{0};
};

class HttpServerTest : public ::testing::Test {
 protected:
  void serve(HttpServerOptions options = {}) {
    options.listen.port = 0;
    auto made = HttpServer::create(std::move(options), handler);
    ASSERT_OK(made);
    server = *std::move(made);
    ASSERT_OK(server->start());
    port = server->port();
  }
  static bool comes_true(const std::function<bool()>& condition) {
    for (int i = 0; i < 1000; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(10ms);
    }
    return false;
  }
  bool has_viewers(std::size_t count) {
    return comes_true([&] { return server->viewers(HttpStream::images) == count; });
  }
  EchoHandler handler;
  std::unique_ptr<HttpServer> server;
  std::uint16_t port = 0;
};

TEST_F(HttpServerTest, a_connection_serves_several_requests) {
  serve();
  RawClient client(port);
  for (const char* path : {"/a", "/b"}) {
    client.get(path);
    std::string body;
    const std::string head = client.read_reply(body);
    EXPECT_EQ(head.substr(0, 17), "HTTP/1.1 200 OK\r\n");
    EXPECT_NE(head.find("Content-Security-Policy: default-src 'none'"), std::string::npos);
    EXPECT_NE(head.find("X-Content-Type-Options: nosniff"), std::string::npos);
    EXPECT_EQ(body, std::string("GET ") + path + " 127.0.0.1 ");
  }
}

TEST_F(HttpServerTest, requests_that_come_at_once_are_answered_in_order) {
  serve();
  RawClient client(port);
  client.send(
      "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nxyHEAD /b HTTP/1.1\r\nHost: "
      "a\r\n\r\n"
      "GET /c HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  std::string body;
  client.read_reply(body);
  EXPECT_EQ(body, "POST /a 127.0.0.1 xy");
  EXPECT_NE(client.read_to("\r\n\r\n").find("Content-Length: 18"), std::string::npos);
  client.read_reply(body);
  EXPECT_EQ(body, "GET /c 127.0.0.1 ");
  EXPECT_TRUE(client.is_closed());
}

TEST_F(HttpServerTest, wrong_requests_get_a_reply_and_the_connection_ends) {
  serve();
  const std::pair<std::string, int> cases[] = {
      {"hello\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(20'000, 'x'), 431},
      {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n" + std::string(90'000, 'x'),
       413},
      {std::string("\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", 11), 400},
  };
  for (const auto& [text, status] : cases) {
    RawClient client(port);
    client.send(text);
    EXPECT_EQ(client.read_status(), status);
    EXPECT_TRUE(client.is_closed());
  }
}

TEST_F(HttpServerTest, slow_requests_end_at_their_deadline_and_hold_up_nobody) {
  HttpServerOptions options;
  options.timeouts.request = 300ms;
  serve(std::move(options));
  RawClient slow(port);
  std::string body;
  slow.send("GET / HTTP/1.1\r\nHost: a\r\n");
  bool is_open = true;
  for (int i = 0; i < 500 && is_open; ++i) {
    is_open = slow.send("x");
    std::this_thread::sleep_for(10ms);
    if (i == 5) {
      RawClient other(port);
      other.get("/");
      EXPECT_EQ(other.read_status(), 200);
    }
  }
  EXPECT_FALSE(is_open);
  RawClient silent(port);
  EXPECT_TRUE(silent.is_closed());
  EXPECT_TRUE(comes_true([&] { return server->stats().timeouts >= 2; }));
}

TEST_F(HttpServerTest, idle_connections_make_room_for_new_ones) {
  HttpServerOptions options;
  options.max_viewers = 1;
  options.other_connections = 2;
  serve(std::move(options));
  std::vector<std::unique_ptr<RawClient>> idle;
  for (int i = 0; i < 20; ++i)
    idle.push_back(std::make_unique<RawClient>(port));
  RawClient client(port);
  client.get("/");
  EXPECT_EQ(client.read_status(), 200);
  EXPECT_LE(server->stats().connections, 5U);
  EXPECT_GE(server->stats().refused, 15U);
}

TEST_F(HttpServerTest, fifty_viewers_see_each_newest_image) {
  serve();
  std::vector<std::unique_ptr<RawClient>> viewers;
  for (int i = 0; i < 50; ++i) {
    viewers.push_back(std::make_unique<RawClient>(port));
    viewers.back()->get("/images");
  }
  ASSERT_TRUE(has_viewers(50));
  RawClient late(port);
  late.get("/images");
  EXPECT_EQ(late.read_status(), 503);
  for (const char* image : {"one", "two"}) {
    server->push(HttpStream::images, tool::image_part(image));
    for (const auto& viewer : viewers)
      EXPECT_NE(viewer->read_to(image).find(image), std::string::npos);
  }
  viewers.clear();
  EXPECT_TRUE(has_viewers(0));
  RawClient next(port);
  next.get("/images");
  EXPECT_NE(next.read_to("two").find("two"), std::string::npos);
}

TEST_F(HttpServerTest, a_viewer_that_takes_nothing_is_closed_and_others_go_on) {
  HttpServerOptions options;
  options.timeouts.send = 3s;
  serve(std::move(options));
  RawClient slow(port, 4096), good(port);
  slow.get("/images");
  good.get("/images");
  ASSERT_TRUE(has_viewers(2));
  const std::string large(1'000'000, 'x');
  for (int i = 0; server->stats().slow_viewers == 0 && i < 2000; ++i) {
    const std::string mark = "image" + std::to_string(i) + ".";
    server->push(HttpStream::images, tool::image_part(large + mark));
    EXPECT_NE(good.read_to(mark).find(mark), std::string::npos);
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_EQ(server->stats().slow_viewers, 1U);
  EXPECT_TRUE(has_viewers(1));
}

TEST_F(HttpServerTest, a_viewer_that_leaves_in_an_image_does_no_harm) {
  serve();
  for (int i = 0; i < 10; ++i) {
    RawClient gone(port, 4096);
    gone.get("/images");
    ASSERT_TRUE(has_viewers(1));
    server->push(HttpStream::images, tool::image_part(std::string(4'000'000, 'x')));
    gone.read_to("xxxx");
    gone.close();
    ASSERT_TRUE(has_viewers(0));
  }
  RawClient client(port);
  client.get("/");
  EXPECT_EQ(client.read_status(), 200);
}

TEST_F(HttpServerTest, events_tick_while_somebody_reads) {
  HttpServerOptions options;
  options.tick = 20ms;
  serve(std::move(options));
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(handler.ticks, 0);
  RawClient reader(port);
  reader.get("/events");
  EXPECT_NE(reader.read_to("\r\n\r\n").find("text/event-stream"), std::string::npos);
  EXPECT_TRUE(comes_true([&] { return handler.ticks > 2; }));
  server->push(HttpStream::events, tool::event_text("{}"));
  EXPECT_EQ(reader.read_to("\n\n"), "data: {}\n\n");
}

TEST_F(HttpServerTest, threads_push_while_viewers_come_and_go) {
  serve();
  std::atomic<bool> is_done{false};
  std::vector<std::thread> threads;
  for (const auto stream : {HttpStream::images, HttpStream::events}) {
    threads.emplace_back([&, stream] {
      while (!is_done)
        server->push(stream, std::string(50'000, 'x'));
    });
  }
  for (int i = 0; i < 30; ++i) {
    RawClient one(port), two(port);
    one.get("/images");
    two.get("/events");
    one.read_to("xxx");
    two.read_to("xxx");
    static_cast<void>(server->stats());
  }
  is_done = true;
  for (std::thread& thread : threads)
    thread.join();
}

TEST_F(HttpServerTest, stopping_closes_all_connections) {
  serve();
  RawClient viewer(port), idle(port);
  viewer.get("/images");
  viewer.read_to("\r\n\r\n");
  server->stop();
  EXPECT_TRUE(viewer.is_closed());
  EXPECT_TRUE(idle.is_closed());
  EXPECT_EQ(server->viewers(HttpStream::images), 0U);
}

TEST_F(HttpServerTest, a_port_in_use_and_a_foreign_address_are_told_apart) {
  serve();
  HttpServerOptions options;
  options.listen.port = port;
  EXPECT_FAILS(HttpServer::create(options, handler), Errc::busy, "another program listens");
  options.listen.address = "192.0.2.1";
  EXPECT_FAILS(HttpServer::create(options, handler), Errc::not_found, "no interface");
}

TEST(listen_address, texts_are_addresses) {
  const auto text_of = [](const char* text) {
    const auto parsed = tool::parse_listen(text);
    return parsed ? parsed->text() : "";
  };
  EXPECT_EQ(text_of("127.0.0.1"), "127.0.0.1:8080");
  EXPECT_EQ(text_of(":9000"), "127.0.0.1:9000");
  EXPECT_EQ(text_of("localhost:1"), "127.0.0.1:1");
  EXPECT_EQ(text_of("*:80"), "0.0.0.0:80");
  EXPECT_EQ(text_of("[::1]:80"), "[::1]:80");
  EXPECT_EQ(text_of("::1"), "[::1]:8080");
  for (const char* wrong : {"", "board", "1.2.3", "1.2.3.4:", "1.2.3.4:x", "1.2.3.4:65536",
                            "1.2.3.4:-1", "[::1", "[::1]x", "[::1]80", "::1:x", "1.2.3.4:80 "})
    EXPECT_EQ(text_of(wrong), "") << wrong;
  EXPECT_TRUE(tool::parse_listen("127.3.4.5")->is_loopback());
  EXPECT_TRUE(tool::parse_listen("[::1]:80")->is_loopback());
  EXPECT_FALSE(tool::parse_listen("*")->is_loopback());
  EXPECT_FALSE(tool::parse_listen("10.0.0.1")->is_loopback());
}

}  // namespace
}  // namespace halyard::test
