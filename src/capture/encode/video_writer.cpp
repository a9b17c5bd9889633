// SPDX-License-Identifier: Apache-2.0
// VideoWriter: encodes and muxes into an OutputFile, which gets its name at finish().
#include "halyard/capture.h"

#ifdef HALYARD_HAVE_FFMPEG

#include <sys/stat.h>

#include <cstring>
#include <utility>

#include "base/local.h"
#include "base/text/format_error.h"
#include "capture/encode/encoder_limits.h"
#include "capture/encode/frame_encoder.h"
#include "capture/encode/video_file.h"
#include "capture/ffmpeg/display_matrix.h"
#include "capture/ffmpeg/ffmpeg.h"
#include "capture/image_source.h"
#include "capture/source.h"
#include "halyard/trace.h"

namespace halyard {
namespace {

using capture::ffmpeg;

constexpr int max_key_interval = 100'000;
constexpr int largest_time_base = 60000;  // MPEG-4 keeps time in 16 bits

constexpr std::array<std::string_view, 4> extensions = {"mp4", "mkv", "mov", "avi"};
constexpr std::array<const char*, 4> written_containers = {"mp4", "matroska", "mov", "avi"};

// FFmpeg's name of the container; null if Halyard writes none with this extension.
const char* container_name(const std::string& path) {
  const auto* const known = std::ranges::find(extensions, capture::extension_of(path));
  if (known == extensions.end()) return nullptr;
  return written_containers[static_cast<std::size_t>(known - extensions.begin())];
}

Status check_request(const std::string& path, Size size, double rate) {
  HALYARD_RETURN_IF_ERROR(capture::check_video(size, rate));
  if (container_name(path) == nullptr) {
    return fail(Errc::unsupported, "path: extension must be mp4, mkv, mov or avi", "{}", path);
  }
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    return fail(Errc::invalid_argument, "path: exists and is not a file", "{}", path);
  }
  return {};
}

Status check_coding(const VideoWriterOptions& options) {
  HALYARD_RETURN_IF_ERROR(capture::check_bitrate(options.bitrate));
  if (options.key_interval < 0 || options.key_interval > max_key_interval) {
    return fail(Errc::invalid_argument, "key_interval must be 0 to 1e5", "{}",
                options.key_interval);
  }
  return {};
}

}  // namespace

struct HALYARD_LOCAL VideoWriter::Impl {
  std::string path;
  Size size;
  AVRational time_base{1, 25};
  VideoWriterOptions options;
  std::string encoder_name;
  std::unique_ptr<capture::VideoFile> file;  // outlives the muxer, which writes to it
  capture::OutputPtr output;
  std::unique_ptr<capture::FrameEncoder> encoder;  // opened with the first frame's format, colours
  capture::PacketPtr packet;
  AVColorRange color_range = AVCOL_RANGE_UNSPECIFIED;
  Orientation orientation;  // of the first image
  std::int64_t frames = 0;
  std::optional<Error> failed;  // first failure of the file or encoder; later calls return it
  bool finished = false;

  Error wrong(const char* what, int code) const {
    return capture::ffmpeg_error(what, code, path, Errc::os);
  }
  Status open_file();
  Status open_encoder(const Tensor& first);
  Status write_header();
  Status describe_orientation(AVStream& stream) const;
  Status check_orientation(const Tensor& image) const;
  Status encode(const AVFrame* frame);
  Status encode_image(const Tensor& image);
  Status close_file();
};

Status VideoWriter::Impl::open_file() {
  HALYARD_TRY(file, capture::VideoFile::create(path));
  AVFormatContext* context = nullptr;
  const int made = ffmpeg().avformat_alloc_output_context2(&context, nullptr, container_name(path),
                                                           path.c_str());
  if (made < 0) return wrong("video file cannot be created", made);
  output.reset(context);
  file->attach(*context);
  packet.reset(ffmpeg().av_packet_alloc());
  if (!packet) return fail(Errc::no_memory, "video: packet cannot be allocated", "{}", path);
  return {};
}

