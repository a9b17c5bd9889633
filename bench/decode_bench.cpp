// SPDX-License-Identifier: Apache-2.0
// Decoding heads of 8400 boxes and 80 classes: objects of 12 boxes each over noise. The floor is
// reading the scores once. decode_peers.py makes the same numbers and measures the peers.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "halyard/decode.h"

namespace halyard {
namespace {

constexpr std::size_t anchors = 8400, classes = 80, kernels = 32, bins = 16;

// Number i of a stream, in [0, 1): splitmix64's mixer, so that any language can make the same.
double uniform(std::uint64_t stream, std::uint64_t i) {
  std::uint64_t z = (stream << 40) + (i + 1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

// [4 + classes + extra, anchors]: centres and extents as fractions, scores, then other features.
std::vector<float> head_of(std::size_t objects, std::size_t extra = 0) {
  std::vector<float> out((4 + classes + extra) * anchors);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t row = i / anchors;
    const double u = uniform(10, i);
    out[i] = static_cast<float>(row < 2             ? 0.05 + 0.9 * u
                                : row < 4           ? 0.02 + 0.28 * u
                                : row < 4 + classes ? 0.05 * u
                                                    : 3.4 * u - 1.7);
  }
  for (std::size_t box = 0; box < 12 * objects; ++box) {
    const auto object = [&](std::size_t k) { return uniform(11, box / 12 * 8 + k); };
    const auto own = [&](std::size_t k) { return uniform(12, box * 8 + k); };
    const auto at = static_cast<std::size_t>(anchors * own(0));
    const auto label = static_cast<std::size_t>(classes * object(0));
    for (std::size_t f = 0; f < 4; ++f) {
      const double middle = f < 2 ? 0.2 + 0.6 * object(1 + f) : 0.05 + 0.25 * object(1 + f);
      out[f * anchors + at] = static_cast<float>(middle + 0.014 * (own(1 + f) - 0.5));
    }
    out[(4 + label) * anchors + at] = static_cast<float>(0.4 + 0.55 * own(5));
  }
  return out;
}

float logit(float p) {
  return static_cast<float>(std::log(p / (1.0 - p)));
}

template <class T>
T stored(float value) {
  if constexpr (std::is_same_v<T, float>) {
    return value;
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return {static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16)};
  } else if constexpr (std::is_same_v<T, Half>) {  // truncated; below the smallest normal: 0
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const int exponent = static_cast<int>(bits >> 23 & 0xFF) - 112;
    const auto magnitude = static_cast<std::uint32_t>(exponent) << 10 | (bits >> 13 & 0x3FF);
    return {static_cast<std::uint16_t>((bits >> 16 & 0x8000) | (exponent > 0 ? magnitude : 0))};
  } else {
    return static_cast<T>(std::clamp(std::nearbyint(value * 255.0) - 128, -128.0, 127.0));
  }
}

template <class T>
Tensor tensor_of(const std::vector<float>& values, bool boxes_first = false) {
  const std::size_t features = values.size() / anchors;
  auto tensor = boxes_first ? *Tensor::create(*dtype_of<T>, {1, anchors, features}, Memory::mem)
                            : *Tensor::create(*dtype_of<T>, {1, features, anchors}, Memory::mem);
  auto map = *tensor.map(Access::write);
  auto* out = reinterpret_cast<T*>(map.writable());
  for (std::size_t i = 0; i < values.size(); ++i)
    out[boxes_first ? i % anchors * features + i / anchors : i] = stored<T>(values[i]);
  if (is_integer(*dtype_of<T>))
    (void)tensor.set_quantization(Quantization::per_tensor(1 / 255.0F, -128));
  return tensor;
}

// Suppression as in the peers.
DecodeOptions agnostic() {
  DecodeOptions out;
  out.nms = Nms::class_agnostic;
  return out;
}

ModelDescription model_of(const std::vector<Tensor>& tensors, Activation activation) {
  ModelDescription out;
  out.input = {640, 640};
  for (const Tensor& tensor : tensors) {
    OutputDescription& output = out.outputs.emplace_back();
    output.shape.assign(tensor.shape().begin(), tensor.shape().end());
    output.box_units = BoxUnits::fraction;
    output.activation = activation;
  }
  return out;
}

using After = std::function<std::size_t(const Decoded&)>;

void run(benchmark::State& state, const ModelDescription& model, const DecodeOptions& options,
         const std::vector<Tensor>& tensors, const After& after = {}) {
  const auto decoder = Decoder::create(model, options);
  if (!decoder) return state.SkipWithError(decoder.error().message().c_str());
  Decoded out;
  std::size_t more = 0;
  for (auto _ : state) {
    const Status done = decoder->decode_into(tensors, out);
    if (!done) return state.SkipWithError(done.error().message().c_str());
    if (after) more = after(out);
    benchmark::DoNotOptimize(out.detections.data());
  }
  double labels = 0;
  for (const Detection& detection : out.detections)
    labels += detection.label;
  state.counters["found"] = static_cast<double>(out.detections.size());
  state.counters["labels"] = labels;
  if (after) state.counters["more"] = static_cast<double>(more);
}

template <class T>
void dense(benchmark::State& state, bool boxes_first) {
  const std::vector<Tensor> tensors{tensor_of<T>(head_of(40), boxes_first)};
  run(state, model_of(tensors, Activation::none), agnostic(), tensors);
}

// Scores as logits.
template <class T>
void logits(benchmark::State& state, bool boxes_first) {
  std::vector<float> head = head_of(40);
  std::transform(head.begin() + 4 * anchors, head.end(), head.begin() + 4 * anchors, logit);
  const std::vector<Tensor> tensors{tensor_of<T>(head, boxes_first)};
  run(state, model_of(tensors, Activation::sigmoid), agnostic(), tensors);
}

// A scale for each feature, all near 1/255.
void per_channel(benchmark::State& state, bool boxes_first) {
  std::vector<Tensor> tensors{tensor_of<std::int8_t>(head_of(40), boxes_first)};
  Quantization quantization{{}, {}, boxes_first ? 2U : 1U};
  for (std::size_t f = 0; f < 4 + classes; ++f) {
    quantization.scale.push_back(static_cast<float>((1 + 0.001 * static_cast<double>(f)) / 255));
    quantization.zero_point.push_back(-128);
  }
  (void)tensors[0].set_quantization(quantization);
  run(state, model_of(tensors, Activation::none), agnostic(), tensors);
}

// Softmax scores of 1 + 90 classes for 1917 boxes, most of them background, on priors.
void shares(benchmark::State& state) {
  constexpr std::size_t boxes = 1917, all = 91;
  std::vector<Tensor> tensors{*Tensor::create(DType::f32, {1, boxes, 4}, Memory::mem),
                              *Tensor::create(DType::f32, {1, boxes, all}, Memory::mem),
                              *Tensor::create(DType::f32, {boxes, 4}, Memory::mem)};
  ModelDescription model = model_of(tensors, Activation::none);
  const std::array roles{OutputRole::boxes, OutputRole::scores, OutputRole::priors};
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    model.outputs[t].role = roles[t];
    model.outputs[t].family = Family::ssd;
    auto map = *tensors[t].map(Access::write);
    auto* out = reinterpret_cast<float*>(map.writable());
    for (std::size_t i = 0; i < tensors[t].size_bytes() / 4; ++i)
      out[i] = static_cast<float>(0.1 + 0.6 * uniform(20 + t, i));
    for (std::size_t box = 0; t == 1 && box < boxes; ++box)
      out[box * all + (box % 20 == 0 ? 1 + box % 90 : 0)] = 8;
  }
  model.outputs[1].activation = Activation::softmax;
  model.outputs[2].box_units.reset();
  run(state, model, agnostic(), tensors);
}

// As in validation: every class above 0.001, here one score in 200.
void validation(benchmark::State& state, bool boxes_first) {
  std::vector<float> head = head_of(40);
  for (std::size_t i = 4 * anchors; i < head.size(); ++i) {
    if (head[i] < 0.05 && uniform(13, i) > 0.005) head[i] *= 0.019F;
  }
  const std::vector<Tensor> tensors{tensor_of<float>(head, boxes_first)};
  run(state, model_of(tensors, Activation::none), DecodeOptions::ultralytics_val(), tensors);
}

// 84 x 8400 with a share of boxes that all pass: candidates for selection.
void crowd(benchmark::State& state, std::size_t count, bool equal) {
  std::vector<float> values(5 * count, 0.5F);
  const auto side = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(count))));
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = (static_cast<float>(i % side) + 0.5F) / static_cast<float>(side);
    values[count + i] = (static_cast<float>(i / side) + 0.5F) / static_cast<float>(side);
    values[2 * count + i] = values[3 * count + i] = 0.9F / static_cast<float>(side);
    if (!equal) values[4 * count + i] = static_cast<float>(0.3 + 0.7 * uniform(14, i));
  }
  std::vector<Tensor> tensors{*Tensor::create(DType::f32, {1, 5, count}, Memory::mem)};
  std::memcpy(tensors[0].map(Access::write)->writable(), values.data(), values.size() * 4);
  DecodeOptions options;
  options.pre_nms_top_k = options.max_detections = 0;
  run(state, model_of(tensors, Activation::none), options, tensors);
}

