// SPDX-License-Identifier: Apache-2.0
// Sources behind network addresses, from a server in this process.
#include "capture/network/address.h"

#include <gtest/gtest.h>

#include <string>

#include "capture/media.h"
#include "capture/rtsp_server.h"
#include "capture/server.h"
#include "halyard/capture.h"
#include "support/result.h"

namespace halyard {
namespace {

using std::chrono::milliseconds;
using test::Folder;
using test::jpeg_of;
using test::Listener;
using test::multipart_kind;
using test::multipart_of;
using test::number_of;
using test::numbered_image;
using test::Server;
using test::text_of;

#ifdef HALYARD_HAVE_FFMPEG

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
  const Server server({{"/stream", {multipart_kind, multipart_of(0, 5)}}});
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
  const Listener listener;
  const std::string camera =
      "rtsp://user:word@127.0.0.1:" + std::to_string(listener.port()) + "/live";
  const FrameSourceOptions options{.network_timeout = milliseconds(300)};
  const auto refused = FrameSource::open(camera, options);  // nobody listens yet
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().os_errno, ECONNREFUSED) << refused.error().message();
  EXPECT_EQ(refused.error().message().find("word"), std::string::npos) << "a password is shown";
  listener.listen();
  EXPECT_FAILS(FrameSource::open(camera, options), Errc::timeout);
}

std::vector<test::AccessUnit> rtsp_clip(const Folder& folder, int count) {
  clip(folder, "clip.avi", count);
  return test::access_units(folder / "clip.avi");
}

TEST(Address, frames_of_rtsp_cameras_are_read) {
  const Folder folder;
  const test::RtspServer server(rtsp_clip(folder, 30));
  ASSERT_VALUE(auto source, FrameSource::open(server.address()));
  EXPECT_TRUE(source.is_live());
  EXPECT_TRUE(source.is_video());
  EXPECT_FALSE(source.frame_count());
  std::chrono::nanoseconds last{0};
  for (int i = 0; i < 30; ++i) {
    ASSERT_VALUE(const auto frame, source.next());
    ASSERT_TRUE(frame) << i;
    EXPECT_EQ(number_of(frame->image), i);
    // FFmpeg gives the first two frames one time.
    EXPECT_EQ(frame->timestamp - last, milliseconds(i < 2 ? 0 : 40));
    last = frame->timestamp;
  }
}

TEST(Address, lost_rtsp_cameras_are_connected_again) {
  const Folder folder;
  const test::RtspServer server(rtsp_clip(folder, 20));
  FrameSourceOptions options{.network_timeout = milliseconds(2000)};
  options.reconnect = ReconnectOptions{milliseconds(1), milliseconds(4), 3};
  ASSERT_VALUE(auto source, FrameSource::open(server.address(), options));
  for (int i = 0; i < 50; ++i) {
    ASSERT_VALUE(const auto frame, source.next());
    ASSERT_TRUE(frame);
    EXPECT_EQ(number_of(frame->image), i % 20);
    EXPECT_EQ(frame->index, static_cast<std::size_t>(i));
  }
  EXPECT_EQ(source.reconnect_count(), 2U);
  EXPECT_EQ(server.plays(), 3);
}

TEST(Address, rtsp_cameras_with_a_password_want_it) {
  const Folder folder;
  const test::RtspServer server(rtsp_clip(folder, 20), "bWU6d29yZA==");  // me:word
  EXPECT_FAILS(FrameSource::open(server.address()), Errc::permission);
  EXPECT_FAILS(FrameSource::open(server.address("me:sword@")), Errc::permission);
  ASSERT_VALUE(auto source, FrameSource::open(server.address("me:word@")));
  ASSERT_VALUE(const auto frame, source.next());
  EXPECT_EQ(number_of(frame->image), 0);
  EXPECT_EQ(frame->source.find("word"), std::string::npos);
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
