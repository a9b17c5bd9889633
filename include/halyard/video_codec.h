// SPDX-License-Identifier: Apache-2.0
// VideoDecoder and VideoEncoder: coded video on the hardware codecs of V4L2 (stateful, from memory
// to memory), with images in the driver's DMA-BUFs, without a copy.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halyard/camera.h"
#include "halyard/export.h"
#include "halyard/format.h"
#include "halyard/geometry.h"
#include "halyard/result.h"
#include "halyard/tensor.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// What video is coded in. fwht: the code of vicodec, the kernel's test codec.
enum class VideoCodec : std::uint8_t { h264, hevc, mpeg2, mpeg4, vp8, vp9, av1, mjpeg, fwht };
std::string_view to_string(VideoCodec codec) noexcept;
/// V4L2_PIX_FMT_* of a whole stream, as stateful codecs take it.
std::uint32_t v4l2_coded_format(VideoCodec codec) noexcept;
/// nullopt: not in this list, also the codes of stateless codecs.
std::optional<VideoCodec> codec_from_v4l2(std::uint32_t fourcc) noexcept;

/// A hardware codec of this machine: a node that decodes or one that encodes.
struct VideoCodecInfo {
  std::string path;  ///< "/dev/video10"
  std::string name;
  std::string driver;  ///< "vicodec"
  std::string bus;
  bool is_encoder = false;
  bool is_multiplanar = false;
  struct Coded {
    VideoCodec codec = VideoCodec::h264;
    std::uint32_t fourcc = 0;
    std::string description;        ///< by the driver
    std::vector<CameraSize> sizes;  ///< empty: the driver lists none
  };
  std::vector<Coded> coded;       ///< what it decodes or encodes
  std::vector<CameraFormat> raw;  ///< formats of the images
  Status usable;                  ///< the error is the reason why this process cannot open it
};
/// The hardware codecs of this machine, by the numbers of their nodes. Converters and stateless
/// codecs are left out; so is a node that cannot be opened, unless its name has "codec", "enc" or
/// "dec" in it. Opens each node for a moment. Thread-safe.
std::vector<VideoCodecInfo> list_video_codecs();

/// Coded bytes of one image: what the decoder takes, and what the encoder returns. H.264 and HEVC
/// are in Annex B (with start codes), with the parameter sets before each key frame that may come
/// first.
struct VideoPacket {
  std::span<const std::byte> bytes;
  /// Returned with the image. Microseconds; the rest of the division is lost.
  std::chrono::nanoseconds timestamp{0};
  bool is_key_frame = false;  ///< as the encoder's driver marks it; not read by the decoder
  /// Keeps `bytes` alive: a buffer of the encoder, which returns with the last copy. May be null
  /// for the decoder.
  std::shared_ptr<const void> memory;
};

struct VideoDecoderOptions {
  VideoCodec codec = VideoCodec::h264;
  /// A node of list_video_codecs(); empty: the first that decodes `codec`.
  std::string path = {};
  /// The images' format, one that the driver offers for the stream; unset: the driver's choice.
  std::optional<PixelFormat> format = {};
  /// Size of the stream, where it is known: drivers make the packets' buffers from it. 0: unknown.
  std::size_t width = 0;
  std::size_t height = 0;
  /// Largest packet; 0: the driver's choice, at least 1 MiB.
  std::size_t packet_bytes = 0;
  std::uint32_t packets = 4;  ///< buffers for packets, 2..32
  /// Images that the caller can hold at once, 1..28. The driver gets those that it needs besides.
  std::uint32_t images = 4;
};

/// What a decoder delivers, from the first image on; changes with the stream.
struct DecodedFormat {
  std::size_t width = 0;  ///< of the images
  std::size_t height = 0;
  /// The images' place in the driver's larger frame (its compose rectangle).
  Region visible;
  std::size_t coded_width = 0;
  std::size_t coded_height = 0;
  std::uint32_t fourcc = 0;  ///< of the frame
  PixelLayout layout{PixelFormat::nv12};
  Colorimetry colorimetry;  ///< as the driver reads it from the stream
  std::uint32_t buffers = 0;
  bool is_copied = false;  ///< the driver exports no buffers: each image is copied and counted
};

