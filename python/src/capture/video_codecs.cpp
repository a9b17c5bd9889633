// SPDX-License-Identifier: Apache-2.0
// The C++ part of halyard.VideoDecoder, VideoEncoder and video_codecs()
// (python/halyard/_video_codecs.py).
#include "halyard/video_codec.h"

#include <nanobind/stl/string.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "args.h"
#include "bindings.h"
#include "capture/captures.h"
#include "enums.h"
#include "halyard/drm.h"
#include "tensor/tensor.h"
#include "values.h"
#include "words.h"

namespace halyard::python {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr std::size_t max_buffers = 1U << 20U;  // the options have lower limits

// Shared, because a thread may wait while another closes the codec.
template <class Codec>
struct PyCodec {
  std::shared_ptr<Codec> codec;  ///< null after close()
  PyMutex mutex;                 ///< of all but cancel() and the counts
};
using PyVideoDecoder = PyCodec<VideoDecoder>;
using PyVideoEncoder = PyCodec<VideoEncoder>;

template <class Codec>
std::shared_ptr<Codec> opened_codec(const PyCodec<Codec>& self) {
  if (!self.codec) raise(Errc::invalid_argument, "codec: it is closed");
  return self.codec;
}

// Calls use(codec), which returns a Status and does not wait.
template <class Codec, class F>
void run_codec(PyCodec<Codec>& self, F&& use) {
  const auto codec = opened_codec(self);
  check(released([&]() -> Status {
    const std::lock_guard lock(self.mutex);
    return use(*codec);
  }));
}

template <class Codec>
bool is_ready(PyCodec<Codec>& self) {
  bool out = false;
  run_codec(self, [&](Codec& codec) {
    out = codec.is_ready();
    return Status();
  });
  return out;
}

nb::list all_codecs() {
  const auto codecs = released([] { return list_video_codecs(); });
  nb::list out;
  for (const VideoCodecInfo& info : codecs) {
    nb::dict entry;
    entry["path"] = str_of(info.path);
    entry["name"] = str_of(info.name);
    entry["driver"] = str_of(info.driver);
    entry["bus"] = str_of(info.bus);
    entry["is_encoder"] = nb::cast(info.is_encoder);
    entry["is_multiplanar"] = nb::cast(info.is_multiplanar);
    nb::list coded;
    for (const VideoCodecInfo::Coded& each : info.coded)
      coded.append(str_of(to_string(each.codec)));
    entry["codecs"] = coded;
    nb::list formats;
    for (const CameraFormat& format : info.raw)
      if (format.layout) formats.append(str_of(to_string(format.layout->format)));
    entry["formats"] = formats;
    entry["reason"] =
        info.usable ? nb::object(nb::none()) : nb::object(str_of(info.usable.error().message()));
    out.append(entry);
  }
  return out;
}

nb::dict codec_stats(const VideoCodecStats& stats) {
  nb::dict out;
  out["packets"] = nb::cast(stats.packets);
  out["images"] = nb::cast(stats.images);
  out["damaged"] = nb::cast(stats.damaged);
  out["refused"] = nb::cast(stats.refused);
  out["copies"] = nb::cast(stats.copies);
  out["formats"] = nb::cast(stats.formats);
  out["held"] = nb::cast(stats.held);
  return out;
}

std::uint32_t count_at(const nb::dict& given, const char* name) {
  return static_cast<std::uint32_t>(size_from(given[name], name, max_buffers));
}

void open_decoder(PyVideoDecoder* self, const nb::dict& given) {
  VideoDecoderOptions options;
  options.codec = word_from<VideoCodec>(given["codec"], "codec", "codec");
  options.path = given["path"].is_none() ? std::string() : path_from(given["path"], "path");
  if (!given["format"].is_none())
    options.format = enum_from<PixelFormat>(given["format"], "format");
  options.width = size_from(given["width"], "width");
  options.height = size_from(given["height"], "height");
  options.packet_bytes = size_from(given["packet_bytes"], "packet_bytes");
  options.packets = count_at(given, "packets");
  options.images = count_at(given, "images");
  VideoDecoder decoder = take(released([&] { return VideoDecoder::open(options); }));
  new (self) PyVideoDecoder();
  self->codec = std::make_shared<VideoDecoder>(std::move(decoder));
}

bool send_packet(PyVideoDecoder& self, nb::handle data, std::int64_t timestamp_ns,
                 double timeout_s) {
  const auto decoder = opened_codec(self);
  const BytesArg bytes(data, "data");
  const VideoPacket packet{bytes.bytes(), nanoseconds(timestamp_ns), false, nullptr};
  return wait_in_slices(self.mutex, timeout_s,
                        [&](milliseconds timeout) { return decoder->send(packet, timeout); });
}

nb::object next_image(PyVideoDecoder& self, double timeout_s) {
  const auto decoder = opened_codec(self);
  auto image = wait_in_slices(self.mutex, timeout_s,
                              [&](milliseconds timeout) { return decoder->next(timeout); });
  if (!image) return nb::none();
  return nb::make_tuple(tensor_result(std::move(image->image)), image->timestamp.count(),
                        image->is_key_frame);
}

nb::object decoded_format(PyVideoDecoder& self) {
  std::optional<DecodedFormat> known;
  run_codec(self, [&](const VideoDecoder& decoder) {
    known = decoder.format();
    return Status();
  });
  if (!known) return nb::none();
  const DecodedFormat& format = *known;
  nb::dict out;
  out["width"] = nb::cast(format.width);
  out["height"] = nb::cast(format.height);
  out["coded_width"] = nb::cast(format.coded_width);
  out["coded_height"] = nb::cast(format.coded_height);
  out["fourcc"] = str_of(fourcc_to_string(format.fourcc));
  out["format"] = str_of(to_string(format.layout.format));
  out["buffers"] = nb::cast(format.buffers);
  out["is_copied"] = nb::cast(format.is_copied);
  return out;
}

void open_encoder(PyVideoEncoder* self, const nb::dict& given) {
  VideoEncoderOptions options;
  options.codec = word_from<VideoCodec>(given["codec"], "codec", "codec");
  options.path = given["path"].is_none() ? std::string() : path_from(given["path"], "path");
  options.width = size_from(given["width"], "width");
  options.height = size_from(given["height"], "height");
  options.format = enum_from<PixelFormat>(given["format"], "format");
  options.colorimetry = colorimetry_from(given["colorimetry"], "colorimetry");
  options.rate = number_from(given["rate"], "rate");
  options.bitrate = size_from(given["bitrate"], "bitrate");
  options.gop = count_at(given, "gop");
  options.profile = text_from(given["profile"], "profile");
  options.level = text_from(given["level"], "level");
  options.memory = word_from<EncoderMemory>(given["memory"], "memory", "kind of memory");
  options.images = count_at(given, "images");
  options.packets = count_at(given, "packets");
  VideoEncoder encoder = take(released([&] { return VideoEncoder::open(options); }));
  new (self) PyVideoEncoder();
  self->codec = std::make_shared<VideoEncoder>(std::move(encoder));
}

nb::object lent_image(PyVideoEncoder& self, double timeout_s) {
  const auto encoder = opened_codec(self);
  auto image = wait_in_slices(self.mutex, timeout_s,
                              [&](milliseconds timeout) { return encoder->image(timeout); });
  return image ? tensor_result(*std::move(image)) : nb::none();
}

bool encode_image(PyVideoEncoder& self, nb::handle image, std::int64_t timestamp_ns,
                  bool is_key_frame, double timeout_s) {
  const auto encoder = opened_codec(self);
  const Tensor tensor = tensor_object(image, "image").value;
  return wait_in_slices(self.mutex, timeout_s, [&](milliseconds timeout) {
    return encoder->encode(tensor, nanoseconds(timestamp_ns), is_key_frame, timeout);
  });
}

// The packet's bytes are copied, so that its buffer returns to the driver.
nb::object next_packet(PyVideoEncoder& self, double timeout_s) {
  const auto encoder = opened_codec(self);
  const auto packet = wait_in_slices(self.mutex, timeout_s,
                                     [&](milliseconds timeout) { return encoder->next(timeout); });
  if (!packet) return nb::none();
  return nb::make_tuple(nb::bytes(packet->bytes.data(), packet->bytes.size()),
                        packet->timestamp.count(), packet->is_key_frame);
}

// What decoders and encoders have in common.
template <class Codec>
nb::class_<PyCodec<Codec>> bind_codec_of(nb::module_& m, const char* name, const char* doc) {
  using Py = PyCodec<Codec>;
  return nb::class_<Py>(m, name, doc)
      .def("is_ready", &is_ready<Codec>, nb::sig("def is_ready(self) -> bool"))
      .def(
          "drain", [](Py& self) { run_codec(self, [](Codec& codec) { return codec.drain(); }); },
          nb::sig("def drain(self) -> None"))
      .def(
          "cancel", [](Py& self) { opened_codec(self)->cancel(); },
          nb::sig("def cancel(self) -> None"))
      .def(
          "close", [](Py& self) { self.codec.reset(); }, nb::sig("def close(self) -> None"))
      .def(
          "path", [](Py& self) { return opened_codec(self)->path(); },
          nb::sig("def path(self) -> str"))
      .def(
          "stats", [](Py& self) { return codec_stats(opened_codec(self)->stats()); },
          nb::sig("def stats(self) -> dict[str, int]"));
}

void bind_video_decoder(nb::module_& m) {
  bind_codec_of<VideoDecoder>(m, "_VideoDecoder", "The C++ part of halyard.VideoDecoder.")
      .def("__init__", &open_decoder, nb::arg("options"),
           nb::sig("def __init__(self, options: dict[str, Any]) -> None"))
      .def("send", &send_packet, nb::arg("data"), nb::arg("timestamp_ns"), nb::arg("timeout"),
           nb::sig("def send(self, data: Any, timestamp_ns: int, timeout: float) -> bool"))
      .def("next", &next_image, nb::arg("timeout"),
           nb::sig("def next(self, timeout: float) -> tuple[Tensor, int, bool] | None"))
      .def(
          "flush",
          [](PyVideoDecoder& self) {
            run_codec(self, [](VideoDecoder& decoder) { return decoder.flush(); });
          },
          nb::sig("def flush(self) -> None"))
      .def("format", &decoded_format, nb::sig("def format(self) -> dict[str, Any] | None"));
}

void bind_video_encoder(nb::module_& m) {
  bind_codec_of<VideoEncoder>(m, "_VideoEncoder", "The C++ part of halyard.VideoEncoder.")
      .def("__init__", &open_encoder, nb::arg("options"),
           nb::sig("def __init__(self, options: dict[str, Any]) -> None"))
      .def("image", &lent_image, nb::arg("timeout"),
           nb::sig("def image(self, timeout: float) -> Tensor | None"))
      .def("encode", &encode_image, nb::arg("image"), nb::arg("timestamp_ns"),
           nb::arg("is_key_frame"), nb::arg("timeout"),
           nb::sig("def encode(self, image: Tensor, timestamp_ns: int, is_key_frame: bool, "
                   "timeout: float) -> bool"))
      .def("next", &next_packet, nb::arg("timeout"),
           nb::sig("def next(self, timeout: float) -> tuple[bytes, int, bool] | None"))
      .def(
          "stride_bytes", [](PyVideoEncoder& self) { return opened_codec(self)->stride_bytes(); },
          nb::sig("def stride_bytes(self) -> int"))
      .def(
          "memory",
          [](PyVideoEncoder& self) { return str_of(to_string(opened_codec(self)->memory())); },
          nb::sig("def memory(self) -> str"))
      .def(
          "controls",
          [](PyVideoEncoder& self) {
            const auto encoder = opened_codec(self);
            return controls_result(take(released([&] { return encoder->controls(); })));
          },
          nb::sig("def controls(self) -> list[dict[str, Any]]"))
      .def(
          "set_control",
          [](PyVideoEncoder& self, nb::handle name, nb::handle value) {
            const auto encoder = opened_codec(self);
            set_named_control(*encoder, name, value);
          },
          nb::arg("name"), nb::arg("value"),
          nb::sig("def set_control(self, name: str, value: int | str) -> None"));
}

}  // namespace

void bind_video_codecs(nb::module_& m) {
  m.def("_video_codecs", &all_codecs, nb::sig("def _video_codecs() -> list[dict[str, Any]]"));
  bind_video_decoder(m);
  bind_video_encoder(m);
}

}  // namespace halyard::python
