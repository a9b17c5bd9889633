// SPDX-License-Identifier: Apache-2.0
// HTTP requests: a strict parser of HTTP/1.1 (RFC 9112) for GET, HEAD and small POST requests.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halyard::tool {

/// Limits of one request. A request beyond one of them is refused before more of it is read.
struct HttpLimits {
  std::size_t head_bytes = 8192;   ///< request line and header fields, with their line ends
  std::size_t body_bytes = 16384;  ///< of a POST
  std::size_t fields = 64;         ///< header fields
};

struct HttpRequest {
  std::string method;  ///< "GET", "HEAD" or "POST"
  std::string path;    ///< as sent, without the query; begins with '/'
  /// Names in lower case, values without spaces around them.
  std::vector<std::pair<std::string, std::string>> fields;
  std::string body;
  bool keeps_alive = true;  ///< the connection stays open after the reply

  /// The value of the first field with this lower-case name; empty if there is none.
  std::string_view field(std::string_view name) const noexcept;
  std::size_t count(std::string_view name) const noexcept;
};

/// The result of parse_request().
struct ParsedRequest {
  enum class State { incomplete, complete, refused };
  State state = State::incomplete;
  HttpRequest request;   ///< if complete
  std::size_t used = 0;  ///< bytes of the request, if complete
  int status = 0;        ///< of the reply, if refused
  std::string reason;    ///< a sentence for the reply, if refused
};

/// Parses the request at the beginning of `bytes`. Refused are: what is not HTTP/1.0 or 1.1, other
/// methods (405), targets other than a path, line ends other than CR LF, folded or repeated fields
/// where one is allowed, control characters, Transfer-Encoding (501), a missing Host, and what is
/// beyond the limits (413, 431).
ParsedRequest parse_request(std::string_view bytes, const HttpLimits& limits = {});

/// The reason phrase of a status code.
std::string_view status_text(int status) noexcept;

/// A letter of ASCII in lower case.
char lower(char letter) noexcept;
std::string lower_text(std::string_view text);

/// The pairs of a form (application/x-www-form-urlencoded), decoded. A wrong escape stays as it is.
std::vector<std::pair<std::string, std::string>> parse_form(std::string_view body);

}  // namespace halyard::tool
