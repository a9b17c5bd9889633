// SPDX-License-Identifier: Apache-2.0
// Reads facts from Ultralytics metadata, Hugging Face sidecar files and file names. These texts are
// untrusted: entries that cannot be parsed are ignored with a warning.
#include "decode/infer/metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text/python_literal.h"
#include "decode/description/names.h"
#include "decode/document/document.h"
#include "decode/document/document_json.h"

namespace halyard::decode {
namespace {

constexpr std::int64_t max_side = 65536;

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::optional<std::int64_t> parse_whole(std::string_view text) {
  std::int64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc{} || result.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<bool> parse_bool(std::string_view text) {
  const std::string word = lower_case(text);
  if (word == "true" || word == "1") return true;
  if (word == "false" || word == "0") return false;
  return std::nullopt;
}

// "[640, 480]", or "640" for both. No exporter writes "(640, 480)".
std::vector<std::int64_t> parse_whole_numbers(std::string_view text) {
  if (const auto one = parse_whole(text)) return {*one};
  std::vector<std::int64_t> out;
  const auto items = split_literal(text);
  if (!items) return {};
  for (const LiteralItem& item : *items) {
    const auto value = parse_whole(item.value);
    if (!value) return {};
    out.push_back(*value);
  }
  return out;
}

std::optional<Size> size_of_numbers(const std::vector<std::int64_t>& numbers) {
  if (numbers.empty() || numbers.size() > 2) return std::nullopt;
  for (const std::int64_t side : numbers)
    if (side < 1 || side > max_side) return std::nullopt;
  return Size{static_cast<std::int32_t>(numbers.back()), static_cast<std::int32_t>(numbers[0])};
}

// The version in a text such as "Ultralytics YOLO11n model trained on coco.yaml".
std::optional<std::string> version_in(std::string_view text) {
  const std::string words = lower_case(text);
  for (const std::string_view version : {"yolo26", "yolo11", "yolov10", "yolov8", "yolov5"})
    if (words.find(version) != std::string::npos) return std::string(version);
  for (const std::string_view version : {"yolov9", "yolo12", "yolov6", "yolov3"})
    if (words.find(version) != std::string::npos) return "yolov8";  // they have the same layout
  return std::nullopt;
}

class Reader {
 public:
  explicit Reader(const ModelMetadata& metadata) : metadata_(metadata) {}

  Facts read() && {
    read_metadata();
    for (const auto& attachment : metadata_.attachments) {
      if (attachment.name == "config.json") read_config(attachment);
      if (attachment.name == "preprocessor_config.json") read_preprocessor(attachment);
    }
    for (const auto& attachment : metadata_.attachments)
      if (attachment.name == "labels.txt") read_lines(attachment);
    read_image();
    if (const auto version = version_in(metadata_.file); version && !facts_.version)
      facts_.version = {*version, "the file's name, " + metadata_.file};
    read_default_units();
    return std::move(facts_);
  }

 private:
  std::string source(const char* key) const {
    return fmt::format("metadata \"{}\" of {}", key, metadata_.file);
  }
  std::string source(const ModelMetadata::Attachment& attachment, const char* key) const {
    return fmt::format("{} {}{}", attachment.name, attachment.is_embedded ? "in " : "beside ",
                       metadata_.file) +
           (*key == '\0' ? "" : fmt::format(", \"{}\"", key));
  }
  void pass_over(const std::string& from) { facts_.warnings.push_back(from + ": ignored"); }

  const std::string* entry(const char* key) const {
    const auto found = metadata_.metadata.find(key);
    return found == metadata_.metadata.end() ? nullptr : &found->second;
  }

  void read_metadata() {
    if (const auto* text = entry("names")) {
      auto names = parse_names(*text);
      if (names.empty())
        pass_over(source("names"));
      else
        facts_.labels = {std::move(names), source("names")};
    }
    if (const auto* text = entry("task")) {
      if (const auto task = decode::task_of(*text))
        facts_.task = {*task, source("task")};
      else
        pass_over(source("task"));
    }
    if (const auto* text = entry("imgsz")) {
      if (const auto size = size_of_numbers(parse_whole_numbers(*text)))
        facts_.input = {*size, source("imgsz")};
      else
        pass_over(source("imgsz"));
    }
    if (const auto* text = entry("description")) {
      if (const auto version = version_in(*text))
        facts_.version = {*version, source("description")};
    }
    read_keypoints();
    read_final();
    if (const auto* text = entry("box_units")) {
      if (*text == "fraction") facts_.box_units = {BoxUnits::fraction, source("box_units")};
      if (*text == "pixels") facts_.box_units = {BoxUnits::pixels, source("box_units")};
      if (!facts_.box_units) pass_over(source("box_units"));
    }
  }

  void read_keypoints() {
    const auto* text = entry("kpt_shape");
    if (text == nullptr) return;
    const auto numbers = parse_whole_numbers(*text);
    const bool is_shape = numbers.size() == 2 && numbers[0] >= 1 && numbers[0] <= max_side &&
                          (numbers[1] == 2 || numbers[1] == 3);
    if (!is_shape) return pass_over(source("kpt_shape"));
    facts_.keypoints = {KeypointShape{static_cast<std::uint32_t>(numbers[0]),
                                      static_cast<std::uint32_t>(numbers[1])},
                        source("kpt_shape")};
  }

  // Reads "end2end", or "nms" among the arguments of the export.
  void read_final() {
    if (const auto* text = entry("end2end")) {
      if (const auto truth = parse_bool(*text)) facts_.is_final = {*truth, source("end2end")};
    }
    const auto* text = entry("args");
    const auto items = text == nullptr ? std::nullopt : split_literal(*text);
    if (!items) return;
    for (const LiteralItem& item : *items)
      if (item.key == "nms" && parse_bool(item.value) == true)
        facts_.is_final = {true, source("args")};
  }

  std::optional<Tree> parse_attachment(const ModelMetadata::Attachment& attachment) {
    auto tree = parse_json(attachment.text);
    if (tree && (*tree)->is_object()) return *std::move(tree);
    pass_over(source(attachment, ""));
    return std::nullopt;
  }

  void read_config(const ModelMetadata::Attachment& attachment) {
    const auto tree = parse_attachment(attachment);
    if (!tree) return;
    if (const auto names = (*tree)->find("id2label"); names != (*tree)->end()) {
      auto labels = parse_names(names->dump());
      if (labels.empty()) pass_over(source(attachment, "id2label"));
      if (!facts_.labels && !labels.empty())
        facts_.labels = {std::move(labels), source(attachment, "id2label")};
    }
    const auto text = [&](const nlohmann::json& value) {
      return value.is_string() ? lower_case(value.get<std::string>()) : std::string();
    };
    const std::string type = text((*tree)->value("model_type", nlohmann::json()));
    std::string class_name;
    if (const auto list = (*tree)->find("architectures");
        list != (*tree)->end() && list->is_array() && !list->empty())
      class_name = text((*list)[0]);
    read_kind(type, class_name,
              source(attachment, class_name.empty() ? "model_type" : "architectures"));
  }

  void read_kind(const std::string& type, const std::string& class_name, const std::string& from) {
    const auto has = [&](std::string_view word) {
      return class_name.find(word) != std::string::npos;
    };
    if (has("semanticsegmentation") || type == "segformer") {
      if (!facts_.task) facts_.task = {Task::semantic, from};
    } else if (has("objectdetection")) {
      if (!facts_.task) facts_.task = {Task::detect, from};
      facts_.is_transformer = true;
      facts_.has_no_object = type == "detr" || type == "yolos" || type == "table-transformer";
      facts_.activation = {Activation::sigmoid, from};
    } else if (has("imageclassification")) {
      if (!facts_.task) facts_.task = {Task::classify, from};
      facts_.activation = {Activation::softmax, from};
    }
  }

  void read_preprocessor(const ModelMetadata::Attachment& attachment) {
    const auto tree = parse_attachment(attachment);
    if (!tree || facts_.input) return;
    const auto size = (*tree)->find("size");
    if (size == (*tree)->end() || !size->is_object()) return;
    std::vector<std::int64_t> sides;
    for (const char* key : {"height", "width"})
      if (const auto side = size->find(key); side != size->end() && side->is_number_integer())
        sides.push_back(side->get<std::int64_t>());
    if (sides.size() != 2) return;
    if (const auto found = size_of_numbers(sides))
      facts_.input = {*found, source(attachment, "size")};
  }

  void read_lines(const ModelMetadata::Attachment& attachment) {
    if (facts_.labels) return;
    std::vector<std::string> lines;
    std::string_view text = attachment.text;
    while (!text.empty() && lines.size() < DocumentLimits::labels) {
      const auto end = text.find('\n');
      std::string_view line = text.substr(0, end);
      while (!line.empty() && (line.back() == '\r' || line.back() == ' '))
        line.remove_suffix(1);
      if (!line.empty()) lines.emplace_back(line);
      text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    }
    if (!lines.empty()) facts_.labels = {std::move(lines), source(attachment, "")};
  }

  // The tensor itself overrides what other sources state about it.
  void read_image() {
    for (const TensorSpec& spec : metadata_.inputs) {
      if (!spec.format) continue;
      const auto extent = image_extent(*spec.format, spec.shape);
      if (!extent) continue;
      const Size size{static_cast<std::int32_t>(extent->width),
                      static_cast<std::int32_t>(extent->height)};
      const std::string from = fmt::format("shape of the input \"{}\"", spec.name);
      if (facts_.input && facts_.input->value != size) {
        facts_.warnings.push_back(fmt::format(
            "{}: {} x {}, {} has {} x {}", from, size.width, size.height, facts_.input->source,
            facts_.input->value.width, facts_.input->value.height));
      }
      facts_.input = {size, from};
      return;
    }
  }

  void read_default_units() {
    if (facts_.box_units) return;
    if (metadata_.format == ModelFormat::tflite)
      facts_.box_units = {BoxUnits::fraction, "default of TFLite files"};
    if (metadata_.format == ModelFormat::onnx || metadata_.format == ModelFormat::openvino)
      facts_.box_units = {BoxUnits::pixels, "default of ONNX and OpenVINO files"};
  }

  const ModelMetadata& metadata_;
  Facts facts_;
};

}  // namespace

Facts facts_of(const ModelMetadata& metadata) {
  return Reader(metadata).read();
}

}  // namespace halyard::decode
