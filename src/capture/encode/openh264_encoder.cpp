// SPDX-License-Identifier: Apache-2.0
#include "capture/encode/openh264_encoder.h"

#ifdef HALYARD_HAVE_FFMPEG

#include "base/text/format_error.h"

#ifdef HALYARD_HAVE_OPENH264

#include <wels/codec_api.h>
#include <wels/codec_ver.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "base/system/shared_object.h"

namespace halyard::capture {
namespace {

constexpr int quantizer = 24;
constexpr int min_side = 16;  // of a smaller image it refuses the first frame
constexpr const char* library_name = "libopenh264.so.7";
constexpr const char* no_openh264 = "encoder: openh264 cannot be loaded: install libopenh264-7";

/// The library's functions.
struct OpenH264 {
  decltype(&WelsCreateSVCEncoder) create = nullptr;
  decltype(&WelsDestroySVCEncoder) destroy = nullptr;
  decltype(&WelsGetCodecVersionEx) version = nullptr;
};

std::atomic<const OpenH264*> loaded_openh264{nullptr};

Result<OpenH264> find_openh264() {
  HALYARD_TRY(const auto library, SharedObject::open(library_name, no_openh264));
  OpenH264 calls;
  calls.create =
      library.function<std::remove_pointer_t<decltype(calls.create)>>("WelsCreateSVCEncoder");
  calls.destroy =
      library.function<std::remove_pointer_t<decltype(calls.destroy)>>("WelsDestroySVCEncoder");
  calls.version =
      library.function<std::remove_pointer_t<decltype(calls.version)>>("WelsGetCodecVersionEx");
  if (calls.create == nullptr || calls.destroy == nullptr || calls.version == nullptr)
    return fail(Errc::unsupported, no_openh264, "a function is missing");
  // The structures of its parameters differ between minor versions.
  OpenH264Version found{};
  calls.version(&found);
  if (found.uMajor != OPENH264_MAJOR || found.uMinor != OPENH264_MINOR) {
    return fail(Errc::unsupported, "encoder: openh264 is not the version of this build",
                "{}.{}, not {}.{}", found.uMajor, found.uMinor, OPENH264_MAJOR, OPENH264_MINOR);
  }
  return calls;
}

struct DestroyEncoder {
  void operator()(ISVCEncoder* encoder) const noexcept {
    encoder->Uninitialize();
    loaded_openh264.load()->destroy(encoder);
  }
};
using EncoderPtr = std::unique_ptr<ISVCEncoder, DestroyEncoder>;

// All bytes of a frame, as one Annex B stream.
std::vector<std::uint8_t> bytes_of(const SFrameBSInfo& info) {
  std::vector<std::uint8_t> out;
  for (int layer = 0; layer < info.iLayerNum; ++layer) {
    const SLayerBSInfo& found = info.sLayerInfo[layer];
    std::size_t size = 0;
    for (int unit = 0; unit < found.iNalCount; ++unit)
      size += static_cast<std::size_t>(found.pNalLengthInByte[unit]);
    out.insert(out.end(), found.pBsBuf, found.pBsBuf + size);
  }
  return out;
}

class OpenH264Encoder final : public FrameEncoder {
 public:
  OpenH264Encoder(EncoderPtr encoder, CodecPtr description, std::string path)
      : encoder_(std::move(encoder)),
        description_(std::move(description)),
        path_(std::move(path)) {}

  EncoderInput input() const noexcept override {
    return {description_->width, description_->height, AV_PIX_FMT_YUV420P};
  }
  Status describe(AVCodecParameters& parameters) const override {
    const int copied = ffmpeg().avcodec_parameters_from_context(&parameters, description_.get());
    if (copied < 0)
      return ffmpeg_error("video: encoder cannot be described", copied, path_, Errc::os);
    return {};
  }
  Status send(const AVFrame* frame) override;
  Result<bool> receive(AVPacket& packet) override;

