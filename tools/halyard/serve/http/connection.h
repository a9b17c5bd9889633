// SPDX-License-Identifier: Apache-2.0
// Connection: one client of the server: its requests, replies and stream, with deadlines for each.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "serve/http/channel.h"
#include "serve/http/http_reply.h"
#include "serve/http/http_request.h"

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

/// The newest message of a stream. Shared by all its readers.
struct StreamMessage {
  std::shared_ptr<const std::string> bytes;
  std::uint64_t number = 0;  ///< 0: there is none
};

/// Thread-bound.
class Connection {
 public:
  using Time = std::chrono::steady_clock::time_point;
  enum class Phase { reading, writing, streaming, ending, closed };

  Connection(std::unique_ptr<Channel> channel, std::string peer, const HttpTimeouts& timeouts,
             const HttpLimits& limits, Time now);

  int fd() const noexcept { return channel_->fd(); }
  Phase phase() const noexcept { return phase_; }
  HttpStream stream() const noexcept { return stream_; }
  /// Events of poll() that it waits for.
  short events() const noexcept;
  /// When it must be closed if nothing happens.
  Time deadline() const noexcept { return deadline_; }
  Time began() const noexcept { return began_; }

  /// A place among the viewers of a stream; false: all are taken.
  class Places {
   public:
    virtual ~Places() = default;
    virtual bool take(HttpStream stream) = 0;
  };
  /// Reads, answers and writes as far as the socket allows.
  void serve(HttpHandler& handler, Places& places, Time now);
  /// Offers a stream's newest message. If it still writes an older one, it takes the newest one
  /// after it.
  void offer(const StreamMessage& message, Time now);
  void close() noexcept { phase_ = Phase::closed; }

  /// Messages of the stream that were written whole, and those that newer ones replaced.
  std::uint64_t sent() const noexcept { return sent_; }
  std::uint64_t skipped() const noexcept { return skipped_; }
  std::uint64_t requests() const noexcept { return requests_; }

 private:
  bool read_some();
  void answer(HttpHandler& handler, Places& places, Time now);
  void queue(const HttpReply& reply, bool has_body, bool keeps_alive, Time now);
  void refuse(const ParsedRequest& parsed, Time now);
  bool write_some(Time now);
  void finish_reply(Time now);
  void await_request(Time now);

  std::unique_ptr<Channel> channel_;
  std::string peer_;
  HttpTimeouts timeouts_;
  HttpLimits limits_;
  Phase phase_ = Phase::reading;
  HttpStream stream_ = HttpStream::none;
  bool waits_to_write_ = false;  ///< TLS must write before it reads on
  bool waits_to_read_ = false;   ///< TLS must read before it writes on
  bool closes_after_ = false;
  bool has_ended_ = false;  ///< the client sends no more
  std::string input_;
  std::string head_;  ///< of the reply, or its whole
  std::shared_ptr<const std::string> body_;
  std::size_t written_ = 0;  ///< bytes of head_ and body_
  StreamMessage newest_;
  std::uint64_t taken_ = 0;  ///< number of the last message that was begun
  std::size_t drained_ = 0;  ///< bytes read while ending
  Time began_, deadline_;
  std::uint64_t sent_ = 0, skipped_ = 0, requests_ = 0;
};

}  // namespace halyard::tool