Status VideoWriter::Impl::open_encoder(const Tensor& first) {
  capture::EncoderRequest request = capture::request_for(first);
  request.path = path;
  request.time_base = time_base;
  request.rate = av_inv_q(time_base);
  request.has_global_header = (output->oformat->flags & AVFMT_GLOBALHEADER) != 0;
  request.has_display_order = capture::extension_of(path) == "avi";  // it has no times of its own
  request.options = options;
  HALYARD_TRY(encoder, capture::open_encoder(encoder_name, request));
  AVStream* stream = ffmpeg().avformat_new_stream(output.get(), nullptr);
  if (stream == nullptr)
    return fail(Errc::no_memory, "video: stream cannot be allocated", "{}", path);
  stream->time_base = time_base;
  stream->avg_frame_rate = av_inv_q(time_base);
  HALYARD_RETURN_IF_ERROR(encoder->describe(*stream->codecpar));
  color_range = stream->codecpar->color_range;
  orientation = first.orientation();
  HALYARD_RETURN_IF_ERROR(describe_orientation(*stream));
  return write_header();
}

Status VideoWriter::Impl::describe_orientation(AVStream& stream) const {
  if (orientation == Orientation{}) return {};
  const auto matrix =
      capture::matrix_of(orientation, {encoder->input().width, encoder->input().height});
#if LIBAVFORMAT_VERSION_MAJOR >= 61
  AVPacketSideData* const data = ffmpeg().av_packet_side_data_new(
      &stream.codecpar->coded_side_data, &stream.codecpar->nb_coded_side_data,
      AV_PKT_DATA_DISPLAYMATRIX, sizeof matrix, 0);
  std::uint8_t* const bytes = data == nullptr ? nullptr : data->data;
#else
  std::uint8_t* const bytes =
      ffmpeg().av_stream_new_side_data(&stream, AV_PKT_DATA_DISPLAYMATRIX, sizeof matrix);
#endif
  if (bytes == nullptr)
    return fail(Errc::no_memory, "video: stream cannot be allocated", "{}", path);
  std::memcpy(bytes, matrix.data(), sizeof matrix);
  return {};
}

// A file has a single orientation for all frames.
Status VideoWriter::Impl::check_orientation(const Tensor& image) const {
  if (encoder && image.orientation() != orientation)
    return fail(Errc::unsupported, "image: orientation must be that of the first frame");
  const std::string extension = capture::extension_of(path);
  if (image.orientation() == Orientation{} || extension == "mp4" || extension == "mov") return {};
  return fail(Errc::unsupported,
              "image: only mp4 and mov store an orientation: make it upright first", "{}", path);
}

Status VideoWriter::Impl::write_header() {
  // The index of MP4 and MOV files is moved to the front, so that they can be read from a pipe.
  AVDictionary* entries = nullptr;
  ffmpeg().av_dict_set(&entries, "movflags", "+faststart", 0);
  const int written = ffmpeg().avformat_write_header(output.get(), &entries);
  ffmpeg().av_dict_free(&entries);
  if (written < 0) return wrong("video file cannot be written", written);
  return {};
}

// Encodes a frame; null drains the encoder.
Status VideoWriter::Impl::encode(const AVFrame* frame) {
  HALYARD_RETURN_IF_ERROR(encoder->send(frame));
  for (;;) {
    HALYARD_TRY(const bool is_there, encoder->receive(*packet));
    if (!is_there) break;
    AVStream* stream = output->streams[0];
    packet->stream_index = stream->index;
    packet->duration = 1;  // in the encoder's time base; some containers need it for the last frame
    ffmpeg().av_packet_rescale_ts(packet.get(), time_base, stream->time_base);
    const int written = ffmpeg().av_interleaved_write_frame(output.get(), packet.get());
    if (written < 0) return wrong("video file cannot be written", written);
  }
  if (output->pb->error < 0) return wrong("video file cannot be written", output->pb->error);
  return {};
}

