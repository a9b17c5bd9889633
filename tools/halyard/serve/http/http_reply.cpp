// SPDX-License-Identifier: Apache-2.0
// Every reply has all security headers: none depends on what is asked for.
#include "serve/http/http_reply.h"

#include <fmt/format.h>

#include <boost/beast/http/status.hpp>

#include "input/json_document.h"

namespace halyard::tool {
namespace {

// With Referrer-Policy no-referrer, browsers send the Origin "null" for forms.
constexpr std::string_view security_fields =
    "Content-Security-Policy: default-src 'none'; img-src 'self'; media-src blob:; "
    "style-src 'self'; "
    "script-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "X-Frame-Options: DENY\r\n"
    "Referrer-Policy: same-origin\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n"
    "Permissions-Policy: camera=(), microphone=(), geolocation=()\r\n"
    "Cache-Control: no-store\r\n";

std::string status_text(int status) {
  const auto code = boost::beast::http::int_to_status(static_cast<unsigned>(status));
  return boost::beast::http::obsolete_reason(code).to_string();
}

std::string type_of(const HttpReply& reply) {
  if (reply.stream == HttpStream::images)
    return fmt::format("multipart/x-mixed-replace; boundary={}", image_boundary);
  if (reply.stream == HttpStream::events) return "text/event-stream";
  if (reply.stream == HttpStream::video) return "video/mp4";
  return reply.type;
}

}  // namespace

std::string reply_head(const HttpReply& reply, bool keeps_alive) {
  const bool is_stream = reply.stream != HttpStream::none;
  std::string out = fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\n", reply.status,
                                status_text(reply.status), type_of(reply));
  if (!is_stream) out += fmt::format("Content-Length: {}\r\n", reply.size());
  out += keeps_alive && !is_stream ? "Connection: keep-alive\r\n" : "Connection: close\r\n";
  out += security_fields;
  for (const auto& [name, value] : reply.fields)
    out += fmt::format("{}: {}\r\n", name, value);
  out += "\r\n";
  if (reply.stream == HttpStream::images) out += fmt::format("--{}\r\n", image_boundary);
  return out;
}

HttpReply error_reply(int status, std::string_view what) {
  HttpReply out{
      status, "application/json",
      fmt::format("{{\"schema\":{},\"error\":{}}}\n", json_schema, json_quoted(std::string(what)))};
  if (status == 405) out.fields.emplace_back("Allow", "GET, HEAD, POST");
  return out;
}

std::string image_part(std::string_view jpeg) {
  std::string out;
  out.reserve(jpeg.size() + 128);
  out += fmt::format("Content-Type: image/jpeg\r\nContent-Length: {}\r\n\r\n", jpeg.size());
  out += jpeg;
  out += fmt::format("\r\n--{}\r\n", image_boundary);
  return out;
}

std::string event_text(std::string_view data) {
  return fmt::format("data: {}\n\n", data);
}

}  // namespace halyard::tool