struct DecodedImage {
  /// Over the driver's buffer, a DMA-BUF, which returns to the driver when the last copy, view and
  /// map of the image is destroyed, on any thread, also after the decoder is. Read-only by
  /// contract: a driver may predict later images from it.
  Tensor image;
  std::chrono::nanoseconds timestamp{0};  ///< of its packet
  bool is_key_frame = false;
};

/// Counts since open().
struct VideoCodecStats {
  std::uint64_t packets = 0;  ///< taken by the decoder, returned by the encoder
  std::uint64_t images = 0;   ///< returned by the decoder, taken by the encoder
  std::uint64_t damaged = 0;  ///< outputs that the driver marks as damaged; left out
  std::uint64_t refused = 0;  ///< inputs that the driver could not read
  std::uint64_t copies = 0;   ///< images that were copied
  std::uint64_t formats = 0;  ///< times that the decoder's images changed their format
  std::uint32_t held = 0;     ///< buffers of images that the caller holds now
};

/// Decodes one stream. Images come in the order of display. A loop that never waits in vain:
///
///   while (auto packet = read()) {
///     while (!*decoder.send(*packet)) show(**decoder.next());
///     while (decoder.is_ready()) show(**decoder.next());
///   }
///   decoder.drain();
///   while (auto image = *decoder.next()) show(*image);
///
/// Serves one thread at a time; cancel() and stats() are thread-safe. A child of fork() can use
/// images that it has, but not the decoder.
class VideoDecoder {
 public:
  /// Errors: invalid_argument (options; the message names the field and its limit), not_found (no
  /// node decodes the codec: the message has what there is), permission, busy, unsupported (no
  /// decoder of this codec), exhausted, no_memory, device, os.
  static Result<VideoDecoder> open(const VideoDecoderOptions& options);
  VideoDecoder(VideoDecoder&&) noexcept;
  VideoDecoder& operator=(VideoDecoder&&) noexcept;
  /// Images stay valid.
  ~VideoDecoder();

  const std::string& path() const noexcept;
  /// nullopt before the driver has read it from the stream.
  const std::optional<DecodedFormat>& format() const noexcept;

  /// Writes a packet, one image of the stream in decoding order, into a buffer of the driver. Waits
  /// at most `timeout` for a free one (negative: for ever). False: not taken, because images are
  /// ready; call next() and send it again. After drain() and the last image it begins again.
  /// Errors: invalid_argument (empty), exhausted (larger than a buffer; the caller holds all
  /// images), timeout, cancelled, device (ENODEV, EIO), unsupported (a child of fork(); a frame
  /// format that is not read).
  Result<bool> send(const VideoPacket& packet,
                    std::chrono::milliseconds timeout = std::chrono::seconds(10));
  /// The next image; nullopt: all are out after drain(). Damaged ones are counted and skipped.
  /// Where the stream changes its size or format, so do the images; those of before stay valid.
  /// Errors: those of send(); malformed (drained, and the driver has found no stream), busy (a
  /// driver before Linux 5.0 wants its old buffers back before a new size).
  Result<std::optional<DecodedImage>> next(
      std::chrono::milliseconds timeout = std::chrono::seconds(10));
  /// Whether next() would return at once: an image, the end or an error.
  bool is_ready();
  /// No more packets come: the driver gives the images that it keeps back. Errors: device.
  Status drain();
  /// For a seek: drops all packets and images that wait. The next packet begins a key frame.
  /// Errors: device.
  Status flush();
  /// Makes the call that waits, or else the next one that does, fail with cancelled. Thread-safe;
  /// may be called from a signal handler.
  void cancel() noexcept;
  VideoCodecStats stats() const;

