// SPDX-License-Identifier: Apache-2.0
// Decoding one YOLOv8 output: 40 objects of 12 anchors each over noise. The floor is reading every
// byte of the tensor once.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "halyard/decode.h"

namespace halyard {
namespace {

constexpr std::size_t anchors = 8400;
constexpr std::size_t classes = 80;

std::vector<float> head_of(std::size_t objects) {
  std::mt19937 random(3);
  const auto uniform = [&](float low, float high) {
    return std::uniform_real_distribution<float>(low, high)(random);
  };
  std::vector<float> out((4 + classes) * anchors);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t row = i / anchors;
    out[i] = row < 2 ? uniform(0.05F, 0.95F) : row < 4 ? uniform(0.02F, 0.3F) : uniform(0, 0.05F);
  }
  for (std::size_t o = 0; o < objects; ++o) {
    const std::size_t label = random() % classes;
    const float box[4] = {uniform(0.2F, 0.8F), uniform(0.2F, 0.8F), uniform(0.05F, 0.3F),
                          uniform(0.05F, 0.3F)};
    for (int k = 0; k < 12; ++k) {
      const std::size_t a = random() % anchors;
      for (std::size_t f = 0; f < 4; ++f)
        out[f * anchors + a] = box[f] + uniform(-0.007F, 0.007F);
      out[(4 + label) * anchors + a] = uniform(0.4F, 0.95F);
    }
  }
  return out;
}

template <class T>
Tensor stored(const std::vector<float>& values, bool boxes_first) {
  const std::size_t features = 4 + classes;
  auto tensor = boxes_first ? *Tensor::create(*dtype_of<T>, {1, anchors, features}, Memory::mem)
                            : *Tensor::create(*dtype_of<T>, {1, features, anchors}, Memory::mem);
  auto map = *tensor.map(Access::write);
  auto* out = reinterpret_cast<T*>(map.writable());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t at = boxes_first ? i % anchors * features + i / anchors : i;
    if constexpr (std::is_same_v<T, float>) {
      out[at] = values[i];
    } else {
      out[at] = static_cast<T>(std::clamp(values[i] * 255 - 128, -128.0F, 127.0F));
    }
  }
  if constexpr (!std::is_same_v<T, float>)
    (void)tensor.set_quantization(Quantization::per_tensor(1 / 255.0F, -128));
  return tensor;
}

template <class T>
void decode_head(benchmark::State& state, bool boxes_first, DecodeOptions options) {
  const Tensor tensor = stored<T>(head_of(40), boxes_first);
  const TensorSpec spec{"",
                        tensor.dtype(),
                        {tensor.shape().begin(), tensor.shape().end()},
                        tensor.quantization(),
                        {}};
  const auto decoder = *Decoder::for_outputs({&spec, 1}, {640, 640}, options, BoxUnits::fraction);
  std::size_t found = 0;
  for (auto _ : state) {
    auto detections = decoder.decode({&tensor, 1});
    found = detections->size();
    benchmark::DoNotOptimize(detections->data());
  }
  state.counters["detections"] = static_cast<double>(found);
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * tensor.size_bytes()));
}

template <class T>
void read_floor(benchmark::State& state) {
  const std::vector<T> from((4 + classes) * anchors, T{1});
  for (auto _ : state) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i + 8 <= from.size() * sizeof(T); i += 8) {
      std::uint64_t word;
      std::memcpy(&word, reinterpret_cast<const char*>(from.data()) + i, 8);
      sum |= word;
    }
    benchmark::DoNotOptimize(sum);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * from.size() * sizeof(T)));
}

const DecodeOptions validation{0.001F, 0.7F, Nms::class_aware, 30000, 300};

void decode_f32(benchmark::State& state, bool boxes_first, DecodeOptions options) {
  decode_head<float>(state, boxes_first, options);
}
void decode_i8(benchmark::State& state, bool boxes_first, DecodeOptions options) {
  decode_head<std::int8_t>(state, boxes_first, options);
}

BENCHMARK_CAPTURE(decode_f32, 84x8400, false, DecodeOptions{});
BENCHMARK_CAPTURE(decode_i8, 84x8400, false, DecodeOptions{});
BENCHMARK_CAPTURE(decode_f32, 8400x84, true, DecodeOptions{});
BENCHMARK_CAPTURE(decode_i8, 8400x84, true, DecodeOptions{});
BENCHMARK_CAPTURE(decode_f32, 84x8400_all_anchors_pass, false, validation);
BENCHMARK(read_floor<float>);
BENCHMARK(read_floor<std::int8_t>);

}  // namespace
}  // namespace halyard
