// SPDX-License-Identifier: Apache-2.0
// Descriptions, tensors and options made from the bytes: the decoder either refuses them with a
// message, or decodes without reading outside, and its results keep their promises. Masks and
// class maps are made from them.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fuzz/any_description.h"
#include "fuzz/source.h"
#include "halyard/buffer.h"
#include "halyard/decode.h"
#include "halyard/polygon.h"
#include "halyard/rle.h"
#include "halyard/semantic.h"

namespace {

using namespace halyard;
using fuzz::expect;
using fuzz::Source;

constexpr std::size_t max_elements = std::size_t{1} << 16;

template <class T>
T one_of(Source& from, std::size_t count) {
  return static_cast<T>(from.next(count));
}

// A float in 32 bits: any bits, or values that boxes and scores have.
std::uint32_t float_bits(const Source& from, std::size_t i, std::size_t kind) {
  const auto value = static_cast<float>(from.at(i));
  const float of_kind[] = {value / 255, (value - 128) / 16, value / 2};
  if (kind < 3) return std::bit_cast<std::uint32_t>(of_kind[kind]);
  return from.at(i) | from.at(i + 1) << 8 | from.at(i + 2) << 16 |
         static_cast<std::uint32_t>(from.at(i + 3)) << 24;
}

void fill(Source& from, DType dtype, std::span<std::byte> bytes) {
  const std::size_t kind = from.next(4);
  const std::size_t size = size_of(dtype);
  for (std::size_t i = 0; i + size <= bytes.size(); i += size) {
    std::uint32_t bits = float_bits(from, i / size, dtype == DType::f16 ? 3 : kind);
    if (dtype == DType::bf16) bits >>= 16;
    if (dtype == DType::f16 && kind < 3) bits = 0x2C00U + (bits & 0xFFU) * 16;  // 1/16 .. 4
    if (size > sizeof(bits) || is_integer(dtype)) {
      for (std::size_t k = 0; k < size; ++k)
        bytes[i + k] = static_cast<std::byte>(from.at(i + k));
    } else {
      std::memcpy(bytes.data() + i, &bits, size);
    }
  }
}

// Axes stored in any order, with gaps between elements, or backwards.
std::optional<Tensor> any_strides(Source& from, DType dtype, std::span<const std::size_t> shape) {
  auto layout = Layout::contiguous(dtype, shape);
  if (!layout || layout->element_count() > max_elements) return std::nullopt;
  std::vector<std::size_t> order(shape.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ptrdiff_t step = static_cast<std::ptrdiff_t>(size_of(dtype));
  std::size_t offset = 0;
  if (from.rarely(4)) {
    std::swap(order[from.next(order.size())], order[from.next(order.size())]);
    step *= static_cast<std::ptrdiff_t>(1 + from.next(2));
  }
  for (std::size_t i = order.size(); i > 0; --i) {
    const std::size_t axis = order[i - 1];
    const auto extent = static_cast<std::ptrdiff_t>(shape[axis]);
    const bool is_backwards = from.rarely(16) && extent > 0;
    if (is_backwards) offset += static_cast<std::size_t>((extent - 1) * step);
    layout->stride_bytes[axis] = is_backwards ? -step : step;
    step *= std::max<std::ptrdiff_t>(extent, 1);
  }
  auto buffer = allocate(static_cast<std::size_t>(step), Memory::mem);
  if (!buffer) return std::nullopt;
  if (auto map = (*buffer)->map(Access::write)) fill(from, dtype, map->writable_bytes());
  auto tensor = Tensor::wrap(*buffer, *layout, offset);
  return tensor ? std::optional(*std::move(tensor)) : std::nullopt;
}

std::optional<Tensor> any_tensor(Source& from, const OutputDescription& as, std::size_t batch) {
  constexpr DType dtypes[] = {DType::f32, DType::f16, DType::bf16, DType::i8, DType::u8,
                              DType::i16, DType::u16, DType::f32,  DType::i32};
  auto shape = as.shape;
  if (shape.size() > 1 && shape[0] == 1) shape[0] = batch;
  if (from.rarely(16)) shape[from.next(shape.size())] += from.next(2);
  if (from.rarely(32) && shape.size() > 1) shape.erase(shape.begin());
  auto tensor = any_strides(from, as.dtype.value_or(from.of(dtypes)), shape);
  if (!tensor) return std::nullopt;
  if (from.coin())
    (void)tensor->set_quantization(Quantization::per_tensor(
        0.01F * static_cast<float>(1 + from.next(8)), static_cast<int>(from.next(9)) - 4));
  if (from.rarely(8)) {
    const std::size_t axis = from.next(shape.size());
    (void)tensor->set_quantization(Quantization{std::vector<float>(shape[axis], 0.02F), {}, axis});
  }
  tensor->set_name(as.name);
  return tensor;
}

DecodeOptions any_options(Source& from) {
  DecodeOptions out;
  out.score_threshold = from.fraction(10);
  out.iou_threshold = from.fraction(10);
  if (from.coin()) out.nms = one_of<Nms>(from, 3);
  out.pre_nms_top_k = from.next(3) * 20;
  out.max_detections = from.next(3) * 7;
  if (from.rarely(4)) out.class_thresholds.assign(1 + from.next(4), from.fraction(10));
  out.suppression = one_of<Suppression>(from, 4);
  out.overlap = one_of<Overlap>(from, 3);
  out.soft_sigma = 0.25F * static_cast<float>(from.next(5));
  out.soft_floor = from.fraction(10);
  out.multi_label = from.coin();
  out.top_classes = from.next(4);
  return out;
}

std::optional<RegionF> any_content(Source& from) {
  if (from.coin()) return std::nullopt;
  if (from.rarely(8))
    return RegionF{from.any_float(), from.any_float(), from.any_float(), from.any_float()};
  return RegionF{0.5F * static_cast<float>(from.next(16)), static_cast<float>(from.next(16)),
                 1 + static_cast<float>(from.next(48)), 1 + static_cast<float>(from.next(48))};
}

Size any_size(Source& from) {
  return {static_cast<std::int32_t>(from.next(80)), static_cast<std::int32_t>(from.next(80))};
}

void check_masks(Source& from, const Decoded& out) {
  MaskOptions options;
  options.rule = one_of<MaskRule>(from, 5);
  if (from.coin()) options.size = any_size(from);
  options.content = any_content(from);
  MaskSet masks;
  const Status made = materialize(out.masks, out.detections, options, masks);
  if (!made) return expect(masks.empty() && !made.error().message().empty());
  expect(masks.size() == out.detections.size());
  for (std::size_t i = 0; i < std::min<std::size_t>(masks.size(), 4); ++i) {
    const RegionF part = masks.fraction(i);
    expect(part.x >= 0 && part.y >= 0 && part.x + part.width <= 1.001F);
    Rle rle;
    std::vector<std::uint8_t> pixels;
    expect(rle_encode(masks[i], masks.frame(), rle).has_value());
    expect(rle_decode(rle, pixels).has_value());
    std::vector<Polygon> outlines;
    expect(mask_polygons(masks[i], outlines, from.fraction(4)).has_value());
  }
}

void check_classes(Source& from, const Tensor& scores) {
  SemanticOptions options;
  options.layout = one_of<SemanticLayout>(from, 3);
  options.mode = one_of<SemanticMode>(from, 2);
  options.confidence = one_of<SemanticConfidence>(from, 2);
  options.batch = from.next(3);
  if (from.coin()) options.input = any_size(from);
  options.content = any_content(from);
  const Size size = any_size(from);
  const std::size_t shape[] = {static_cast<std::size_t>(size.height),
                               static_cast<std::size_t>(size.width)};
  auto out = Tensor::create(from.coin() ? DType::u8 : DType::u16, shape, Memory::mem);
  auto sure = Tensor::create(from.coin() ? DType::u8 : DType::f32, shape, Memory::mem);
  if (!out || !sure) return;
  const Status done = semantic_map(scores, options, *out, from.coin() ? &*sure : nullptr);
  expect(done.has_value() || !done.error().message().empty());
}

void check(const Decoded& out, const Decoder& decoder) {
  const DecodeOptions& options = decoder.options();
  const std::size_t count = out.detections.size();
  const bool is_soft = options.suppression == Suppression::soft_linear ||
                       options.suppression == Suppression::soft_gaussian;
  const bool has_one_threshold = options.class_thresholds.empty() && !is_soft;
  expect(options.max_detections == 0 || count <= options.max_detections);
  for (std::size_t i = 0; i < count; ++i) {
    const Detection& d = out.detections[i];
    expect(d.label >= 0 && d.anchor >= 0 && !std::isnan(d.score));
    expect(!has_one_threshold || d.score >= options.score_threshold);
    expect(i == 0 || out.detections[i - 1].score >= d.score);
    expect(std::isfinite(d.box.x1) && std::isfinite(d.box.y1) && std::isfinite(d.box.x2));
    expect(d.box.x1 <= d.box.x2 && d.box.y1 <= d.box.y2 && std::isfinite(d.box.y2));
  }
  expect(out.rotated.empty() || out.rotated.size() == count);
  expect(out.keypoints.size() == out.keypoints_each * count);
  expect(out.masks.channels == 0 || out.masks.size() == count);
  for (std::size_t i = 0; i < out.classes.size(); ++i) {
    expect(!std::isnan(out.classes[i].score));
    expect(i == 0 || out.classes[i - 1].score >= out.classes[i].score);
  }
}

// In the decoder's order: parts instead of their output.
std::optional<std::vector<Tensor>> any_tensors(Source& from, const ModelDescription& description) {
  const std::size_t batch = 1 + (from.rarely(4) ? 1 : 0);
  std::vector<Tensor> out;
  for (const OutputDescription& output : description.outputs) {
    const std::span<const OutputDescription> whole(&output, 1);
    for (const auto& each : output.parts.empty() ? whole : std::span(output.parts)) {
      auto tensor = any_tensor(from, each, batch);
      if (!tensor) return std::nullopt;
      out.push_back(*std::move(tensor));
    }
  }
  if (from.rarely(16) && !out.empty()) std::swap(out.front(), out.back());
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Source from({data, size});
  const ModelDescription description = fuzz::any_description(from);
  const auto decoder = Decoder::create(description, any_options(from));
  if (!decoder) {
    expect(!decoder.error().message().empty());
    return 0;
  }
  expect(!decoder->explain().empty());
  const auto tensors = any_tensors(from, description);
  if (!tensors) return 0;
  if (!tensors->empty() && from.coin()) check_classes(from, (*tensors)[from.next(tensors->size())]);
  Decoded out;
  const Status done = decoder->decode_into(*tensors, out, from.next(2));
  if (!done) {
    expect(!done.error().message().empty());
    return 0;
  }
  check(out, *decoder);
  if (out.masks.channels != 0) check_masks(from, out);
  return 0;
}
