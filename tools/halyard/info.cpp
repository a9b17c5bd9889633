// SPDX-License-Identifier: Apache-2.0
// halyard info: what the header of a picture or a model says, without decoding it.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "commands.h"
#include "halyard/codec.h"
#include "halyard/model.h"
#include "json_document.h"
#include "limit_options.h"
#include "report.h"
#include "values.h"

namespace halyard::tool {
namespace {

using Json = nlohmann::ordered_json;

struct InfoCommand {
  std::vector<std::string> files;
  bool is_json = false;
};

Json describe(const ImageFileInfo& header) {
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

Json describe(const TensorSpec& spec) {
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

Json describe(const ModelSignals& signals, const std::string& runtime,
              std::optional<BoxUnits> box_units) {
  Json out;
  out["type"] = "model";
  out["runtime"] = runtime;
  for (const TensorSpec& spec : signals.inputs)
    out["inputs"].push_back(describe(spec));
  for (const TensorSpec& spec : signals.outputs)
    out["outputs"].push_back(describe(spec));
  if (box_units) out["box_units"] = *box_units == BoxUnits::pixels ? "pixels" : "fraction";
  const auto description = infer_description(signals);
  const auto decoder =
      description ? Decoder::create(*description) : Result<Decoder>(description.error());
  out["decoder"] = decoder ? decoder->explain() : decoder.error().message();
  if (description) {
    out["description"] = Json::parse(description->to_json());
    for (const std::string& warning : description->warnings)
      out["warnings"].push_back(warning);
  }
  out["metadata"] = signals.metadata;
  return out;
}

/// By the engine, and where it does not serve the model by what the file itself says.
Result<Json> describe_model_file(const std::string& path) {
  const auto engine = Engine::open(path);
  if (engine) return describe(signals_of(*engine), engine->runtime(), box_units(*engine));
  if (engine.error().code != Errc::unsupported) return engine.error();
  const auto signals = signals_of_file(path);
  if (!signals) return engine.error();
  return describe(*signals, "none: " + engine.error().message(), std::nullopt);
}

Result<Json> describe_file(const std::string& path) {
  const std::string extension = extension_of(path);
  if (extension == ".onnx" || extension == ".tflite" || extension == ".xml")
    return describe_model_file(path);
  HALYARD_TRY(const auto file, read_input(path));
  HALYARD_TRY(const auto header, peek(file));
  Json out = describe(header);
  out["bytes"] = file.size();
  return out;
}

/// At most 80 bytes, cut between characters.
std::string shortened(const std::string& text) {
  std::size_t size = std::min<std::size_t>(text.size(), 80);
  while (size > 0 && size < text.size() && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80)
    --size;
  return text.substr(0, size);
}

/// Lines of a longer text stand below one another.
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
    if (key == "description") continue;  // long, and the decoder's lines say the same
    if (key == "metadata") {
      for (const auto& [name, text] : value.items())
        print_line(fmt::format("  {:<17} {}", name, shortened(text.get<std::string>())));
      continue;
    }
    if (!value.is_array()) {
      print_value(key, value.is_string() ? value.get<std::string>() : value.dump());
      continue;
    }
    for (const Json& entry : value)
      print_line(fmt::format("  {:<17} {}", key,
                             entry.dump(-1, ' ', false, Json::error_handler_t::replace)));
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
  if (command.is_json)
    print_lines(
        json_document({{"files", all}}).dump(2, ' ', false, Json::error_handler_t::replace));
  return code;
}

}  // namespace

void add_info(CLI::App& app, Action& action) {
  auto command = std::make_shared<InfoCommand>();
  CLI::App* sub = app.add_subcommand("info", "What a picture's header or a model file says");
  sub->footer("Examples:\n  halyard info photo.jpg\n  halyard info yolov8n.onnx --json");
  sub->add_option("files", command->files, "JPEG, PNG, .onnx, .tflite or .xml files")->required();
  sub->add_flag("--json", command->is_json, "JSON on standard output");
  add_limit_options(*sub);
  sub->callback([&action, command] { action = [command] { return show(*command); }; });
}

}  // namespace halyard::tool
