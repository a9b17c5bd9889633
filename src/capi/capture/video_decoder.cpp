// SPDX-License-Identifier: Apache-2.0
// Hardware decoders in C.
#include <cstddef>
#include <span>
#include <utility>

#include "capi/capture/captures.h"
#include "capi/capture/video_codecs.h"
#include "capi/error.h"
#include "capi/handles.h"

struct hal_video_decoder {
  static constexpr std::uint32_t kind = halyard::capi::kind_of("vdec");
  halyard::capi::Tag tag{kind};
  halyard::VideoDecoder decoder;
};

namespace halyard::capi {
namespace {

Result<VideoDecoderOptions> decoder_options_from(const hal_video_decoder_options* given) {
  VideoDecoderOptions options;
  if (given == nullptr) return null_argument("options: is NULL");
  HALYARD_RETURN_IF_ERROR(aligned(given, "options"));
  HALYARD_TRY(options.codec, video_codec_from(given->codec));
  options.path = text_or_empty(given->path);
  if (given->format != HAL_VIDEO_ANY_FORMAT) {
    HALYARD_TRY(options.format, format_from(given->format));
  }
  options.width = given->width;
  options.height = given->height;
  options.packet_bytes = given->packet_bytes;
  options.packets = given->packets;
  options.images = given->images;
  return options;
}

Result<hal_video_decoder*> open_decoder(const hal_video_decoder_options* given) {
  HALYARD_TRY(const VideoDecoderOptions options, decoder_options_from(given));
  HALYARD_TRY(VideoDecoder decoder, VideoDecoder::open(options));
  return new hal_video_decoder{.decoder = std::move(decoder)};
}

// Cancelling and the counts are thread-safe in C++ and need no exclusive handle in C.
Result<VideoDecoder*> decoder_of(const hal_video_decoder* handle) {
  HALYARD_TRY(const hal_video_decoder* const found, checked(handle, "decoder"));
  return &const_cast<hal_video_decoder*>(found)->decoder;
}

Result<int> send_packet(const hal_video_decoder* handle, const void* bytes, std::size_t size_bytes,
                        std::int64_t timestamp_ns, std::int64_t timeout_ns) {
  HALYARD_TRY(VideoDecoder* const decoder, decoder_of(handle));
  if (bytes == nullptr) return null_argument("bytes: is NULL");
  const VideoPacket packet{{static_cast<const std::byte*>(bytes), size_bytes},
                           std::chrono::nanoseconds(timestamp_ns),
                           false,
                           nullptr};
  HALYARD_TRY(const bool is_taken, decoder->send(packet, timeout_from(timeout_ns)));
  return is_taken ? 1 : 0;
}

Result<int> next_image(const hal_video_decoder* handle, std::int64_t timeout_ns,
                       hal_decoded_image* out) {
  HALYARD_TRY(VideoDecoder* const decoder, decoder_of(handle));
  HALYARD_RETURN_IF_ERROR(check_out(out));
  HALYARD_TRY(auto image, decoder->next(timeout_from(timeout_ns)));
  if (!image) return 0;
  *out = {.image = new hal_tensor{.tensor = std::move(image->image)},
          .timestamp_ns = image->timestamp.count(),
          .is_key_frame = image->is_key_frame};
  return 1;
}

hal_decoded_format decoded_format_to_c(const DecodedFormat& format) {
  return {.width = format.width,
          .height = format.height,
          .visible_x = static_cast<std::size_t>(format.visible.x),
          .visible_y = static_cast<std::size_t>(format.visible.y),
          .coded_width = format.coded_width,
          .coded_height = format.coded_height,
          .fourcc = format.fourcc,
          .format = static_cast<int>(format.layout.format),
          .buffers = format.buffers,
          .is_copied = format.is_copied};
}

// Calls `use` with the decoder; 0 if it succeeds.
template <class F>
int with_decoder(const hal_video_decoder* handle, F&& use) {
  return guarded_use([&] { return decoder_of(handle); }, use);
}

}  // namespace
}  // namespace halyard::capi

using namespace halyard;
using capi::guarded;

hal_video_decoder_options hal_video_decoder_options_default(void) {
  const VideoDecoderOptions options;
  return {.codec = static_cast<int>(options.codec),
          .path = nullptr,
          .format = HAL_VIDEO_ANY_FORMAT,
          .width = options.width,
          .height = options.height,
          .packet_bytes = options.packet_bytes,
          .packets = options.packets,
          .images = options.images};
}

hal_video_decoder* hal_video_decoder_open(const hal_video_decoder_options* options) {
  return guarded<hal_video_decoder*>(nullptr, [&] { return capi::open_decoder(options); });
}

void hal_video_decoder_free(hal_video_decoder* decoder) {
  if (capi::is_valid(decoder)) delete decoder;
}

int hal_video_decoder_send(hal_video_decoder* decoder, const void* bytes, size_t size_bytes,
                           int64_t timestamp_ns, int64_t timeout_ns) {
  return guarded<int>(
      -1, [&] { return capi::send_packet(decoder, bytes, size_bytes, timestamp_ns, timeout_ns); });
}

int hal_video_decoder_next(hal_video_decoder* decoder, int64_t timeout_ns, hal_decoded_image* out) {
  return guarded<int>(-1, [&] { return capi::next_image(decoder, timeout_ns, out); });
}

int hal_video_decoder_is_ready(hal_video_decoder* decoder) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_TRY(VideoDecoder* const found, capi::decoder_of(decoder));
    return found->is_ready() ? 1 : 0;
  });
}

int hal_video_decoder_drain(hal_video_decoder* decoder) {
  return capi::with_decoder(decoder, [](VideoDecoder& found) { return found.drain(); });
}

int hal_video_decoder_flush(hal_video_decoder* decoder) {
  return capi::with_decoder(decoder, [](VideoDecoder& found) { return found.flush(); });
}

int hal_video_decoder_cancel(const hal_video_decoder* decoder) {
  return capi::with_decoder(decoder, [](VideoDecoder& found) {
    found.cancel();
    return Status();
  });
}

int hal_video_decoder_get_format(const hal_video_decoder* decoder, hal_decoded_format* out) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_TRY(const VideoDecoder* const found, capi::decoder_of(decoder));
    HALYARD_RETURN_IF_ERROR(capi::check_out(out));
    if (!found->format()) return 0;
    *out = capi::decoded_format_to_c(*found->format());
    return 1;
  });
}

int hal_video_decoder_get_stats(const hal_video_decoder* decoder, hal_video_codec_stats* out) {
  return capi::with_decoder(decoder, [&](const VideoDecoder& found) -> Status {
    HALYARD_RETURN_IF_ERROR(capi::check_out(out));
    *out = capi::codec_stats_to_c(found.stats());
    return {};
  });
}
