// SPDX-License-Identifier: Apache-2.0
// Reads description documents, schema versions 1 and 2, into ModelDescription: the root record, and
// files.
#include "halyard/description.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <tuple>

#include "base/text/format_error.h"
#include "decode/description/names.h"
#include "decode/description/parse_output.h"
#include "decode/document/document.h"
#include "decode/document/document_json.h"
#include "decode/document/document_yaml.h"

namespace halyard {

// Not `= default`: clang 14 would recurse without end, because a description holds descriptions. If
// a field is added and not named here, the structured bindings fail to compile.
bool operator==(const OutputDescription& a, const OutputDescription& b) {
  const auto fields = [](const OutputDescription& output) {
    const auto& [name, role, family, shape, axes, dtype, quantization, box_units, encoding,
                 score_format, anchors, stride, activation, applied, strides, parts] = output;
    return std::tie(name, role, family, shape, axes, dtype, quantization, box_units, encoding,
                    score_format, anchors, stride, activation, applied, strides, parts);
  };
  return fields(a) == fields(b);
}

bool operator==(const ModelDescription& a, const ModelDescription& b) {
  const auto fields = [](const ModelDescription& model) {
    const auto& [input, outputs, nms, task, decoder_version, labels, keypoints, camera_adaptor,
                 warnings, origins] = model;
    return std::tie(input, outputs, nms, task, decoder_version, labels, keypoints, camera_adaptor,
                    warnings, origins);
  };
  return fields(a) == fields(b);
}

namespace {

using decode::list_size;
using decode::Node;
using decode::Warnings;

// Size of the input: from axes named height and width. Without names [N,C,H,W] if only axis 1 can
// be channels, else [N,H,W,C].
Result<Size> read_input(const Node& input, Warnings& warnings) {
  HALYARD_RETURN_IF_ERROR(input.must_be_object());
  warnings.add_unknown(input, {"shape", "dshape", "cameraadaptor"});
  HALYARD_TRY(const decode::NamedShape named, decode::read_shapes(input, warnings));
  std::size_t width = 0;
  std::size_t height = 0;
  for (std::size_t i = 0; i < named.axes.size(); ++i) {
    if (named.axes[i] == AxisName::width) width = named.shape[i];
    if (named.axes[i] == AxisName::height) height = named.shape[i];
  }
  const auto is_channels = [](std::size_t n) { return n == 1 || n == 3 || n == 4; };
  if ((width == 0 || height == 0) && named.shape.size() == 4) {
    const bool channels_first = is_channels(named.shape[1]) && !is_channels(named.shape[3]);
    height = named.shape[channels_first ? 2 : 1];
    width = named.shape[channels_first ? 3 : 2];
  }
  if (width == 0 || height == 0) return Size{};
  return Size{static_cast<std::int32_t>(width), static_cast<std::int32_t>(height)};
}

Status read_version(const Node& root, ModelDescription& out) {
  const auto version = root.member("decoder_version");
  if (!version) return {};
  HALYARD_TRY(out.decoder_version, version->text());
  const auto end = std::end(decode::decoder_versions);
  if (std::find(std::begin(decode::decoder_versions), end, out.decoder_version) == end)
    return version->unsupported("must be yolov5, yolov8, yolo11 or yolo26");
  return {};
}

Status read_nms(const Node& root, ModelDescription& out) {
  const auto nms = root.member("nms");
  if (!nms) return {};
  HALYARD_TRY(const std::string word, nms->text());
  out.nms = decode::nms_of(word);
  if (!out.nms && word != "auto")
    return nms->wrong("must be auto, class_agnostic, class_aware or none");
  return {};
}

Status read_labels(const Node& root, ModelDescription& out) {
  const auto labels = root.member("labels");
  if (!labels) return {};
  HALYARD_TRY(const std::size_t count, list_size(*labels, DocumentLimits::labels));
  for (std::size_t i = 0; i < count; ++i) {
    HALYARD_TRY(std::string label, labels->element(i).text());
    out.labels.push_back(std::move(label));
  }
  return {};
}

Status read_keypoints(const Node& root, ModelDescription& out) {
  const auto shape = root.member("kpt_shape");
  if (!shape) return {};
  if (!shape->value().is_array() || shape->value().size() != 2)
    return shape->wrong("must be [count, dimensions]");
  HALYARD_TRY(const std::int64_t count, shape->element(0).whole(1, 65536));
  HALYARD_TRY(const std::int64_t dimensions, shape->element(1).whole(2, 3));
  out.keypoints =
      KeypointShape{static_cast<std::uint32_t>(count), static_cast<std::uint32_t>(dimensions)};
  return {};
}

// Documents of other tools also use this key, with values of their own.
void read_task(const Node& root, ModelDescription& out, Warnings& warnings) {
  const auto task = root.member("task");
  if (!task) return;
  if (task->value().is_string()) out.task = decode::task_of(task->value().get<std::string>());
  if (!out.task) warnings.add("task: unknown value, ignored");
}

Result<int> read_schema(const Node& root) {
  const auto version = root.member("schema_version");
  if (!version) return 1;
  HALYARD_TRY(const std::int64_t value, version->whole(1, 2147483647));
  if (value > 2) return version->unsupported("must be 1 or 2");
  return static_cast<int>(value);
}

Result<ModelDescription> read_document(const nlohmann::json& tree) {
  const Node root(tree, "");
  HALYARD_RETURN_IF_ERROR(root.must_be_object());
  HALYARD_TRY(const int schema, read_schema(root));
  ModelDescription out;
  Warnings warnings;
  warnings.add_unknown(root, {"schema_version", "input", "outputs", "nms", "decoder_version",
                              "labels", "kpt_shape", "task"});
  HALYARD_RETURN_IF_ERROR(read_nms(root, out));
  HALYARD_RETURN_IF_ERROR(read_version(root, out));
  HALYARD_RETURN_IF_ERROR(read_labels(root, out));
  HALYARD_RETURN_IF_ERROR(read_keypoints(root, out));
  read_task(root, out, warnings);
  if (const auto input = root.member("input")) {
    HALYARD_TRY(out.input, read_input(*input, warnings));
    if (const auto adaptor = input->member("cameraadaptor")) {
      HALYARD_TRY(out.camera_adaptor, adaptor->text());
    }
  }
  const auto outputs = root.member("outputs");
  if (!outputs) return root.wrong("needs outputs");
  HALYARD_TRY(const std::size_t count, list_size(*outputs, DocumentLimits::outputs));
  if (count == 0) return outputs->wrong("must not be empty");
  for (std::size_t i = 0; i < count; ++i) {
    HALYARD_TRY(OutputDescription output,
                decode::read_output(outputs->element(i), schema, warnings));
    out.outputs.push_back(std::move(output));
  }
  HALYARD_RETURN_IF_ERROR(validate(out));
  out.warnings = std::move(warnings).take();
  return out;
}

enum class DocumentFormat : std::uint8_t { json, yaml, unknown };

DocumentFormat format_of(const std::string& path) {
  std::string extension = path.substr(std::min(path.rfind('.'), path.size()));
  std::transform(extension.begin(), extension.end(), extension.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (extension == ".json") return DocumentFormat::json;
  return extension == ".yaml" || extension == ".yml" ? DocumentFormat::yaml
                                                     : DocumentFormat::unknown;
}

Result<std::string> read_file(const std::string& path, std::size_t max_bytes) {
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rbe"));
  if (!file) return fail_os("path: cannot open the description", errno, path);
  std::string text;
  std::array<char, 65536> chunk;
  std::size_t got = 0;
  while ((got = std::fread(chunk.data(), 1, chunk.size(), file.get())) != 0) {
    text.append(chunk.data(), got);
    if (text.size() > max_bytes) {
      return fail(Errc::exhausted, "path: the description is too long", "{}: at most {} MiB", path,
                  max_bytes >> 20);
    }
  }
  if (std::ferror(file.get()) != 0)
    return fail_os("path: cannot read the description", errno, path);
  return text;
}

}  // namespace

Result<ModelDescription> ModelDescription::from_json(std::string_view text) {
  HALYARD_TRY(const auto tree, decode::parse_json(text));
  return read_document(*tree);
}

Result<ModelDescription> ModelDescription::from_yaml(std::string_view text) {
  HALYARD_TRY(const auto tree, decode::parse_yaml(text));
  return read_document(*tree);
}

Result<ModelDescription> ModelDescription::from_file(const std::string& path) {
  if (format_of(path) == DocumentFormat::unknown)
    return fail(Errc::invalid_argument, "path: must end in .json, .yaml or .yml", "{}", path);
  return from_any_file(path);
}

Result<ModelDescription> ModelDescription::from_any_file(const std::string& path) {
  const DocumentFormat format = format_of(path);
  const bool is_yaml = format == DocumentFormat::yaml;
  HALYARD_TRY(const std::string text,
              read_file(path, is_yaml ? DocumentLimits::yaml_bytes : DocumentLimits::json_bytes));
  if (!is_yaml) {
    auto out = from_json(text);
    if (out || format == DocumentFormat::json) return out;
  }
  return from_yaml(text);
}

}  // namespace halyard
