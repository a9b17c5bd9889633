// SPDX-License-Identifier: Apache-2.0
// Reads types, shapes and quantization.
#include "model/openvino/ports.h"

#include <algorithm>
#include <string_view>
#include <utility>

// OpenVINO's headers cause warnings that this build enables.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wextra"
#include <openvino/frontend/tensorflow_lite/quantization_info.hpp>
#pragma GCC diagnostic pop

namespace halyard::model {
namespace {

std::optional<DType> to_dtype(const ov::element::Type& type) {
  switch (ov::element::Type_t(type)) {
    case ov::element::Type_t::u8:
      return DType::u8;
    case ov::element::Type_t::i8:
      return DType::i8;
    case ov::element::Type_t::u16:
      return DType::u16;
    case ov::element::Type_t::i16:
      return DType::i16;
    case ov::element::Type_t::u32:
      return DType::u32;
    case ov::element::Type_t::i32:
      return DType::i32;
    case ov::element::Type_t::u64:
      return DType::u64;
    case ov::element::Type_t::i64:
      return DType::i64;
    case ov::element::Type_t::f16:
      return DType::f16;
    case ov::element::Type_t::bf16:
      return DType::bf16;
    case ov::element::Type_t::f32:
      return DType::f32;
    case ov::element::Type_t::f64:
      return DType::f64;
    case ov::element::Type_t::boolean:
      return DType::boolean;
    default:
      return std::nullopt;
  }
}

/// The quantization that the TFLite frontend stores on a port. Only inline members of its class are
/// used, so the frontend need not be linked.
std::optional<Quantization> to_quantization(const ov::Any& value) {
  using Info = ov::frontend::tensorflow_lite::QuantizationInfo;
  std::shared_ptr<ov::RuntimeAttribute> attribute;
  try {
    attribute = value.as<std::shared_ptr<ov::RuntimeAttribute>>();
  } catch (const ov::Exception&) {
    return std::nullopt;  // another type, or a null pointer, which as() refuses
  }
  if (!attribute || std::string_view(attribute->get_type_info().name) != "QuantizationInfo")
    return std::nullopt;
  const auto& found = static_cast<const Info&>(*attribute);
  Quantization out;
  out.scale = found.get_scale();
  const std::size_t zeros = std::min(found.get_zero_point().size(), out.scale.size());
  for (std::size_t i = 0; i < zeros; ++i)
    out.zero_point.push_back(static_cast<std::int32_t>(found.get_zero_point()[i]));
  if (out.scale.size() > 1 && found.get_axis() >= 0)
    out.axis = static_cast<std::size_t>(found.get_axis());
  return out;
}

std::optional<Quantization> quantization_of(const ov::RTMap& info) {
  for (const auto& entry : info)
    if (auto found = to_quantization(entry.second)) return found;
  return std::nullopt;
}

std::string name_of(const ov::Output<const ov::Node>& port) {
  return port.get_names().empty() ? port.get_node()->get_friendly_name() : port.get_any_name();
}

}  // namespace

Port to_port(const ov::Output<const ov::Node>& from) {
  Port port;
  port.name = name_of(from);
  port.dtype = to_dtype(from.get_element_type());
  port.type_text = from.get_element_type().get_type_name();
  port.shape_text = from.get_partial_shape().to_string();
  if (from.get_partial_shape().is_static()) port.shape = from.get_shape();
  port.quantization = quantization_of(from.get_rt_info());
  return port;
}

}  // namespace halyard::model
