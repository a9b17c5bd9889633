// SPDX-License-Identifier: Apache-2.0
// What the server serves of the requests that Boost.Beast has parsed.
#pragma once

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <optional>
#include <string>

#include "serve/http/http_request.h"

namespace halyard::tool {

/// Why a request gets no other reply.
struct Refusal {
  int status = 400;
  std::string reason;  ///< a sentence
};

using ParsedRequest = boost::beast::http::request<boost::beast::http::string_body>;

/// Nullopt: the error is not one of the request's text; the connection has ended.
std::optional<Refusal> refusal_of(const boost::system::error_code& error);

/// Served are GET, HEAD and POST of a path, by HTTP/1.0 and 1.1. Refused is what another reader
/// could understand differently: repeated fields where one is allowed, a missing Host, a target
/// that is no path.
std::optional<Refusal> check_request(const ParsedRequest& request);

HttpRequest to_request(ParsedRequest request);

}  // namespace halyard::tool
