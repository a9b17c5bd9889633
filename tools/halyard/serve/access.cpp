// SPDX-License-Identifier: Apache-2.0
// A session's cookie is random and not the token, so that it can end before the token does.
#include "serve/access.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "halyard/codec.h"

namespace halyard::tool {
namespace {

constexpr std::chrono::hours session_time(12);
constexpr std::size_t max_sessions = 64;
constexpr int max_failures = 5;
constexpr std::chrono::seconds failure_time(60);
constexpr std::size_t max_failing_peers = 1024;

/// "board", "[::1]" of "board:8080", "[::1]:8080".
std::string_view without_port(std::string_view host) {
  if (host.starts_with("[")) return host.substr(0, host.find(']') + 1);
  return host.substr(0, host.find(':'));
}

bool is_this_machine(std::string_view name) {
  if (name == "localhost" || name == "[::1]") return true;
  // An address, not a name that begins like one.
  return name.starts_with("127.") && std::all_of(name.begin(), name.end(), [](char c) {
           return c == '.' || (c >= '0' && c <= '9');
         });
}

}  // namespace

Result<std::string> random_token() {
  std::array<unsigned char, 16> bytes;
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return make_error(Errc::os, "the system gives no random bytes", {}, errno);
  std::string out;
  for (const unsigned char byte : bytes)
    out += fmt::format("{:02x}", byte);
  return out;
}

Status check_token(std::string_view token) {
  const bool is_visible =
      std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 0x7f; });
  if (!is_visible)
    return make_error(Errc::invalid_argument, "the token must be of visible ASCII characters");
  if (token.size() < min_token_length)
    return make_error(Errc::invalid_argument, "the token must have 16 characters or more",
                      fmt::format("it has {}", token.size()));
  return {};
}

Result<std::string> read_token_file(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && (info.st_mode & 077) != 0)
    return make_error(Errc::permission, "others may read the token's file: chmod 600", path);
  HALYARD_TRY(const auto bytes, read_file(path, 4096));
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  text = text.substr(0, text.find('\n'));
  const auto begin = text.find_first_not_of(" \t\r");
  text = begin == std::string::npos ? "" : text.substr(begin);
  text.erase(text.find_last_not_of(" \t\r") + 1);
  HALYARD_RETURN_IF_ERROR(check_token(text));
  return text;
}

bool is_same_secret(std::string_view given, std::string_view secret) noexcept {
  // With another length the result is fixed, but all of `given` is still compared.
  unsigned difference = given.size() == secret.size() && !secret.empty() ? 0 : 1;
  const std::size_t modulus = std::max<std::size_t>(secret.size(), 1);
  for (std::size_t i = 0; i < given.size(); ++i) {
    const char own = secret.empty() ? '\0' : secret[i % modulus];
    difference |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(own);
  }
  return difference == 0;
}

/// Cookies are shared by all ports of a host, so that the name has the port.
std::string AccessControl::cookie_name() const {
  return fmt::format("halyard_{}", options_.port);
}

std::string AccessControl::cookie_of(const HttpRequest& request) const {
  const std::string wanted = cookie_name() + "=";
  for (const auto& [name, value] : request.fields) {
    if (name != "cookie") continue;
    for (std::string_view rest = value; !rest.empty();) {
      const auto pair = rest.substr(0, rest.find(';'));
      rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
      while (rest.starts_with(" "))
        rest.remove_prefix(1);
      if (pair.starts_with(wanted)) return std::string(pair.substr(wanted.size()));
    }
  }
  return {};
}

bool AccessControl::is_own_host(const HttpRequest& request) const {
  if (!options_.is_loopback && options_.hosts.empty()) return true;
  const std::string host = lower_text(request.field("host"));
  const auto name = without_port(host);
  const bool is_named = std::any_of(options_.hosts.begin(), options_.hosts.end(),
                                    [&](const auto& own) { return lower_text(own) == name; });
  return is_named || (options_.is_loopback && is_this_machine(name));
}

bool AccessControl::is_own_origin(const HttpRequest& request) const {
  const auto site = request.field("sec-fetch-site");
  if (!site.empty() && site != "same-origin") return false;
  const auto host = request.field("host");
  const std::string own = (options_.has_tls ? "https://" : "http://") + lower_text(host);
  return !host.empty() && lower_text(request.field("origin")) == own;
}

bool AccessControl::has_bearer(const HttpRequest& request) const {
  constexpr std::string_view scheme = "bearer ";
  const auto value = request.field("authorization");
  if (!needs_token() || lower_text(value.substr(0, scheme.size())) != scheme) return false;
  return is_same_secret(value.substr(scheme.size()), options_.token);
}

bool AccessControl::has_session(const HttpRequest& request, Time now) {
  std::erase_if(sessions_, [now](const Session& session) { return session.until <= now; });
  const std::string cookie = cookie_of(request);
  bool is_known = false;
  for (const Session& session : sessions_)
    is_known = is_same_secret(cookie, session.secret) || is_known;
  return is_known;
}

AccessControl::Verdict AccessControl::judge_login(const HttpRequest& request) const {
  if (!is_own_host(request)) return Verdict::wrong_host;
  if (request.method == "POST" && !is_own_origin(request)) return Verdict::wrong_origin;
  return Verdict::allowed;
}

AccessControl::Verdict AccessControl::judge(const HttpRequest& request, Time now) {
  if (!is_own_host(request)) return Verdict::wrong_host;
  if (needs_token() && request.count("authorization") != 0)
    return has_bearer(request) ? Verdict::allowed : Verdict::needs_login;
  if (const Verdict verdict = judge_login(request); verdict != Verdict::allowed) return verdict;
  return !needs_token() || has_session(request, now) ? Verdict::allowed : Verdict::needs_login;
}

AccessControl::Login AccessControl::log_in(std::string_view token, const std::string& peer,
                                           Time now) {
  std::erase_if(failures_,
                [now](const auto& entry) { return entry.second.first + failure_time <= now; });
  if (failures_.size() >= max_failing_peers && !failures_.contains(peer)) return {{}, failure_time};
  if (const auto known = failures_.find(peer);
      known != failures_.end() && known->second.count >= max_failures)
    return {{}, std::chrono::ceil<std::chrono::seconds>(known->second.first + failure_time - now)};
  auto secret = random_token();
  if (!is_same_secret(token, options_.token) || !secret) {
    Failures& failures = failures_[peer];
    if (failures.count++ == 0) failures.first = now;
    return {};
  }
  failures_.erase(peer);
  if (sessions_.size() == max_sessions) sessions_.erase(sessions_.begin());
  sessions_.push_back({*secret, now + session_time});
  return {fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict{}", cookie_name(), *secret,
                      options_.has_tls ? "; Secure" : "")};
}

std::string AccessControl::log_out(const HttpRequest& request) {
  const std::string cookie = cookie_of(request);
  std::erase_if(sessions_, [&](const Session& own) { return is_same_secret(cookie, own.secret); });
  return fmt::format("{}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0", cookie_name());
}

}  // namespace halyard::tool