void segmentation(benchmark::State& state, bool with_masks) {
  constexpr std::size_t grid = 160;
  std::vector<Tensor> tensors{tensor_of<float>(head_of(100, kernels)),
                              *Tensor::create(DType::f32, {1, grid, grid, kernels}, Memory::mem)};
  auto map = *tensors[1].map(Access::write);
  auto* out = reinterpret_cast<float*>(map.writable());
  for (std::size_t i = 0; i < grid * grid * kernels; ++i)
    out[i] = static_cast<float>(3.4 * uniform(15, i) - 1.7);
  ModelDescription model = model_of(tensors, Activation::none);
  model.outputs[1].role = OutputRole::prototypes;
  model.outputs[1].box_units.reset();
  MaskSet set;
  const auto masks = [&](const Decoded& decoded) {
    (void)materialize(decoded.masks, decoded.detections, {MaskRule::probability, {}, {}}, set);
    return set.size();
  };
  DecodeOptions options = agnostic();
  options.max_detections = 100;
  run(state, model, options, tensors, with_masks ? After(masks) : After());
}

OutputDescription level_of(OutputRole role, std::size_t side, std::size_t features) {
  OutputDescription out;
  out.role = role;
  out.name = std::string(to_string(role)) + std::to_string(side);
  out.shape = {1, side, side, features};
  out.stride =
      Stride{static_cast<std::uint32_t>(640 / side), static_cast<std::uint32_t>(640 / side)};
  out.quantization = Quantization::per_tensor(0.1F);
  return out;
}

