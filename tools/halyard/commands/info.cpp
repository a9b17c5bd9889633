// SPDX-License-Identifier: Apache-2.0
// halyard info: describes a file by its header; a video or folder by its first frame; a camera or
// hardware codec by what it offers.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "commands/commands.h"
#include "halyard/camera.h"
#include "halyard/capture.h"
#include "halyard/codec.h"
#include "halyard/model.h"
#include "halyard/npy.h"
#include "halyard/video_codec.h"
#include "input/input_file.h"
#include "input/json_document.h"
#include "options/limit_options.h"
#include "options/values.h"
#include "report.h"

namespace halyard::tool {
namespace {

struct InfoCommand {
  std::vector<std::string> files;
  bool is_json = false;
};

Json info_of(const ImageFileInfo& header) {
  Json out;
  out["type"] = to_string(header.type);
  out["width"] = header.width;
  out["height"] = header.height;
  out["native_format"] = to_string(header.native_format);
  out["components"] = header.components;
  out["bit_depth"] = header.bit_depth;
  out["progressive"] = header.progressive;
  out["palette"] = header.palette;
  out["exif_orientation"] = header.exif_orientation;
  const Size shown =
      oriented({static_cast<std::int32_t>(header.width), static_cast<std::int32_t>(header.height)},
               header.orientation);
  out["upright_width"] = shown.width;
  out["upright_height"] = shown.height;
  out["color_encoding"] = to_string(header.colorimetry.encoding);
  out["color_range"] = to_string(header.colorimetry.range);
  return out;
}

Json info_of(const TensorSpec& spec) {
  Json out;
  out["name"] = spec.name;
  out["dtype"] = to_string(spec.dtype);
  out["shape"] = spec.shape;
  if (spec.format) out["format"] = to_string(*spec.format);
  if (spec.quantization) {
    out["scale"] = spec.quantization->scale;
    out["zero_point"] = spec.quantization->zero_point;
  }
  return out;
}

Json info_of(const ModelMetadata& metadata, const std::string& runtime,
             std::optional<BoxUnits> box_units) {
  Json out;
  out["type"] = "model";
  out["runtime"] = runtime;
  for (const TensorSpec& spec : metadata.inputs)
    out["inputs"].push_back(info_of(spec));
  for (const TensorSpec& spec : metadata.outputs)
    out["outputs"].push_back(info_of(spec));
  if (box_units) out["box_units"] = *box_units == BoxUnits::pixels ? "pixels" : "fraction";
  const auto description = infer_description(metadata);
  const auto decoder =
      description ? Decoder::create(*description) : Result<Decoder>(description.error());
  out["decoder"] = decoder ? decoder->explain() : decoder.error().message();
  if (description) {
    out["description"] = json_from(description->to_json());
    for (const std::string& warning : description->warnings)
      out["warnings"].push_back(warning);
  }
  out["metadata"] = metadata.metadata;
  return out;
}

/// Describes a model through the engine; if the engine does not support it, from the file itself.
Result<Json> describe_model_file(const std::string& path) {
  const auto engine = Engine::open(path);
  if (engine) return info_of(metadata_of(*engine), engine->runtime(), box_units(*engine));
  if (engine.error().code != Errc::unsupported) return engine.error();
  const auto metadata = metadata_of_file(path);
  if (!metadata) return engine.error();
  return info_of(*metadata, "none: " + engine.error().message(), std::nullopt);
}

/// Describes a folder, a video or a stream by its first frame and its count of frames.
Result<Json> describe_frames(const std::string& path) {
  HALYARD_TRY(auto source, FrameSource::open(path));
  HALYARD_TRY(const auto frame, source.next());
  if (!frame) return make_error(Errc::malformed, "has no frame", path);
  std::error_code ignored;
  const auto count = source.frame_count();
  Json out;
  if (std::filesystem::is_directory(path, ignored)) {
    out["type"] = "folder";
    out["pictures"] = count.value_or(0);
  } else {
    out["type"] = "video";
    out["frames"] = count ? Json(*count) : Json(nullptr);
    out["rate"] = source.rate();
  }
  const Size size = frame->image.upright_size();
  out["width"] = size.width;
  out["height"] = size.height;
  out["native_format"] = to_string(*frame->image.format());
  return out;
}

std::string info_of(const CameraSize& size) {
  std::string text = size.min_width == size.width && size.min_height == size.height
                         ? ""
                         : fmt::format("{}x{} to ", size.min_width, size.min_height);
  text += fmt::format("{}x{}", size.width, size.height);
  for (std::size_t i = 0; i < size.rates.size(); ++i)
    text += fmt::format("{}{:.4g}", i == 0 ? " at " : (size.is_rate_range ? " to " : ", "),
                        size.rates[i]);
  return text;
}

Json info_of(const CameraFormat& format) {
  Json out;
  out["fourcc"] = fourcc_to_string(format.fourcc);
  out["description"] = format.description;
  out["format"] = format.layout ? Json(to_string(format.layout->format)) : Json(nullptr);
  out["is_read"] = format.is_readable();
  out["sizes"] = Json::array();
  for (const CameraSize& size : format.sizes)
    out["sizes"].push_back(info_of(size));
  return out;
}

Json info_of(const CameraControl& control) {
  Json out;
  out["name"] = control.name;
  out["kind"] = to_string(control.kind);
  out["value"] = control.value;
  out["minimum"] = control.minimum;
  out["maximum"] = control.maximum;
  out["default"] = control.default_value;
  out["menu"] = Json::array();
  for (const auto& [value, text] : control.menu)
    out["menu"].push_back(fmt::format("{}: {}", value, text));
  return out;
}

Json info_of(const CameraInfo& camera) {
  Json out;
  out["type"] = "camera";
  out["name"] = camera.name;
  out["driver"] = camera.driver;
  out["bus"] = camera.bus;
  out["api"] = camera.is_multiplanar ? "multi-planar" : "single-planar";
  out["formats"] = Json::array();
  for (const CameraFormat& format : camera.formats)
    out["formats"].push_back(info_of(format));
  out["controls"] = Json::array();
  for (const CameraControl& control : camera.controls)
    out["controls"].push_back(info_of(control));
  return out;
}

Json info_of(const VideoCodecInfo& info) {
  Json out;
  out["type"] = "codec";
  out["name"] = info.name;
  out["driver"] = info.driver;
  out["bus"] = info.bus;
  out["api"] = info.is_multiplanar ? "multi-planar" : "single-planar";
  out["direction"] = info.is_encoder ? "encodes" : "decodes";
  out["codecs"] = Json::array();
  for (const VideoCodecInfo::Coded& coded : info.coded) {
    Json& each = out["codecs"].emplace_back();
    each["codec"] = to_string(coded.codec);
    each["fourcc"] = fourcc_to_string(coded.fourcc);
    each["description"] = coded.description;
    each["sizes"] = Json::array();
    for (const CameraSize& size : coded.sizes)
      each["sizes"].push_back(info_of(size));
  }
  out["formats"] = Json::array();
  for (const CameraFormat& format : info.raw)
    out["formats"].push_back(info_of(format));
  return out;
}

/// A hardware codec that can be opened; nullopt: the node is none.
std::optional<Json> describe_codec(const std::string& path) {
  for (const VideoCodecInfo& info : list_video_codecs())
    if (info.path == path && info.usable) return info_of(info);
  return std::nullopt;
}

bool is_array(std::span<const std::byte> file) {
  constexpr std::string_view magic = "\x93NUMPY";
  return file.size() >= magic.size() && std::memcmp(file.data(), magic.data(), magic.size()) == 0;
}

Result<Json> describe_bytes(std::span<const std::byte> file) {
  Json out;
  if (is_array(file)) {
    HALYARD_TRY(const auto array, decode_npy(file));
    out["type"] = "array";
    out["dtype"] = to_string(array.dtype());
    out["shape"] = array.shape();
  } else {
    HALYARD_TRY(const auto header, peek(file));
    out = info_of(header);
  }
  out["bytes"] = file.size();
  return out;
}

/// Whether a path is /dev/videoN, or a link to it.
bool is_video_node(const std::string& path) {
  std::error_code error;
  const auto node = std::filesystem::canonical(path, error);
  return !error && node.filename().string().starts_with("video") &&
         std::filesystem::is_character_file(node, error);
}

/// Chooses by the file name, else by the first bytes.
Result<Json> describe_file(const std::string& path) {
  const std::string extension = extension_of(path);
  if (extension == ".onnx" || extension == ".tflite" || extension == ".xml")
    return describe_model_file(path);
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored) || path.find("://") != std::string::npos)
    return describe_frames(path);
  if (std::filesystem::is_regular_file(path, ignored)) {
    std::array<std::byte, 18> head{};
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(head.data()), head.size());
    const auto bytes = std::span(head).first(static_cast<std::size_t>(in.gcount()));
    const bool is_known = image_file_type(bytes) || image_file_type(std::string_view(path)) ||
                          is_array(bytes) || extension == ".npy";
    if (!is_known && !bytes.empty()) return describe_frames(path);
  }
  if (is_video_node(path)) {
    const auto camera = camera_info(path);
    if (camera) return info_of(*camera);
    if (camera.error().code != Errc::unsupported) return camera.error();
    if (auto codec = describe_codec(path)) return *std::move(codec);
  }
  HALYARD_TRY(const auto file, read_input(path));
  return describe_bytes(file);
}

