// SPDX-License-Identifier: Apache-2.0
// Makes descriptions from bytes.
#include "fuzz/any_description.h"

#include <string>
#include <utility>
#include <vector>

#include "decode/head_layouts.h"
#include "decode/nms/selector.h"
#include "halyard/describe.h"

namespace halyard::fuzz {
namespace {

constexpr std::size_t extents[] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 32, 38, 64};

std::int32_t any_side(Source& from) {
  return static_cast<std::int32_t>(8 * from.next(13));
}

Stride any_stride(Source& from) {
  const auto x = static_cast<std::uint32_t>(4 * from.next(9));
  return {x, from.rarely(3) ? x * 2 : x};
}

OutputDescription any_output(Source& from, bool may_have_parts) {
  OutputDescription out;
  out.role = static_cast<OutputRole>(from.next(16));
  out.family = from.coin() ? Family::ultralytics : static_cast<Family>(from.next(6));
  for (std::size_t rank = 1 + from.next(5); rank > 0; --rank)
    out.shape.push_back(from.of(extents));
  if (from.coin()) out.shape[0] = 1;
  if (from.rarely(4)) {
    for (std::size_t i = 0; i < out.shape.size(); ++i)
      out.axes.push_back(static_cast<AxisName>(from.next(11)));
  }
  out.box_units = from.coin() ? BoxUnits::fraction : BoxUnits::pixels;
  if (from.coin()) out.encoding = static_cast<BoxEncoding>(from.next(5));
  if (from.rarely(4)) out.score_format = static_cast<ScoreFormat>(from.next(2));
  out.activation = static_cast<Activation>(from.next(4));
  for (std::size_t i = from.next(3); i > 0 && from.coin(); --i)
    out.anchors.push_back({0.1F * static_cast<float>(i), 0.2F});
  for (std::size_t i = from.next(4); i > 0 && from.coin(); --i)
    out.strides.push_back(static_cast<std::uint32_t>(4 * from.next(6)));
  if (from.coin())
    out.quantization = Quantization::per_tensor(0.01F, static_cast<int>(from.next(9)));
  if (from.rarely(8))
    out.quantization =
        Quantization{std::vector<float>(out.shape.back(), 0.02F), {}, out.shape.size() - 1};
  for (std::size_t i = from.next(4); may_have_parts && i > 0; --i) {
    OutputDescription part = any_output(from, false);
    if (from.coin()) part.role = out.role;
    part.name = std::to_string(i) + out.name;
    if (from.coin()) part.stride = Stride{static_cast<std::uint32_t>(8 * i), 8};
    out.parts.push_back(std::move(part));
  }
  return out;
}

ModelDescription drawn(Source& from) {
  ModelDescription out;
  out.input = {any_side(from), any_side(from)};
  for (std::size_t i = 1 + from.next(4); i > 0; --i)
    out.outputs.push_back(any_output(from, from.rarely(3)));
  return out;
}

ModelDescription of_layouts(Source& from) {
  static const auto layouts = test::head_layouts();
  return layouts[from.next(layouts.size())].description;
}

ModelDescription of_presets(Source& from) {
  PresetOptions options;
  options.input = {any_side(from) + 8, any_side(from) + 8};
  options.classes = 1 + from.next(5);
  options.boxes = from.coin() ? 0 : 1 + from.next(64);
  if (from.rarely(4)) options.keypoints = KeypointShape{2, 2};
  if (from.coin()) options.anchors = {{{0.1F, 0.2F}}, {{0.3F, 0.4F}, {0.5F, 0.5F}}};
  const auto families = model_families();
  auto out = describe_model(families[from.next(families.size())], options);
  return out ? *std::move(out) : ModelDescription{};
}

void change_coding(Source& from, OutputDescription& out) {
  switch (from.next(8)) {
    case 0:
      out.encoding = static_cast<BoxEncoding>(from.next(5));
      return;
    case 1:
      out.encoding.reset();
      return;
    case 2:
      out.score_format = static_cast<ScoreFormat>(from.next(2));
      return;
    case 3:
      out.activation = static_cast<Activation>(from.next(4));
      return;
    case 4:
      out.applied = static_cast<Activation>(from.next(4));
      return;
    case 5:
      out.anchors.resize(from.next(4), Anchor{0.2F, 0.3F});
      return;
    case 6:
      out.stride = any_stride(from);
      return;
    default:
      out.strides.push_back(any_stride(from).x);
  }
}

void change_tensor(Source& from, OutputDescription& out) {
  if (out.shape.empty()) return;
  std::size_t& extent = out.shape[from.next(out.shape.size())];
  switch (from.next(7)) {
    case 0:
      extent = from.of(extents);
      return;
    case 1:
      extent += from.next(3);
      return;
    case 2:
      out.axes.clear();
      return;
    case 3:
      std::swap(extent, out.shape.back());
      return;
    case 4:
      out.dtype = static_cast<DType>(from.next(12));
      return;
    case 5:
      out.quantization = Quantization::per_tensor(from.any_float(), from.byte());
      return;
    default:
      if (!out.axes.empty()) out.axes[from.next(out.axes.size())] = AxisName(from.next(11));
  }
}

void change_output(Source& from, OutputDescription& out) {
  switch (from.next(6)) {
    case 0:
      out.role = static_cast<OutputRole>(from.next(16));
      return;
    case 1:
      out.family = static_cast<Family>(from.next(6));
      return;
    case 2:
      out.box_units = static_cast<BoxUnits>(from.next(2));
      return;
    case 3:
      out.name.clear();
      return;
    case 4:
      return change_coding(from, out);
    default:
      change_tensor(from, out);
  }
}

void change_outputs(Source& from, std::vector<OutputDescription>& outputs) {
  if (outputs.empty()) return;
  const std::size_t i = from.next(outputs.size());
  switch (from.next(6)) {
    case 0:
      outputs.push_back(OutputDescription(outputs[i]));
      return;
    case 1:
      outputs.erase(outputs.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    case 2:
      std::swap(outputs[i], outputs.back());
      return;
    case 3:
      change_outputs(from, outputs[i].parts);
      return;
    default:
      change_output(from, outputs[i]);
  }
}

void change(Source& from, ModelDescription& out) {
  constexpr const char* versions[] = {"", "yolov5", "yolov8", "yolo11", "yolo26", "yolo99"};
  switch (from.next(9)) {
    case 0:
      out.task = static_cast<Task>(from.next(6));
      return;
    case 1:
      out.decoder_version = from.of(versions);
      return;
    case 2:
      out.labels.resize(from.next(6));
      return;
    case 3:
      out.nms = static_cast<Nms>(from.next(3));
      return;
    case 4:
      out.input = {any_side(from), any_side(from)};
      return;
    case 5:
      out.keypoints = KeypointShape{static_cast<std::uint32_t>(from.next(5)),
                                    static_cast<std::uint32_t>(from.next(4))};
      return;
    default:
      change_outputs(from, out.outputs);
  }
}

}  // namespace

ModelDescription any_description(Source& from) {
  const std::size_t kind = from.next(4);
  ModelDescription out = kind == 0 ? drawn(from) : kind == 1 ? of_presets(from) : of_layouts(from);
  for (std::size_t changes = from.next(6); changes > 2; --changes)
    change(from, out);
  return out;
}

}  // namespace halyard::fuzz
