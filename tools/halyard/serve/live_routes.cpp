// SPDX-License-Identifier: Apache-2.0
// Paths are compared whole with those of a table: none is a file's name.
#include "serve/live_routes.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "serve/page_files.h"

namespace halyard::tool {
namespace {

constexpr std::size_t timeline_frames = 24;

struct PageRoute {
  const char* path;
  const char* file;
  const char* type;
  bool needs_login;
};
constexpr PageRoute page_routes[] = {
    {"/", "index.html", "text/html; charset=utf-8", true},
    {"/view.js", "view.js", "text/javascript; charset=utf-8", true},
    {"/timeline.js", "timeline.js", "text/javascript; charset=utf-8", true},
    {"/video.js", "video.js", "text/javascript; charset=utf-8", true},
    {"/login", "login.html", "text/html; charset=utf-8", false},
    {"/style.css", "style.css", "text/css; charset=utf-8", false},
    {"/icon.svg", "icon.svg", "image/svg+xml", false},
};

HttpReply page_reply(const PageRoute& route) {
  const auto file = page_file(route.file);
  if (!file) return error_reply(404, "there is no such page");
  return {200, route.type, std::string(file->bytes)};
}

HttpReply redirect(const char* to) {
  HttpReply out{303, "text/plain", ""};
  out.fields.emplace_back("Location", to);
  return out;
}

HttpReply stream_reply(HttpStream stream) {
  HttpReply out;
  out.stream = stream;
  return out;
}

HttpReply json_reply(const std::string& json) {
  return {200, "application/json", json + "\n"};
}

/// The login page with a sentence in place of its empty message.
HttpReply login_page(int status, const std::string& message) {
  const auto file = page_file("login.html");
  std::string text(file ? file->bytes : "");
  const std::string_view place = "<!--message-->";
  if (const auto at = text.find(place); at != std::string::npos)
    text.replace(at, place.size(), message);
  return {status, "text/html; charset=utf-8", std::move(text)};
}

HttpReply error_of(const Error& error) {
  switch (error.code) {
    case Errc::invalid_argument:
    case Errc::malformed:
      return error_reply(400, error.message());
    case Errc::busy:
      return error_reply(409, error.message());
    case Errc::unsupported:
      return error_reply(501, error.message());
    default:
      return error_reply(500, error.message());
  }
}

bool is_json(const HttpRequest& request) {
  const std::string type = lower_text(request.field("content-type"));
  return type == "application/json" || type.starts_with("application/json;");
}

std::string snapshot_name() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return fmt::format("halyard-{}.jpg",
                     std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

bool is_page(std::string_view path) {
  return path == "/" || path == "/login";
}

}  // namespace

HttpReply LiveRoutes::reply(const HttpRequest& request, const std::string& peer) {
  using Verdict = AccessControl::Verdict;
  const bool is_login = request.path == "/login";
  const auto now = std::chrono::steady_clock::now();
  bool is_public = is_login;
  for (const PageRoute& route : page_routes)
    is_public = is_public || (request.path == route.path && !route.needs_login);
  switch (is_public ? access_.judge_login(request) : access_.judge(request, now)) {
    case Verdict::wrong_host:
      return error_reply(421, "this server has another name; add it with --host NAME");
    case Verdict::wrong_origin:
      return error_reply(403,
                         "a change must come from the page itself: Origin must be this server");
    case Verdict::needs_login:
      if (is_page(request.path)) return redirect("/login");
      {
        HttpReply out = error_reply(401, "log in, or send \"Authorization: Bearer TOKEN\"");
        out.fields.emplace_back("WWW-Authenticate", "Bearer");
        return out;
      }
    case Verdict::allowed:
      break;
  }
  if (is_login && request.method == "POST") return log_in(request, peer);
  if (is_login && !access_.needs_token()) return redirect("/");
  return answer(request);
}

HttpReply LiveRoutes::answer(const HttpRequest& request) {
  if (request.method == "POST") return post(request);
  for (const PageRoute& route : page_routes)
    if (request.path == route.path) return page_reply(route);
  return get(request.path);
}

HttpReply LiveRoutes::model() const {
  if (model_.empty()) return error_reply(404, "this server was started without --model");
  return json_reply(model_);
}

HttpReply LiveRoutes::get(const std::string& path) {
  if (path == "/stream.mjpg") return stream_reply(HttpStream::images);
  if (path == "/stream.mp4") return video();
  if (path == "/events") return stream_reply(HttpStream::events);
  if (path == "/api/state") return json_reply(state_text());
  if (path == "/api/model") return model();
  if (path == "/api/controls") return json_reply(controls_json(parts_.feed.controls()));
  if (path == "/api/snapshot") return snapshot();
  if (path == "/api/pools") return json_reply(parts_.pools.json());
  if (path == "/metrics") {
    return {200, "text/plain; version=0.0.4; charset=utf-8",
            metrics_text(parts_.feed.state(0), server_->stats(), parts_.recorder.state())};
  }
  if (path == "/api/record" || path == "/logout") return error_reply(405, "send a POST request");
  return error_reply(404, "there is no such path");
}

HttpReply LiveRoutes::post(const HttpRequest& request) {
  if (request.path == "/logout") {
    HttpReply out = redirect("/login");
    out.fields.emplace_back("Set-Cookie", access_.log_out(request));
    return out;
  }
  const bool is_known = request.path == "/api/controls" || request.path == "/api/record";
  if (!is_known) {
    const HttpReply other = get(request.path);
    return other.status == 404 ? other : error_reply(405, "send a GET request");
  }
  if (!is_json(request)) return error_reply(415, "send Content-Type: application/json");
  return request.path == "/api/record" ? change_recording(request) : change_controls(request);
}

HttpReply LiveRoutes::log_in(const HttpRequest& request, const std::string& peer) {
  if (!access_.needs_token()) return redirect("/");
  std::string token;
  for (auto& [name, value] : parse_form(request.body))
    if (name == "token") token = std::move(value);
  const auto login = access_.log_in(token, peer, std::chrono::steady_clock::now());
  if (login.wait.count() > 0) {
    HttpReply out =
        login_page(429, fmt::format("Too many wrong tokens. Wait {} seconds.", login.wait.count()));
    out.fields.emplace_back("Retry-After", std::to_string(login.wait.count()));
    return out;
  }
  if (login.cookie.empty()) return login_page(401, "This is not the token.");
  HttpReply out = redirect("/");
  out.fields.emplace_back("Set-Cookie", login.cookie);
  return out;
}

HttpReply LiveRoutes::video() const {
  const LiveVideoState state = video_->state();
  return state.is_available ? stream_reply(HttpStream::video) : error_reply(501, state.error);
}

HttpReply LiveRoutes::snapshot() {
  auto image = parts_.feed.ask_image();
  if (!image) {
    // Images are made while somebody watches; this request counts as that.
    HttpReply out = error_reply(503, "the image is being made: ask again in a second");
    out.fields.emplace_back("Retry-After", "1");
    return out;
  }
  HttpReply out{200, "image/jpeg", "", std::move(image)};
  out.fields.emplace_back("Content-Disposition",
                          fmt::format("attachment; filename=\"{}\"", snapshot_name()));
  return out;
}

HttpReply LiveRoutes::change_controls(const HttpRequest& request) {
  LiveControls controls = parts_.feed.controls();
  Status done = read_controls(request.body, controls);
  if (done) done = parts_.feed.change(controls);
  if (!done) return error_of(done.error());
  return json_reply(controls_json(controls));
}

HttpReply LiveRoutes::change_recording(const HttpRequest& request) {
  const auto is_on = read_switch(request.body);
  if (!is_on) return error_of(is_on.error());
  if (!*is_on) {
    parts_.recorder.stop();
  } else if (const auto done = parts_.recorder.start(parts_.feed.state(0).rate); !done) {
    return error_of(done.error());
  }
  return json_reply(switch_json(parts_.recorder.state()));
}

std::string LiveRoutes::state_text() const {
  return state_json(parts_.feed.state(timeline_frames), parts_.feed.source(), server_->stats(),
                    parts_.recorder.state(), video_->state(), access_.needs_token());
}

void LiveRoutes::tick() {
  server_->push(HttpStream::events, event_text(state_text()));
}

}  // namespace halyard::tool