Tensor level_tensor(const OutputDescription& part, const std::vector<std::int8_t>& values,
                    std::size_t first) {
  auto tensor = *Tensor::create(DType::i8, part.shape, Memory::mem);
  tensor.set_name(part.name);
  (void)tensor.set_quantization(*part.quantization);
  std::memcpy(tensor.map(Access::write)->writable(), values.data() + first, tensor.size_bytes());
  return tensor;
}

// Three levels of distributions and logits, i8: 480 boxes pass, with a peak of bins at each side.
void levels(benchmark::State& state) {
  std::vector<std::int8_t> boxes(anchors * 4 * bins), scores(anchors * classes);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const double peak = 2 + 4 * uniform(16, i / bins);
    const double off = static_cast<double>(i % bins) - peak;
    boxes[i] = static_cast<std::int8_t>(std::nearbyint(60 - 12 * std::abs(off)));
  }
  for (std::size_t i = 0; i < scores.size(); ++i)
    scores[i] = static_cast<std::int8_t>(-120 + std::nearbyint(50 * uniform(17, i)));
  for (std::size_t i = 0; i < 480; ++i)
    scores[static_cast<std::size_t>(static_cast<double>(scores.size()) * uniform(18, i))] = 20;
  ModelDescription model;
  model.input = {640, 640};
  model.outputs.resize(2);
  model.outputs[0].role = OutputRole::boxes;
  model.outputs[0].shape = {1, 4, anchors};
  model.outputs[0].encoding = BoxEncoding::dfl;
  model.outputs[1].role = OutputRole::scores;
  model.outputs[1].shape = {1, classes, anchors};
  model.outputs[1].activation = Activation::sigmoid;
  std::vector<Tensor> tensors;
  std::size_t before = 0;
  for (const std::size_t side : {80, 40, 20}) {
    auto& b = model.outputs[0].parts.emplace_back(level_of(OutputRole::boxes, side, 4 * bins));
    auto& s = model.outputs[1].parts.emplace_back(level_of(OutputRole::scores, side, classes));
    tensors.push_back(level_tensor(b, boxes, before * 4 * bins));
    tensors.push_back(level_tensor(s, scores, before * classes));
    before += side * side;
  }
  run(state, model, agnostic(), tensors);
}

