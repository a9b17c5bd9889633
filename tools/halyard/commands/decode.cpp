// SPDX-License-Identifier: Apache-2.0
// halyard decode: turns recorded network outputs into detections.

#include <chrono>
#include <memory>

#include "commands/commands.h"
#include "halyard/decode.h"
#include "halyard/model.h"
#include "halyard/npy.h"
#include "halyard/placement.h"
#include "input/input_file.h"
#include "options/paths.h"
#include "options/values.h"
#include "output/record.h"
#include "report.h"

namespace halyard::tool {
namespace {

struct DecodeCommand {
  std::vector<std::string> files;
  std::optional<Quantization> quantization;
  std::optional<Size> input_size;
  std::optional<Size> source_size;
  std::string box_units;
  std::string config;
  std::string labels;
  std::string json;
  DecodeOptions decode;
};

/// Reads a description: from a document, or from the metadata of an ONNX file.
Result<ModelDescription> read_description(const std::string& path) {
  if (extension_of(path) != ".onnx") return ModelDescription::from_file(path);
  HALYARD_TRY(const auto metadata, metadata_of_file(path));
  return infer_description(metadata);
}

Result<Decoder> make_decoder(const DecodeCommand& command, std::span<const TensorSpec> outputs) {
  const Size input = command.input_size.value_or(Size{});
  if (command.config.empty()) {
    std::optional<BoxUnits> units;
    if (!command.box_units.empty())
      units = command.box_units == "pixels" ? BoxUnits::pixels : BoxUnits::fraction;
    return Decoder::for_outputs(outputs, input, command.decode, units);
  }
  HALYARD_TRY(auto description, read_description(command.config));
  if (command.input_size) description.input = input;
  return Decoder::create(std::move(description), command.decode);
}

/// Whether a decoder could be made if the size of the network's input were known.
bool lacks_input_size(DecodeCommand command, std::span<const TensorSpec> outputs) {
  if (command.input_size) return false;
  command.input_size = Size{640, 640};
  return make_decoder(command, outputs).has_value();
}

/// The map between the network's input and the source, letterboxed as `halyard run` does.
Placement placement_of(Size source, Size input) {
  return {source, Region{0, 0, source.width, source.height}, Orientation{}, input,
          letterbox_region(source, input)};
}

Result<FrameRecord> decode_frame(const DecodeCommand& command, std::vector<Tensor> outputs,
                                 const Decoder& decoder) {
  FrameRecord record;
  record.source = command.files[0];
  const auto start = std::chrono::steady_clock::now();
  Decoded decoded;
  HALYARD_RETURN_IF_ERROR(decoder.decode_into(outputs, decoded));
  const Size input = decoder.description().input;
  record.size = input;
  if (command.source_size) {
    record.size = *command.source_size;
    const Placement placement = placement_of(record.size, input);
    fill_objects(decoded, placement.to_source(decoded.detections), &placement, record);
  } else {
    fill_objects(decoded, decoded.detections, nullptr, record);
  }
  const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
  record.timing_us.emplace_back("decode", time.count());
  return record;
}

int write_record(const DecodeCommand& command, const FrameRecord& record,
                 const std::vector<std::string>& labels) {
  if (command.json.empty()) {
    print_line(summary_line(record, labels));
    for (const FrameObject& seen : record.objects)
      print_line(detail_line(seen, labels));
    return exit_ok;
  }
  auto json = JsonWriter::create(command.json, labels);
  if (!json) return report("--json " + command.json, json.error());
  if (auto added = json->add(record); !added)
    return report("--json " + command.json, added.error());
  if (auto done = json->finish(); !done) return report("--json " + command.json, done.error());
  return exit_ok;
}

int check_paths(const DecodeCommand& command) {
  PathCheck paths;
  for (const std::string& file : command.files)
    paths.stream_input("file", file);
  return paths.model("--config", command.config)
      .input("--labels", command.labels)
      .stream_output("--json", command.json)
      .run();
}

TensorSpec spec_of(const std::string& name, const Tensor& tensor) {
  return {name,
          tensor.dtype(),
          {tensor.shape().begin(), tensor.shape().end()},
          tensor.quantization(),
          std::nullopt};
}

int decode(const DecodeCommand& command) {
  if (const int code = check_paths(command); code != exit_ok) return code;
  std::vector<Tensor> outputs;
  std::vector<TensorSpec> specs;
  for (const std::string& file : command.files) {
    const auto bytes = read_input(file);
    if (!bytes) return report(file, bytes.error());
    auto tensor = decode_npy(*bytes);
    if (!tensor) return report(file, tensor.error());
    if (command.quantization && is_integer(tensor->dtype()))
      if (auto set = tensor->set_quantization(command.quantization); !set)
        return report("--quant", set.error());
    specs.push_back(spec_of(file, *tensor));
    if (is_integer(tensor->dtype()) && !tensor->quantization() && command.config.empty())
      return report_usage("--quant", "needed: " + file + " holds integers");
    outputs.push_back(*std::move(tensor));
  }
  auto decoder = make_decoder(command, specs);
  if (!decoder && lacks_input_size(command, specs))
    return report_usage("--input-size", decoder.error().message());
  if (!decoder)
    return report(command.config.empty() ? command.files[0] : "--config " + command.config,
                  decoder.error());
  if (command.source_size && decoder->description().input == Size{})
    return report_usage("--input-size", "needed to undo the letterbox of --source-size");
  std::vector<std::string> labels = decoder->description().labels;
  if (!command.labels.empty()) {
    auto lines = read_lines(command.labels);
    if (!lines) return report("--labels", lines.error());
    if (const int code = check_label_count(lines->size(), decoder->class_count()); code != exit_ok)
      return code;
    labels = *std::move(lines);
  }
  const auto record = decode_frame(command, std::move(outputs), *decoder);
  if (!record) return report(command.files[0], record.error());
  return write_record(command, *record, labels);
}

constexpr const char* decode_examples =
    "Without --source-size boxes are pixels of the network's input.\n"
    "\n"
    "Examples:\n"
    "  halyard decode output.npy --quant 0.0039,-128 --input-size 640x640 --json -\n"
    "  halyard decode output.npy --box-units fraction --input-size 640x640 --source-size 810x1080";

}  // namespace

CommandSpec decode_command() {
  auto command = std::make_shared<DecodeCommand>();
  CommandSpec spec{"decode", "Detections from recorded network outputs (.npy)", decode_examples};
  spec.option("files", &command->files, "One .npy file per output of the network").required();
  spec.parsed("--quant", command->quantization, parse_quantization,
              "SCALE,ZERO_POINT with a scale above 0",
              "SCALE,ZERO_POINT of integer outputs: real = (stored - zero point) * scale");
  spec.parsed("--input-size", command->input_size, parse_size, "WxH with 1..65535 each",
              "WxH of the network's input");
  spec.parsed("--source-size", command->source_size, parse_size, "WxH with 1..65535 each",
              "WxH of the image that was letterboxed into the input; boxes become its pixels");
  spec.word("--box-units", command->box_units, {"fraction", "pixels"},
            "fraction or pixels: how boxes are stored; default: fraction for integers, pixels for "
            "floats");
  spec.option("--config", &command->config,
              "Description of the outputs (.json, .yaml), or the model itself (.onnx)");
  spec.option("--labels", &command->labels, "Class names, one a line");
  spec.option("--score", &command->decode.score_threshold, "Least score of a detection")
      .in(0.0, 1.0)
      .shown();
  spec.option("--iou", &command->decode.iou_threshold, "Most overlap of two of a class")
      .in(0.0, 1.0)
      .shown();
  spec.option("--json", &command->json, "Write JSON; - is standard output");
  spec.action = [command] { return decode(*command); };
  return spec;
}

}  // namespace halyard::tool
