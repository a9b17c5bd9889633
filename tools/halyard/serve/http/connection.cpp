// SPDX-License-Identifier: Apache-2.0
// Boost.Beast parses, sends and keeps the deadlines. A read and a write are never under way twice.
#include "serve/http/connection.h"

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/stream_traits.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <utility>

#include "serve/http/request_reader.h"
#include "serve/http/waiting_messages.h"

#ifdef HALYARD_HAVE_OPENSSL
#include <boost/beast/ssl/ssl_stream.hpp>
#endif

namespace halyard::tool {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;
using PlainStream = beast::tcp_stream;

constexpr std::chrono::seconds ending_time(2);
constexpr std::size_t ending_bytes = std::size_t{256} * 1024;
constexpr std::size_t read_bytes = 4096;

std::string peer_of(const asio::ip::tcp::socket& socket) {
  error_code ignored;
  const auto peer = socket.remote_endpoint(ignored);
  return ignored ? std::string() : peer.address().to_string();
}

template <class Stream>
class StreamConnection final : public Connection,
                               public std::enable_shared_from_this<StreamConnection<Stream>> {
 public:
  StreamConnection(Stream stream, const ConnectionRules& rules, ConnectionOwner& owner)
      : socket_(std::move(stream)),
        rules_(rules),
        owner_(owner),
        peer_(peer_of(lowest().socket())),
        input_(rules.limits.head_bytes + rules.limits.body_bytes + read_bytes) {}

  void start() override;
  void offer(const StreamMessage& message) override;
  void close() override;

 private:
  beast::tcp_stream& lowest() noexcept { return beast::get_lowest_layer(socket_); }
  /// A handler of this object that keeps it alive, and is not called after close().
  template <class... Args>
  auto then(void (StreamConnection::*next)(error_code, Args...)) {
    return [self = this->shared_from_this(), next](error_code error, Args... args) {
      if (self->phase_ != Phase::closed) (self.get()->*next)(error, args...);
    };
  }
  bool has_failed(error_code error, ConnectionOwner::Event at_deadline);
  void await_request(std::chrono::milliseconds patience);
  void on_first_bytes(error_code error, std::size_t bytes);
  void read_request();
  void on_request(error_code error, std::size_t bytes);
  void answer(const ParsedRequest& parsed);
  void send(const HttpReply& reply, bool has_body, bool keeps_alive);
  void on_sent(error_code error, std::size_t bytes);
  void begin_stream();
  void watch();
  void on_watched(error_code error, std::size_t bytes);
  void send_next();
  void on_message_sent(error_code error, std::size_t bytes);
  void end();

  Stream socket_;
  ConnectionRules rules_;
  ConnectionOwner& owner_;
  std::string peer_;
  beast::flat_buffer input_;
  std::optional<beast::http::request_parser<beast::http::string_body>> parser_;
  std::string head_;             ///< of the reply under way
  StreamMessage::Bytes body_;    ///< of the reply or message under way; may be null
  StreamMessage::Bytes before_;  ///< of the message under way: the stream's head; may be null
  bool closes_after_ = false;
  bool is_sending_ = false;  ///< a message of the stream
  WaitingMessages waiting_;
  std::array<char, read_bytes> ignored_{};  ///< what comes after the last request
  std::size_t ignored_bytes_ = 0;
};

template <class Stream>
void StreamConnection<Stream>::start() {
  await_request(rules_.timeouts.request);
}

template <class Stream>
void StreamConnection<Stream>::close() {
  if (phase_ == Phase::closed) return;
  phase_ = Phase::closed;
  lowest().close();
  owner_.count_messages(stream_, 0, waiting_.take_skipped());
  owner_.remove(*this);
}

/// True: the connection is closed.
template <class Stream>
bool StreamConnection<Stream>::has_failed(error_code error, ConnectionOwner::Event at_deadline) {
  if (!error) return false;
  if (error == beast::error::timeout) owner_.count(at_deadline);
  close();
  return true;
}

template <class Stream>
void StreamConnection<Stream>::await_request(std::chrono::milliseconds patience) {
  phase_ = Phase::reading;
  began_ = std::chrono::steady_clock::now();
  if (input_.size() != 0) return read_request();
  lowest().expires_after(patience);
  socket_.async_read_some(input_.prepare(read_bytes), then(&StreamConnection::on_first_bytes));
}

template <class Stream>
void StreamConnection<Stream>::on_first_bytes(error_code error, std::size_t bytes) {
  if (has_failed(error, ConnectionOwner::Event::timeout)) return;
  input_.commit(bytes);
  began_ = std::chrono::steady_clock::now();
  read_request();
}

template <class Stream>
void StreamConnection<Stream>::read_request() {
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(rules_.limits.head_bytes));
  parser_->body_limit(rules_.limits.body_bytes);
  lowest().expires_after(rules_.timeouts.request);
  beast::http::async_read(socket_, input_, *parser_, then(&StreamConnection::on_request));
}

template <class Stream>
void StreamConnection<Stream>::on_request(error_code error, std::size_t) {
  if (const auto refusal = error ? refusal_of(error) : std::nullopt) {
    owner_.count(ConnectionOwner::Event::request);
    return send(error_reply(refusal->status, refusal->reason), true, false);
  }
  if (has_failed(error, ConnectionOwner::Event::timeout)) return;
  owner_.count(ConnectionOwner::Event::request);
  answer(parser_->get());
}

