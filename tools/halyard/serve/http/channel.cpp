// SPDX-License-Identifier: Apache-2.0
#include "serve/http/channel.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace halyard::tool {
namespace {

bool is_retried() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

class PlainChannel final : public Channel {
 public:
  explicit PlainChannel(Fd socket) : socket_(std::move(socket)) {}
  int fd() const noexcept override { return socket_.get(); }

  ChannelResult read(std::span<char> into) override {
    const auto got = ::recv(socket_.get(), into.data(), into.size(), 0);
    if (got > 0) return {ChannelResult::State::moved, static_cast<std::size_t>(got)};
    if (got < 0 && is_retried()) return {ChannelResult::State::wants_read};
    return {};
  }

  ChannelResult write(std::string_view bytes) override {
    const auto put = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (put > 0) return {ChannelResult::State::moved, static_cast<std::size_t>(put)};
    if (put < 0 && is_retried()) return {ChannelResult::State::wants_write};
    return {};
  }

  void end_writing() noexcept override { ::shutdown(socket_.get(), SHUT_WR); }

 private:
  Fd socket_;
};

}  // namespace

std::unique_ptr<Channel> plain_channel(Fd socket) {
  return std::make_unique<PlainChannel>(std::move(socket));
}

}  // namespace halyard::tool
