// SPDX-License-Identifier: Apache-2.0
// Access: who may use the server: the token, sessions after a login, and the checks against pages
// of other sites.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "halyard/result.h"
#include "serve/http/http_request.h"

namespace halyard::tool {

inline constexpr std::size_t min_token_length = 16;

/// A random token of 128 bits: 32 hexadecimal digits. Errors: os.
Result<std::string> random_token();
/// The first line of a file, without spaces around it. Errors: those of read_file(); permission
/// (others than the owner may read the file), invalid_argument (fewer than min_token_length
/// characters, or one that is not visible ASCII).
Result<std::string> read_token_file(const std::string& path);
/// Errors: invalid_argument, as above.
Status check_token(std::string_view token);
/// Whether two texts are equal, in a time that depends on the length of `given` alone.
bool is_same_secret(std::string_view given, std::string_view secret) noexcept;

struct AccessOptions {
  std::string token;        ///< empty: none is asked for
  bool is_loopback = true;  ///< requests must name a host of `hosts`, or this machine
  bool has_tls = false;
  std::uint16_t port = 0;
  std::vector<std::string> hosts;  ///< further host names, without a port
};

/// Thread-bound.
class AccessControl {
 public:
  using Time = std::chrono::steady_clock::time_point;
  explicit AccessControl(AccessOptions options) : options_(std::move(options)) {}

  enum class Verdict {
    allowed,
    needs_login,  ///< no session, no token
    wrong_host,   ///< a name that leads to this machine, but is not its own: DNS rebinding
    wrong_origin  ///< a change that a page of another site, or none, asks for
  };
  /// Checks the host; for POST the origin; then the session cookie or "Authorization: Bearer". A
  /// right bearer token replaces the origin: a page cannot send one to another site.
  Verdict judge(const HttpRequest& request, Time now);
  /// The same without the token, for the login page.
  Verdict judge_login(const HttpRequest& request) const;

  struct Login {
    std::string cookie;            ///< value of Set-Cookie; empty: refused
    std::chrono::seconds wait{0};  ///< above 0: too many wrong tokens, try again later
  };
  /// Begins a session if the token is right. After 5 wrong tokens an address waits a minute.
  Login log_in(std::string_view token, const std::string& peer, Time now);
  /// Ends the request's session. The value of Set-Cookie that removes the cookie.
  std::string log_out(const HttpRequest& request);
  bool needs_token() const noexcept { return !options_.token.empty(); }

 private:
  struct Session {
    std::string secret;
    Time until;
  };
  struct Failures {
    int count = 0;
    Time first;
  };
  std::string cookie_name() const;
  std::string cookie_of(const HttpRequest& request) const;
  bool is_own_host(const HttpRequest& request) const;
  bool is_own_origin(const HttpRequest& request) const;
  bool has_bearer(const HttpRequest& request) const;
  bool has_session(const HttpRequest& request, Time now);

  AccessOptions options_;
  std::vector<Session> sessions_;  // oldest first
  std::map<std::string, Failures> failures_;
};

}  // namespace halyard::tool
