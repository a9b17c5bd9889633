// SPDX-License-Identifier: Apache-2.0
// Opens containers.
#include "capture/ffmpeg/video_input.h"

#ifdef HALYARD_HAVE_FFMPEG

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <utility>

#include "base/text/format_error.h"
#include "capture/ffmpeg/display_matrix.h"
#include "capture/ffmpeg/eight_bits.h"

namespace halyard::capture {
namespace {

constexpr int read_buffer_bytes = 1 << 16;

constexpr char no_video[] = "source is neither an image nor a video that FFmpeg reads";

// The containers and raw streams that may be read, by FFmpeg's names: those that hold the frames
// themselves. Playlists and scripts, which name other inputs, and devices are not in the list.
constexpr const char* containers =
    "mov,matroska,avi,mpegts,mpeg,mpegvideo,mjpeg,mpjpeg,flv,ogg,asf,nut,ivf,obu,av1,h264,hevc,m4v,"
    "yuv4mpegpipe";

// Whether one of a demuxer's names ("mov,mp4,m4a") is in the list.
bool is_read(const AVInputFormat& kind) {
  return ffmpeg().av_match_list(kind.name, containers, ',') > 0;
}

// FFmpeg gets one stream only. Whatever a file names, nothing else is opened.
int refuse_to_open(AVFormatContext*, AVIOContext** io, const char*, int, AVDictionary**) {
  *io = nullptr;
  return AVERROR(EACCES);
}

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
  // FFmpeg may have replaced the buffer it was given, so the buffer is freed through the context.
  if (reader->io != nullptr) {
    ffmpeg().av_freep(&reader->io->buffer);
    ffmpeg().avio_context_free(&reader->io);
  }
  delete reader;
}

Result<VideoInput> VideoInput::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail_os("source cannot be opened", errno, path);
  return open(ByteStream(Fd(fd)), path);
}

Result<VideoInput> VideoInput::open(ByteStream stream, const std::string& name) {
  HALYARD_RETURN_IF_ERROR(load_ffmpeg());
  VideoInput input;
  input.name_ = name;
  input.reader_.reset(new Reader{std::move(stream)});
  Reader& reader = *input.reader_;
  auto* buffer = static_cast<unsigned char*>(ffmpeg().av_malloc(read_buffer_bytes));
  if (buffer != nullptr) {
    reader.io =
        ffmpeg().avio_alloc_context(buffer, read_buffer_bytes, 0, &reader, &Reader::read, nullptr,
                                    reader.stream.is_seekable() ? &Reader::seek : nullptr);
  }
  if (reader.io == nullptr) {
    ffmpeg().av_free(buffer);
    return fail(Errc::no_memory, "video: reader cannot be allocated", "{}", name);
  }
  HALYARD_RETURN_IF_ERROR(input.open_from(reader.io));
  return input;
}

Result<VideoInput> VideoInput::open(std::unique_ptr<Connection> connection,
                                    const std::string& name) {
  VideoInput input;
  input.name_ = name;
  input.watch_ = connection->watch();
  input.connection_ = std::move(connection);
  HALYARD_RETURN_IF_ERROR(input.open_from(input.connection_->io()));
  return input;
}

Result<VideoInput> VideoInput::open_rtsp(const std::string& address, const std::string& name,
                                         const FrameSourceOptions& options) {
  VideoInput input;
  input.name_ = name;
  input.watch_ = std::make_shared<Watch>(options);
  AVFormatContext* format = ffmpeg().avformat_alloc_context();
  if (format == nullptr)
    return fail(Errc::no_memory, "video: reader cannot be allocated", "{}", name);
  format->interrupt_callback = input.watch_->callback();
  format->io_open = refuse_to_open;
  Dictionary entries;
  entries.set("protocol_whitelist", "rtsp,rtp,udp,tcp,tls");
  entries.set("rtsp_flags", "prefer_tcp");
  input.begin_wait();
  const int opened = ffmpeg().avformat_open_input(
      &format, address.c_str(), ffmpeg().av_find_input_format("rtsp"), &entries.entries);
  if (opened < 0)  // format was freed
    return input.failure("source: RTSP server cannot be read", opened, Errc::os);
  input.format_.reset(format);
  HALYARD_RETURN_IF_ERROR(input.finish_opening());
  return input;
}

Status VideoInput::open_from(AVIOContext* io) {
  const AVInputFormat* kind = nullptr;
  begin_wait();
  const int probed = ffmpeg().av_probe_input_buffer2(io, &kind, "", nullptr, 0, 0);
  if (probed < 0 || kind == nullptr) return not_opened(probed);
  if (!is_read(*kind)) {
    return fail(Errc::malformed, "source is neither an image nor a video of a supported kind",
                "{}: FFmpeg identifies it as {}; playlists and lists of files are not opened",
                name_, kind->name);
  }
  HALYARD_RETURN_IF_ERROR(open_container(io, *kind));
  return finish_opening();
}

void VideoInput::begin_wait() noexcept {
  if (watch_) watch_->begin();
}

Error VideoInput::failure(const char* what, int code, Errc otherwise) const {
  return watch_ ? watch_->failure(what, code, name_, otherwise)
                : ffmpeg_error(what, code, name_, otherwise);
}

Error VideoInput::not_opened(int code) const {
  // If the data arrived completely, the connection is not the cause.
  const bool was_read = code >= 0 || code == AVERROR_INVALIDDATA;
  return was_read ? ffmpeg_error(no_video, code, name_, Errc::malformed)
                  : failure(no_video, code, Errc::malformed);
}

