// SPDX-License-Identifier: Apache-2.0
// Hardware encoders in C.
#include <optional>
#include <string_view>
#include <utility>

#include "capi/capture/captures.h"
#include "capi/capture/video_codecs.h"
#include "capi/error.h"
#include "capi/handles.h"

struct hal_video_encoder {
  static constexpr std::uint32_t kind = halyard::capi::kind_of("venc");
  halyard::capi::Tag tag{kind};
  halyard::VideoEncoder encoder;
};

struct hal_video_packet {
  static constexpr std::uint32_t kind = halyard::capi::kind_of("vpkt");
  halyard::capi::Tag tag{kind};
  halyard::VideoPacket packet;
};

namespace halyard::capi {
namespace {

Result<VideoEncoderOptions> encoder_options_from(const hal_video_encoder_options* given) {
  VideoEncoderOptions options;
  if (given == nullptr) return null_argument("options: is NULL");
  HALYARD_RETURN_IF_ERROR(aligned(given, "options"));
  HALYARD_RETURN_IF_ERROR(aligned(given->colorimetry, "options.colorimetry"));
  HALYARD_TRY(options.codec, video_codec_from(given->codec));
  HALYARD_TRY(options.format, format_from(given->format));
  HALYARD_TRY(options.memory, enumerator<EncoderMemory>(
                                  given->memory, "memory: must be a value of hal_encoder_memory"));
  options.path = text_or_empty(given->path);
  options.width = given->width;
  options.height = given->height;
  if (given->colorimetry != nullptr) options.colorimetry = colorimetry_from(*given->colorimetry);
  options.rate = given->rate;
  options.bitrate = given->bitrate;
  options.gop = given->gop;
  options.profile = text_or_empty(given->profile);
  options.level = text_or_empty(given->level);
  options.images = given->images;
  options.packets = given->packets;
  return options;
}

Result<hal_video_encoder*> open_encoder(const hal_video_encoder_options* given) {
  HALYARD_TRY(const VideoEncoderOptions options, encoder_options_from(given));
  HALYARD_TRY(VideoEncoder encoder, VideoEncoder::open(options));
  return new hal_video_encoder{.encoder = std::move(encoder)};
}

// As decoder_of().
Result<VideoEncoder*> encoder_of(const hal_video_encoder* handle) {
  HALYARD_TRY(const hal_video_encoder* const found, checked(handle, "encoder"));
  return &const_cast<hal_video_encoder*>(found)->encoder;
}

Result<int> lend_image(const hal_video_encoder* handle, std::int64_t timeout_ns, hal_tensor** out) {
  HALYARD_TRY(VideoEncoder* const encoder, encoder_of(handle));
  HALYARD_RETURN_IF_ERROR(check_out(out));
  HALYARD_TRY(auto image, encoder->image(timeout_from(timeout_ns)));
  if (!image) return 0;
  *out = new hal_tensor{.tensor = *std::move(image)};
  return 1;
}

Result<int> next_packet(const hal_video_encoder* handle, std::int64_t timeout_ns,
                        hal_video_packet** out) {
  HALYARD_TRY(VideoEncoder* const encoder, encoder_of(handle));
  HALYARD_RETURN_IF_ERROR(check_out(out));
  HALYARD_TRY(auto packet, encoder->next(timeout_from(timeout_ns)));
  if (!packet) return 0;
  *out = new hal_video_packet{.packet = *std::move(packet)};
  return 1;
}

// Calls `use` with the encoder; 0 if it succeeds.
template <class F>
int with_encoder(const hal_video_encoder* handle, F&& use) {
  return guarded_use([&] { return encoder_of(handle); }, use);
}

}  // namespace
}  // namespace halyard::capi

using namespace halyard;
using capi::guarded;
using capi::is_valid;

hal_video_encoder_options hal_video_encoder_options_default(void) {
  const VideoEncoderOptions options;
  return {.codec = static_cast<int>(options.codec),
          .path = nullptr,
          .width = options.width,
          .height = options.height,
          .format = static_cast<int>(options.format),
          .colorimetry = nullptr,
          .rate = options.rate,
          .bitrate = options.bitrate,
          .gop = options.gop,
          .profile = nullptr,
          .level = nullptr,
          .memory = static_cast<int>(options.memory),
          .images = options.images,
          .packets = options.packets};
}

hal_video_encoder* hal_video_encoder_open(const hal_video_encoder_options* options) {
  return guarded<hal_video_encoder*>(nullptr, [&] { return capi::open_encoder(options); });
}

