// SPDX-License-Identifier: Apache-2.0
// Puts the packets of a video into another container, also into one that the library does not
// write.
#pragma once

#ifdef HALYARD_HAVE_FFMPEG

#include <string>

#include "capture/ffmpeg/ffmpeg.h"
#include "support/result.h"

namespace halyard::test {

/// Calls `visit` with each packet of the first stream, and the stream.
template <class Visit>
void for_each_packet(const std::string& path, const Visit& visit) {
  EXPECT_OK(capture::load_ffmpeg());
  AVFormatContext* in = nullptr;
  ASSERT_EQ(avformat_open_input(&in, path.c_str(), nullptr, nullptr), 0);
  ASSERT_GE(avformat_find_stream_info(in, nullptr), 0);
  const capture::PacketPtr packet(av_packet_alloc());
  while (av_read_frame(in, packet.get()) == 0) {
    visit(*packet, *in->streams[0]);
    av_packet_unref(packet.get());
  }
  avformat_close_input(&in);
}

/// `kind`: FFmpeg's name of the container ("mpegts", "h264").
inline void remux(const std::string& from, const std::string& to, const char* kind) {
  AVFormatContext* out = nullptr;
  AVStream* stream = nullptr;
  ASSERT_GE(avformat_alloc_output_context2(&out, nullptr, kind, to.c_str()), 0);
  ASSERT_GE(avio_open(&out->pb, to.c_str(), AVIO_FLAG_WRITE), 0);
  for_each_packet(from, [&](AVPacket& packet, const AVStream& read) {
    if (stream == nullptr) {
      stream = avformat_new_stream(out, nullptr);
      EXPECT_GE(avcodec_parameters_copy(stream->codecpar, read.codecpar), 0);
      stream->codecpar->codec_tag = 0;
      EXPECT_GE(avformat_write_header(out, nullptr), 0);
    }
    av_packet_rescale_ts(&packet, read.time_base, stream->time_base);
    packet.pos = -1;
    EXPECT_EQ(av_interleaved_write_frame(out, &packet), 0);
  });
  ASSERT_EQ(av_write_trailer(out), 0);
  avio_closep(&out->pb);
  avformat_free_context(out);
}

}  // namespace halyard::test

#endif
