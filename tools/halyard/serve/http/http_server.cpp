// SPDX-License-Identifier: Apache-2.0
// One io_context on one thread: a hundred connections need no thread each, and none can hold up
// another.
#include "serve/http/http_server.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "halyard/trace.h"

namespace halyard::tool {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::chrono::milliseconds accept_pause(100);
constexpr int unsent_bytes = 128 * 1024, idle_s = 30;

Error listen_error(const ListenAddress& address, const error_code& error) {
  const std::string where = address.text();
  if (error == asio::error::address_in_use)
    return make_error(Errc::busy, "another program listens on this port; give another one", where);
  if (error == asio::error::access_denied)
    return make_error(Errc::permission, "ports below 1024 need a privilege", where);
  if (error == boost::system::errc::address_not_available)
    return make_error(Errc::not_found, "no interface of this machine has this address", where);
  return make_error(Errc::os, "the socket cannot listen", where, error.value());
}

Status open(tcp::acceptor& acceptor, const ListenAddress& address) {
  error_code error;
  const auto ip = asio::ip::make_address(address.address, error);
  if (error)
    return make_error(Errc::invalid_argument, "the address is not numeric", address.address);
  const tcp::endpoint where(ip, address.port);
  acceptor.open(where.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(where, error);
  if (!error) acceptor.listen(128, error);
  return error ? Status(listen_error(address, error)) : Status{};
}

/// Frames wait in the server, where a newer one can replace them, and not in the kernel's buffer.
void set_options(tcp::socket& socket) {
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  socket.set_option(tcp::socket::keep_alive(true), ignored);
  const int fd = socket.native_handle();
  ::setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent_bytes, sizeof(unsent_bytes));
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
}

std::size_t index_of(HttpStream stream) {
  return static_cast<std::size_t>(stream);
}

}  // namespace

/// Counts that any thread may read.
struct HttpCounters {
  std::atomic<std::size_t> connections{0};
  std::array<std::atomic<std::size_t>, http_streams> viewers{};
  std::array<std::atomic<std::uint64_t>, http_streams> arrivals{}, sent{}, skipped{};
  std::atomic<std::uint64_t> requests{0}, slow_viewers{0}, timeouts{0}, refused{0};
};

struct HttpServer::Impl final : ConnectionOwner {
  Impl(HttpServerOptions own, HttpHandler& answers)
      : options(std::move(own)), replies(answers), acceptor(io), accept_timer(io), tick_timer(io) {}

  HttpHandler& handler() noexcept override { return replies; }
  bool take_place(HttpStream stream) override;
  StreamMessage newest(HttpStream stream) override { return newest_[index_of(stream)]; }
  void count(Event event) noexcept override;
  void count_messages(HttpStream stream, std::uint64_t sent, std::uint64_t skipped) override;
  void remove(Connection& connection) override;

  void accept();
  void on_accepted(error_code error, tcp::socket socket);
  bool make_room();
  void tick();
  void push(HttpStream stream, StreamMessage message);
  void deliver();
  HttpServerStats stats() const;

  HttpServerOptions options;
  HttpHandler& replies;
  HttpCounters counts;
  std::mutex mutex;  // of `pushed`
  std::vector<std::pair<HttpStream, StreamMessage>> pushed;
  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};
  tcp::acceptor acceptor;
  std::uint16_t port = 0;
  asio::steady_timer accept_timer, tick_timer;
  bool is_ticking = false;
  std::array<StreamMessage, http_streams> newest_;
  std::vector<std::shared_ptr<Connection>> connections;
  std::thread thread;
};

bool HttpServer::Impl::take_place(HttpStream stream) {
  auto& viewers = counts.viewers[index_of(stream)];
  if (viewers >= options.max_viewers) return false;
  ++viewers;
  ++counts.arrivals[index_of(stream)];
  if (stream == HttpStream::events && !is_ticking) {
    is_ticking = true;
    tick();
  }
  return true;
}

void HttpServer::Impl::count(Event event) noexcept {
  if (event == Event::request) ++counts.requests;
  if (event == Event::timeout) ++counts.timeouts;
  if (event == Event::slow_viewer) ++counts.slow_viewers;
}

void HttpServer::Impl::count_messages(HttpStream stream, std::uint64_t sent,
                                      std::uint64_t skipped) {
  counts.sent[index_of(stream)] += sent;
  counts.skipped[index_of(stream)] += skipped;
}

void HttpServer::Impl::remove(Connection& connection) {
  if (connection.stream() != HttpStream::none) --counts.viewers[index_of(connection.stream())];
  std::erase_if(connections, [&](const auto& own) { return own.get() == &connection; });
  counts.connections = connections.size();
}

void HttpServer::Impl::accept() {
  acceptor.async_accept(
      [this](error_code error, tcp::socket socket) { on_accepted(error, std::move(socket)); });
}

