// SPDX-License-Identifier: Apache-2.0
// Playing sources: seeking by time, loops, the speed of the file, and lost servers.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "capture/media.h"
#include "capture/remux.h"
#include "capture/server.h"
#include "capture/video.h"
#include "halyard/capture.h"
#include "halyard/log.h"
#include "support/result.h"

namespace halyard {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using test::Folder;
using test::jpeg_of;
using test::Listener;
using test::make_video;
using test::multipart_kind;
using test::multipart_of;
using test::number_of;
using test::Server;
using test::text_of;
using test::write_bytes;

void write_images(const Folder& folder, int count) {
  for (int i = 0; i < count; ++i)
    write_bytes(folder / ("frame" + std::to_string(i) + ".jpg"), jpeg_of(i));
}

std::string motion_jpeg(const Folder& folder, int count) {
  const std::string path = folder / "clip.mjpeg";
  std::ofstream out(path, std::ios::binary);
  for (int i = 0; i < count; ++i)
    out << text_of(jpeg_of(i));
  return path;
}

/// All frames that follow agree with those of a second source that was read from its beginning.
void expect_seeks(const std::string& path, int count, int begin) {
  SCOPED_TRACE(path + " from " + std::to_string(begin));
  std::vector<nanoseconds> times;
  ASSERT_VALUE(auto whole, FrameSource::open(path));
  for (int i = 0; i < count; ++i) {
    ASSERT_VALUE(const auto frame, whole.next());
    ASSERT_TRUE(frame);
    times.push_back(frame->timestamp);
  }
  ASSERT_VALUE(auto source, FrameSource::open(path));
  for (const nanoseconds before : {nanoseconds(0), nanoseconds(1)}) {
    const auto at = static_cast<std::size_t>(begin);
    ASSERT_OK(source.seek(std::max(times[at] - before, nanoseconds(0))));
    for (std::size_t i = at; i < std::min<std::size_t>(at + 3, times.size()); ++i) {
      ASSERT_VALUE(const auto frame, source.next());
      ASSERT_TRUE(frame);
      EXPECT_EQ(number_of(frame->image), static_cast<int>(i % 256));
      EXPECT_EQ(frame->index, i);
      EXPECT_EQ(frame->timestamp, times[i]);
    }
  }
  ASSERT_OK(source.seek(times.back() + nanoseconds(1)));
  EXPECT_FALSE(*source.next());
  ASSERT_OK(source.seek(nanoseconds(0)));
  EXPECT_EQ(number_of((*source.next())->image), 0);
}

TEST(Seek, images_are_found_by_their_times) {
  const Folder folder;
  write_images(folder, 12);
  expect_seeks(folder.path(), 12, 7);
  expect_seeks(folder / "frame0.jpg", 1, 0);
  const Folder other;
  expect_seeks(motion_jpeg(other, 9), 9, 4);
}

TEST(Seek, what_cannot_be_sought_says_so) {
  const Folder folder;
  write_images(folder, 1);
  ASSERT_VALUE(auto source, FrameSource::open(folder.path()));
  EXPECT_FAILS(source.seek(nanoseconds(-1)), Errc::invalid_argument, "below 0");
  FrameSourceOptions options;
  options.start = nanoseconds(-1);
  EXPECT_FAILS(FrameSource::open(folder.path(), options), Errc::invalid_argument, "start");
}

TEST(Loop, passes_follow_one_another) {
  const Folder folder;
  write_images(folder, 3);
  FrameSourceOptions options;
  options.loops = true;
  options.picture_rate = 10;
  ASSERT_VALUE(auto source, FrameSource::open(folder.path(), options));
  EXPECT_FALSE(source.frame_count());
  for (int i = 0; i < 10; ++i) {
    ASSERT_VALUE(const auto frame, source.next());
    ASSERT_TRUE(frame);
    EXPECT_EQ(number_of(frame->image), i % 3);
    EXPECT_EQ(frame->index, static_cast<std::size_t>(i));
    EXPECT_EQ(frame->timestamp, milliseconds(100) * i);
  }
}

TEST(Loop, damaged_images_are_reported_in_each_pass_and_nothing_but_them_ends_it) {
  const Folder folder;
  write_images(folder, 2);
  write_bytes(folder / "frame1.jpg", std::vector(100, std::byte{7}));
  FrameSourceOptions options;
  options.loops = true;
  ASSERT_VALUE(auto source, FrameSource::open(folder.path(), options));
  for (int pass = 0; pass < 3; ++pass) {
    EXPECT_TRUE(*source.next());
    EXPECT_FAILS(source.next(), Errc::malformed, "frame1.jpg");
  }
}

TEST(Loop, pipes_are_refused) {
  const Folder folder;
  const std::string path = folder / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(path, std::ios::binary) << text_of(jpeg_of(1)); });
  FrameSourceOptions options;
  options.loops = true;
  EXPECT_FAILS(FrameSource::open(path, options), Errc::unsupported, "loops");
  writer.join();
}

