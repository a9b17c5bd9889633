// SPDX-License-Identifier: Apache-2.0
// Opening containers and decoders.
#include "capture/video_input.h"

#ifdef HALYARD_HAVE_FFMPEG

extern "C" {
#include <libavutil/dict.h>
#include <libavutil/mem.h>
}

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "base/format_error.h"

namespace halyard::capture {
namespace {

constexpr int io_buffer_bytes = 1 << 16;

Error not_a_video(int code, const std::string& name) {
  return ffmpeg_error("source is neither a picture nor a video that FFmpeg reads", code, name,
                      Errc::malformed);
}

// Playlists may name other inputs; none but local files are ever opened.
struct OpenOptions {
  AVDictionary* entries = nullptr;
  OpenOptions() { av_dict_set(&entries, "protocol_whitelist", "file,pipe", 0); }
  OpenOptions(const OpenOptions&) = delete;
  OpenOptions& operator=(const OpenOptions&) = delete;
  ~OpenOptions() { av_dict_free(&entries); }
};

}  // namespace

struct VideoInput::Reader {
  ByteStream stream;
  AVIOContext* io = nullptr;

  static int read(void* opaque, std::uint8_t* to, int count) noexcept {
    auto& self = *static_cast<Reader*>(opaque);
    const auto space = std::span(reinterpret_cast<std::byte*>(to), static_cast<std::size_t>(count));
    const auto got = self.stream.read(space);
    if (!got) return AVERROR(std::max(1, got.error().os_errno));
    return *got == 0 ? AVERROR_EOF : static_cast<int>(*got);
  }
  static std::int64_t seek(void* opaque, std::int64_t offset, int whence) noexcept {
    auto& self = *static_cast<Reader*>(opaque);
    const auto size = static_cast<std::int64_t>(self.stream.size_bytes());
    if ((whence & AVSEEK_SIZE) != 0) return size;
    whence &= ~AVSEEK_FORCE;
    std::int64_t base = 0;
    if (whence == SEEK_CUR) base = static_cast<std::int64_t>(self.stream.position());
    if (whence == SEEK_END) base = size;
    std::int64_t target = 0;
    if (__builtin_add_overflow(base, offset, &target) || target < 0) return AVERROR(EINVAL);
    if (!self.stream.seek(static_cast<std::uint64_t>(target))) return AVERROR(EINVAL);
    return target;
  }
};

void VideoInput::FreeReader::operator()(Reader* reader) const noexcept {
  // FFmpeg may have replaced the buffer that it was given, so it is freed through the context.
  if (reader->io != nullptr) {
    av_freep(&reader->io->buffer);
    avio_context_free(&reader->io);
  }
  delete reader;
}

Result<VideoInput> VideoInput::open(const std::string& path) {
  route_ffmpeg_log();
  VideoInput input;
  input.name_ = path;
  OpenOptions options;
  AVFormatContext* format = nullptr;
  // "file:" keeps a name with a colon from being read as another protocol.
  const int opened =
      avformat_open_input(&format, ("file:" + path).c_str(), nullptr, &options.entries);
  if (opened < 0) return not_a_video(opened, path);
  input.format_.reset(format);
  HALYARD_CHECK(input.finish_opening());
  return input;
}

Result<VideoInput> VideoInput::open(ByteStream stream, const std::string& name) {
  route_ffmpeg_log();
  VideoInput input;
  input.name_ = name;
  input.reader_.reset(new Reader{std::move(stream)});
  Reader& reader = *input.reader_;
  auto* buffer = static_cast<unsigned char*>(av_malloc(io_buffer_bytes));
  AVFormatContext* format = avformat_alloc_context();
  if (buffer != nullptr) {
    reader.io = avio_alloc_context(buffer, io_buffer_bytes, 0, &reader, &Reader::read, nullptr,
                                   reader.stream.is_seekable() ? &Reader::seek : nullptr);
  }
  if (reader.io == nullptr || format == nullptr) {
    if (reader.io == nullptr) av_free(buffer);
    avformat_free_context(format);
    return fail(Errc::no_memory, "video: reader cannot be made", "{}", name);
  }
  format->pb = reader.io;
  OpenOptions options;
  const int opened = avformat_open_input(&format, nullptr, nullptr, &options.entries);
  if (opened < 0) return not_a_video(opened, name);  // format was freed
  input.format_.reset(format);
  HALYARD_CHECK(input.finish_opening());
  return input;
}

Status VideoInput::finish_opening() {
  const int found = avformat_find_stream_info(format_.get(), nullptr);
  if (found < 0) return not_a_video(found, name_);
  const int best = av_find_best_stream(format_.get(), AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
  if (best < 0) return fail(Errc::malformed, "source holds no video stream", "{}", name_);
  stream_ = format_->streams[best];
  // Covers of music files are pictures in passing; text files pass as terminal art.
  const AVCodecParameters& codec = *stream_->codecpar;
  if ((stream_->disposition & AV_DISPOSITION_ATTACHED_PIC) != 0 ||
      codec.codec_id == AV_CODEC_ID_ANSI || codec.width <= 0 || codec.height <= 0) {
    return fail(Errc::malformed, "source holds no video stream", "{}", name_);
  }
  for (unsigned i = 0; i < format_->nb_streams; ++i) {
    if (static_cast<int>(i) != best) format_->streams[i]->discard = AVDISCARD_ALL;
  }
  return {};
}

Result<bool> VideoInput::read(AVPacket& packet) {
  while (!at_end_) {
    av_packet_unref(&packet);
    const int got = av_read_frame(format_.get(), &packet);
    if (got == AVERROR(EAGAIN)) continue;
    if (got < 0) {
      at_end_ = true;
      if (got == AVERROR_EOF) break;
      return ffmpeg_error("video: data cannot be read", got, name_, Errc::corrupt);
    }
    if (packet.stream_index == stream_->index) return true;
  }
  av_packet_unref(&packet);
  return false;
}

double VideoInput::rate() const noexcept {
  const AVRational rate = av_guess_frame_rate(format_.get(), stream_, nullptr);
  return rate.num > 0 && rate.den > 0 ? av_q2d(rate) : 0;
}

Result<CodecPtr> open_decoder(const AVStream& stream, const DecodeLimits& limits,
                              const std::string& name) {
  const AVCodecParameters& parameters = *stream.codecpar;
  const auto width = static_cast<std::size_t>(parameters.width);
  const auto height = static_cast<std::size_t>(parameters.height);
  // No overflow: both are ints.
  if (width > limits.max_width || height > limits.max_height ||
      width * height > limits.max_pixels) {
    return fail(Errc::invalid_argument, "video: frames exceed the limits",
                "{}: {}x{}, limits {}x{} and {} pixels", name, width, height, limits.max_width,
                limits.max_height, limits.max_pixels);
  }
  const AVCodec* codec = avcodec_find_decoder(parameters.codec_id);
  if (codec == nullptr) {
    return fail(Errc::unsupported, "video: this FFmpeg has no decoder for it", "{}: {}", name,
                avcodec_get_name(parameters.codec_id));
  }
  CodecPtr decoder(avcodec_alloc_context3(codec));
  if (!decoder) return fail(Errc::no_memory, "video: decoder cannot be made", "{}", name);
  const int set = avcodec_parameters_to_context(decoder.get(), &parameters);
  if (set < 0) return ffmpeg_error("video: decoder refuses it", set, name, Errc::malformed);
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
  decoder->max_pixels = static_cast<std::int64_t>(std::min(limits.max_pixels, most));
  decoder->pkt_timebase = stream.time_base;
  decoder->thread_count = 0;  // as many as the machine has
  const int opened = avcodec_open2(decoder.get(), codec, nullptr);
  if (opened < 0) return ffmpeg_error("video: decoder refuses it", opened, name, Errc::malformed);
  return decoder;
}

}  // namespace halyard::capture

#endif