Status VideoInput::open_container(AVIOContext* io, const AVInputFormat& kind) {
  AVFormatContext* format = ffmpeg().avformat_alloc_context();
  if (format == nullptr)
    return fail(Errc::no_memory, "video: reader cannot be allocated", "{}", name_);
  format->pb = io;
  format->io_open = refuse_to_open;
  Dictionary entries;
  entries.set("format_whitelist", containers);
  entries.set("protocol_whitelist", "none");
  begin_wait();
  const int opened = ffmpeg().avformat_open_input(&format, nullptr, &kind, &entries.entries);
  if (opened < 0) return not_opened(opened);  // format was freed
  format_.reset(format);
  return {};
}

Status VideoInput::finish_opening() {
  begin_wait();
  const int found = ffmpeg().avformat_find_stream_info(format_.get(), nullptr);
  if (found < 0) return not_opened(found);
  const int best =
      ffmpeg().av_find_best_stream(format_.get(), AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
  if (best < 0) return fail(Errc::malformed, "source holds no video stream", "{}", name_);
  stream_ = format_->streams[best];
  // Cover images of music files are not a video, nor are text files that pass as terminal art.
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
    ffmpeg().av_packet_unref(&packet);
    begin_wait();
    const int got = ffmpeg().av_read_frame(format_.get(), &packet);
    if (got == AVERROR(EAGAIN)) continue;
    if (got < 0) {
      at_end_ = true;
      if (got == AVERROR_EOF) break;
      return failure("video: data cannot be read", got, Errc::corrupt);
    }
    if (packet.stream_index == stream_->index) return true;
  }
  ffmpeg().av_packet_unref(&packet);
  return false;
}

Status VideoInput::seek(std::int64_t timestamp) {
  begin_wait();
  const int sought =
      ffmpeg().av_seek_frame(format_.get(), stream_->index, timestamp, AVSEEK_FLAG_BACKWARD);
  if (sought < 0) return failure("video: cannot seek", sought, Errc::os);
  at_end_ = false;
  return {};
}

Status VideoInput::restart() {
  if (is_live() || (reader_ && !reader_->stream.is_seekable()))
    return fail(Errc::unsupported, "source: a live stream or a pipe cannot be read again", "{}",
                name_);
  format_.reset();
  stream_ = nullptr;
  at_end_ = true;  // if it cannot be opened
  if (reader_) {
    HALYARD_RETURN_IF_ERROR(reader_->stream.seek(0));
    HALYARD_TRY(VideoInput opened, open(std::move(reader_->stream), name_));
    *this = std::move(opened);
    return {};
  }
  begin_wait();
  const std::int64_t back = ffmpeg().avio_seek(connection_->io(), 0, SEEK_SET);
  if (back < 0) return failure("source: server cannot be read", static_cast<int>(back), Errc::os);
  HALYARD_RETURN_IF_ERROR(open_from(connection_->io()));
  at_end_ = false;
  return {};
}

bool VideoInput::is_live() const noexcept {
  if (reader_) return false;
  if (!connection_) return true;  // RTSP
  return ffmpeg().avio_seek(connection_->io(), 0, AVSEEK_SIZE) <= 0 &&
         format_->duration == AV_NOPTS_VALUE;
}

Orientation VideoInput::orientation() const noexcept {
#if LIBAVFORMAT_VERSION_MAJOR >= 61
  const AVPacketSideData* const data = ffmpeg().av_packet_side_data_get(
      stream_->codecpar->coded_side_data, stream_->codecpar->nb_coded_side_data,
      AV_PKT_DATA_DISPLAYMATRIX);
  const std::uint8_t* const bytes = data == nullptr ? nullptr : data->data;
  const std::size_t size = data == nullptr ? 0 : data->size;
#else
  std::size_t size = 0;
  const std::uint8_t* const bytes =
      ffmpeg().av_stream_get_side_data(stream_, AV_PKT_DATA_DISPLAYMATRIX, &size);
#endif
  return bytes == nullptr ? Orientation{} : orientation_of_matrix({bytes, size});
}

double VideoInput::rate() const noexcept {
  const AVRational rate = ffmpeg().av_guess_frame_rate(format_.get(), stream_, nullptr);
  return rate.num > 0 && rate.den > 0 ? av_q2d(rate) : 0;
}

namespace {

// Bytes of two pixels in the tensor that a frame becomes.
std::size_t bytes_of_two(int ffmpeg_format) {
  auto format = pixel_format_of(ffmpeg_format);
  if (!format) format = eight_bit_format(ffmpeg_format);
  const FormatInfo& row = info(format.value_or(PixelFormat::i420));
  if (row.model != ColorModel::yuv) return std::size_t{2} * row.channels;
  return 2 + (4U >> (row.chroma_shift_x + row.chroma_shift_y));
}

}  // namespace

Status check_frame(const FrameExtent& frame, const DecodeLimits& limits, const std::string& name) {
  const auto columns = static_cast<std::size_t>(std::max(0, frame.width));
  const auto rows = static_cast<std::size_t>(std::max(0, frame.height));
  // This cannot overflow: both sizes are ints, and the factor is at most 8.
  const std::size_t bytes = columns * rows / 2 * bytes_of_two(frame.format) +
                            (columns * rows) % 2 * bytes_of_two(frame.format) / 2;
  if (columns <= limits.max_width && rows <= limits.max_height &&
      columns * rows <= limits.max_pixels && bytes <= limits.max_bytes) {
    return {};
  }
  return fail(Errc::invalid_argument, "video: frames exceed the limits",
              "{}: {}x{} and {} bytes, limits.max_width {}, max_height {}, max_pixels {}, "
              "max_bytes {}",
              name, columns, rows, bytes, limits.max_width, limits.max_height, limits.max_pixels,
              limits.max_bytes);
}

}  // namespace halyard::capture

#endif