TEST(Speed, frames_come_when_they_are_due) {
  const Folder folder;
  write_images(folder, 5);
  for (const double speed : {1.0, 4.0}) {
    FrameSourceOptions options;
    options.picture_rate = 50;
    options.speed = speed;
    ASSERT_VALUE(auto source, FrameSource::open(folder.path(), options));
    EXPECT_EQ(source.frame_count(), 5U);
    std::chrono::steady_clock::time_point first;
    for (int i = 0; i < 5; ++i) {
      ASSERT_TRUE(*source.next());
      if (i == 0) first = std::chrono::steady_clock::now();
    }
    const auto least = nanoseconds(static_cast<std::int64_t>(8e7 / speed)) - milliseconds(1);
    EXPECT_GE(std::chrono::steady_clock::now() - first, least);
  }
}

TEST(Speed, a_wait_ends_when_the_caller_cancels) {
  const Folder folder;
  write_images(folder, 2);
  FrameSourceOptions options;
  options.picture_rate = 1e-4;
  options.speed = 1;
  std::optional<int> asked;
  options.load.is_cancelled = [&asked] { return asked && ++*asked > 100; };
  ASSERT_VALUE(auto source, FrameSource::open(folder.path(), options));
  EXPECT_TRUE(*source.next());
  asked = 0;
  EXPECT_FAILS(source.next(), Errc::cancelled);
  options.speed = -1;
  EXPECT_FAILS(FrameSource::open(folder.path(), options), Errc::invalid_argument, "speed");
}

TEST(Speed, a_late_caller_gets_no_burst) {
  FramePacer pacer(1000);
  EXPECT_TRUE(pacer.wait(seconds(0)));
  EXPECT_TRUE(pacer.wait(seconds(5)));
  EXPECT_TRUE(pacer.wait(seconds(1)));  // earlier: the clock starts again
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(pacer.wait(seconds(21)));
  EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds(15));
}

#ifdef HALYARD_HAVE_FFMPEG

TEST(Seek, videos_are_found_by_their_times_in_all_containers) {
  const Folder folder;
  const std::string first = folder / "clip.mkv";
  make_video(first, 600);  // more than two key frames of the encoder
  for (const int begin : {0, 1, 130, 251, 599}) {
    expect_seeks(first, 600, begin);
  }
  make_video(folder / "clip.mp4", 300);
  expect_seeks(folder / "clip.mp4", 300, 277);
  make_video(folder / "clip.avi", 300);
  expect_seeks(folder / "clip.avi", 300, 277);
}

TEST(Seek, videos_without_an_index_are_decoded_from_their_beginning) {
  const Folder folder;
  make_video(folder / "clip.mkv", 300);
  for (const char* kind : {"mpegts", "h264", "nut"}) {
    const std::string path = folder / (std::string("clip.") + kind);
    test::remux(folder / "clip.mkv", path, kind);
    expect_seeks(path, 300, 262);
  }
}

TEST(Loop, videos_begin_again) {
  const Folder folder;
  make_video(folder / "clip.mp4", 5, 20);
  FrameSourceOptions options;
  options.loops = true;
  options.start = milliseconds(150);
  ASSERT_VALUE(auto source, FrameSource::open(folder / "clip.mp4", options));
  nanoseconds last(0);
  for (int i = 3; i < 18; ++i) {
    ASSERT_VALUE(const auto frame, source.next());
    ASSERT_TRUE(frame);
    EXPECT_EQ(number_of(frame->image), i % 5);
    EXPECT_EQ(frame->timestamp, milliseconds(50) * i);
    EXPECT_EQ(frame->index, static_cast<std::size_t>(i));
  }
}

