// SPDX-License-Identifier: Apache-2.0
// Sources behind network addresses, from a server in this process.
#include "capture/network/address.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <map>
#include <string>
#include <thread>

#include "capture/media.h"
#include "halyard/capture.h"
#include "halyard/fd.h"
#include "support/result.h"

namespace halyard {
namespace {

using std::chrono::milliseconds;
using test::Folder;
using test::jpeg_of;
using test::number_of;
using test::numbered_image;

#ifdef HALYARD_HAVE_FFMPEG

/// An HTTP/1.1 server on a port of the loopback device: one request a connection, whole answers or
/// ranges, one connection after the other.
class Server {
 public:
  struct Page {
    std::string kind;
    std::string body;
    bool stalls = false;  ///< half of the body, then nothing more
  };

  explicit Server(std::map<std::string, Page> pages) : pages_(std::move(pages)) {
    listener_ = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_.get(), any, length) != 0 || ::listen(listener_.get(), 8) != 0 ||
        ::getsockname(listener_.get(), any, &length) != 0)
      std::abort();
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~Server() {
    is_over_ = true;
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  std::string address(const std::string& page) const {
    return "http://127.0.0.1:" + std::to_string(port_) + page;
  }
  int port() const { return port_; }

 private:
  void serve() {
    std::vector<Fd> stalled;
    while (!is_over_) {
      Fd peer(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!peer) continue;
      if (answer(peer.get())) stalled.push_back(std::move(peer));
    }
  }

  // True: the peer shall wait.
  bool answer(int peer) const {
    std::string request;
    std::array<char, 4096> part{};
    while (request.find("\r\n\r\n") == std::string::npos) {
      const ssize_t got = ::recv(peer, part.data(), part.size(), 0);
      if (got <= 0) return false;
      request.append(part.data(), static_cast<std::size_t>(got));
    }
    const std::string path = request.substr(4, request.find(' ', 4) - 4);
    const auto page = pages_.find(path);
    if (page == pages_.end()) {
      const int code = path == "/secret.mkv" ? 403 : 404;
      send(peer, "HTTP/1.1 " + std::to_string(code) + " No\r\nContent-Length: 0\r\n\r\n");
      return false;
    }
    const std::string& body = page->second.body;
    std::size_t from = 0;
    if (const auto range = request.find("Range: bytes="); range != std::string::npos)
      from = std::min(std::stoul(request.substr(range + 13)), body.size());
    std::string head = from == 0 ? "HTTP/1.1 200 OK\r\n" : "HTTP/1.1 206 Partial Content\r\n";
    head += "Content-Type: " + page->second.kind +
            "\r\nAccept-Ranges: bytes\r\nContent-Length: " + std::to_string(body.size() - from) +
            "\r\n";
    if (from != 0)
      head += "Content-Range: bytes " + std::to_string(from) + "-" +
              std::to_string(body.size() - 1) + "/" + std::to_string(body.size()) + "\r\n";
    head += "Connection: close\r\n\r\n";
    send(peer, head + body.substr(from, page->second.stalls ? body.size() / 2 : body.size()));
    return page->second.stalls;
  }

  static void send(int peer, const std::string& text) {
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t sent = ::send(peer, text.data() + at, text.size() - at, MSG_NOSIGNAL);
      if (sent <= 0) return;
      at += static_cast<std::size_t>(sent);
    }
  }

