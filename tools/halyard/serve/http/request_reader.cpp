// SPDX-License-Identifier: Apache-2.0
// Nothing is repaired: a request that is not clear is refused.
#include "serve/http/request_reader.h"

#include <algorithm>
#include <boost/beast/core/error.hpp>
#include <boost/beast/http/error.hpp>
#include <utility>

namespace halyard::tool {
namespace {

namespace http = boost::beast::http;

bool is_visible(char c) {
  return c > ' ' && c < 0x7f;
}

}  // namespace

std::optional<Refusal> refusal_of(const boost::system::error_code& error) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow)
    return Refusal{431, "the header fields are too long"};
  if (error == http::error::body_limit) return Refusal{413, "the body is too large"};
  if (error == http::error::bad_version)
    return Refusal{505, "only HTTP/1.1 and HTTP/1.0 are served"};
  if (error == http::error::end_of_stream || error == http::error::partial_message)
    return std::nullopt;
  if (error.category() != make_error_code(http::error::bad_method).category()) return std::nullopt;
  return Refusal{400, "the request is not HTTP: " + error.message()};
}

std::optional<Refusal> check_request(const ParsedRequest& request) {
  const auto method = request.method();
  if (method != http::verb::get && method != http::verb::head && method != http::verb::post)
    return Refusal{405, "only GET, HEAD and POST are served"};
  const auto target = request.target();
  if (target.empty() || target[0] != '/' || !std::all_of(target.begin(), target.end(), is_visible))
    return Refusal{400, "the target is not a path"};
  for (const auto single : {http::field::host, http::field::origin, http::field::content_type,
                            http::field::authorization})
    if (request.count(single) > 1) return Refusal{400, "a header field is repeated"};
  if (request.version() == 11 && request.count(http::field::host) == 0)
    return Refusal{400, "the Host field is missing"};
  return std::nullopt;
}

HttpRequest to_request(ParsedRequest request) {
  HttpRequest out;
  out.method = request.method_string().to_string();
  const std::string target = request.target().to_string();
  out.path = target.substr(0, target.find_first_of("?#"));
  for (const auto& field : request)
    out.fields.emplace_back(lower_text(field.name_string().to_string()), field.value().to_string());
  out.body = std::move(request.body());
  return out;
}

}  // namespace halyard::tool
