// SPDX-License-Identifier: Apache-2.0
// HttpServer: serves any number of clients on one thread, within fixed limits, by Boost.Beast.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "halyard/result.h"
#include "serve/http/connection.h"
#include "serve/http/listen_address.h"

namespace halyard::tool {

struct HttpServerOptions {
  ListenAddress listen;
  std::optional<TlsContext> tls = std::nullopt;
  std::size_t max_viewers = 50;        ///< readers of each stream; 1..1000
  std::size_t other_connections = 64;  ///< beside them; above it the oldest idle one is closed
  HttpLimits limits;
  HttpTimeouts timeouts;
  std::chrono::milliseconds tick{250};
};

/// Counts since the start, and what is open now.
struct HttpServerStats {
  std::size_t connections = 0;
  std::size_t image_viewers = 0;
  std::size_t video_viewers = 0;
  std::size_t event_viewers = 0;
  std::uint64_t requests = 0;
  std::uint64_t images_sent = 0;
  std::uint64_t images_skipped = 0;  ///< replaced by newer ones before a viewer took them
  std::uint64_t video_sent = 0;      ///< segments of the video
  std::uint64_t video_skipped = 0;   ///< not sent to viewers that did not keep up
  std::uint64_t slow_viewers = 0;    ///< closed, because they did not take a message in time
  std::uint64_t timeouts = 0;        ///< other connections closed by a deadline
  std::uint64_t refused = 0;         ///< connections closed because all places were taken
};

/// One thread serves all connections and never waits for one of them. Functions are thread-safe.
class HttpServer {
 public:
  /// Listens; start() serves. `handler` must outlive the server. Errors: busy (the port is in use),
  /// permission (a port below 1024), not_found (no interface has the address), os.
  static Result<std::unique_ptr<HttpServer>> create(HttpServerOptions options,
                                                    HttpHandler& handler);
  /// stop().
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// Errors: exhausted (the system starts no thread).
  Status start();
  /// Closes all connections. Called once at most, and not by the handler.
  void stop() noexcept;

  std::uint16_t port() const noexcept;
  bool has_tls() const noexcept;
  /// Gives all readers of the stream a new message, which replaces the last one.
  void push(HttpStream stream, std::string message);
  /// The same with any message, in the order of the calls.
  void push(HttpStream stream, StreamMessage message);
  /// Readers of the stream now.
  std::size_t viewers(HttpStream stream) const noexcept;
  /// Readers of the stream since the start.
  std::uint64_t arrivals(HttpStream stream) const noexcept;
  HttpServerStats stats() const;

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halyard::tool
