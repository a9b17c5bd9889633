// SPDX-License-Identifier: Apache-2.0
// Reads shapes with and without names, and quantization in the forms of both versions.
#include "decode/description/parse_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "decode/description/names.h"
#include "halyard/tensor.h"

namespace halyard::decode {
namespace {

constexpr std::int64_t max_extent = 2147483647;

Result<std::vector<std::size_t>> read_shape(const Node& node) {
  HALYARD_TRY(const std::size_t count, list_size(node, max_rank));
  if (count == 0) return node.wrong("must not be empty");
  std::vector<std::size_t> shape;
  for (std::size_t i = 0; i < count; ++i) {
    HALYARD_TRY(const std::int64_t extent, node.element(i).whole(1, max_extent));
    shape.push_back(static_cast<std::size_t>(extent));
  }
  return shape;
}

Status add_axis(const std::string& name, const Node& extent, NamedShape& out, Warnings& warnings) {
  HALYARD_TRY(const std::int64_t value, extent.whole(1, max_extent));
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

}  // namespace halyard::decode