TEST(Seek, videos_of_http_servers_are_sought_in) {
  const Folder folder;
  make_video(folder / "clip.mkv", 60);
  const Server server(
      {{"/clip.mkv", {"video/x-matroska", text_of(*read_file(folder / "clip.mkv"))}}});
  ASSERT_VALUE(auto source, FrameSource::open(server.address("/clip.mkv")));
  EXPECT_FALSE(source.is_live());
  ASSERT_OK(source.seek(seconds(2)));
  EXPECT_EQ(number_of((*source.next())->image), 50);
  ASSERT_OK(source.seek(nanoseconds(0)));
  EXPECT_EQ(number_of((*source.next())->image), 0);
}

FrameSourceOptions patient() {
  FrameSourceOptions options;
  options.network_timeout = milliseconds(500);
  options.reconnect = ReconnectOptions{milliseconds(1), milliseconds(4), 3};
  return options;
}

TEST(Reconnect, a_stream_that_ends_is_opened_again) {
  const Server server({{"/live", {multipart_kind, multipart_of(3, 4), false, true}}});
  FrameSourceOptions options = patient();
  options.loops = true;  // without an effect
  options.start = seconds(1000);
  ASSERT_VALUE(auto source, FrameSource::open(server.address("/live"), options));
  EXPECT_TRUE(source.is_live());
  nanoseconds last(-1);
  for (int i = 0; i < 12; ++i) {
    ASSERT_VALUE(const auto frame, source.next());
    ASSERT_TRUE(frame);
    EXPECT_EQ(number_of(frame->image), 3 + i % 4);
    EXPECT_EQ(frame->index, static_cast<std::size_t>(i));
    EXPECT_GT(frame->timestamp, last);
    last = frame->timestamp;
  }
  EXPECT_EQ(source.reconnect_count(), 2U);
  EXPECT_GE(server.requests(), 3);
  EXPECT_FAILS(source.seek(seconds(1)), Errc::unsupported, "live");
}

TEST(Reconnect, attempts_are_logged_and_end_with_the_last_error) {
  const Listener listener;  // nobody listens
  std::vector<std::string> lines;
  const LogSink before = set_log_sink([&](LogLevel level, std::string_view, std::string_view text) {
    if (level == LogLevel::warn) lines.emplace_back(text);
  });
  const auto source = FrameSource::open(
      "http://me:word@127.0.0.1:" + std::to_string(listener.port()) + "/live", patient());
  set_log_sink(before);
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().os_errno, ECONNREFUSED) << source.error().message();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_NE(lines[0].find("next attempt in 1 ms"), std::string::npos) << lines[0];
  EXPECT_NE(lines[1].find("next attempt in 2 ms"), std::string::npos) << lines[1];
  EXPECT_EQ(lines[0].find("word"), std::string::npos) << "a password is shown";
}

TEST(Reconnect, a_wait_ends_when_the_caller_cancels) {
  const Listener listener;
  FrameSourceOptions options = patient();
  options.reconnect = ReconnectOptions{};
  int asked = 0;
  options.load.is_cancelled = [&asked] { return ++asked > 3; };
  EXPECT_FAILS(
      FrameSource::open("http://127.0.0.1:" + std::to_string(listener.port()) + "/live", options),
      Errc::cancelled);
}

TEST(Reconnect, what_will_not_change_is_an_error_at_once) {
  const Server server({{"/text", {"text/plain", "no video"}}});
  EXPECT_FAILS(FrameSource::open(server.address("/none.mkv"), patient()), Errc::not_found);
  EXPECT_FAILS(FrameSource::open(server.address("/text"), patient()), Errc::malformed);
  EXPECT_EQ(server.requests(), 2);
  FrameSourceOptions options = patient();
  options.reconnect->first_wait = milliseconds(5);
  EXPECT_FAILS(FrameSource::open("http://127.0.0.1/", options), Errc::invalid_argument,
               "first_wait");
  EXPECT_FAILS(FrameSource::open("camera:90", patient()), Errc::not_found);
}

#endif

}  // namespace
}  // namespace halyard