void hal_video_encoder_free(hal_video_encoder* encoder) {
  if (is_valid(encoder)) delete encoder;
}

int hal_video_encoder_image(hal_video_encoder* encoder, int64_t timeout_ns, hal_tensor** out) {
  return guarded<int>(-1, [&] { return capi::lend_image(encoder, timeout_ns, out); });
}

int hal_video_encoder_encode(hal_video_encoder* encoder, const hal_tensor* image,
                             int64_t timestamp_ns, bool is_key_frame, int64_t timeout_ns) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_TRY(VideoEncoder* const found, capi::encoder_of(encoder));
    HALYARD_TRY(const Tensor* const tensor, capi::tensor_of(image));
    HALYARD_TRY(const bool is_taken, found->encode(*tensor, std::chrono::nanoseconds(timestamp_ns),
                                                   is_key_frame, capi::timeout_from(timeout_ns)));
    return is_taken ? 1 : 0;
  });
}

int hal_video_encoder_next(hal_video_encoder* encoder, int64_t timeout_ns, hal_video_packet** out) {
  return guarded<int>(-1, [&] { return capi::next_packet(encoder, timeout_ns, out); });
}

int hal_video_encoder_is_ready(hal_video_encoder* encoder) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_TRY(VideoEncoder* const found, capi::encoder_of(encoder));
    return found->is_ready() ? 1 : 0;
  });
}

int hal_video_encoder_drain(hal_video_encoder* encoder) {
  return capi::with_encoder(encoder, [](VideoEncoder& found) { return found.drain(); });
}

int hal_video_encoder_cancel(const hal_video_encoder* encoder) {
  return capi::with_encoder(encoder, [](VideoEncoder& found) {
    found.cancel();
    return Status();
  });
}

size_t hal_video_encoder_stride_bytes(const hal_video_encoder* encoder) {
  return is_valid(encoder) ? encoder->encoder.stride_bytes() : 0;
}

int hal_video_encoder_memory(const hal_video_encoder* encoder) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_TRY(const VideoEncoder* const found, capi::encoder_of(encoder));
    return static_cast<int>(found->memory());
  });
}

int hal_video_encoder_get_stats(const hal_video_encoder* encoder, hal_video_codec_stats* out) {
  return capi::with_encoder(encoder, [&](const VideoEncoder& found) -> Status {
    HALYARD_RETURN_IF_ERROR(capi::check_out(out));
    *out = capi::codec_stats_to_c(found.stats());
    return {};
  });
}

int hal_video_encoder_controls(const hal_video_encoder* encoder, hal_camera_control* out,
                               size_t capacity) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_TRY(const VideoEncoder* const found, capi::encoder_of(encoder));
    HALYARD_RETURN_IF_ERROR(capi::check_room(out, capacity));
    HALYARD_TRY(const auto controls, found->controls());
    return capi::put_controls(controls, out, capacity);
  });
}

int hal_video_encoder_set_control(hal_video_encoder* encoder, const char* name, int64_t value) {
  return capi::with_encoder(encoder, [&](VideoEncoder& found) -> Status {
    if (name == nullptr) return capi::null_argument("name: is NULL");
    return found.set_control(name, value);
  });
}

int hal_video_encoder_set_control_entry(hal_video_encoder* encoder, const char* name,
                                        const char* entry) {
  return capi::with_encoder(encoder, [&](VideoEncoder& found) -> Status {
    if (name == nullptr) return capi::null_argument("name: is NULL");
    if (entry == nullptr) return capi::null_argument("entry: is NULL");
    return found.set_control(name, std::string_view(entry));
  });
}

const void* hal_video_packet_data(const hal_video_packet* packet) {
  return is_valid(packet) ? packet->packet.bytes.data() : nullptr;
}

size_t hal_video_packet_size_bytes(const hal_video_packet* packet) {
  return is_valid(packet) ? packet->packet.bytes.size() : 0;
}

int64_t hal_video_packet_timestamp_ns(const hal_video_packet* packet) {
  return is_valid(packet) ? packet->packet.timestamp.count() : 0;
}

bool hal_video_packet_is_key_frame(const hal_video_packet* packet) {
  return is_valid(packet) && packet->packet.is_key_frame;
}

void hal_video_packet_free(hal_video_packet* packet) {
  if (is_valid(packet)) delete packet;
}
