// SPDX-License-Identifier: Apache-2.0
#include "serve/http/http_request.h"

#include <gtest/gtest.h>

namespace halyard::test {
namespace {

using tool::parse_request;
using State = tool::ParsedRequest::State;

constexpr std::string_view plain = "GET /api/state?token=x HTTP/1.1\r\nHost: a\r\nX-B:  c \r\n\r\n";

TEST(http_request, a_request_is_read) {
  const auto parsed = parse_request(plain);
  ASSERT_EQ(parsed.state, State::complete);
  EXPECT_EQ(parsed.request.method, "GET");
  EXPECT_EQ(parsed.request.path, "/api/state");
  EXPECT_EQ(parsed.request.field("host"), "a");
  EXPECT_EQ(parsed.request.field("x-b"), "c");
  EXPECT_EQ(parsed.request.field("x-c"), "");
  EXPECT_TRUE(parsed.request.keeps_alive);
  EXPECT_EQ(parsed.used, plain.size());
}

TEST(http_request, each_beginning_of_a_request_is_incomplete) {
  const std::string whole =
      "POST /api/controls HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n{\"a\":";
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_EQ(parse_request(whole.substr(0, size)).state, State::incomplete) << size;
  const auto parsed = parse_request(whole + "GET");
  ASSERT_EQ(parsed.state, State::complete);
  EXPECT_EQ(parsed.request.body, "{\"a\":");
  EXPECT_EQ(parsed.used, whole.size());
}

TEST(http_request, connections_are_kept_as_the_version_and_the_field_tell) {
  EXPECT_FALSE(parse_request("GET / HTTP/1.0\r\n\r\n").request.keeps_alive);
  EXPECT_FALSE(
      parse_request("GET / HTTP/1.1\r\nHost: a\r\nConnection: Close\r\n\r\n").request.keeps_alive);
}

TEST(http_request, what_another_reader_could_understand_differently_is_refused) {
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
      {"GET / HTTP/1.1\r\n" + host + "A : b\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n" + host + " folded\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n" + host + ": b\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n" + host + "A\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n" + host + "A: b\nC: d\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n" + host + "A: b\rC\r\n\r\n", 400},
      {std::string("GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n", 30), 400},
      {"GET / HTTP/1.1\r\n" + host + "Content-Length: 3\r\n\r\nabc", 400},
      {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n", 501},
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: 1\r\nContent-Length: 1\r\n\r\na", 400},
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: +1\r\n\r\na", 400},
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: -1\r\n\r\na", 400},
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: 1, 1\r\n\r\na", 400},
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: 0x1\r\n\r\na", 400},
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: 16385\r\n\r\n", 413},
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: 99999999999999999999999\r\n\r\n", 413},
  };
  for (const auto& [text, status] : cases) {
    const auto parsed = parse_request(text);
    EXPECT_EQ(parsed.state, State::refused) << text;
    EXPECT_EQ(parsed.status, status) << text << parsed.reason;
    EXPECT_FALSE(parsed.reason.empty());
  }
}

TEST(http_request, long_heads_are_refused_before_they_end) {
  std::string text = "GET / HTTP/1.1\r\nHost: a\r\nX: ";
  text.resize(8191, 'x');
  EXPECT_EQ(parse_request(text).state, State::incomplete);
  text += 'x';
  EXPECT_EQ(parse_request(text).status, 431);
  std::string many = "GET / HTTP/1.1\r\nHost: a\r\n";
  for (int i = 0; i < 64; ++i)
    many += "A: b\r\n";
  EXPECT_EQ(parse_request(many + "\r\n").status, 431);
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
