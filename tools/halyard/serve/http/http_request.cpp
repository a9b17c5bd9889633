// SPDX-License-Identifier: Apache-2.0
// Nothing is repaired: a request that another reader could understand differently is refused.
#include "serve/http/http_request.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace halyard::tool {
namespace {

struct Refusal {
  int status;
  const char* reason;
};

ParsedRequest refuse(int status, const char* reason) {
  ParsedRequest out;
  out.state = ParsedRequest::State::refused;
  out.status = status;
  out.reason = reason;
  return out;
}

bool is_token(std::string_view text) {
  constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z') ||
           marks.find(c) != std::string_view::npos;
  });
}

bool is_visible(char c) {
  return c > ' ' && c < 0x7f;
}

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// The text before the next CR LF, which is removed from `rest`.
std::string_view take_line(std::string_view& rest) {
  const auto end = rest.find("\r\n");
  const auto line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 2);
  return line;
}

std::optional<Refusal> read_request_line(std::string_view line, HttpRequest& out) {
  const auto first = line.find(' ');
  const auto second = first == std::string_view::npos ? first : line.find(' ', first + 1);
  if (second == std::string_view::npos) return Refusal{400, "the request line is not HTTP"};
  const auto version = line.substr(second + 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    return version.starts_with("HTTP/") ? Refusal{505, "only HTTP/1.1 and HTTP/1.0 are served"}
                                        : Refusal{400, "the request line is not HTTP"};
  }
  out.keeps_alive = version == "HTTP/1.1";
  out.method = line.substr(0, first);
  if (!is_token(out.method)) return Refusal{400, "the method is not a word"};
  if (out.method != "GET" && out.method != "HEAD" && out.method != "POST")
    return Refusal{405, "only GET, HEAD and POST are served"};
  const auto target = line.substr(first + 1, second - first - 1);
  if (target.empty() || target[0] != '/' || !std::all_of(target.begin(), target.end(), is_visible))
    return Refusal{400, "the target is not a path"};
  out.path = target.substr(0, target.find_first_of("?#"));
  return std::nullopt;
}

std::optional<Refusal> read_fields(std::string_view rest, std::size_t limit, HttpRequest& out) {
  while (!rest.empty()) {
    const auto line = take_line(rest);
    if (out.fields.size() == limit) return Refusal{431, "the request has too many header fields"};
    const auto colon = line.find(':');
    // A name with a space before the colon, or a folded line, has no token here.
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon)))
      return Refusal{400, "a header field has no name"};
    const auto value = trimmed(line.substr(colon + 1));
    const bool is_clean = std::all_of(value.begin(), value.end(), [](char c) {
      return c == '\t' || (static_cast<unsigned char>(c) >= ' ' && c != 0x7f);
    });
    if (!is_clean) return Refusal{400, "a header field has control characters"};
    out.fields.emplace_back(lower_text(line.substr(0, colon)), value);
  }
  return std::nullopt;
}

std::optional<Refusal> check_fields(HttpRequest& out) {
  for (const char* single : {"host", "content-length", "origin", "content-type", "authorization"})
    if (out.count(single) > 1) return Refusal{400, "a header field is repeated"};
  if (out.count("transfer-encoding") != 0)
    return Refusal{501, "Transfer-Encoding is not served; send Content-Length"};
  if (out.keeps_alive && out.count("host") == 0) return Refusal{400, "the Host field is missing"};
  const std::string connection = lower_text(out.field("connection"));
  if (connection.find("close") != std::string::npos) out.keeps_alive = false;
  return std::nullopt;
}

std::optional<std::size_t> body_size(const HttpRequest& request, bool& is_wrong) {
  const auto text = request.field("content-length");
  if (text.empty()) return 0;
  std::size_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  is_wrong = error == std::errc::invalid_argument || end != text.data() + text.size();
  if (is_wrong || error != std::errc{}) return std::nullopt;
  return size;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char small = lower(c);
  return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_escape = text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 &&
                           hex_digit(text[i + 2]) >= 0;
    if (is_escape) {
      out += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
      i += 2;
    } else {
      out += text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

}  // namespace

std::string_view HttpRequest::field(std::string_view name) const noexcept {
  for (const auto& [own, value] : fields)
    if (own == name) return value;
  return {};
}

std::size_t HttpRequest::count(std::string_view name) const noexcept {
  return static_cast<std::size_t>(std::count_if(
      fields.begin(), fields.end(), [name](const auto& field) { return field.first == name; }));
}

ParsedRequest parse_request(std::string_view bytes, const HttpLimits& limits) {
  const auto end = bytes.substr(0, limits.head_bytes).find("\r\n\r\n");
  if (end == std::string_view::npos) {
    if (bytes.size() >= limits.head_bytes) return refuse(431, "the header fields are too long");
    return {};
  }
  const std::string_view head = bytes.substr(0, end + 2);
  if (head.find('\0') != std::string_view::npos) return refuse(400, "the request has a zero byte");
  ParsedRequest out;
  std::string_view rest = head;
  auto refusal = read_request_line(take_line(rest), out.request);
  if (!refusal) refusal = read_fields(rest, limits.fields, out.request);
  if (!refusal) refusal = check_fields(out.request);
  if (refusal) return refuse(refusal->status, refusal->reason);
  bool is_wrong = false;
  const auto size = body_size(out.request, is_wrong);
  if (is_wrong) return refuse(400, "Content-Length is not a number");
  if (!size || *size > limits.body_bytes) return refuse(413, "the body is too large");
  if (*size != 0 && out.request.method != "POST")
    return refuse(400, "only a POST request has a body");
  if (bytes.size() - (end + 4) < *size) return {};
  out.request.body = bytes.substr(end + 4, *size);
  out.used = end + 4 + *size;
  out.state = ParsedRequest::State::complete;
  return out;
}

std::string_view status_text(int status) noexcept {
  constexpr std::array<std::pair<int, std::string_view>, 18> texts{{{200, "OK"},
                                                                    {204, "No Content"},
                                                                    {303, "See Other"},
                                                                    {400, "Bad Request"},
                                                                    {401, "Unauthorized"},
                                                                    {403, "Forbidden"},
                                                                    {404, "Not Found"},
                                                                    {405, "Method Not Allowed"},
                                                                    {409, "Conflict"},
                                                                    {413, "Content Too Large"},
                                                                    {415, "Unsupported Media Type"},
                                                                    {421, "Misdirected Request"},
                                                                    {429, "Too Many Requests"},
                                                                    {431, "Header Too Large"},
                                                                    {500, "Internal Server Error"},
                                                                    {501, "Not Implemented"},
                                                                    {503, "Service Unavailable"},
                                                                    {505, "Version Not Served"}}};
  for (const auto& [code, text] : texts)
    if (code == status) return text;
  return "Status";
}

char lower(char letter) noexcept {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

std::string lower_text(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}

std::vector<std::pair<std::string, std::string>> parse_form(std::string_view body) {
  std::vector<std::pair<std::string, std::string>> out;
  while (!body.empty()) {
    const auto pair = body.substr(0, body.find('&'));
    body.remove_prefix(std::min(body.size(), pair.size() + 1));
    const auto equals = pair.find('=');
    const auto value = equals == std::string_view::npos ? "" : pair.substr(equals + 1);
    out.emplace_back(decoded(pair.substr(0, equals)), decoded(value));
  }
  return out;
}

}  // namespace halyard::tool
