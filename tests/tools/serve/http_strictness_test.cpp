// SPDX-License-Identifier: Apache-2.0
// Requests that another reader could understand differently, and those beyond the limits.
#include <gtest/gtest.h>

#include "serve/http/http_server.h"
#include "support/result.h"
#include "tools/serve/raw_client.h"

namespace halyard::test {
namespace {

using tool::HttpReply;
using tool::HttpRequest;

/// Replies with what it was asked.
class AskedHandler final : public tool::HttpHandler {
 public:
  HttpReply reply(const HttpRequest& request, const std::string&) override {
    std::string text = request.method + " " + request.path + "\n";
    for (const auto& [name, value] : request.fields)
      text += name + "=" + value + "\n";
    return {200, "text/plain", text + request.body};
  }
};

class HttpStrictnessTest : public ::testing::Test {
 protected:
  void SetUp() override {
    tool::HttpServerOptions options;
    options.listen.port = 0;
    auto made = tool::HttpServer::create(std::move(options), handler);
    ASSERT_OK(made);
    server = *std::move(made);
    ASSERT_OK(server->start());
  }
  /// The body of the reply to these bytes, which must be a request.
  std::string asked(const std::string& bytes) {
    RawClient client(server->port());
    client.send(bytes);
    std::string body;
    EXPECT_EQ(client.read_reply(body).substr(0, 15), "HTTP/1.1 200 OK");
    return body;
  }
  int status_of(const std::string& bytes) {
    RawClient client(server->port());
    client.send(bytes);
    const int status = client.read_status();
    EXPECT_TRUE(status == 200 || client.is_closed()) << bytes;
    return status;
  }
  AskedHandler handler;
  std::unique_ptr<tool::HttpServer> server;
};

TEST_F(HttpStrictnessTest, a_request_is_read) {
  EXPECT_EQ(asked("GET /api/state?token=x HTTP/1.1\r\nHost: a\r\nX-B:  c \r\n\r\n"),
            "GET /api/state\nhost=a\nx-b=c\n");
  EXPECT_EQ(asked("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n{\"a\":"),
            "POST /a\nhost=a\ncontent-length=5\n{\"a\":");
  EXPECT_EQ(asked("POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                  "2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"),
            "POST /a\nhost=a\ntransfer-encoding=chunked\nabc");
}

TEST_F(HttpStrictnessTest, a_request_may_come_byte_by_byte) {
  RawClient client(server->port());
  for (const char byte : std::string("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nxy"))
    ASSERT_TRUE(client.send(std::string(1, byte)));
  std::string body;
  client.read_reply(body);
  EXPECT_EQ(body, "POST /a\nhost=a\ncontent-length=2\nxy");
}

TEST_F(HttpStrictnessTest, connections_are_kept_as_the_version_and_the_field_tell) {
  for (const char* last :
       {"GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nConnection: Close\r\n\r\n"}) {
    RawClient client(server->port());
    client.send(last);
    EXPECT_EQ(client.read_status(), 200);
    EXPECT_TRUE(client.is_closed());
  }
}

TEST_F(HttpStrictnessTest, what_is_not_clear_is_refused) {
  const std::string host = "Host: a\r\n";
  const std::pair<std::string, int> cases[] = {
      {"hello\r\n\r\n", 400},
      {"GET /\r\n\r\n", 400},
      {"GET / HTTP/2.0\r\n" + host + "\r\n", 505},
      {"GET  / HTTP/1.1\r\n" + host + "\r\n", 400},
      {"GET / HTTP/1.1 \r\n" + host + "\r\n", 505},
      {"GET http://a/ HTTP/1.1\r\n" + host + "\r\n", 400},
      {"GET * HTTP/1.1\r\n" + host + "\r\n", 400},
      {"GET /\x01 HTTP/1.1\r\n" + host + "\r\n", 400},
      {"GET /\xc3\xa4 HTTP/1.1\r\n" + host + "\r\n", 400},
      {"PUT / HTTP/1.1\r\n" + host + "\r\n", 405},
      {"get / HTTP/1.1\r\n" + host + "\r\n", 405},
      {"CONNECT / HTTP/1.1\r\n" + host + "\r\n", 405},
      {"G(T / HTTP/1.1\r\n" + host + "\r\n", 400},
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n" + host + host + "\r\n", 400},
      {"GET / HTTP/1.1\r\n" + host + "Origin: a\r\nOrigin: b\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n" + host + "Authorization: a\r\nAuthorization: b\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n" + host + "A : b\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n" + host + ": b\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n" + host + "A\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n" + host + "A: b\nC: d\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n" + host + "A: b\rC\r\n\r\n", 400},
      {std::string("GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n", 30), 400},
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: 1\r\nContent-Length: 2\r\n\r\na", 400},
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: +1\r\n\r\na", 400},
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: -1\r\n\r\na", 400},
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: 0x1\r\n\r\na", 400},
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: 16385\r\n\r\n", 413},
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: 99999999999999999999999\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n",
       400},
      {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
       400},
      {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n8000\r\n" +
           std::string(0x8000, 'x'),
       413},
  };
  for (const auto& [text, status] : cases)
    EXPECT_EQ(status_of(text), status) << text.substr(0, 200);
}

TEST_F(HttpStrictnessTest, a_folded_field_is_one_line) {
  EXPECT_EQ(asked("GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n"), "GET /\nhost=a folded\n");
}

TEST_F(HttpStrictnessTest, long_heads_are_refused_before_they_end) {
  std::string text = "GET / HTTP/1.1\r\nHost: a\r\nX: ";
  const std::string end = "\r\n\r\n";
  EXPECT_EQ(status_of(text + std::string(8000 - text.size(), 'x') + end), 200);
  EXPECT_EQ(status_of(text + std::string(8300, 'x')), 431);
}

TEST(http_request, forms_are_decoded) {
  const auto form = tool::parse_form("token=a%2Bb+c&x&y=%zz%4");
  ASSERT_EQ(form.size(), 3U);
  EXPECT_EQ(form[0].second, "a+b c");
  EXPECT_EQ(form[1].first, "x");
  EXPECT_EQ(form[2].second, "%zz%4");
  EXPECT_TRUE(tool::parse_form("").empty());
}

}  // namespace
}  // namespace halyard::test
