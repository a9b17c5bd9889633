// SPDX-License-Identifier: Apache-2.0
// A loop over poll(): a hundred connections need no thread each, and none can hold up another.
#include "serve/http/http_server.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "halyard/trace.h"

namespace halyard::tool {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

/// What the server's thread alone uses.
struct HttpServer::Loop final : Connection::Places {
  explicit Loop(HttpServer& own) : server(own) {}
  bool take(HttpStream stream) override;
  void run();
  void wait();
  void accept_all(Clock::time_point now);
  bool make_room();
  void serve_all(Clock::time_point now);
  void offer_all(Clock::time_point now);
  void close_late(Clock::time_point now);
  void drop_closed();
  int timeout_ms(Clock::time_point now) const;
  std::size_t open_streams(HttpStream stream) const;

  HttpServer& server;
  std::vector<std::unique_ptr<Connection>> connections;
  std::vector<pollfd> polled;
  Clock::time_point next_tick = Clock::now();
  Clock::time_point accepts_from{};  ///< after the system was short of descriptors
  HttpServerStats counts;            ///< of connections that have ended
};

Result<std::unique_ptr<HttpServer>> HttpServer::create(HttpServerOptions options,
                                                       HttpHandler& handler) {
  HALYARD_TRY(auto listener, Listener::open(options.listen));
  Fd wake(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!wake) return make_error(Errc::os, "there is no eventfd", {}, errno);
  return std::unique_ptr<HttpServer>(
      new HttpServer(std::move(options), std::move(listener), std::move(wake), handler));
}

HttpServer::HttpServer(HttpServerOptions options, Listener listener, Fd wake, HttpHandler& handler)
    : options_(std::move(options)),
      listener_(std::move(listener)),
      wake_(std::move(wake)),
      handler_(handler) {}

HttpServer::~HttpServer() {
  stop();
}

Status HttpServer::start() {
  try {
    thread_ = std::thread([this] {
      trace::set_thread_name("server");
      Loop(*this).run();
    });
  } catch (const std::system_error& error) {
    return make_error(Errc::exhausted, "the system starts no thread for the server", error.what());
  }
  return {};
}

void HttpServer::stop() noexcept {
  is_stopping_ = true;
  wake();
  if (thread_.joinable()) thread_.join();
}

void HttpServer::wake() noexcept {
  static_cast<void>(::eventfd_write(wake_.get(), 1));
}

void HttpServer::push(HttpStream stream, std::string message) {
  auto bytes = std::make_shared<const std::string>(std::move(message));
  {
    const std::lock_guard lock(mutex_);
    StreamMessage& newest = stream == HttpStream::images ? images_ : events_;
    newest.bytes.swap(bytes);
    ++newest.number;
  }
  wake();
}

std::size_t HttpServer::viewers(HttpStream stream) const noexcept {
  return stream == HttpStream::images ? image_viewers_ : event_viewers_;
}

HttpServerStats HttpServer::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

std::size_t HttpServer::Loop::open_streams(HttpStream stream) const {
  return static_cast<std::size_t>(
      std::count_if(connections.begin(), connections.end(), [stream](const auto& connection) {
        return connection->stream() == stream && connection->phase() != Connection::Phase::closed;
      }));
}

bool HttpServer::Loop::take(HttpStream stream) {
  return open_streams(stream) < server.options_.max_viewers;
}

void HttpServer::Loop::run() {
  while (!server.is_stopping_) {
    wait();
    const auto now = Clock::now();
    serve_all(now);
    accept_all(now);
    server.event_viewers_ = open_streams(HttpStream::events);
    if (server.event_viewers_ != 0 && now >= next_tick) {
      next_tick = now + server.options_.tick;
      server.handler_.tick();
    }
    offer_all(now);
    close_late(now);
    drop_closed();
  }
  connections.clear();
  drop_closed();
}

int HttpServer::Loop::timeout_ms(Clock::time_point now) const {
  auto until = now + std::chrono::seconds(60);
  for (const auto& connection : connections)
    until = std::min(until, connection->deadline());
  if (server.event_viewers_ != 0) until = std::min(until, next_tick);
  if (accepts_from > now) until = std::min(until, accepts_from);
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - now).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

void HttpServer::Loop::wait() {
  const auto now = Clock::now();
  polled.clear();
  polled.push_back({server.wake_.get(), POLLIN, 0});
  polled.push_back({accepts_from > now ? -1 : server.listener_.fd(), POLLIN, 0});
  for (const auto& connection : connections)
    polled.push_back({connection->fd(), connection->events(), 0});
  static_cast<void>(::poll(polled.data(), polled.size(), timeout_ms(now)));
  eventfd_t count = 0;
  if (polled[0].revents != 0) static_cast<void>(::eventfd_read(server.wake_.get(), &count));
}

void HttpServer::Loop::serve_all(Clock::time_point now) {
  for (std::size_t i = 0; i < connections.size(); ++i)
    if (polled[i + 2].revents != 0) connections[i]->serve(server.handler_, *this, now);
}

/// Closes the connection that has waited longest without a whole request. False: there is none.
bool HttpServer::Loop::make_room() {
  Connection* oldest = nullptr;
  for (const auto& connection : connections) {
    const bool is_idle = connection->phase() == Connection::Phase::reading ||
                         connection->phase() == Connection::Phase::ending;
    if (is_idle && (oldest == nullptr || connection->began() < oldest->began()))
      oldest = connection.get();
  }
  if (oldest == nullptr) return false;
  oldest->close();
  drop_closed();
  return true;
}

void HttpServer::Loop::accept_all(Clock::time_point now) {
  if (polled[1].revents == 0) return;
  const auto& options = server.options_;
  const std::size_t most = 2 * options.max_viewers + options.other_connections;
  for (int turn = 0; turn < 64; ++turn) {
    std::string peer;
    bool is_short = false;
    Fd socket = server.listener_.accept(peer, is_short);
    if (is_short) accepts_from = now + std::chrono::milliseconds(100);
    if (!socket) return;
    if (connections.size() >= most) {
      ++counts.refused;
      if (!make_room()) continue;
    }
    auto channel =
        options.tls ? options.tls->channel(std::move(socket)) : plain_channel(std::move(socket));
    if (!channel) continue;
    connections.push_back(std::make_unique<Connection>(std::move(channel), std::move(peer),
                                                       options.timeouts, options.limits, now));
  }
}

void HttpServer::Loop::offer_all(Clock::time_point now) {
  StreamMessage images, events;
  {
    const std::lock_guard lock(server.mutex_);
    images = server.images_;
    events = server.events_;
  }
  for (const auto& connection : connections) {
    if (connection->phase() != Connection::Phase::streaming) continue;
    const auto& newest = connection->stream() == HttpStream::images ? images : events;
    if (newest.number != 0) connection->offer(newest, now);
  }
}

void HttpServer::Loop::close_late(Clock::time_point now) {
  for (const auto& connection : connections) {
    if (connection->phase() == Connection::Phase::closed || connection->deadline() > now) continue;
    const bool is_viewer = connection->phase() == Connection::Phase::streaming;
    ++(is_viewer ? counts.slow_viewers : counts.timeouts);
    connection->close();
  }
}

void HttpServer::Loop::drop_closed() {
  std::erase_if(connections, [this](const auto& connection) {
    if (connection->phase() != Connection::Phase::closed) return false;
    counts.requests += connection->requests();
    if (connection->stream() == HttpStream::images) {
      counts.images_sent += connection->sent();
      counts.images_skipped += connection->skipped();
    }
    return true;
  });
  HttpServerStats now = counts;
  now.connections = connections.size();
  now.image_viewers = open_streams(HttpStream::images);
  now.event_viewers = open_streams(HttpStream::events);
  server.image_viewers_ = now.image_viewers;
  server.event_viewers_ = now.event_viewers;
  for (const auto& connection : connections) {
    now.requests += connection->requests();
    if (connection->stream() != HttpStream::images) continue;
    now.images_sent += connection->sent();
    now.images_skipped += connection->skipped();
  }
  const std::lock_guard lock(server.mutex_);
  server.stats_ = now;
}

}  // namespace halyard::tool
