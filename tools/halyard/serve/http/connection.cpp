// SPDX-License-Identifier: Apache-2.0
// Deadlines are absolute: a client that sends or takes a byte now and then does not extend them.
#include "serve/http/connection.h"

#include <poll.h>

#include <array>
#include <utility>

namespace halyard::tool {
namespace {

using State = ChannelResult::State;

constexpr std::chrono::seconds ending_time(2);
constexpr std::size_t ending_bytes = std::size_t{256} * 1024;

}  // namespace

Connection::Connection(std::unique_ptr<Channel> channel, std::string peer,
                       const HttpTimeouts& timeouts, const HttpLimits& limits, Time now)
    : channel_(std::move(channel)),
      peer_(std::move(peer)),
      timeouts_(timeouts),
      limits_(limits),
      began_(now),
      deadline_(now + timeouts.request) {}

short Connection::events() const noexcept {
  const bool is_writing = written_ < head_.size() + (body_ ? body_->size() : 0);
  const bool reads = (phase_ != Phase::writing && !has_ended_) || waits_to_read_;
  const bool writes = (is_writing && !waits_to_read_) || waits_to_write_;
  return static_cast<short>((reads ? POLLIN : 0) | (writes ? POLLOUT : 0));
}

/// Reads what has come. False: the client has ended the connection.
bool Connection::read_some() {
  std::array<char, 4096> bytes;
  const std::size_t most = limits_.head_bytes + limits_.body_bytes;
  // A client that sends without end does not keep the others waiting.
  for (int turn = 0; turn < 16 && input_.size() < most; ++turn) {
    const ChannelResult got = channel_->read(bytes);
    waits_to_write_ = got.state == State::wants_write;
    if (got.state == State::closed) return false;
    if (got.state != State::moved) return true;
    if (phase_ == Phase::ending) drained_ += got.bytes;
    if (phase_ == Phase::ending && drained_ > ending_bytes) return false;
    // After the request of a stream nothing is expected.
    if (phase_ == Phase::reading || phase_ == Phase::writing)
      input_.append(bytes.data(), got.bytes);
  }
  return true;
}

void Connection::serve(HttpHandler& handler, Places& places, Time now) {
  if (phase_ == Phase::closed) return;
  if (phase_ != Phase::writing && !has_ended_) {
    const bool was_empty = input_.empty();
    if (!read_some()) {
      has_ended_ = true;
      // What was sent before the end is still answered.
      if (phase_ != Phase::reading || input_.empty()) return close();
    }
    if (phase_ == Phase::reading && was_empty && !input_.empty())
      deadline_ = began_ = now, deadline_ += timeouts_.request;
  }
  // Requests may follow one another without a wait for replies.
  do {
    if (phase_ == Phase::reading) answer(handler, places, now);
    if (phase_ == Phase::reading || !write_some(now)) break;
  } while (phase_ == Phase::reading && !input_.empty());
  if (has_ended_ && phase_ == Phase::reading) close();
}

void Connection::answer(HttpHandler& handler, Places& places, Time now) {
  const ParsedRequest parsed = parse_request(input_, limits_);
  if (parsed.state == ParsedRequest::State::incomplete) return;
  ++requests_;
  if (parsed.state == ParsedRequest::State::refused) return refuse(parsed, now);
  input_.erase(0, parsed.used);
  const HttpRequest& request = parsed.request;
  HttpReply reply = handler.reply(request, peer_);
  const bool has_body = request.method != "HEAD";
  if (reply.stream != HttpStream::none && has_body && !places.take(reply.stream))
    reply = error_reply(503, "all places of viewers are taken");
  queue(reply, has_body, request.keeps_alive, now);
  if (has_body) stream_ = reply.stream;
}

void Connection::refuse(const ParsedRequest& parsed, Time now) {
  input_.clear();
  queue(error_reply(parsed.status, parsed.reason), true, false, now);
}

void Connection::queue(const HttpReply& reply, bool has_body, bool keeps_alive, Time now) {
  head_ = reply_head(reply, keeps_alive);
  body_.reset();
  if (has_body && reply.shared) body_ = reply.shared;
  if (has_body && !reply.shared && reply.stream == HttpStream::none) head_ += reply.body;
  written_ = 0;
  closes_after_ = !keeps_alive;
  phase_ = Phase::writing;
  deadline_ = now + timeouts_.send;
}

/// Writes what waits. False: the socket takes no more, or the connection is closed.
bool Connection::write_some(Time now) {
  while (true) {
    const std::size_t body_size = body_ ? body_->size() : 0;
    if (written_ == head_.size() + body_size) {
      if (phase_ == Phase::ending) return false;
      finish_reply(now);
      if (phase_ != Phase::streaming) return phase_ == Phase::reading;
      if (newest_.number == taken_) return false;
      skipped_ += newest_.number - taken_ - 1;
      taken_ = newest_.number;
      body_ = newest_.bytes;
      head_.clear();
      written_ = 0;
      deadline_ = now + timeouts_.send;
      continue;
    }
    const bool in_head = written_ < head_.size();
    const std::string_view whole = in_head ? std::string_view(head_) : std::string_view(*body_);
    const ChannelResult put =
        channel_->write(whole.substr(in_head ? written_ : written_ - head_.size()));
    waits_to_read_ = put.state == State::wants_read;
    if (put.state == State::closed) return close(), false;
    if (put.state != State::moved) return false;
    written_ += put.bytes;
  }
}

void Connection::finish_reply(Time now) {
  if (phase_ == Phase::streaming) {
    if (body_) ++sent_;
    body_.reset();
    head_.clear();
    written_ = 0;
    deadline_ = Time::max();
    return;
  }
  body_.reset();
  head_.clear();
  written_ = 0;
  if (stream_ != HttpStream::none) {
    phase_ = Phase::streaming;
    taken_ = newest_.number == 0 ? 0 : newest_.number - 1;
    deadline_ = Time::max();
    input_.clear();
  } else if (closes_after_) {
    // A close with unread bytes would take the reply from the client.
    phase_ = Phase::ending;
    deadline_ = now + ending_time;
    input_.clear();
    channel_->end_writing();
  } else {
    await_request(now);
  }
}

void Connection::await_request(Time now) {
  phase_ = Phase::reading;
  began_ = now;
  deadline_ = now + (input_.empty() ? timeouts_.idle : timeouts_.request);
}

void Connection::offer(const StreamMessage& message, Time now) {
  const bool is_first = newest_.number == 0;
  newest_ = message;
  if (phase_ != Phase::streaming) return;
  // What came before the viewer is not skipped for it.
  if (is_first && taken_ == 0) taken_ = message.number - 1;
  static_cast<void>(write_some(now));
}

}  // namespace halyard::tool
