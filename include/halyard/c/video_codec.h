// SPDX-License-Identifier: Apache-2.0
// Hardware codecs in C: coded video on stateful V4L2 codecs, with images in the driver's DMA-BUFs
// or in yours, without a copy. All of it is ours. docs/hardware-codecs.md describes what
// halyard/video_codec.h and these functions do.
//
// A decoder and an encoder serve one thread at a time; the functions that cancel and the counts may
// be called on other threads meanwhile, and images and packets may be released on any thread, also
// after the codec. A negative timeout waits for ever, 0 does not wait.
#pragma once

#include "halyard/c/base.h"
#include "halyard/c/camera.h"
#include "halyard/c/tensor.h"

HAL_BEGIN

typedef struct hal_video_decoder hal_video_decoder;
typedef struct hal_video_encoder hal_video_encoder;
typedef struct hal_video_packet hal_video_packet;

enum hal_video_codec HAL_ENUM_INT {
  HAL_VIDEO_CODEC_H264 = 0,
  HAL_VIDEO_CODEC_HEVC = 1,
  HAL_VIDEO_CODEC_MPEG2 = 2,
  HAL_VIDEO_CODEC_MPEG4 = 3,
  HAL_VIDEO_CODEC_VP8 = 4,
  HAL_VIDEO_CODEC_VP9 = 5,
  HAL_VIDEO_CODEC_AV1 = 6,
  HAL_VIDEO_CODEC_MJPEG = 7,
  HAL_VIDEO_CODEC_FWHT = 8,  // of vicodec, the kernel's test codec
};
typedef enum hal_video_codec hal_video_codec;

// Where an encoder reads images.
enum hal_encoder_memory HAL_ENUM_INT {
  HAL_ENCODER_MEMORY_AUTOMATIC = 0,       // as the first image allows
  HAL_ENCODER_MEMORY_DRIVER_BUFFERS = 1,  // hal_video_encoder_image() lends them; others are copied
  HAL_ENCODER_MEMORY_CALLER_BUFFERS = 2,  // images in DMA-BUFs of the caller
};
typedef enum hal_encoder_memory hal_encoder_memory;

// A node of this machine that decodes, or one that encodes. Texts that are too long are cut.
struct hal_video_codec_info {
  char path[64];
  char name[64];
  char driver[32];
  char bus[64];
  bool is_encoder;
  bool is_multiplanar;
  bool is_usable;
  uint32_t codecs;   ///< bit 1 << hal_video_codec of each that it codes
  char reason[160];  ///< why this process cannot open it; "": it can
};
typedef struct hal_video_codec_info hal_video_codec_info;

// For the format of a decoder's images: the driver's choice.
#define HAL_VIDEO_ANY_FORMAT -1

// Fill it with hal_video_decoder_options_default() first.
struct hal_video_decoder_options {
  int codec;            ///< hal_video_codec
  const char* path;     ///< "/dev/video10"; NULL: the first that decodes the codec
  int format;           ///< hal_pixel_format of the images, or HAL_VIDEO_ANY_FORMAT
  size_t width;         ///< of the stream, where it is known; 0: unknown
  size_t height;        ///< with width
  size_t packet_bytes;  ///< of the largest packet; 0: the driver's choice, at least 1 MiB
  uint32_t packets;     ///< buffers for packets, 2..32
  uint32_t images;      ///< that the caller can hold at once, 1..28
};
typedef struct hal_video_decoder_options hal_video_decoder_options;

// What a decoder delivers; it changes with the stream.
struct hal_decoded_format {
  size_t width;  ///< of the images
  size_t height;
  size_t visible_x;  ///< their place in the driver's larger frame
  size_t visible_y;
  size_t coded_width;  ///< of that frame
  size_t coded_height;
  uint32_t fourcc;
  int format;  ///< hal_pixel_format
  uint32_t buffers;
  bool is_copied;  ///< the driver exports no buffers
};
typedef struct hal_decoded_format hal_decoded_format;