 private:
  EncoderPtr encoder_;
  CodecPtr description_;  // of the stream; it encodes nothing
  std::string path_;
  std::vector<std::uint8_t> bytes_;  // of the frame that was sent last
  std::int64_t number_ = 0;
  bool is_key_ = false;
};

Status OpenH264Encoder::send(const AVFrame* frame) {
  if (frame == nullptr) return {};  // it holds no frame back
  SSourcePicture image{};
  image.iColorFormat = videoFormatI420;
  image.iPicWidth = frame->width;
  image.iPicHeight = frame->height;
  for (std::size_t plane = 0; plane < 3; ++plane) {
    image.pData[plane] = frame->data[plane];
    image.iStride[plane] = frame->linesize[plane];
  }
  image.uiTimeStamp = static_cast<long long>(static_cast<double>(frame->pts) * 1000 *
                                             av_q2d(description_->time_base));
  if (frame->pict_type == AV_PICTURE_TYPE_I) encoder_->ForceIntraFrame(true);
  SFrameBSInfo info{};
  if (const int code = encoder_->EncodeFrame(&image, &info); code != cmResultSuccess)
    return fail(Errc::os, "video: frame cannot be encoded", "{}: openh264 returns {}", path_, code);
  bytes_ = bytes_of(info);
  number_ = frame->pts;
  is_key_ = info.eFrameType == videoFrameTypeIDR;
  return {};
}

Result<bool> OpenH264Encoder::receive(AVPacket& packet) {
  if (bytes_.empty()) return false;
  const int made = ffmpeg().av_new_packet(&packet, static_cast<int>(bytes_.size()));
  if (made < 0) return fail(Errc::no_memory, "video: packet cannot be allocated", "{}", path_);
  std::memcpy(packet.data, bytes_.data(), bytes_.size());
  bytes_.clear();
  packet.pts = packet.dts = number_;
  if (is_key_) packet.flags |= AV_PKT_FLAG_KEY;
  return true;
}

// Colours as H.264 numbers them, which are FFmpeg's numbers, too.
void set_colors(SSpatialLayerConfig& layer, const AVCodecContext& colors) {
  layer.bVideoSignalTypePresent = true;
  layer.uiVideoFormat = VF_UNDEF;
  layer.bFullRange = colors.color_range == AVCOL_RANGE_JPEG;
  layer.bColorDescriptionPresent = true;
  layer.uiColorPrimaries = static_cast<unsigned char>(colors.color_primaries);
  layer.uiTransferCharacteristics = static_cast<unsigned char>(colors.color_trc);
  layer.uiColorMatrix = static_cast<unsigned char>(colors.colorspace);
}

SEncParamExt parameters_of(ISVCEncoder& encoder, const EncoderRequest& request,
                           const AVCodecContext& description) {
  SEncParamExt out{};
  encoder.GetDefaultParams(&out);
  out.iUsageType = CAMERA_VIDEO_REAL_TIME;
  out.iPicWidth = request.width;
  out.iPicHeight = request.height;
  out.fMaxFrameRate = static_cast<float>(std::clamp(av_q2d(request.rate), 1.0, 60.0));
  out.bEnableFrameSkip = false;
  out.uiIntraPeriod = static_cast<unsigned>(request.options.key_interval);
  out.iSpatialLayerNum = 1;
  out.iMultipleThreadIdc = 1;
  out.eSpsPpsIdStrategy = CONSTANT_ID;  // one header for the whole file
  const auto bits = std::min<std::int64_t>(request.options.bitrate, 500'000'000);
  SSpatialLayerConfig& layer = out.sSpatialLayers[0];
  layer.iVideoWidth = request.width;
  layer.iVideoHeight = request.height;
  layer.fFrameRate = out.fMaxFrameRate;
  layer.uiProfileIdc = PRO_BASELINE;
  layer.sSliceArgument.uiSliceMode = SM_SINGLE_SLICE;
  set_colors(layer, description);
  if (bits > 0) {
    out.iRCMode = RC_BITRATE_MODE;
    out.iTargetBitrate = layer.iSpatialBitrate = static_cast<int>(bits);
    out.iMaxBitrate = layer.iMaxSpatialBitrate = UNSPECIFIED_BIT_RATE;
  } else {
    out.iRCMode = RC_OFF_MODE;
    layer.iDLayerQp = quantizer;
  }
  return out;
}

Status add_header(ISVCEncoder& encoder, AVCodecContext& description, const std::string& path) {
  SFrameBSInfo info{};
  if (const int code = encoder.EncodeParameterSets(&info); code != cmResultSuccess)
    return fail(Errc::os, "video: encoder cannot be described", "{}: openh264 returns {}", path,
                code);
  const std::vector<std::uint8_t> header = bytes_of(info);
  // Freed with the context.
  auto* const kept =
      static_cast<std::uint8_t*>(ffmpeg().av_mallocz(header.size() + AV_INPUT_BUFFER_PADDING_SIZE));
  if (kept == nullptr) return fail(Errc::no_memory, "video: encoder cannot be allocated");
  std::memcpy(kept, header.data(), header.size());
  description.extradata = kept;
  description.extradata_size = static_cast<int>(header.size());
  return {};
}

}  // namespace

Status load_openh264() {
  if (loaded_openh264.load() != nullptr) return {};
  HALYARD_TRY(const OpenH264 found, find_openh264());
  auto calls = std::make_unique<OpenH264>(found);
  // Two threads may load at once. The first one's table is kept until the process ends.
  const OpenH264* none = nullptr;
  if (loaded_openh264.compare_exchange_strong(none, calls.get()))
    static_cast<void>(calls.release());
  return {};
}

Result<std::unique_ptr<FrameEncoder>> openh264_encoder(const EncoderRequest& request) {
  if (request.width < min_side || request.height < min_side) {
    return fail(Errc::unsupported, "encoder: openh264 takes 16x16 and more", "{}: {}x{}",
                request.path, request.width, request.height);
  }
  ISVCEncoder* made = nullptr;
  if (loaded_openh264.load()->create(&made) != 0 || made == nullptr)
    return fail(Errc::no_memory, "video: encoder cannot be allocated", "{}", request.path);
  EncoderPtr encoder(made);
  int quiet = WELS_LOG_QUIET;
  encoder->SetOption(ENCODER_OPTION_TRACE_LEVEL, &quiet);
  CodecPtr description(ffmpeg().avcodec_alloc_context3(nullptr));
  if (!description)
    return fail(Errc::no_memory, "video: encoder cannot be allocated", "{}", request.path);
  description->codec_type = AVMEDIA_TYPE_VIDEO;
  description->codec_id = AV_CODEC_ID_H264;
  description->width = request.width;
  description->height = request.height;
  description->pix_fmt = AV_PIX_FMT_YUV420P;
  description->time_base = request.time_base;
  set_colorimetry(*description, request.colorimetry);
  const SEncParamExt parameters = parameters_of(*encoder, request, *description);
  if (const int code = encoder->InitializeExt(&parameters); code != cmResultSuccess) {
    return fail(Errc::unsupported, "encoder: openh264 does not take the size",
                "{}: {}x{}, it returns {}", request.path, request.width, request.height, code);
  }
  HALYARD_RETURN_IF_ERROR(add_header(*encoder, *description, request.path));
  return std::unique_ptr<FrameEncoder>(
      std::make_unique<OpenH264Encoder>(std::move(encoder), std::move(description), request.path));
}

}  // namespace halyard::capture

#else

namespace halyard::capture {

Status load_openh264() {
  return fail(Errc::unsupported, "encoder: this build has no openh264",
              "install libopenh264-dev and build again");
}

Result<std::unique_ptr<FrameEncoder>> openh264_encoder(const EncoderRequest&) {
  return load_openh264().error();
}

}  // namespace halyard::capture

#endif
#endif