// Reads every score once.
template <class T>
void floor_of(benchmark::State& state) {
  const std::vector<T> from(classes * anchors, T{1});
  for (auto _ : state) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i + 8 <= from.size() * sizeof(T); i += 8) {
      std::uint64_t word;
      std::memcpy(&word, reinterpret_cast<const char*>(from.data()) + i, 8);
      sum |= word;
    }
    benchmark::DoNotOptimize(sum);
  }
}

template <class Work, class... Arguments>
void add(const char* name, Work work, Arguments... arguments) {
  benchmark::RegisterBenchmark(name, [=](benchmark::State& state) { work(state, arguments...); });
}

const bool registered = [] {
  add("decode/f32", dense<float>, false);
  add("decode/f32_boxes_first", dense<float>, true);
  add("decode/f16", dense<Half>, false);
  add("decode/f16_boxes_first", dense<Half>, true);
  add("decode/bf16", dense<BFloat16>, false);
  add("decode/i8", dense<std::int8_t>, false);
  add("decode/i8_boxes_first", dense<std::int8_t>, true);
  add("decode/f32_logits", logits<float>, false);
  add("decode/f16_logits", logits<Half>, false);
  add("decode/bf16_logits_boxes_first", logits<BFloat16>, true);
  add("decode/i8_per_channel", per_channel, false);
  add("decode/i8_per_channel_boxes_first", per_channel, true);
  add("decode/ssd_f32", shares);
  add("decode/f32_validation", validation, false);
  add("decode/f32_validation_boxes_first", validation, true);
  add("decode/all_pass/8400", crowd, 8400, false);
  add("decode/all_pass/100000", crowd, 100000, false);
  add("decode/all_pass/1000000", crowd, 1000000, false);
  add("decode/all_equal/8400", crowd, 8400, true);
  add("decode/all_equal/100000", crowd, 100000, true);
  add("decode/all_equal/1000000", crowd, 1000000, true);
  add("decode/seg_lazy", segmentation, false);
  add("decode/seg_masks", segmentation, true);
  add("decode/levels_i8", levels);
  add("decode/floor_f32", floor_of<float>);
  add("decode/floor_f16", floor_of<std::uint16_t>);
  add("decode/floor_i8", floor_of<std::int8_t>);
  return true;
}();

}  // namespace
}  // namespace halyard
