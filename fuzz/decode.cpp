// SPDX-License-Identifier: Apache-2.0
// Descriptions, shapes and tensors drawn from the bytes: the decoder either refuses with a message,
// or decodes without reading outside, and what it gives keeps its promises.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "halyard/decode.h"

namespace {

using namespace halyard;

void expect(bool promise) {
  if (!promise) std::abort();
}

/// Bytes as choices; zeros once they are used up.
class Source {
 public:
  explicit Source(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  std::size_t next(std::size_t below) { return below == 0 ? 0 : byte() % below; }
  bool coin() { return (byte() & 1U) != 0; }
  void fill(std::byte* out, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      out[i] = static_cast<std::byte>(bytes_.empty() ? i * 37 : bytes_[(at_ + i) % bytes_.size()]);
  }

 private:
  std::uint8_t byte() { return at_ < bytes_.size() ? bytes_[at_++] : 0; }
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

OutputDescription any_output(Source& from, bool may_have_parts) {
  constexpr std::size_t extents[] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 32, 38, 64};
  OutputDescription out;
  out.role = static_cast<OutputRole>(from.next(16));
  out.family = from.coin() ? Family::ultralytics : static_cast<Family>(from.next(6));
  for (std::size_t rank = 1 + from.next(5); rank > 0; --rank)
    out.shape.push_back(extents[from.next(std::size(extents))]);
  if (from.coin()) out.shape[0] = 1;
  if (from.next(4) == 0) {
    for (std::size_t i = 0; i < out.shape.size(); ++i)
      out.axes.push_back(static_cast<AxisName>(from.next(11)));
  }
  out.box_units = from.coin() ? BoxUnits::fraction : BoxUnits::pixels;
  if (from.coin()) out.encoding = static_cast<BoxEncoding>(from.next(5));
  if (from.next(4) == 0) out.score_format = static_cast<ScoreFormat>(from.next(2));
  out.activation = static_cast<Activation>(from.next(4));
  for (std::size_t i = from.next(3); i > 0 && from.coin(); --i)
    out.anchors.push_back({0.1F * static_cast<float>(i), 0.2F});
  for (std::size_t i = from.next(4); i > 0 && from.coin(); --i)
    out.strides.push_back(static_cast<std::uint32_t>(4 * from.next(6)));
  if (from.coin())
    out.quantization = Quantization::per_tensor(0.01F, static_cast<int>(from.next(9)));
  if (from.next(8) == 0)
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

ModelDescription any_description(Source& from) {
  ModelDescription out;
  out.input = {static_cast<std::int32_t>(8 * from.next(9)),
               static_cast<std::int32_t>(8 * from.next(9))};
  for (std::size_t i = 1 + from.next(4); i > 0; --i)
    out.outputs.push_back(any_output(from, from.next(3) == 0));
  if (from.coin()) out.task = static_cast<Task>(from.next(6));
  constexpr const char* versions[] = {"", "yolov5", "yolov8", "yolo26"};
  out.decoder_version = versions[from.next(std::size(versions))];
  out.labels.resize(from.next(4));
  if (from.next(3) == 0)
    out.keypoints = KeypointShape{static_cast<std::uint32_t>(from.next(5)),
                                  static_cast<std::uint32_t>(from.next(4))};
  return out;
}

std::optional<Tensor> any_tensor(Source& from, const OutputDescription& as) {
  constexpr DType dtypes[] = {DType::f32, DType::f16, DType::bf16, DType::i8,
                              DType::u8,  DType::i16, DType::u16,  DType::i32};
  auto shape = as.shape;
  if (from.next(4) == 0) shape[0] += from.next(2);
  if (from.next(8) == 0 && shape.size() > 1) shape.erase(shape.begin());
  auto tensor = Tensor::create(dtypes[from.next(std::size(dtypes))], shape, Memory::mem);
  if (!tensor) return std::nullopt;
  {
    auto map = tensor->map(Access::write);
    if (map) from.fill(map->writable(), tensor->size_bytes());
  }
  if (from.coin()) (void)tensor->set_quantization(Quantization::per_tensor(0.03F, -4));
  return *std::move(tensor);
}

void check(const Decoded& out, const DecodeOptions& options) {
  const std::size_t count = out.detections.size();
  expect(options.max_detections == 0 || count <= options.max_detections);
  for (std::size_t i = 0; i < count; ++i) {
    const Detection& d = out.detections[i];
    expect(d.score >= options.score_threshold && d.label >= 0 && d.anchor >= 0);
    expect(i == 0 || out.detections[i - 1].score >= d.score);
    expect(std::isfinite(d.box.x1) && d.box.x1 <= d.box.x2 && d.box.y1 <= d.box.y2);
  }
  expect(out.rotated.empty() || out.rotated.size() == count);
  expect(out.keypoints.size() == out.keypoints_each * count);
  expect(out.masks.channels == 0 || out.masks.size() == count);
  for (const ClassScore& c : out.classes)
    expect(!std::isnan(c.score));
  MaskSet masks;
  if (out.masks.channels != 0 && !materialize(out.masks, out.detections, {}, masks))
    expect(masks.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Source from({data, size});
  const ModelDescription description = any_description(from);
  DecodeOptions options;
  options.score_threshold = 0.1F * static_cast<float>(from.next(8));
  options.multi_label = from.coin();
  options.max_detections = from.next(3) * 7;
  const auto decoder = Decoder::create(description, options);
  if (!decoder) {
    expect(!decoder.error().message().empty());
    return 0;
  }
  (void)decoder->explain();
  std::vector<Tensor> tensors;
  for (const OutputDescription& output : description.outputs) {
    const std::span<const OutputDescription> whole(&output, 1);
    for (const auto& each : output.parts.empty() ? whole : std::span(output.parts)) {
      auto tensor = any_tensor(from, each);
      if (!tensor) return 0;
      tensors.push_back(*std::move(tensor));
    }
  }
  Decoded out;
  const Status done = decoder->decode_into(tensors, out, from.next(2));
  if (done) {
    check(out, options);
  } else {
    expect(!done.error().message().empty());
  }
  return 0;
}