struct hal_decoded_image {
  /// Over a buffer of the driver until it and all that shares its bytes are released; release it
  /// with hal_tensor_free(). Not to be written: later images may be predicted from it.
  hal_tensor* image;
  int64_t timestamp_ns;  ///< of its packet, in whole microseconds
  bool is_key_frame;
};
typedef struct hal_decoded_image hal_decoded_image;

// Counts since the codec was opened.
struct hal_video_codec_stats {
  uint64_t packets;
  uint64_t images;
  uint64_t damaged;  ///< outputs that the driver marks as damaged; left out
  uint64_t refused;  ///< inputs that the driver could not read
  uint64_t copies;   ///< images that were copied
  uint64_t formats;  ///< times that a decoder's images changed their format
  uint32_t held;     ///< buffers of images that the caller holds now
};
typedef struct hal_video_codec_stats hal_video_codec_stats;

// Fill it with hal_video_encoder_options_default() first.
struct hal_video_encoder_options {
  int codec;         ///< hal_video_codec
  const char* path;  ///< NULL: the first that encodes the codec
  size_t width;      ///< of the images
  size_t height;
  int format;                          ///< hal_pixel_format of the images
  const hal_colorimetry* colorimetry;  ///< of the images; NULL: unknown. Borrowed.
  double rate;                         ///< images per second, above 0, up to 1000
  uint64_t bitrate;                    ///< bits per second; 0: the driver's choice
  uint32_t gop;         ///< images from one key frame to the next; 0: the driver's choice
  const char* profile;  ///< an entry of the driver's menu: "High"; NULL: its choice
  const char* level;    ///< "4.1"; NULL: its choice
  int memory;           ///< hal_encoder_memory
  uint32_t images;      ///< buffers for images, 2..32
  uint32_t packets;     ///< buffers for packets, 2..32; each hal_video_packet holds one
};
typedef struct hal_video_encoder_options hal_video_encoder_options;

/// Writes up to `capacity` codecs and returns how many there are. `out` may be NULL if capacity is
/// 0. errno: EINVAL.
int hal_video_codec_list(hal_video_codec_info* out, size_t capacity);
/// "h264"; "" for other numbers.
const char* hal_video_codec_name(hal_video_codec codec);

// ---- Decoding

hal_video_decoder_options hal_video_decoder_options_default(void);
/// errno: EINVAL (NULL; an option), ENOENT (no node decodes the codec), EACCES, EBUSY, ENOTSUP (no
/// decoder of it), ENOSPC (no capacity), ENOMEM, and what system calls report.
hal_video_decoder* hal_video_decoder_open(const hal_video_decoder_options* options);
/// Images stay valid.
void hal_video_decoder_free(hal_video_decoder* decoder);
/// Hands over the bytes of one image of the stream, which are copied into a buffer of the driver.
/// 1: taken. 0: not taken, because images are ready: call hal_video_decoder_next() and send it
/// again. errno: EINVAL (NULL, 0 bytes), ENOSPC (larger than a buffer; the caller holds all
/// images), ETIMEDOUT, ECANCELED, ENODEV, EIO, ENOTSUP (a child of fork(); a format that is not
/// read).
int hal_video_decoder_send(hal_video_decoder* decoder, const void* bytes, size_t size_bytes,
                           int64_t timestamp_ns, int64_t timeout_ns);
/// 1: the next image. 0: all are out after hal_video_decoder_drain(); `out` is unchanged. errno:
/// those of hal_video_decoder_send(); EBADMSG (drained, and the driver has found no stream), EBUSY
/// (Linux before 5.0 wants the old images back before a new size), ENOMEM.
int hal_video_decoder_next(hal_video_decoder* decoder, int64_t timeout_ns, hal_decoded_image* out);
/// 1: hal_video_decoder_next() would return at once. errno: EINVAL (NULL).
int hal_video_decoder_is_ready(hal_video_decoder* decoder);
/// No more packets come: the driver gives the images that it keeps back. errno: EINVAL, ENODEV.
int hal_video_decoder_drain(hal_video_decoder* decoder);
/// For a seek: drops all packets and images that wait. errno: EINVAL, ENODEV.
int hal_video_decoder_flush(hal_video_decoder* decoder);
/// Makes the call that waits, or else the next one that does, fail with ECANCELED. errno: EINVAL.
int hal_video_decoder_cancel(const hal_video_decoder* decoder);
/// 1: it is known. 0: not before the driver has read it from the stream; `out` is unchanged. errno:
/// EINVAL (NULL).
int hal_video_decoder_get_format(const hal_video_decoder* decoder, hal_decoded_format* out);
/// errno: EINVAL (NULL).
int hal_video_decoder_get_stats(const hal_video_decoder* decoder, hal_video_codec_stats* out);

