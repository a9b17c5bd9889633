// SPDX-License-Identifier: Apache-2.0
// HTTP requests, as the routes read them.
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
};

struct HttpRequest {
  std::string method;  ///< "GET", "HEAD" or "POST"
  std::string path;    ///< as sent, without the query; begins with '/'
  /// Names in lower case, values without spaces around them.
  std::vector<std::pair<std::string, std::string>> fields;
  std::string body;

  /// The value of the first field with this lower-case name; empty if there is none.
  std::string_view field(std::string_view name) const noexcept;
  std::size_t count(std::string_view name) const noexcept;
};

/// A letter of ASCII in lower case.
char lower(char letter) noexcept;
std::string lower_text(std::string_view text);

/// The pairs of a form (application/x-www-form-urlencoded), decoded. A wrong escape stays as it is.
std::vector<std::pair<std::string, std::string>> parse_form(std::string_view body);

}  // namespace halyard::tool
