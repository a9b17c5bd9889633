// SPDX-License-Identifier: Apache-2.0
// Description documents, schema versions 1 and 2, to ModelDescription. What this version cannot
// decode is refused by name; keys that it does not know are passed over.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>

#include "base/format_error.h"
#include "decode/document.h"
#include "decode/words.h"
#include "halyard/description.h"
#include "halyard/tensor.h"

namespace halyard {
namespace {

using decode::Node;

constexpr std::int64_t most_extent = 2147483647;
constexpr std::size_t most_list = 4096;  // outputs, axes: beyond is a mistake

template <std::size_t N>
bool is_one_of(const std::string& text, const std::array<const char*, N>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

Result<std::size_t> list_size(const Node& node, std::size_t most = most_list) {
  HALYARD_CHECK(node.must_be_array());
  if (node.value().size() > most) return node.wrong(fmt::format("at most {} elements", most));
  return node.value().size();
}

Result<std::vector<std::size_t>> read_shape(const Node& node) {
  HALYARD_TRY(const std::size_t count, list_size(node, max_rank));
  if (count == 0) return node.wrong("must not be empty");
  std::vector<std::size_t> shape;
  for (std::size_t i = 0; i < count; ++i) {
    HALYARD_TRY(const std::int64_t extent, node.element(i).whole(1, most_extent));
    shape.push_back(static_cast<std::size_t>(extent));
  }
  return shape;
}

struct NamedShape {
  std::vector<AxisName> axes;
  std::vector<std::size_t> shape;
};

// One axis: ["height", 20] or {"height": 20}.
Status read_axis(const Node& node, NamedShape& out) {
  const auto add = [&](const std::string& name, const Node& extent) -> Status {
    HALYARD_TRY(const std::int64_t value, extent.whole(1, most_extent));
    const AxisName axis = decode::axis_of(name).value_or(AxisName::unknown);
    if (axis == AxisName::padding && value != 1) return extent.wrong("padding must be 1");
    if (axis == AxisName::box_coords && value != 4) return extent.wrong("box_coords must be 4");
    const bool is_repeated = std::find(out.axes.begin(), out.axes.end(), axis) != out.axes.end();
    if (is_repeated && axis != AxisName::padding && axis != AxisName::unknown)
      return node.wrong("\"" + name + "\" is named twice");
    out.axes.push_back(axis);
    out.shape.push_back(static_cast<std::size_t>(value));
    return {};
  };
  if (node.value().is_array() && node.value().size() == 2) {
    HALYARD_TRY(const std::string name, node.element(0).text());
    return add(name, node.element(1));
  }
  if (node.value().is_object() && node.value().size() == 1) {
    const std::string name = node.value().begin().key();
    return add(name, Node(node.value().begin().value(), node.path() + "." + name));
  }
  return node.wrong("must be [name, extent] or {name: extent}");
}

// `shape` and `dshape` of a record, which must agree where both are there. No names: no axes.
Result<NamedShape> read_shapes(const Node& record) {
  NamedShape out;
  const auto dshape = record.member("dshape");
  if (dshape) {
    HALYARD_TRY(const std::size_t count, list_size(*dshape, max_rank));
    for (std::size_t i = 0; i < count; ++i)
      HALYARD_CHECK(read_axis(dshape->element(i), out));
  }
  const auto shape = record.member("shape");
  if (!shape) {
    if (out.shape.empty()) return record.wrong("shape is required unless dshape gives it");
    return out;
  }
  HALYARD_TRY(const auto extents, read_shape(*shape));
  if (!out.shape.empty() && out.shape != extents) {
    for (std::size_t i = 0; i < std::min(extents.size(), out.shape.size()); ++i) {
      if (extents[i] != out.shape[i])
        return shape->element(i).wrong(fmt::format("dshape says {}", out.shape[i]));
    }
    return shape->wrong(fmt::format("dshape has {} axes", out.shape.size()));
  }
  out.shape = extents;
  return out;
}

Status read_scale(const Node& node, Quantization& out) {
  HALYARD_TRY(const double scale, node.number());
  const auto value = static_cast<float>(scale);
  if (!(value > 0) || !std::isfinite(value)) return node.wrong("must be a float above 0");
  out.scale.push_back(value);
  return {};
}

Status read_zero_point(const Node& node, Quantization& out) {
  HALYARD_TRY(const std::int64_t value, node.whole(-2147483648LL, 2147483647LL));
  out.zero_point.push_back(static_cast<std::int32_t>(value));
  return {};
}

// A number or a list of them.
template <class Read>
Status read_each(const Node& node, Quantization& out, Read read) {
  if (!node.value().is_array()) return read(node, out);
  if (node.value().empty()) return node.wrong("must not be empty");
  HALYARD_TRY(const std::size_t count, list_size(node));
  for (std::size_t i = 0; i < count; ++i)
    HALYARD_CHECK(read(node.element(i), out));
  return {};
}

// Version 1: [scale, zero_point]. Version 2: {scale, zero_point, axis, dtype}.
Result<Quantization> read_quantization(const Node& node) {
  Quantization out;
  if (node.value().is_array()) {
    if (node.value().size() != 2) return node.wrong("must be [scale, zero_point]");
    HALYARD_CHECK(read_scale(node.element(0), out));
    HALYARD_CHECK(read_zero_point(node.element(1), out));
    return out;
  }
  HALYARD_CHECK(node.must_be_object());
  const auto scale = node.member("scale");
  if (!scale) return node.wrong("needs scale");
  HALYARD_CHECK(read_each(*scale, out, read_scale));
  if (const auto zero = node.member("zero_point"))
    HALYARD_CHECK(read_each(*zero, out, read_zero_point));
  if (out.scale.size() > 1) return scale->unsupported("one scale per tensor only");
  if (out.zero_point.size() > 1) return node.wrong("more zero points than scales");
  return out;
}

// Values that are part of the head's definition, or lead to another head.
Status check_coding(const Node& record) {
  const auto allow = [&](const char* key, const auto& words, const char* rule) -> Status {
    const auto node = record.member(key);
    if (!node) return {};
    HALYARD_TRY(const std::string text, node->text());
    return is_one_of(text, words) ? Status() : Status(node->unsupported(rule));
  };
  HALYARD_CHECK(allow("decoder", std::array{"ultralytics", "yolov8"}, "only ultralytics is"));
  HALYARD_CHECK(allow("encoding", std::array{"direct", "ltrb", "dfl"},
                      "only boxes that the network has decoded are"));
  HALYARD_CHECK(allow("score_format", std::array{"per_class"}, "only per_class is"));
  HALYARD_CHECK(allow("activation_applied", std::array{"sigmoid"}, "only sigmoid is"));
  HALYARD_CHECK(allow("activation_required", std::array<const char*, 0>{},
                      "only scores with the sigmoid applied are"));
  if (const auto anchors = record.member("anchors")) return anchors->unsupported("anchor grids");
  if (const auto parts = record.member("outputs")) {
    HALYARD_CHECK(parts->must_be_array());
    if (!parts->value().empty()) return parts->unsupported("an output split into several tensors");
  }
  return {};
}

Result<OutputDescription> read_output(const Node& record, int schema) {
  HALYARD_CHECK(record.must_be_object());
  OutputDescription out;
  if (const auto name = record.member("name")) {
    HALYARD_TRY(out.name, name->text());
  }
  const auto type = record.member("type");
  out.role = OutputRole::auxiliary;
  if (type) {
    HALYARD_TRY(const std::string word, type->text());
    out.role = decode::role_of(word).value_or(OutputRole::auxiliary);
    if (out.role != OutputRole::detection) return type->unsupported("only the role detection is");
    HALYARD_CHECK(check_coding(record));
  } else if (schema == 1) {
    return record.wrong("needs type");
  }
  HALYARD_TRY(NamedShape named, read_shapes(record));
  out.shape = std::move(named.shape);
  out.axes = std::move(named.axes);
  if (const auto q = record.member("quantization")) {
    HALYARD_TRY(out.quantization, read_quantization(*q));
  }
  if (const auto normalized = record.member("normalized")) {
    HALYARD_TRY(const bool is_fraction, normalized->boolean());
    out.box_units = is_fraction ? BoxUnits::fraction : BoxUnits::pixels;
  }
  return out;
}

// Axes named height and width; else [N,C,H,W] where only axis 1 can be channels, else [N,H,W,C].
Result<Size> read_input(const Node& input) {
  HALYARD_CHECK(input.must_be_object());
  HALYARD_TRY(const NamedShape named, read_shapes(input));
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

Result<std::optional<Nms>> read_nms(const Node& node) {
  HALYARD_TRY(const std::string text, node.text());
  if (text == "auto") return std::optional<Nms>();
  if (text == "class_agnostic") return std::optional(Nms::class_agnostic);
  if (text == "class_aware") return std::optional(Nms::class_aware);
  if (text == "none") return std::optional(Nms::none);
  return node.wrong("must be auto, class_agnostic, class_aware or none");
}

Status read_head(const Node& root, ModelDescription& out) {
  if (const auto nms = root.member("nms")) {
    HALYARD_TRY(out.nms, read_nms(*nms));
  }
  if (const auto version = root.member("decoder_version")) {
    HALYARD_TRY(out.decoder_version, version->text());
    if (!is_one_of(out.decoder_version, std::array{"yolov8", "yolo11"}))
      return version->unsupported("only yolov8 and yolo11 are");
  }
  if (const auto labels = root.member("labels")) {
    HALYARD_TRY(const std::size_t count, list_size(*labels, 100000));
    for (std::size_t i = 0; i < count; ++i) {
      HALYARD_TRY(std::string label, labels->element(i).text());
      out.labels.push_back(std::move(label));
    }
  }
  return {};
}

Result<ModelDescription> read_document(const nlohmann::json& tree) {
  const Node root(tree, "");
  HALYARD_CHECK(root.must_be_object());
  int schema = 1;
  if (const auto version = root.member("schema_version")) {
    HALYARD_TRY(const std::int64_t value, version->whole(1, most_extent));
    if (value > 2) return version->unsupported("versions 1 and 2 are");
    schema = static_cast<int>(value);
  }
  ModelDescription out;
  HALYARD_CHECK(read_head(root, out));
  if (const auto input = root.member("input")) {
    HALYARD_TRY(out.input, read_input(*input));
  }
  const auto outputs = root.member("outputs");
  if (!outputs) return root.wrong("needs outputs");
  HALYARD_TRY(const std::size_t count, list_size(*outputs));
  if (count == 0) return outputs->wrong("must not be empty");
  for (std::size_t i = 0; i < count; ++i) {
    HALYARD_TRY(OutputDescription output, read_output(outputs->element(i), schema));
    out.outputs.push_back(std::move(output));
  }
  return out;
}

Result<std::string> read_file(const std::string& path) {
  constexpr std::size_t most_bytes = std::size_t{16} << 20;
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
    if (text.size() > most_bytes) {
      return fail(Errc::exhausted, "path: a description has at most 16 MiB", "{}", path);
    }
  }
  if (std::ferror(file.get()) != 0)
    return fail_os("path: cannot read the description", errno, path);
  return text;
}

}  // namespace

Result<ModelDescription> ModelDescription::from_json(std::string_view text) {
  HALYARD_TRY(const auto tree, decode::parse_json(text));
  return read_document(tree);
}

Result<ModelDescription> ModelDescription::from_yaml(std::string_view text) {
  HALYARD_TRY(const auto tree, decode::parse_yaml(text));
  return read_document(tree);
}

Result<ModelDescription> ModelDescription::from_file(const std::string& path) {
  std::string extension = path.substr(std::min(path.rfind('.'), path.size()));
  std::transform(extension.begin(), extension.end(), extension.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const bool is_json = extension == ".json";
  if (!is_json && extension != ".yaml" && extension != ".yml") {
    return fail(Errc::invalid_argument, "path: must end in .json, .yaml or .yml", "{}", path);
  }
  HALYARD_TRY(const std::string text, read_file(path));
  return is_json ? from_json(text) : from_yaml(text);
}

}  // namespace halyard