template <class Stream>
void StreamConnection<Stream>::answer(const ParsedRequest& parsed) {
  if (const auto refusal = check_request(parsed))
    return send(error_reply(refusal->status, refusal->reason), true, false);
  const HttpRequest request = to_request(parsed);
  HttpReply reply = owner_.handler().reply(request, peer_);
  const bool has_body = request.method != "HEAD";
  if (reply.stream != HttpStream::none && has_body) {
    if (owner_.take_place(reply.stream)) {
      stream_ = reply.stream;
    } else {
      reply = error_reply(503, "all places of viewers are taken");
    }
  }
  send(reply, has_body, parsed.keep_alive());
}

template <class Stream>
void StreamConnection<Stream>::send(const HttpReply& reply, bool has_body, bool keeps_alive) {
  phase_ = Phase::writing;
  closes_after_ = !keeps_alive;
  head_ = reply_head(reply, keeps_alive);
  body_ = has_body ? reply.shared : nullptr;
  if (has_body && !reply.shared && reply.stream == HttpStream::none) head_ += reply.body;
  lowest().expires_after(rules_.timeouts.send);
  const std::array<asio::const_buffer, 2> parts = {
      asio::buffer(head_), body_ ? asio::buffer(*body_) : asio::const_buffer()};
  asio::async_write(socket_, parts, then(&StreamConnection::on_sent));
}

template <class Stream>
void StreamConnection<Stream>::on_sent(error_code error, std::size_t) {
  if (has_failed(error, ConnectionOwner::Event::timeout)) return;
  body_.reset();
  if (stream_ != HttpStream::none) return begin_stream();
  if (closes_after_) return end();
  await_request(rules_.timeouts.idle);
}

template <class Stream>
void StreamConnection<Stream>::begin_stream() {
  phase_ = Phase::streaming;
  lowest().expires_never();
  watch();
  const StreamMessage newest = owner_.newest(stream_);
  if (newest.bytes && waiting_.is_empty()) return offer(newest);
  send_next();
}

/// Reads and ignores what the client sends, to see when it leaves.
template <class Stream>
void StreamConnection<Stream>::watch() {
  socket_.async_read_some(asio::buffer(ignored_), then(&StreamConnection::on_watched));
}

template <class Stream>
void StreamConnection<Stream>::on_watched(error_code error, std::size_t bytes) {
  // A write that reached its deadline aborts this read, and reports it.
  if (error == asio::error::operation_aborted && is_sending_) return;
  if (has_failed(error, ConnectionOwner::Event::timeout)) return;
  ignored_bytes_ += bytes;
  if (phase_ == Phase::ending && ignored_bytes_ > ending_bytes) return close();
  watch();
}

template <class Stream>
void StreamConnection<Stream>::offer(const StreamMessage& message) {
  // Before the reply is sent, messages already wait for the viewer.
  if (phase_ == Phase::closed) return;
  if (!waiting_.add(message)) return close();
  owner_.count_messages(stream_, 0, waiting_.take_skipped());
  send_next();
}

template <class Stream>
void StreamConnection<Stream>::send_next() {
  if (phase_ != Phase::streaming || is_sending_ || waiting_.is_empty()) return;
  StreamMessage next = waiting_.take();
  body_ = std::move(next.bytes);
  before_ = std::move(next.head);
  is_sending_ = true;
  // The read that watches keeps its own deadline, which is none.
  lowest().expires_after(rules_.timeouts.send);
  const std::array<asio::const_buffer, 2> parts = {
      before_ ? asio::buffer(*before_) : asio::const_buffer(), asio::buffer(*body_)};
  asio::async_write(socket_, parts, then(&StreamConnection::on_message_sent));
}

template <class Stream>
void StreamConnection<Stream>::on_message_sent(error_code error, std::size_t) {
  is_sending_ = false;
  if (has_failed(error, ConnectionOwner::Event::slow_viewer)) return;
  owner_.count_messages(stream_, 1, 0);
  body_.reset();
  send_next();
}

/// A close with unread bytes would take the reply from the client.
template <class Stream>
void StreamConnection<Stream>::end() {
  phase_ = Phase::ending;
  lowest().expires_after(ending_time);
  error_code ignored;
  lowest().socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  watch();
}

#ifdef HALYARD_HAVE_OPENSSL

using TlsStream = beast::ssl_stream<beast::tcp_stream>;

template <>
void StreamConnection<TlsStream>::start() {
  lowest().expires_after(rules_.timeouts.request);
  socket_.async_handshake(asio::ssl::stream_base::server,
                          [self = shared_from_this()](error_code error) {
                            if (self->phase_ == Phase::closed) return;
                            if (!self->has_failed(error, ConnectionOwner::Event::timeout))
                              self->await_request(self->rules_.timeouts.request);
                          });
}

template <>
void StreamConnection<TlsStream>::end() {
  phase_ = Phase::ending;
  lowest().expires_after(ending_time);
  socket_.async_shutdown([self = shared_from_this()](error_code) { self->close(); });
}

#endif

}  // namespace

std::shared_ptr<Connection> make_connection(asio::ip::tcp::socket socket,
                                            [[maybe_unused]] const std::optional<TlsContext>& tls,
                                            const ConnectionRules& rules, ConnectionOwner& owner) {
  PlainStream plain(std::move(socket));
#ifdef HALYARD_HAVE_OPENSSL
  if (tls) {
    return std::make_shared<StreamConnection<TlsStream>>(TlsStream(std::move(plain), tls->get()),
                                                         rules, owner);
  }
#endif
  return std::make_shared<StreamConnection<PlainStream>>(std::move(plain), rules, owner);
}

}  // namespace halyard::tool
