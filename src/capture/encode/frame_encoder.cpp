// SPDX-License-Identifier: Apache-2.0
// Chooses an encoder, and runs those of FFmpeg.
#include "capture/encode/frame_encoder.h"

#ifdef HALYARD_HAVE_FFMPEG

#include "base/text/format_error.h"
#include "capture/encode/openh264_encoder.h"

namespace halyard::capture {
namespace {

constexpr const char* openh264 = "openh264";
constexpr const char* libx264 = "libx264";

bool has_encoder(const char* name) {
  return ffmpeg().avcodec_find_encoder_by_name(name) != nullptr;
}

bool takes(const AVCodec& encoder, AVPixelFormat wanted) {
  for (const AVPixelFormat* f = encoder.pix_fmts; f != nullptr && *f != AV_PIX_FMT_NONE; ++f) {
    if (*f == wanted) return true;
  }
  return false;
}

class FfmpegEncoder final : public FrameEncoder {
 public:
  FfmpegEncoder(CodecPtr context, std::string path)
      : context_(std::move(context)), path_(std::move(path)) {}

  EncoderInput input() const noexcept override {
    return {context_->width, context_->height, context_->pix_fmt};
  }
  Status describe(AVCodecParameters& parameters) const override {
    const int copied = ffmpeg().avcodec_parameters_from_context(&parameters, context_.get());
    return copied < 0 ? wrong("video: encoder cannot be described", copied) : Status{};
  }
  Status send(const AVFrame* frame) override {
    const int sent = ffmpeg().avcodec_send_frame(context_.get(), frame);
    return sent < 0 ? wrong("video: frame cannot be encoded", sent) : Status{};
  }
  Result<bool> receive(AVPacket& packet) override {
    const int got = ffmpeg().avcodec_receive_packet(context_.get(), &packet);
    if (got == AVERROR(EAGAIN) || got == AVERROR_EOF) return false;
    if (got < 0) return wrong("video: frame cannot be encoded", got).error();
    return true;
  }

 private:
  Status wrong(const char* what, int code) const {
    return ffmpeg_error(what, code, path_, Errc::os);
  }
  CodecPtr context_;
  std::string path_;
};

void set_quality(AVCodecContext& context, const AVCodec& codec, const VideoWriterOptions& options) {
  if (options.key_interval > 0) context.gop_size = options.key_interval;
  if (options.bitrate > 0) {
    context.bit_rate = options.bitrate;
  } else if (codec.id == AV_CODEC_ID_MPEG4) {
    context.flags |= AV_CODEC_FLAG_QSCALE;
    context.global_quality = 3 * FF_QP2LAMBDA;
  }
  if (std::string_view(codec.name) != libx264) return;
  ffmpeg().av_opt_set(context.priv_data, "preset", "veryfast", 0);
  if (options.bitrate <= 0) ffmpeg().av_opt_set(context.priv_data, "crf", "20", 0);
}

// At the same quality as veryfast, ultrafast takes a third of its time and a third more bits.
void set_live(AVCodecContext& context) {
  context.max_b_frames = 0;
  ffmpeg().av_opt_set(context.priv_data, "preset", "ultrafast", 0);
  ffmpeg().av_opt_set(context.priv_data, "tune", "zerolatency", 0);
  ffmpeg().av_opt_set(context.priv_data, "forced-idr", "1", 0);
  if (context.bit_rate <= 0) {
    ffmpeg().av_opt_set(context.priv_data, "crf", "23", 0);
    return;
  }
  context.rc_max_rate = context.bit_rate;
  context.rc_buffer_size = static_cast<int>(context.bit_rate);  // of a second
}

Result<std::unique_ptr<FrameEncoder>> open_ffmpeg(const AVCodec& codec,
                                                  const EncoderRequest& request) {
  const bool nv12 = request.prefers_nv12 && takes(codec, AV_PIX_FMT_NV12);
  const AVPixelFormat format =
      nv12 || !takes(codec, AV_PIX_FMT_YUV420P) ? AV_PIX_FMT_NV12 : AV_PIX_FMT_YUV420P;
  if (!takes(codec, format)) {
    return fail(Errc::unsupported, "encoder: it takes neither yuv420p nor nv12 in memory", "{}",
                codec.name);
  }
  CodecPtr context(ffmpeg().avcodec_alloc_context3(&codec));
  if (!context)
    return fail(Errc::no_memory, "video: encoder cannot be allocated", "{}", request.path);
  context->width = request.width;
  context->height = request.height;
  context->pix_fmt = format;
  context->time_base = request.time_base;
  context->framerate = request.rate;
  set_colorimetry(*context, request.colorimetry);
  set_quality(*context, codec, request.options);
  if (request.is_live) set_live(*context);
  if (request.has_display_order) context->max_b_frames = 0;
  if (request.has_global_header) context->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
  const int opened = ffmpeg().avcodec_open2(context.get(), &codec, nullptr);
  if (opened < 0)
    return ffmpeg_error("video: encoder refuses the size or rate", opened, request.path, Errc::os);
  return std::unique_ptr<FrameEncoder>(
      std::make_unique<FfmpegEncoder>(std::move(context), request.path));
}

}  // namespace

EncoderRequest request_for(const Tensor& first) {
  EncoderRequest out;
  const auto even = [](std::size_t side) { return static_cast<int>(side + side % 2); };
  out.width = even(first.width());
  out.height = even(first.height());
  out.prefers_nv12 = first.format() == PixelFormat::nv12;
  out.colorimetry = first.colorimetry();
  return out;
}

Result<std::string> choose_encoder(const std::string& wanted) {
  if (wanted == openh264) {
    HALYARD_RETURN_IF_ERROR(load_openh264());
    return wanted;
  }
  if (!wanted.empty()) {
    const AVCodec* const codec = ffmpeg().avcodec_find_encoder_by_name(wanted.c_str());
    if (codec != nullptr && codec->type == AVMEDIA_TYPE_VIDEO) return wanted;
    return fail(Errc::unsupported, "encoder: this FFmpeg has no video encoder of that name", "{}",
                wanted);
  }
  if (has_encoder(libx264)) return std::string(libx264);
  if (load_openh264()) return std::string(openh264);
  if (has_encoder("mpeg4")) return std::string("mpeg4");
  return fail(Errc::unsupported,
              "video: this FFmpeg has neither libx264 nor mpeg4, and there is no libopenh264");
}

Result<std::string> choose_h264_encoder(const std::string& wanted) {
  if (!wanted.empty() && wanted != libx264 && wanted != openh264)
    return fail(Errc::unsupported, "encoder must be libx264 or openh264", "{}", wanted);
  if (wanted != openh264 && has_encoder(libx264)) return std::string(libx264);
  if (wanted == libx264)
    return fail(Errc::unsupported, "encoder: this FFmpeg has no libx264: install one that has it");
  const Status loaded = load_openh264();
  if (loaded) return std::string(openh264);
  if (wanted == openh264) return loaded.error();
  return fail(Errc::unsupported,
              "video: no encoder of H.264: install an FFmpeg with libx264, or libopenh264-7", "{}",
              loaded.error().message());
}

Result<std::unique_ptr<FrameEncoder>> open_encoder(const std::string& encoder,
                                                   const EncoderRequest& request) {
  if (encoder == openh264) return openh264_encoder(request);
  return open_ffmpeg(*ffmpeg().avcodec_find_encoder_by_name(encoder.c_str()), request);
}

}  // namespace halyard::capture

#endif