Status VideoWriter::Impl::encode_image(const Tensor& image) {
  HALYARD_RETURN_IF_ERROR(capture::check_encodable(image));
  HALYARD_RETURN_IF_ERROR(check_orientation(image));
  if (!encoder) HALYARD_RETURN_IF_ERROR(open_encoder(image));
  HALYARD_TRY(const capture::FramePtr frame, capture::encoder_frame(image, encoder->input()));
  frame->pts = frames;
  frame->color_range = color_range;
  HALYARD_RETURN_IF_ERROR(encode(frame.get()));
  ++frames;
  return {};
}

Status VideoWriter::Impl::close_file() {
  HALYARD_RETURN_IF_ERROR(encode(nullptr));
  const int written = ffmpeg().av_write_trailer(output.get());
  if (written < 0) return wrong("video file cannot be written", written);
  if (output->pb->error < 0) return wrong("video file cannot be written", output->pb->error);
  return file->commit();
}

VideoWriter::VideoWriter(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
VideoWriter::VideoWriter(VideoWriter&&) noexcept = default;
VideoWriter& VideoWriter::operator=(VideoWriter&&) noexcept = default;
VideoWriter::~VideoWriter() = default;

std::string_view VideoWriter::encoder() const noexcept {
  return impl_->encoder_name;
}

std::span<const std::string_view> VideoWriter::extensions() noexcept {
  return halyard::extensions;
}

Result<VideoWriter> VideoWriter::create(const std::string& path, Size size, double rate,
                                        const VideoWriterOptions& options) {
  trace::Span span("capture.create_video");
  span.arg("width", size.width).arg("height", size.height).arg("rate", rate);
  HALYARD_RETURN_IF_ERROR(check_request(path, size, rate));
  HALYARD_RETURN_IF_ERROR(check_coding(options));
  HALYARD_RETURN_IF_ERROR(capture::load_ffmpeg());
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  impl->size = size;
  impl->time_base = av_inv_q(ffmpeg().av_d2q(rate, largest_time_base));
  impl->options = options;
  HALYARD_TRY(impl->encoder_name, capture::choose_encoder(options.encoder));
  if (impl->time_base.num <= 0 || impl->time_base.den <= 0) {
    return fail(Errc::invalid_argument, "rate is too small", "{}", rate);
  }
  HALYARD_RETURN_IF_ERROR(impl->open_file());
  return VideoWriter(std::move(impl));
}

Status VideoWriter::write(const Tensor& image) {
  trace::Span span("capture.write");
  span.arg("width", image.width()).arg("height", image.height());
  Impl& impl = *impl_;
  if (impl.failed) return *impl.failed;
  if (impl.finished) return fail(Errc::invalid_argument, "video: write() must not follow finish()");
  if (image.size() != impl.size) {
    return fail(Errc::invalid_argument, "image: size must be the writer's", "{}x{}, not {}x{}",
                image.width(), image.height(), impl.size.width, impl.size.height);
  }
  const Status status = impl.encode_image(image);
  // An image of an unsupported kind leaves the file intact; any other failure has damaged it.
  if (!status && status.error().code != Errc::unsupported) impl.failed = status.error();
  return status;
}

Status VideoWriter::finish() {
  trace::Span span("capture.finish");
  Impl& impl = *impl_;
  span.arg("frames", impl.frames);
  if (impl.failed) return *impl.failed;
  if (impl.finished) return {};
  if (impl.frames == 0) {
    return fail(Errc::invalid_argument, "video: finished without a frame", "{}", impl.path);
  }
  const Status status = impl.close_file();
  if (status) {
    impl.finished = true;
  } else {
    impl.failed = status.error();
  }
  return status;
}

}  // namespace halyard

#endif