void HttpServer::Impl::on_accepted(error_code error, tcp::socket socket) {
  if (error == asio::error::operation_aborted) return;
  if (error && error != asio::error::connection_aborted) {
    // The system is short of descriptors or memory.
    accept_timer.expires_after(accept_pause);
    return accept_timer.async_wait([this](error_code aborted) {
      if (!aborted) accept();
    });
  }
  const std::size_t most = 3 * options.max_viewers + options.other_connections;
  const bool is_full = connections.size() >= most;
  if (is_full) ++counts.refused;
  if (!error && (!is_full || make_room())) {
    set_options(socket);
    connections.push_back(
        make_connection(std::move(socket), options.tls, {options.timeouts, options.limits}, *this));
    counts.connections = connections.size();
    const auto own = connections.back();
    own->start();
  }
  accept();
}

/// Closes the connection that has waited longest without a whole request. False: there is none.
bool HttpServer::Impl::make_room() {
  std::shared_ptr<Connection> oldest;
  for (const auto& connection : connections) {
    const bool is_idle = connection->phase() == Connection::Phase::reading ||
                         connection->phase() == Connection::Phase::ending;
    if (is_idle && (!oldest || connection->began() < oldest->began())) oldest = connection;
  }
  if (oldest) oldest->close();
  return oldest != nullptr;
}

void HttpServer::Impl::tick() {
  is_ticking = counts.viewers[index_of(HttpStream::events)] != 0;
  if (!is_ticking) return;
  replies.tick();
  tick_timer.expires_after(options.tick);
  tick_timer.async_wait([this](error_code aborted) {
    if (!aborted) tick();
  });
}

void HttpServer::Impl::push(HttpStream stream, StreamMessage message) {
  bool is_first = false;
  {
    const std::lock_guard lock(mutex);
    is_first = pushed.empty();
    if (message.role == StreamMessage::Role::whole)
      std::erase_if(pushed, [stream](const auto& waiting) { return waiting.first == stream; });
    pushed.emplace_back(stream, std::move(message));
  }
  if (is_first) asio::post(io, [this] { deliver(); });
}

void HttpServer::Impl::deliver() {
  std::vector<std::pair<HttpStream, StreamMessage>> messages;
  {
    const std::lock_guard lock(mutex);
    messages.swap(pushed);
  }
  for (const auto& [stream, message] : messages) {
    if (message.role == StreamMessage::Role::whole) newest_[index_of(stream)] = message;
    // An offer may close a connection, which changes the list.
    for (const auto& connection : std::vector(connections))
      if (connection->stream() == stream) connection->offer(message);
  }
}

HttpServerStats HttpServer::Impl::stats() const {
  HttpServerStats out;
  const std::size_t images = index_of(HttpStream::images), video = index_of(HttpStream::video);
  out.connections = counts.connections;
  out.image_viewers = counts.viewers[images];
  out.video_viewers = counts.viewers[video];
  out.event_viewers = counts.viewers[index_of(HttpStream::events)];
  out.requests = counts.requests;
  out.images_sent = counts.sent[images];
  out.images_skipped = counts.skipped[images];
  out.video_sent = counts.sent[video];
  out.video_skipped = counts.skipped[video];
  out.slow_viewers = counts.slow_viewers;
  out.timeouts = counts.timeouts;
  out.refused = counts.refused;
  return out;
}

Result<std::unique_ptr<HttpServer>> HttpServer::create(HttpServerOptions options,
                                                       HttpHandler& handler) {
  auto impl = std::make_unique<Impl>(std::move(options), handler);
  HALYARD_RETURN_IF_ERROR(open(impl->acceptor, impl->options.listen));
  error_code error;
  impl->port = impl->acceptor.local_endpoint(error).port();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}

HttpServer::~HttpServer() {
  stop();
}

Status HttpServer::start() {
  impl_->accept();
  try {
    impl_->thread = std::thread([this] {
      trace::set_thread_name("server");
      impl_->io.run();
    });
  } catch (const std::system_error& error) {
    return make_error(Errc::exhausted, "the system starts no thread for the server", error.what());
  }
  return {};
}

void HttpServer::stop() noexcept {
  impl_->io.stop();
  if (impl_->thread.joinable()) impl_->thread.join();
  error_code ignored;
  impl_->acceptor.close(ignored);
  for (const auto& connection : std::vector(impl_->connections))
    connection->close();
}

std::uint16_t HttpServer::port() const noexcept {
  return impl_->port;
}

bool HttpServer::has_tls() const noexcept {
  return impl_->options.tls.has_value();
}

void HttpServer::push(HttpStream stream, std::string message) {
  push(stream, StreamMessage{std::make_shared<const std::string>(std::move(message))});
}

void HttpServer::push(HttpStream stream, StreamMessage message) {
  impl_->push(stream, std::move(message));
}

std::size_t HttpServer::viewers(HttpStream stream) const noexcept {
  return impl_->counts.viewers[index_of(stream)];
}

std::uint64_t HttpServer::arrivals(HttpStream stream) const noexcept {
  return impl_->counts.arrivals[index_of(stream)];
}

HttpServerStats HttpServer::stats() const {
  return impl_->stats();
}

}  // namespace halyard::tool
