// SPDX-License-Identifier: Apache-2.0
// Connection: one client of the server: its requests, replies and stream, with deadlines for each.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "serve/http/http_reply.h"
#include "serve/http/http_request.h"
#include "serve/http/stream_message.h"
#include "serve/http/tls.h"

namespace halyard::tool {

/// Times after which a connection is closed.
struct HttpTimeouts {
  std::chrono::milliseconds idle{30'000};     ///< without a request
  std::chrono::milliseconds request{10'000};  ///< from a request's first byte to its last
  std::chrono::milliseconds send{10'000};     ///< until the socket has taken a reply or an image
};

/// Answers requests. Called on the server's thread: must not wait.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  /// `peer` is the client's address.
  virtual HttpReply reply(const HttpRequest& request, const std::string& peer) = 0;
  /// Called a few times a second while somebody reads events.
  virtual void tick() {}
};

class Connection;

/// The server, as its connections see it. All calls on the server's thread.
class ConnectionOwner {
 public:
  enum class Event : std::uint8_t { request, timeout, slow_viewer };
  virtual ~ConnectionOwner() = default;
  virtual HttpHandler& handler() noexcept = 0;
  /// A place among the viewers of a stream; false: all are taken.
  virtual bool take_place(HttpStream stream) = 0;
  /// The last message of a stream that a viewer gets at once; its bytes may be null.
  virtual StreamMessage newest(HttpStream stream) = 0;
  virtual void count(Event event) noexcept = 0;
  virtual void count_messages(HttpStream stream, std::uint64_t sent, std::uint64_t skipped) = 0;
  /// The connection is closed.
  virtual void remove(Connection& connection) = 0;
};

/// All calls on the server's thread. Deadlines are absolute: a client that sends or takes a byte
/// now and then does not extend them.
class Connection {
 public:
  using Time = std::chrono::steady_clock::time_point;
  enum class Phase : std::uint8_t { reading, writing, streaming, ending, closed };

  virtual ~Connection() = default;
  virtual void start() = 0;
  /// A new message of the stream that it reads. Skipped if the client does not keep up.
  virtual void offer(const StreamMessage& message) = 0;
  /// Closes the socket and calls ConnectionOwner::remove(), once.
  virtual void close() = 0;

  Phase phase() const noexcept { return phase_; }
  HttpStream stream() const noexcept { return stream_; }
  Time began() const noexcept { return began_; }  ///< when the present phase of reading began

 protected:
  Phase phase_ = Phase::reading;
  HttpStream stream_ = HttpStream::none;
  Time began_ = std::chrono::steady_clock::now();
};

/// What all connections of a server have in common.
struct ConnectionRules {
  HttpTimeouts timeouts;
  HttpLimits limits;
};

/// `owner` must outlive the connection. With `tls`, the client must speak TLS.
std::shared_ptr<Connection> make_connection(boost::asio::ip::tcp::socket socket,
                                            const std::optional<TlsContext>& tls,
                                            const ConnectionRules& rules, ConnectionOwner& owner);

}  // namespace halyard::tool
