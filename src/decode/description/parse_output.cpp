// SPDX-License-Identifier: Apache-2.0
// Reads the records of outputs and of their parts into OutputDescription: shapes with and without
// names, quantization in the forms of both versions, and the rest.
#include "decode/description/parse_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "decode/description/names.h"
#include "halyard/tensor.h"

namespace halyard::decode {
namespace {

constexpr std::int64_t max_shape_extent = 2147483647;

Result<std::vector<std::size_t>> read_shape(const Node& node) {
  HALYARD_TRY(const std::size_t count, list_size(node, max_rank));
  if (count == 0) return node.wrong("must not be empty");
  std::vector<std::size_t> shape;
  for (std::size_t i = 0; i < count; ++i) {
    HALYARD_TRY(const std::int64_t extent, node.element(i).whole(1, max_shape_extent));
    shape.push_back(static_cast<std::size_t>(extent));
  }
  return shape;
}

Status add_axis(const std::string& name, const Node& extent, NamedShape& out, Warnings& warnings) {
  HALYARD_TRY(const std::int64_t value, extent.whole(1, max_shape_extent));
  const auto axis = axis_of(name);
  if (!axis) warnings.add(fmt::format("{}: unknown name of an axis", extent.path()));
  out.axes.push_back(axis.value_or(AxisName::unknown));
  out.shape.push_back(static_cast<std::size_t>(value));
  return {};
}

// One axis: ["height", 20] or {"height": 20}.
Status read_axis(const Node& node, NamedShape& out, Warnings& warnings) {
  if (node.value().is_array() && node.value().size() == 2) {
    HALYARD_TRY(const std::string name, node.element(0).text());
    return add_axis(name, node.element(1), out, warnings);
  }
  if (node.value().is_object() && node.value().size() == 1) {
    const std::string& name = node.value().begin().key();
    return add_axis(name, Node(node.value().begin().value(), node.path() + "." + name), out,
                    warnings);
  }
  return node.wrong("must be [name, extent] or {name: extent}");
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

// Reads a number or a list of numbers.
template <class Read>
Status read_each(const Node& node, Quantization& out, Read read) {
  if (!node.value().is_array()) return read(node, out);
  if (node.value().empty()) return node.wrong("must not be empty");
  HALYARD_TRY(const std::size_t count, list_size(node, DocumentLimits::nodes));
  for (std::size_t i = 0; i < count; ++i)
    HALYARD_RETURN_IF_ERROR(read(node.element(i), out));
  return {};
}

Status read_zero_points(const Node& node, Quantization& out) {
  const auto zero = node.member("zero_point");
  if (!zero) return {};
  HALYARD_RETURN_IF_ERROR(read_each(*zero, out, read_zero_point));
  if (out.zero_point.size() == out.scale.size()) return {};
  if (zero->value().is_array()) {
    return zero->wrong(out.zero_point.size() > out.scale.size() ? "more zero points than scales"
                                                                : "fewer zero points than scales");
  }
  out.zero_point.assign(out.scale.size(), out.zero_point[0]);
  return {};
}

}  // namespace

Result<std::size_t> list_size(const Node& node, std::size_t maximum) {
  HALYARD_RETURN_IF_ERROR(node.must_be_array());
  if (node.value().size() > maximum) return node.wrong(fmt::format("at most {} elements", maximum));
  return node.value().size();
}

Result<NamedShape> read_shapes(const Node& record, Warnings& warnings) {
  NamedShape out;
  if (const auto dshape = record.member("dshape")) {
    HALYARD_TRY(const std::size_t count, list_size(*dshape, max_rank));
    for (std::size_t i = 0; i < count; ++i)
      HALYARD_RETURN_IF_ERROR(read_axis(dshape->element(i), out, warnings));
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
        return shape->element(i).wrong(fmt::format("dshape has {}", out.shape[i]));
    }
    return shape->wrong(fmt::format("dshape has {} axes", out.shape.size()));
  }
  out.shape = extents;
  return out;
}

Result<DType> read_dtype(const Node& node) {
  HALYARD_TRY(const std::string word, node.text());
  const auto dtype = dtype_from_string(word);
  if (!dtype) return node.unsupported("must be the NumPy name of a type");
  return *dtype;
}

Result<Quantization> read_quantization(const Node& node, std::optional<DType>& dtype,
                                       Warnings& warnings) {
  Quantization out;
  if (node.value().is_array()) {
    if (node.value().size() != 2) return node.wrong("must be [scale, zero_point]");
    HALYARD_RETURN_IF_ERROR(read_scale(node.element(0), out));
    HALYARD_RETURN_IF_ERROR(read_zero_point(node.element(1), out));
    return out;
  }
  HALYARD_RETURN_IF_ERROR(node.must_be_object());
  warnings.add_unknown(node, {"scale", "zero_point", "axis", "dtype"});
  const auto scale = node.member("scale");
  if (!scale) return node.wrong("needs scale");
  HALYARD_RETURN_IF_ERROR(read_each(*scale, out, read_scale));
  HALYARD_RETURN_IF_ERROR(read_zero_points(node, out));
  if (const auto axis = node.member("axis")) {
    HALYARD_TRY(const std::int64_t value, axis->whole(0, max_rank - 1));
    if (out.scale.size() > 1) out.axis = static_cast<std::size_t>(value);
  } else if (out.scale.size() > 1) {
    return node.wrong(fmt::format("{} scales need axis", out.scale.size()));
  }
  if (const auto own = node.member("dtype")) {
    HALYARD_TRY(const DType value, read_dtype(*own));
    if (dtype && *dtype != value)
      return own->wrong(fmt::format("dtype of the tensor is {}", to_string(*dtype)));
    dtype = value;
  }
  return out;
}

namespace {

constexpr std::int64_t max_stride = 65536;

// Reads the name of an enumerator into `out`. `out` is unchanged if the key is absent.
template <class Out, class Find>
Status read_word(const Node& record, const char* key, Out& out, Find find, std::string_view known) {
  const auto node = record.member(key);
  if (!node) return {};
  HALYARD_TRY(const std::string word, node->text());
  const auto value = find(word);
  if (!value) return node->unsupported(fmt::format("must be {}", known));
  out = *value;
  return {};
}

Status read_role(const Node& record, int schema, OutputDescription& out) {
  out.role = OutputRole::auxiliary;
  if (!record.member("type")) {
    if (schema == 1) return record.wrong("needs type");
    return {};
  }
  const auto known = [](std::string_view word) {
    return word.empty() ? std::nullopt : role_of(word);
  };
  return read_word(record, "type", out.role, known,
                   "detection, boxes, scores, objectness, classes, mask_coefs, protos, landmarks, "
                   "angles, priors, segmentation, masks or classification");
}

Status read_family(const Node& record, OutputDescription& out) {
  const bool is_map = out.role == OutputRole::segmentation || out.role == OutputRole::class_map;
  out.family = is_map ? Family::semantic : Family::ultralytics;
  return read_word(record, "decoder", out.family, family_of,
                   "ultralytics, modelpack, ssd, nanodet, detr or semantic");
}

Status read_coding(const Node& record, OutputDescription& out) {
  HALYARD_RETURN_IF_ERROR(read_word(record, "encoding", out.encoding, encoding_of,
                                    "direct, ltrb, dfl, anchor, corners or prior"));
  HALYARD_RETURN_IF_ERROR(read_word(record, "score_format", out.score_format, score_format_of,
                                    "per_class or obj_x_class"));
  constexpr std::string_view activations = "none, sigmoid, softmax or tanh";
  HALYARD_RETURN_IF_ERROR(
      read_word(record, "activation_required", out.activation, activation_of, activations));
  return read_word(record, "activation_applied", out.applied, activation_of, activations);
}

Status read_anchors(const Node& node, OutputDescription& out) {
  HALYARD_TRY(const std::size_t count, list_size(node, DocumentLimits::outputs));
  for (std::size_t i = 0; i < count; ++i) {
    const Node pair = node.element(i);
    if (!pair.value().is_array() || pair.value().size() != 2)
      return pair.wrong("must be [width, height]");
    Anchor anchor{};
    for (std::size_t k = 0; k < 2; ++k) {
      HALYARD_TRY(const double extent, pair.element(k).number());
      anchor[k] = static_cast<float>(extent);
      if (!(anchor[k] > 0) || anchor[k] > std::numeric_limits<float>::max())
        return pair.element(k).wrong("must be a float above 0");
    }
    out.anchors.push_back(anchor);
  }
  return {};
}

// A number for both directions, or [x, y].
Result<Stride> read_stride(const Node& node) {
  const auto one = [](const Node& value) -> Result<std::uint32_t> {
    HALYARD_TRY(const std::int64_t stride, value.whole(1, max_stride));
    return static_cast<std::uint32_t>(stride);
  };
  if (!node.value().is_array()) {
    HALYARD_TRY(const std::uint32_t stride, one(node));
    return Stride{stride, stride};
  }
  if (node.value().size() != 2) return node.wrong("must be a number or [x, y]");
  HALYARD_TRY(const std::uint32_t x, one(node.element(0)));
  HALYARD_TRY(const std::uint32_t y, one(node.element(1)));
  return Stride{x, y};
}

Status read_strides(const Node& record, OutputDescription& out) {
  if (const auto stride = record.member("stride")) {
    HALYARD_TRY(out.stride, read_stride(*stride));
  }
  if (const auto index = record.member("scale_index"))
    HALYARD_RETURN_IF_ERROR(
        index->whole(0, max_stride));  // levels are identified by their strides, not by this
  const auto strides = record.member("strides");
  if (!strides) return {};
  HALYARD_TRY(const std::size_t count, list_size(*strides, DocumentLimits::outputs));
  for (std::size_t i = 0; i < count; ++i) {
    HALYARD_TRY(const std::int64_t stride, strides->element(i).whole(1, max_stride));
    out.strides.push_back(static_cast<std::uint32_t>(stride));
  }
  return {};
}

Status read_numbers(const Node& record, OutputDescription& out, Warnings& warnings) {
  if (const auto dtype = record.member("dtype")) {
    HALYARD_TRY(out.dtype, read_dtype(*dtype));
  }
  const auto quantization = record.member("quantization");
  if (!quantization) return {};
  HALYARD_TRY(Quantization value, read_quantization(*quantization, out.dtype, warnings));
  if (out.dtype && is_float(*out.dtype)) {
    if (value.scale[0] != 1 || value.scale.size() != 1 || !value.is_symmetric())
      warnings.add(quantization->path() + ": ignored, the tensor holds floats");
    return {};
  }
  out.quantization = std::move(value);
  return {};
}

Status read_units(const Node& record, OutputDescription& out, Warnings& warnings) {
  const auto normalized = record.member("normalized");
  if (!normalized) return {};
  HALYARD_TRY(const bool is_fraction, normalized->boolean());
  using enum OutputRole;
  const bool applies = out.role == detection || out.role == boxes || out.role == boxes_xy ||
                       out.role == boxes_wh || out.role == keypoints || out.role == priors;
  if (applies)
    out.box_units = is_fraction ? BoxUnits::fraction : BoxUnits::pixels;
  else
    warnings.add(normalized->path() + ": ignored, only boxes and points have units");
  return {};
}

// Sets what version 1 implies and version 2 states.
void complete_output(int schema, OutputDescription& out) {
  if (!out.anchors.empty() && !out.encoding) out.encoding = BoxEncoding::anchor;
  if (schema != 1 || out.family != Family::ultralytics) return;
  const bool is_boxes = out.role == OutputRole::detection || out.role == OutputRole::boxes;
  if (is_boxes && !out.encoding) out.encoding = BoxEncoding::direct;
  if (out.role == OutputRole::scores && !out.score_format)
    out.score_format = ScoreFormat::per_class;
}

Result<OutputDescription> read_record(const Node& record, int schema, Warnings& warnings) {
  HALYARD_RETURN_IF_ERROR(record.must_be_object());
  warnings.add_unknown(
      record, {"name", "type", "shape", "dshape", "decoder", "encoding", "score_format",
               "normalized", "anchors", "stride", "strides", "scale_index", "dtype", "quantization",
               "outputs", "activation_applied", "activation_required"});
  OutputDescription out;
  if (const auto name = record.member("name")) {
    HALYARD_TRY(out.name, name->text());
  }
  HALYARD_RETURN_IF_ERROR(read_role(record, schema, out));
  HALYARD_RETURN_IF_ERROR(read_family(record, out));
  HALYARD_RETURN_IF_ERROR(read_coding(record, out));
  if (const auto anchors = record.member("anchors"))
    HALYARD_RETURN_IF_ERROR(read_anchors(*anchors, out));
  HALYARD_RETURN_IF_ERROR(read_strides(record, out));
  HALYARD_TRY(NamedShape named, read_shapes(record, warnings));
  out.shape = std::move(named.shape);
  out.axes = std::move(named.axes);
  HALYARD_RETURN_IF_ERROR(read_numbers(record, out, warnings));
  HALYARD_RETURN_IF_ERROR(read_units(record, out, warnings));
  complete_output(schema, out);
  return out;
}

}  // namespace

Result<OutputDescription> read_output(const Node& record, int schema, Warnings& warnings) {
  HALYARD_TRY(OutputDescription out, read_record(record, schema, warnings));
  const auto parts = record.member("outputs");
  if (!parts) return out;
  HALYARD_TRY(const std::size_t count, list_size(*parts, DocumentLimits::outputs));
  for (std::size_t i = 0; i < count; ++i) {
    const Node part = parts->element(i);
    HALYARD_TRY(OutputDescription read, read_record(part, 2, warnings));
    const auto deeper = part.member("outputs");
    if (deeper && !deeper->value().empty()) return deeper->wrong("a part must not have parts");
    read.family = out.family;
    out.parts.push_back(std::move(read));
  }
  return out;
}

}  // namespace halyard::decode