// ---- Encoding

hal_video_encoder_options hal_video_encoder_options_default(void);
/// errno: those of hal_video_decoder_open(); ENOTSUP (a size, format, bitrate, gop, profile or
/// level that the driver does not offer: hal_last_error() has those that it offers).
hal_video_encoder* hal_video_encoder_open(const hal_video_encoder_options* options);
/// Packets stay valid.
void hal_video_encoder_free(hal_video_encoder* encoder);
/// 1: a buffer of the driver to write an image into; release it with hal_tensor_free(). 0: none is
/// free, because packets are ready: call hal_video_encoder_next() first. errno: ENOTSUP (images are
/// the caller's), and those of hal_video_encoder_encode().
int hal_video_encoder_image(hal_video_encoder* encoder, int64_t timeout_ns, hal_tensor** out);
/// Hands over an image, which must not be changed until its packet is out. 1: taken. 0: not taken,
/// because packets are ready. errno: EINVAL (NULL, size, format), ENOTSUP (memory, stride or place
/// that the driver does not take; no control for key frames), ENOSPC (the caller holds all
/// packets), ETIMEDOUT, ECANCELED, ENODEV, EIO, ENOMEM.
int hal_video_encoder_encode(hal_video_encoder* encoder, const hal_tensor* image,
                             int64_t timestamp_ns, bool is_key_frame, int64_t timeout_ns);
/// 1: the next packet, which holds a buffer of the driver until hal_video_packet_free(). 0: all are
/// out after hal_video_encoder_drain(). errno: as hal_video_encoder_encode().
int hal_video_encoder_next(hal_video_encoder* encoder, int64_t timeout_ns, hal_video_packet** out);
/// 1: hal_video_encoder_next() would return at once. errno: EINVAL (NULL).
int hal_video_encoder_is_ready(hal_video_encoder* encoder);
/// No more images come; after the last packet a new stream may begin. errno: EINVAL, ENODEV.
int hal_video_encoder_drain(hal_video_encoder* encoder);
/// As hal_video_decoder_cancel().
int hal_video_encoder_cancel(const hal_video_encoder* encoder);
/// Row pitch that the driver reads; 0 for NULL.
size_t hal_video_encoder_stride_bytes(const hal_video_encoder* encoder);
/// hal_encoder_memory: automatic before the first image. errno: EINVAL (NULL).
int hal_video_encoder_memory(const hal_video_encoder* encoder);
/// errno: EINVAL (NULL).
int hal_video_encoder_get_stats(const hal_video_encoder* encoder, hal_video_codec_stats* out);
/// As those of a camera.
int hal_video_encoder_controls(const hal_video_encoder* encoder, hal_camera_control* out,
                               size_t capacity);
int hal_video_encoder_set_control(hal_video_encoder* encoder, const char* name, int64_t value);
int hal_video_encoder_set_control_entry(hal_video_encoder* encoder, const char* name,
                                        const char* entry);

/// The bytes, borrowed from the packet; NULL for NULL.
const void* hal_video_packet_data(const hal_video_packet* packet);
size_t hal_video_packet_size_bytes(const hal_video_packet* packet);  ///< 0 for NULL
int64_t hal_video_packet_timestamp_ns(const hal_video_packet* packet);
bool hal_video_packet_is_key_frame(const hal_video_packet* packet);  ///< as the driver marks it
void hal_video_packet_free(hal_video_packet* packet);

HAL_END
