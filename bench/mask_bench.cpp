// SPDX-License-Identifier: Apache-2.0
// Instance masks of 100 objects, also drawn, and a semantic map of 150 classes, with their floors:
// reading the prototypes once, writing the bytes, touching the covered pixels.
// mask_peers.py makes the same numbers and measures the peers.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "halyard/mask.h"
#include "halyard/mask_draw.h"
#include "halyard/semantic.h"

namespace halyard {
namespace {

// Number i of a stream, in [0, 1): splitmix64's mixer, so that any language can make the same.
double uniform(std::uint64_t stream, std::uint64_t i) {
  std::uint64_t z = (stream << 40) + (i + 1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

// About normal: the sum of four, less their mean, with variance 1.
double normal(std::uint64_t stream, std::uint64_t i) {
  double sum = -2;
  for (std::uint64_t k = 0; k < 4; ++k)
    sum += uniform(stream, 4 * i + k);
  return sum * std::sqrt(3.0);
}

constexpr std::size_t grid = 160, channels = 32, masks = 100;

// Centres in 0.2..0.8 and extents of 0.05..0.3 of 640 pixels.
std::vector<Detection> objects() {
  std::vector<Detection> out(masks);
  for (std::size_t i = 0; i < masks; ++i) {
    const auto at = [&](std::size_t k, double low, double high) {
      return 640 * (low + (high - low) * uniform(1, 4 * i + k));
    };
    const double cx = at(0, 0.2, 0.8), cy = at(1, 0.2, 0.8);
    const double w = at(2, 0.05, 0.3), h = at(3, 0.05, 0.3);
    out[i].box = {static_cast<float>(cx - w / 2), static_cast<float>(cy - h / 2),
                  static_cast<float>(cx + w / 2), static_cast<float>(cy + h / 2)};
  }
  return out;
}

template <class T>
T stored(double value) {
  if constexpr (std::is_same_v<T, float>) {
    return static_cast<float>(value);
  } else {
    return static_cast<T>(std::clamp(std::round(value * 32), -128.0, 127.0));
  }
}

template <class T>
MaskPrototypes prototypes(PrototypeOrder order) {
  MaskPrototypes out;
  const bool packed = order == PrototypeOrder::height_width_channels;
  out.prototypes = packed ? *Tensor::create(*dtype_of<T>, {1, grid, grid, channels}, Memory::mem)
                          : *Tensor::create(*dtype_of<T>, {1, channels, grid, grid}, Memory::mem);
  const Quantization quantization = Quantization::per_tensor(1 / 32.0F);
  if (!std::is_same_v<T, float>) (void)out.prototypes.set_quantization(quantization);
  auto map = *out.prototypes.map(Access::write);
  auto* to = reinterpret_cast<T*>(map.writable());
  for (std::size_t i = 0; i < grid * grid; ++i) {
    for (std::size_t k = 0; k < channels; ++k)
      to[packed ? i * channels + k : k * grid * grid + i] = stored<T>(normal(2, i * channels + k));
  }
  out.order = order;
  out.input = {640, 640};
  out.clear(channels);
  for (std::size_t i = 0; i < masks; ++i) {
    std::array<T, channels> row;
    for (std::size_t k = 0; k < channels; ++k)
      row[k] = stored<T>(normal(3, i * channels + k));
    (void)out.append(
        {reinterpret_cast<const std::byte*>(row.data()), sizeof(T), *dtype_of<T>, &quantization});
  }
  return out;
}

template <class T>
void materialize_row(benchmark::State& state, PrototypeOrder order, MaskRule rule) {
  const MaskPrototypes from = prototypes<T>(order);
  const std::vector<Detection> detections = objects();
  MaskSet set;
  for (auto _ : state) {
    (void)materialize(from, detections, {rule, {}, {}}, set);
    benchmark::DoNotOptimize(set.size());
  }
  double on = 0, pixels = 0;
  for (std::size_t i = 0; i < set.size(); ++i) {
    const MaskView mask = set[i];
    const auto count = static_cast<std::size_t>(mask.region.width * mask.region.height);
    on += static_cast<double>(count - static_cast<std::size_t>(std::count(
                                          mask.data, mask.data + count, std::uint8_t{0})));
    pixels += static_cast<double>(count);
  }
  state.counters["on"] = on;
  state.counters["pixels"] = pixels;
  if (rule == MaskRule::prototype) state.counters["products"] = pixels * channels;
}

void f32(benchmark::State& state, PrototypeOrder order, MaskRule rule) {
  materialize_row<float>(state, order, rule);
}
void i8(benchmark::State& state, PrototypeOrder order, MaskRule rule) {
  materialize_row<std::int8_t>(state, order, rule);
}

constexpr auto hwc = PrototypeOrder::height_width_channels;
constexpr auto chw = PrototypeOrder::channels_height_width;
BENCHMARK_CAPTURE(f32, hwc_proto, hwc, MaskRule::prototype);
BENCHMARK_CAPTURE(f32, hwc_640, hwc, MaskRule::logits);
BENCHMARK_CAPTURE(f32, hwc_probability, hwc, MaskRule::probability);
BENCHMARK_CAPTURE(f32, hwc_640_ultralytics, hwc, MaskRule::ultralytics);
BENCHMARK_CAPTURE(f32, chw_proto, chw, MaskRule::prototype);
BENCHMARK_CAPTURE(f32, chw_640, chw, MaskRule::logits);
BENCHMARK_CAPTURE(i8, hwc_proto, hwc, MaskRule::prototype);
BENCHMARK_CAPTURE(i8, hwc_640, hwc, MaskRule::logits);
BENCHMARK_CAPTURE(i8, chw_proto, chw, MaskRule::prototype);
BENCHMARK_CAPTURE(i8, chw_640, chw, MaskRule::logits);

void read_once(benchmark::State& state, const std::vector<float>& from) {
  for (auto _ : state) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i + 1 < from.size(); i += 2) {
      std::uint64_t word;
      std::memcpy(&word, &from[i], sizeof word);
      sum |= word;
    }
    benchmark::DoNotOptimize(sum);
  }
}

// Reads the prototypes once.
void mask_floor_read(benchmark::State& state) {
  read_once(state, std::vector<float>(grid * grid * channels, 1.0F));
}
BENCHMARK(mask_floor_read);

// Writes the bytes of all boxes at 640 x 640.
void mask_floor_write(benchmark::State& state) {
  double bytes = 0;
  for (const Detection& d : objects())
    bytes += static_cast<double>(d.box.area());
  std::vector<std::uint8_t> to(static_cast<std::size_t>(bytes));
  for (auto _ : state) {
    std::memset(to.data(), 255, to.size());
    benchmark::DoNotOptimize(to.data());
  }
}
BENCHMARK(mask_floor_write);

// ---- drawing ----

constexpr std::size_t frame_width = 1920, frame_height = 1080;

Tensor frame_of(PixelFormat format) {
  Tensor out = *Tensor::create_image(frame_width, frame_height, format, DType::u8, Memory::mem);
  const auto map = *out.map(Access::write);
  for (std::size_t i = 0; i < map.plane_count(); ++i)
    std::memset(map.plane(i).writable, 90, map.plane(i).stride_bytes * map.plane(i).rows);
  return out;
}

enum class Base { in_place, cleared, copied };

void draw_masks(benchmark::State& state, PixelFormat format, Base base) {
  const MaskPrototypes from = prototypes<float>(PrototypeOrder::height_width_channels);
  const std::vector<Detection> detections = objects();
  const Tensor background = frame_of(format);
  Tensor image = frame_of(format);
  MaskDrawOptions options;
  if (base == Base::copied) options.background = &background;
  options.clear = base == Base::cleared;
  MaskPainter painter;
  for (auto _ : state) {
    const Status done = painter.draw(image, from, detections, options);
    if (!done) state.SkipWithError(done.error().message().c_str());
  }
}

// Masks that exist already: the time of blending alone, and of reading their bytes.
void draw_set(benchmark::State& state, PixelFormat format) {
  const MaskPrototypes from = prototypes<float>(PrototypeOrder::height_width_channels);
  const std::vector<Detection> detections = objects();
  MaskSet set;
  (void)materialize(from, detections, {MaskRule::logits, Size{frame_width, frame_height}, {}}, set);
  Tensor image = frame_of(format);
  MaskPainter painter;
  for (auto _ : state) {
    const Status done = painter.draw(image, set, detections);
    if (!done) state.SkipWithError(done.error().message().c_str());
  }
}

BENCHMARK_CAPTURE(draw_set, rgba, PixelFormat::rgba);
BENCHMARK_CAPTURE(draw_set, nv12, PixelFormat::nv12);
BENCHMARK_CAPTURE(draw_masks, rgba, PixelFormat::rgba, Base::in_place);
BENCHMARK_CAPTURE(draw_masks, rgba_cleared, PixelFormat::rgba, Base::cleared);
BENCHMARK_CAPTURE(draw_masks, rgba_copied, PixelFormat::rgba, Base::copied);
BENCHMARK_CAPTURE(draw_masks, rgb, PixelFormat::rgb, Base::in_place);
BENCHMARK_CAPTURE(draw_masks, planar_rgb, PixelFormat::planar_rgb, Base::in_place);
BENCHMARK_CAPTURE(draw_masks, nv12, PixelFormat::nv12, Base::in_place);

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define HALYARD_BENCH_CLONES \
  __attribute__((target_clones("arch=skylake-avx512", "avx2", "default")))
#else
#define HALYARD_BENCH_CLONES
#endif

HALYARD_BENCH_CLONES void touch(std::uint8_t* bytes, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    bytes[i] ^= 1;
}

// Bytes that some mask covers, in the order in which masks are drawn.
struct Run {
  std::size_t offset, count;
};

// Runs of pixels that are on, along rows. NV12: of luma; then those of chroma, of pairs of rows.
std::vector<Run> covered_runs(const MaskSet& set, std::size_t bytes_each, bool with_chroma) {
  std::vector<Run> out;
  for (std::size_t i = set.size(); i-- > 0;) {
    const Region region = set[i].region;
    for (std::int32_t y = 0; y < region.height; ++y) {
      const std::uint8_t* row = set[i].row(y);
      const auto top = static_cast<std::size_t>(region.y + y);
      for (std::int32_t x = 0, end; x < region.width; x = end) {
        for (end = x + 1; end < region.width && row[end] == row[x];)
          ++end;
        if (row[x] == 0) continue;
        const auto left = static_cast<std::size_t>(region.x + x);
        const auto count = static_cast<std::size_t>(end - x);
        out.push_back({(top * frame_width + left) * bytes_each, count * bytes_each});
        if (with_chroma && top % 2 == 0)
          out.push_back(
              {(frame_height + top / 2) * frame_width + left / 2 * 2, (count + 1) / 2 * 2});
      }
    }
  }
  return out;
}

// Reads, changes and writes the covered pixels, once for every mask that covers them.
void draw_floor(benchmark::State& state, PixelFormat format) {
  MaskSet set;
  const MaskPrototypes from = prototypes<float>(PrototypeOrder::height_width_channels);
  const Size size{frame_width, frame_height};
  (void)materialize(from, objects(), {MaskRule::logits, size, {}}, set);
  const bool is_nv12 = format == PixelFormat::nv12;
  const std::vector<Run> runs = covered_runs(set, is_nv12 ? 1 : 4, is_nv12);
  std::vector<std::uint8_t> bytes(frame_width * frame_height * 4 + 8, 1);
  for (auto _ : state) {
    for (const Run& run : runs)
      touch(bytes.data() + run.offset, run.count);
    benchmark::DoNotOptimize(bytes.data());
    benchmark::ClobberMemory();
  }
  double count = 0;
  for (const Run& run : runs)
    count += static_cast<double>(run.count);
  state.counters["bytes"] = count;
  state.counters["runs"] = static_cast<double>(runs.size());
}

BENCHMARK_CAPTURE(draw_floor, rgba, PixelFormat::rgba);
BENCHMARK_CAPTURE(draw_floor, nv12, PixelFormat::nv12);

// The same for all pixels of the boxes: the time of rows without gaps.
void draw_floor_boxes(benchmark::State& state) {
  MaskSet set;
  const MaskPrototypes from = prototypes<float>(PrototypeOrder::height_width_channels);
  (void)materialize(from, objects(), {MaskRule::logits, Size{frame_width, frame_height}, {}}, set);
  std::vector<std::uint8_t> bytes(frame_width * frame_height * 4, 1);
  for (auto _ : state) {
    for (std::size_t i = set.size(); i-- > 0;) {
      const Region r = set[i].region;
      for (std::int32_t y = r.y; y < r.y + r.height; ++y) {
        const std::size_t first = static_cast<std::size_t>(y) * frame_width;
        touch(bytes.data() + 4 * (first + static_cast<std::size_t>(r.x)),
              4 * static_cast<std::size_t>(r.width));
      }
    }
    benchmark::DoNotOptimize(bytes.data());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(draw_floor_boxes);

// ---- semantic maps ----

constexpr std::size_t classes = 150, side = 128;

// The content: regions of some twenty classes as in a street, small regions of all classes, or
// noise.
enum class Scene { street, puzzle, noise };

// A slow wave for each class, with noise on it.
Tensor scene(bool first, Scene kind) {
  const double noise = kind == Scene::noise ? 4 : 0.05;
  const double waves = kind == Scene::street ? 2 : 6;
  const double handicap = kind == Scene::street ? 8 : 0;
  Tensor out = first ? *Tensor::create(DType::f32, {1, classes, side, side}, Memory::mem)
                     : *Tensor::create(DType::f32, {1, side, side, classes}, Memory::mem);
  auto map = *out.map(Access::write);
  auto* to = reinterpret_cast<float*>(map.writable());
  for (std::size_t k = 0; k < classes; ++k) {
    const double fx = waves * uniform(4, 3 * k), fy = waves * uniform(4, 3 * k + 1);
    const double behind = handicap * uniform(6, k);
    const double phase = 6.28 * uniform(4, 3 * k + 2);
    for (std::size_t i = 0; i < side * side; ++i) {
      const double x = static_cast<double>(i % side) / side;
      const double y = static_cast<double>(i / side) / side;
      const double value = 4 * std::sin(6.28 * (fx * x + fy * y) + phase) - behind +
                           noise * normal(5, k * side * side + i);
      to[first ? k * side * side + i : i * classes + k] = static_cast<float>(value);
    }
  }
  return out;
}

void semantic(benchmark::State& state, bool first, Scene kind, SemanticMode mode) {
  const Tensor scores = scene(first, kind);
  Tensor out = *Tensor::create(DType::u8, {512, 512}, Memory::mem);
  SemanticOptions options;
  options.layout = first ? SemanticLayout::classes_first : SemanticLayout::classes_last;
  options.mode = mode;
  SemanticMapper mapper;
  for (auto _ : state)
    benchmark::DoNotOptimize(mapper.map(scores, options, out).has_value());
  const auto map = *out.map(Access::read);
  double sum = 0;
  const auto labels = *map.flat<const std::uint8_t>();
  for (const std::uint8_t label : labels)
    sum += label;
  state.counters["sum"] = sum;
}

BENCHMARK_CAPTURE(semantic, street_accurate, true, Scene::street, SemanticMode::accurate);
BENCHMARK_CAPTURE(semantic, street_fast, true, Scene::street, SemanticMode::fast);
BENCHMARK_CAPTURE(semantic, street_hwc_accurate, false, Scene::street, SemanticMode::accurate);
BENCHMARK_CAPTURE(semantic, puzzle_accurate, true, Scene::puzzle, SemanticMode::accurate);
BENCHMARK_CAPTURE(semantic, noise_accurate, true, Scene::noise, SemanticMode::accurate);

// Reads the scores once.
void semantic_floor_read(benchmark::State& state) {
  read_once(state, std::vector<float>(classes * side * side, 1.0F));
}
BENCHMARK(semantic_floor_read);

}  // namespace
}  // namespace halyard
