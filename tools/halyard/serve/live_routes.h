// SPDX-License-Identifier: Apache-2.0
// LiveRoutes: what the server answers to each path. docs/live-view.md describes them.
#pragma once

#include <string>

#include "serve/access.h"
#include "serve/http/http_server.h"
#include "serve/live_feed.h"
#include "serve/live_json.h"
#include "serve/live_video.h"
#include "serve/pool_watch.h"
#include "serve/recorder.h"

namespace halyard::tool {

/// Everything that the routes show or change; borrowed.
struct LiveParts {
  LiveFeed& feed;
  Recorder& recorder;
  PoolWatch& pools;
};

/// All calls on the server's thread, except bind() and set_access(), which come before it starts.
class LiveRoutes final : public HttpHandler {
 public:
  /// `model`: the document of GET /api/model.
  LiveRoutes(LiveParts parts, std::string model)
      : parts_(parts), model_(std::move(model)), access_(AccessOptions{}) {}
  void bind(HttpServer& server, const LiveVideo& video) noexcept {
    server_ = &server;
    video_ = &video;
  }
  void set_access(AccessOptions options) { access_ = AccessControl(std::move(options)); }

  HttpReply reply(const HttpRequest& request, const std::string& peer) override;
  /// Sends an event to all readers.
  void tick() override;

 private:
  HttpReply answer(const HttpRequest& request);
  HttpReply get(const std::string& path);
  HttpReply post(const HttpRequest& request);
  HttpReply log_in(const HttpRequest& request, const std::string& peer);
  HttpReply model() const;
  HttpReply video() const;
  HttpReply snapshot();
  HttpReply change_controls(const HttpRequest& request);
  HttpReply change_recording(const HttpRequest& request);
  std::string state_text() const;

  LiveParts parts_;
  std::string model_;
  AccessControl access_;
  HttpServer* server_ = nullptr;
  const LiveVideo* video_ = nullptr;
};

}  // namespace halyard::tool
