// SPDX-License-Identifier: Apache-2.0
#include "serve/access.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "halyard/codec.h"
#include "support/folder.h"
#include "support/result.h"

namespace halyard::test {
namespace {

using tool::AccessControl;
using tool::HttpRequest;
using Verdict = AccessControl::Verdict;

const std::string token = "0123456789abcdef0123456789abcdef";
const AccessControl::Time start = std::chrono::steady_clock::now();

HttpRequest request(const char* method, std::vector<std::pair<std::string, std::string>> fields) {
  HttpRequest out;
  out.method = method;
  out.path = "/api/state";
  out.fields = std::move(fields);
  return out;
}

HttpRequest change(const std::string& host, const std::string& origin) {
  return request("POST", {{"host", host}, {"origin", origin}});
}

std::string cookie_in(const std::string& set_cookie) {
  return set_cookie.substr(0, set_cookie.find(';'));
}

TEST(access, loopback_answers_to_names_of_this_machine_only) {
  AccessControl access({"", true, false, 8080, {"board.local"}});
  for (const char* host : {"localhost:8080", "127.0.0.1:8080", "127.0.0.1", "[::1]:8080",
                           "LOCALHOST", "127.5.6.7", "Board.local:443"})
    EXPECT_EQ(access.judge(request("GET", {{"host", host}}), start), Verdict::allowed) << host;
  for (const char* host : {"evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "",
                           "evil.example:8080", "10.0.0.1", "[::2]", "board.local.evil"})
    EXPECT_EQ(access.judge(request("GET", {{"host", host}}), start), Verdict::wrong_host) << host;
}

TEST(access, a_change_needs_the_origin_of_this_server) {
  AccessControl access({"", true, false, 8080, {}});
  const std::string host = "localhost:8080";
  EXPECT_EQ(access.judge(change(host, "http://localhost:8080"), start), Verdict::allowed);
  for (const char* origin : {"", "null", "http://evil.example", "https://localhost:8080",
                             "http://localhost", "http://localhost:80800", "http://127.0.0.1:8080"})
    EXPECT_EQ(access.judge(change(host, origin), start), Verdict::wrong_origin) << origin;
  auto across = change(host, "http://localhost:8080");
  across.fields.emplace_back("sec-fetch-site", "cross-site");
  EXPECT_EQ(access.judge(across, start), Verdict::wrong_origin);
}

TEST(access, a_session_follows_from_the_token_and_ends) {
  AccessControl access({token, false, false, 8080, {}});
  EXPECT_EQ(access.judge(request("GET", {{"host", "board"}}), start), Verdict::needs_login);
  const auto login = access.log_in(token, "10.0.0.1", start);
  EXPECT_NE(login.cookie.find("; HttpOnly; SameSite=Strict"), std::string::npos);
  EXPECT_EQ(login.cookie.find("Secure"), std::string::npos);
  EXPECT_EQ(login.cookie.find(token), std::string::npos);
  const std::string cookie = cookie_in(login.cookie);
  auto known = request("GET", {{"host", "board"}, {"cookie", "a=b; " + cookie}});
  EXPECT_EQ(access.judge(known, start), Verdict::allowed);
  EXPECT_EQ(access.judge(known, start + std::chrono::hours(13)), Verdict::needs_login);
  const auto again = access.log_in(token, "10.0.0.1", start);
  known.fields[1].second = cookie_in(again.cookie);
  EXPECT_NE(access.log_out(known).find("Max-Age=0"), std::string::npos);
  EXPECT_EQ(access.judge(known, start), Verdict::needs_login);
  AccessControl secure({token, false, true, 8080, {}});
  EXPECT_NE(secure.log_in(token, "a", start).cookie.find("; Secure"), std::string::npos);
}

TEST(access, wrong_cookies_and_tokens_are_refused) {
  AccessControl access({token, false, false, 8080, {}});
  for (const char* cookie : {"halyard_8080=", "halyard_8080", "halyard_8081=x", "=", ";;; ;"})
    EXPECT_EQ(access.judge(request("GET", {{"host", "b"}, {"cookie", cookie}}), start),
              Verdict::needs_login);
  EXPECT_TRUE(access.log_in("", "a", start).cookie.empty());
  EXPECT_TRUE(access.log_in(token + "0", "a", start).cookie.empty());
  EXPECT_TRUE(access.log_in(token.substr(1), "a", start).cookie.empty());
}

TEST(access, a_bearer_token_replaces_the_origin) {
  AccessControl access({token, false, false, 8080, {}});
  const auto with = [](const std::string& value) {
    return request("POST", {{"host", "board"}, {"authorization", value}});
  };
  EXPECT_EQ(access.judge(with("Bearer " + token), start), Verdict::allowed);
  EXPECT_EQ(access.judge(with("bearer " + token), start), Verdict::allowed);
  EXPECT_NE(access.judge(with("Bearer " + token + "x"), start), Verdict::allowed);
  EXPECT_NE(access.judge(with("Bearer "), start), Verdict::allowed);
  EXPECT_NE(access.judge(with("Basic " + token), start), Verdict::allowed);
  AccessControl open({"", true, false, 8080, {}});
  EXPECT_EQ(
      open.judge(request("POST", {{"host", "localhost"}, {"authorization", "Bearer "}}), start),
      Verdict::wrong_origin);
}

TEST(access, after_five_wrong_tokens_an_address_waits_and_others_do_not) {
  AccessControl access({token, false, false, 8080, {}});
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(access.log_in("wrong", "10.0.0.1", start).wait.count(), 0);
  const auto late = access.log_in(token, "10.0.0.1", start + std::chrono::seconds(10));
  EXPECT_TRUE(late.cookie.empty());
  EXPECT_EQ(late.wait.count(), 50);
  EXPECT_FALSE(access.log_in(token, "10.0.0.2", start).cookie.empty());
  EXPECT_FALSE(access.log_in(token, "10.0.0.1", start + std::chrono::seconds(61)).cookie.empty());
}

TEST(access, secrets_are_compared_whole) {
  EXPECT_TRUE(tool::is_same_secret(token, token));
  for (const std::string& given : {std::string(), token + token, token.substr(0, 31),
                                   "x" + token.substr(1), token.substr(0, 31) + "x"})
    EXPECT_FALSE(tool::is_same_secret(given, token)) << given;
  EXPECT_FALSE(tool::is_same_secret("", ""));
}

TEST(access, tokens_are_long_and_their_files_private) {
  EXPECT_FAILS(tool::check_token("short"), Errc::invalid_argument, "16 characters");
  EXPECT_FAILS(tool::check_token("0123456789 abcdef"), Errc::invalid_argument, "visible");
  const Folder folder;
  const std::string path = folder / "token";
  const std::string text = "  " + token + " \r\nmore\n";
  ASSERT_TRUE(write_file(path, std::as_bytes(std::span(text.data(), text.size()))));
  ::chmod(path.c_str(), 0644);
  EXPECT_FAILS(tool::read_token_file(path), Errc::permission, "chmod 600");
  ::chmod(path.c_str(), 0600);
  const auto read = tool::read_token_file(path);
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, token);
  EXPECT_FAILS(tool::read_token_file(folder / "none"), Errc::not_found, "");
  const auto one = tool::random_token(), other = tool::random_token();
  ASSERT_TRUE(one && other);
  EXPECT_EQ(one->size(), 32U);
  EXPECT_NE(*one, *other);
}

}  // namespace
}  // namespace halyard::test
