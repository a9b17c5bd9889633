// SPDX-License-Identifier: Apache-2.0
// HttpServer: serves any number of clients on one thread, within fixed limits.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "halyard/result.h"
#include "serve/http/connection.h"
#include "serve/http/listener.h"
#include "serve/http/tls.h"

namespace halyard::tool {

struct HttpServerOptions {
  ListenAddress listen;
  std::optional<TlsContext> tls = std::nullopt;
  std::size_t max_viewers = 50;        ///< readers of images, and as many of events; 1..1000
  std::size_t other_connections = 64;  ///< beside them; above it the oldest idle one is closed
  HttpLimits limits;
  HttpTimeouts timeouts;
  std::chrono::milliseconds tick{250};
};

/// Counts since the start, and what is open now.
struct HttpServerStats {
  std::size_t connections = 0;
  std::size_t image_viewers = 0;
  std::size_t event_viewers = 0;
  std::uint64_t requests = 0;
  std::uint64_t images_sent = 0;
  std::uint64_t images_skipped = 0;  ///< replaced by newer ones before a viewer took them
  std::uint64_t slow_viewers = 0;    ///< closed, because they did not take an image in time
  std::uint64_t timeouts = 0;        ///< other connections closed by a deadline
  std::uint64_t refused = 0;         ///< connections closed because all places were taken
};

/// One thread serves all connections and never waits for one of them. Functions are thread-safe.
class HttpServer {
 public:
  /// Listens; start() serves. `handler` must outlive the server. Errors: those of
  /// Listener::open(), os.
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

  std::uint16_t port() const noexcept { return listener_.port(); }
  bool has_tls() const noexcept { return options_.tls.has_value(); }
  /// Gives all readers of the stream a new message, which replaces the last one.
  void push(HttpStream stream, std::string message);
  /// Readers of the stream now.
  std::size_t viewers(HttpStream stream) const noexcept;
  HttpServerStats stats() const;

 private:
  struct Loop;
  HttpServer(HttpServerOptions options, Listener listener, Fd wake, HttpHandler& handler);
  void wake() noexcept;

  HttpServerOptions options_;
  Listener listener_;
  Fd wake_;
  HttpHandler& handler_;
  std::atomic<bool> is_stopping_{false};
  std::atomic<std::size_t> image_viewers_{0}, event_viewers_{0};
  mutable std::mutex mutex_;  // of the members below
  StreamMessage images_, events_;
  HttpServerStats stats_;
  std::thread thread_;
};

}  // namespace halyard::tool