  std::map<std::string, Page> pages_;
  Fd listener_;
  int port_ = 0;
  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string clip(const Folder& folder, const std::string& name, int frames) {
  auto writer = *VideoWriter::create(folder / name, {128, 96}, 25);
  for (int i = 0; i < frames; ++i)
    EXPECT_TRUE(writer.write(numbered_image(i)));
  EXPECT_TRUE(writer.finish());
  return text_of(*read_file(folder / name));
}

TEST(Address, videos_of_servers_are_read) {
  const Folder folder;
  const Server server({{"/a.mkv", {"video/x-matroska", clip(folder, "a.mkv", 12)}},
                       {"/a.mp4?key=1", {"video/mp4", clip(folder, "a.mp4", 12)}}});
  for (const char* page : {"/a.mkv", "/a.mp4?key=1"}) {
    ASSERT_VALUE(auto source, FrameSource::open(server.address(page)));
    EXPECT_TRUE(source.is_video());
    int count = 0;
    while (true) {
      ASSERT_VALUE(const auto frame, source.next());
      if (!frame) break;
      EXPECT_EQ(number_of(frame->image), count);
      EXPECT_EQ(frame->source, server.address(page));
      ++count;
    }
    EXPECT_EQ(count, 12) << page;
  }
}

TEST(Address, images_of_servers_are_read) {
  const Server server({{"/photo", {"image/jpeg", text_of(jpeg_of(77))}}});
  ASSERT_VALUE(auto source, FrameSource::open(server.address("/photo")));
  EXPECT_FALSE(source.is_video());
  const auto frame = source.next();
  ASSERT_TRUE(frame && *frame);
  EXPECT_EQ(number_of((*frame)->image), 77);
  EXPECT_FALSE(*source.next());
}

TEST(Address, multipart_motion_jpeg_of_cameras_is_read) {
  std::string body;
  for (int i = 0; i < 5; ++i) {
    const std::string jpeg = text_of(jpeg_of(i));
    body +=
        "--frame\r\nContent-Type: image/jpeg\r\nContent-Length: " + std::to_string(jpeg.size()) +
        "\r\n\r\n" + jpeg + "\r\n";
  }
  const Server server({{"/stream", {"multipart/x-mixed-replace; boundary=frame", body}}});
  ASSERT_VALUE(auto source, FrameSource::open(server.address("/stream")));
  for (int i = 0; i < 5; ++i) {
    ASSERT_VALUE(const auto frame, source.next());
    ASSERT_TRUE(frame);
    EXPECT_EQ(number_of(frame->image), i);
  }
}

TEST(Address, what_servers_refuse_has_its_code) {
  const Server server(
      {{"/list.m3u8",
        {"video/mp2t", "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile:///etc/passwd\n"}},
       {"/text", {"text/plain", "no video"}},
       {"/empty", {"video/mp4", ""}}});
  EXPECT_FAILS(FrameSource::open(server.address("/none.mkv")), Errc::not_found);
  EXPECT_FAILS(FrameSource::open(server.address("/secret.mkv")), Errc::permission);
  EXPECT_FAILS(FrameSource::open(server.address("/text")), Errc::malformed);
  EXPECT_FAILS(FrameSource::open(server.address("/empty")), Errc::malformed);
  EXPECT_FAILS(FrameSource::open(server.address("/list.m3u8")), Errc::malformed, "playlists");
}

TEST(Address, servers_that_say_nothing_more_are_given_up) {
  const Folder folder;
  Server::Page page{"video/x-matroska", clip(folder, "a.mkv", 40), true};
  const Server server({{"/a.mkv", page}});
  FrameSourceOptions options;
  options.network_timeout = milliseconds(300);
  // Opening needs no more than the first half; a later frame does not come.
  auto source = FrameSource::open(server.address("/a.mkv"), options);
  Errc last = source ? Errc::ok : source.error().code;
  while (source && last == Errc::ok) {
    const auto frame = source->next();
    if (!frame)
      last = frame.error().code;
    else
      ASSERT_TRUE(*frame) << "the end, where a stop was";
  }
  EXPECT_EQ(last, Errc::timeout);

  int asked = 0;
  options.network_timeout = milliseconds(60'000);
  options.load.is_cancelled = [&asked] { return ++asked > 5; };
  auto cancelled = FrameSource::open(server.address("/a.mkv"), options);
  last = cancelled ? Errc::ok : cancelled.error().code;
  while (cancelled && last == Errc::ok) {
    const auto frame = cancelled->next();
    if (!frame) last = frame.error().code;
  }
  EXPECT_EQ(last, Errc::cancelled);
}

TEST(Address, rtsp_servers_that_do_not_answer_are_given_up) {
  const Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(::bind(listener.get(), any, length), 0);
  ASSERT_EQ(::getsockname(listener.get(), any, &length), 0);
  const std::string camera =
      "rtsp://user:word@127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/live";
  const FrameSourceOptions options{.network_timeout = milliseconds(300)};
  const auto refused = FrameSource::open(camera, options);  // nobody listens yet
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().os_errno, ECONNREFUSED) << refused.error().message();
  EXPECT_EQ(refused.error().message().find("word"), std::string::npos) << "a password is shown";
  ASSERT_EQ(::listen(listener.get(), 8), 0);
  EXPECT_FAILS(FrameSource::open(camera, options), Errc::timeout);
}

#endif

TEST(Address, schemes_are_told) {
  EXPECT_TRUE(capture::is_address("rtsp://camera/live"));
  EXPECT_FALSE(capture::is_address("a folder/http://x"));
  EXPECT_FALSE(capture::is_address("://x"));
  for (const char* other : {"ftp://x/a.mp4", "file:///etc/passwd", "concat://a", "udp://1.2.3.4"})
    EXPECT_FAILS(FrameSource::open(other), Errc::unsupported, "http, https, rtsp") << other;
  EXPECT_FAILS(FrameSource::open("http://127.0.0.1/", {.network_timeout = milliseconds(0)}),
               Errc::invalid_argument);
}

TEST(Address, passwords_are_left_out_of_names) {
  EXPECT_EQ(capture::without_password("rtsp://me:secret@cam:554/a@b"), "rtsp://cam:554/a@b");
  EXPECT_EQ(capture::without_password("rtsp://a@b@cam/x?y=@"), "rtsp://cam/x?y=@");
  EXPECT_EQ(capture::without_password("http://cam/x@y"), "http://cam/x@y");
  EXPECT_EQ(capture::without_password("plain"), "plain");
}

}  // namespace
}  // namespace halyard
