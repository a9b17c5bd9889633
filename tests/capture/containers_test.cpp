// SPDX-License-Identifier: Apache-2.0
// A source is one file: playlists and lists of files are refused, and what they name stays closed.
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "capture/media.h"
#include "capture/video.h"
#include "halyard/capture.h"
#include "halyard/fd.h"
#include "support/result.h"

namespace halyard {
namespace {

using test::Folder;
using test::make_video;
using test::write_bytes;

#ifdef HALYARD_HAVE_FFMPEG

/// Tells whether a file has been opened since.
class Watch {
 public:
  explicit Watch(const std::string& path) : fd_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    EXPECT_GE(::inotify_add_watch(fd_.get(), path.c_str(), IN_OPEN | IN_ACCESS), 0);
  }
  bool has_seen_something() const {
    char events[4096];
    return ::read(fd_.get(), events, sizeof events) > 0;
  }

 private:
  Fd fd_;
};

void write_text(const std::string& path, std::string_view text) {
  write_bytes(path, std::as_bytes(std::span(text)));
}

struct Playlist {
  const char* kind;
  std::string text;
};

std::vector<Playlist> playlists(const std::string& secret) {
  return {
      {"hls", "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nfile://" + secret +
                  "\n#EXT-X-ENDLIST\n"},
      {"hls", "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nsecret.mp4\n#EXT-X-ENDLIST\n"},
      {"hls", "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nfile:" + secret + "\n"},
      {"concat", "ffconcat version 1.0\nfile secret.mp4\n"},
      {"concat", "ffconcat version 1.0\nfile '" + secret + "'\n"},
      {"sdp",
       "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 5004 RTP/AVP "
       "96\na=rtpmap:96 H264/90000\n"},
  };
}

TEST(VideoContainers, playlists_are_refused_and_what_they_name_is_not_opened) {
  const Folder folder;
  const std::string secret = folder / "secret.mp4";
  make_video(secret, 3);
  const Watch watch(secret);
  for (const Playlist& playlist : playlists(secret)) {
    for (const char* name : {"clip.mp4", "clip.avi", "clip.m3u8", "clip.ffconcat", "clip"}) {
      write_text(folder / name, playlist.text);
      const auto source = FrameSource::open(folder / name);
      EXPECT_FAILS(source, Errc::malformed) << playlist.text;
      const std::string message = source.error().message();
      EXPECT_NE(message.find(name), std::string::npos) << message;
      EXPECT_NE(message.find("source is neither an image nor a video"), std::string::npos);
      EXPECT_FALSE(watch.has_seen_something()) << name << "\n" << playlist.text;
      ASSERT_EQ(::unlink((folder / name).c_str()), 0);
    }
  }
  // The watch does see what is opened.
  EXPECT_TRUE(FrameSource::open(secret));
  EXPECT_TRUE(watch.has_seen_something());
}

TEST(VideoContainers, refusal_of_a_playlist_names_its_kind) {
  const Folder folder;
  write_text(folder / "clip.mp4", playlists("/x.mp4")[0].text);
  EXPECT_FAILS(FrameSource::open(folder / "clip.mp4"), "hls");
}

TEST(VideoContainers, frames_beyond_the_limits_are_refused) {
  const Folder folder;
  make_video(folder / "clip.mp4", 2);
  FrameSourceOptions options;
  options.load.limits.max_pixels = 128 * 96 - 1;
  EXPECT_FAILS(FrameSource::open(folder / "clip.mp4", options), Errc::invalid_argument,
               "max_pixels");
  options.load.limits = {};
  options.load.limits.max_bytes = 128 * 96 * 3 / 2 - 1;
  EXPECT_FALSE(FrameSource::open(folder / "clip.mp4", options));
  options.load.limits.max_bytes += 1;
  EXPECT_TRUE(FrameSource::open(folder / "clip.mp4", options));
}

#endif

}  // namespace
}  // namespace halyard