 private:
  struct Impl;
  explicit VideoDecoder(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

/// Where the encoder reads images.
enum class EncoderMemory : std::uint8_t {
  automatic,       ///< as the first image allows: caller_buffers, else driver_buffers
  driver_buffers,  ///< image() lends the driver's buffers to fill; other images are copied
  caller_buffers,  ///< images in DMA-BUFs of the caller are imported; others are refused
};
std::string_view to_string(EncoderMemory memory) noexcept;

struct VideoEncoderOptions {
  VideoCodec codec = VideoCodec::h264;
  std::string path = {};  ///< as VideoDecoderOptions
  std::size_t width = 0;  ///< of the images
  std::size_t height = 0;
  PixelFormat format = PixelFormat::nv12;
  Colorimetry colorimetry = {};  ///< of the images, written into the stream
  double rate = 30;              ///< images per second, above 0, up to 1000
  std::uint64_t bitrate = 0;     ///< bits per second; 0: the driver's choice
  std::uint32_t gop = 0;         ///< images from one key frame to the next; 0: the driver's choice
  std::string profile = {};      ///< an entry of the driver's menu: "High"; empty: its choice
  std::string level = {};        ///< "4.1"
  EncoderMemory memory = EncoderMemory::automatic;
  std::uint32_t images = 4;   ///< buffers for images, 2..32
  std::uint32_t packets = 4;  ///< buffers for packets, 2..32; each VideoPacket holds one
};

/// Encodes one stream. Serves one thread at a time; cancel() and stats() are thread-safe, and so is
/// the release of packets and images.
class VideoEncoder {
 public:
  /// Errors: those of VideoDecoder::open(); unsupported (size, format, bitrate, gop, profile or
  /// level that the driver does not offer: the message has those that it offers).
  static Result<VideoEncoder> open(const VideoEncoderOptions& options);
  VideoEncoder(VideoEncoder&&) noexcept;
  VideoEncoder& operator=(VideoEncoder&&) noexcept;
  ~VideoEncoder();

  const std::string& path() const noexcept;
  /// Row pitch that the driver reads.
  std::size_t stride_bytes() const noexcept;
  /// automatic before the first image.
  EncoderMemory memory() const noexcept;

  /// A buffer of the driver to write an image into, a DMA-BUF; it returns with the last copy, or
  /// when it is encoded. Its bytes are those of an earlier image. nullopt: none is free, because
  /// packets are ready; call next() first. Errors: unsupported
  /// (caller_buffers; the driver exports none), exhausted (all are in use until `timeout`), those
  /// of encode().
  Result<std::optional<Tensor>> image(std::chrono::milliseconds timeout = std::chrono::seconds(10));
  /// Hands over an image, which must not be changed until its packet is out. False: not taken,
  /// because packets are ready; call next() and encode it again. `is_key_frame` asks for a key
  /// frame. Errors: invalid_argument (size or format), unsupported (caller_buffers: memory, stride
  /// or place that the driver does not take; is_key_frame without that control), exhausted (the
  /// caller holds all packets), timeout, cancelled, device, those of allocate() and copy() for
  /// images that are copied.
  Result<bool> encode(const Tensor& image, std::chrono::nanoseconds timestamp,
                      bool is_key_frame = false,
                      std::chrono::milliseconds timeout = std::chrono::seconds(10));
  /// The next packet in decoding order; nullopt: all are out after drain(). Errors: as encode().
  Result<std::optional<VideoPacket>> next(
      std::chrono::milliseconds timeout = std::chrono::seconds(10));
  /// Whether next() would return at once.
  bool is_ready();
  /// No more images come; after the last packet encode() begins a new stream. Errors: device.
  Status drain();
  void cancel() noexcept;  ///< as that of VideoDecoder
  VideoCodecStats stats() const;

  /// As those of Camera.
  Result<std::vector<CameraControl>> controls() const;
  Status set_control(std::string_view name, std::int64_t value);
  Status set_control(std::string_view name, std::string_view entry);

 private:
  struct Impl;
  explicit VideoEncoder(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halyard
HALYARD_EXPORTS_END