/// At most 80 bytes, cut between characters.
std::string shortened(const std::string& text) {
  std::size_t size = std::min<std::size_t>(text.size(), 80);
  while (size > 0 && size < text.size() && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80)
    --size;
  return text.substr(0, size);
}

/// Prints one line per line of the text, aligned below each other.
void print_value(const std::string& key, std::string_view text) {
  std::string_view name = key;
  do {
    const std::size_t end = std::min(text.find('\n'), text.size());
    print_line(fmt::format("  {:<17} {}", std::exchange(name, ""), text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  } while (!text.empty());
}

void print_text(const std::string& path, const Json& description) {
  print_line(path);
  for (const auto& [key, value] : description.items()) {
    if (key == "description") continue;  // long, and the decoder's lines have the same content
    if (key == "metadata") {
      for (const auto& [name, text] : value.items())
        print_line(fmt::format("  {:<17} {}", name, shortened(text.get<std::string>())));
      continue;
    }
    if (!value.is_array()) {
      print_value(key, value.is_string() ? value.get<std::string>() : json_text(value));
      continue;
    }
    for (const Json& entry : value)
      print_line(fmt::format("  {:<17} {}", key, json_text(entry)));
  }
}

int show(const InfoCommand& command) {
  int code = exit_ok;
  Json all = Json::array();
  for (const std::string& path : command.files) {
    auto description = describe_file(path);
    if (!description) {
      code = report(path, description.error());
      continue;
    }
    if (!command.is_json) {
      print_text(path, *description);
      continue;
    }
    Json entry = {{"file", path}};
    entry.update(*description);
    all.push_back(std::move(entry));
  }
  if (command.is_json) print_lines(json_text(json_document({{"files", all}}), 2));
  return code;
}

}  // namespace

CommandSpec info_command() {
  auto command = std::make_shared<InfoCommand>();
  CommandSpec spec{
      "info", "What an image, folder, video, camera, codec, array or model is",
      "Of a folder, a video or a stream the first frame is decoded; a camera or a hardware codec\n"
      "is asked what it offers; of all else the header is read.\n"
      "\n"
      "Examples:\n  halyard info photo.jpg clip/ harbour.mp4\n  halyard info yolov8n.onnx --json\n"
      "  halyard info /dev/video0\n"
      "  curl -s https://example.org/photo.webp | halyard info -"};
  spec.option("files", &command->files,
              "Images, folders, videos, cameras and hardware codecs (/dev/video0), arrays (.npy), "
              "models (.onnx, .tflite, .xml), or - for standard input")
      .required();
  spec.option("--json", &command->is_json, "JSON on standard output");
  add_limit_options(spec);
  spec.action = [command] { return show(*command); };
  return spec;
}

}  // namespace halyard::tool
