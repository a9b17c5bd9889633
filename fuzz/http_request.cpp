// SPDX-License-Identifier: Apache-2.0
// A request to `halyard serve`: incomplete, refused with a status, or read; what is read has no
// control characters, and does not depend on the bytes behind it.
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/source.h"
#include "serve/http/http_request.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace halyard;
  using fuzz::expect;
  using State = tool::ParsedRequest::State;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto parsed = tool::parse_request(bytes);
  static_cast<void>(tool::parse_form(bytes));
  if (parsed.state == State::refused) {
    expect(parsed.status >= 400 && parsed.status < 600 && !parsed.reason.empty());
    expect(tool::status_text(parsed.status) != "Status");
  }
  if (parsed.state == State::incomplete) expect(size < 8192 + 16384);
  if (parsed.state != State::complete) return 0;
  const tool::HttpRequest& request = parsed.request;
  expect(parsed.used <= size && request.body.size() <= 16384 && request.fields.size() <= 64);
  expect(request.path.starts_with("/") && request.path.find('?') == std::string::npos);
  for (const auto& [name, value] : request.fields)
    expect(!name.empty() &&
           value.find_first_of(std::string_view("\r\n\0", 3)) == std::string::npos);
  const auto alone = tool::parse_request(bytes.substr(0, parsed.used));
  expect(alone.state == State::complete && alone.used == parsed.used);
  expect(alone.request.path == request.path && alone.request.body == request.body);
  return 0;
}
