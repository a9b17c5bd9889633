// SPDX-License-Identifier: Apache-2.0
// Boxes with labels, tracks with trails, outlines and masks of 100 objects on 1920 x 1080 pixels,
// drawn over the frame, with the copy of a frame as the measure.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "halyard/compat/draw.h"
#include "halyard/draw.h"

namespace halyard {
namespace {

constexpr std::size_t objects = 100;
constexpr std::int32_t width = 1920, height = 1080, mask_side = 40;

// 60 x 90 to 160 x 190 pixels, spread over the frame.
std::vector<Track> tracks() {
  std::vector<Track> out(objects);
  for (std::size_t i = 0; i < objects; ++i) {
    const auto x = static_cast<float>(i * 379 % (width - 160));
    const auto y = static_cast<float>(i * 241 % (height - 190));
    const auto extra = static_cast<float>(i * 17 % 101);
    out[i].id = i + 1;
    out[i].box = out[i].last_box = {x, y, x + 60 + extra, y + 90 + extra};
    out[i].score = 0.5F;
    out[i].label = static_cast<std::int32_t>(i % 20);
    out[i].detection = static_cast<std::int32_t>(i);
  }
  return out;
}

std::vector<Detection> detections(float x_scale, float y_scale) {
  std::vector<Detection> out;
  for (const Track& track : tracks()) {
    const Box& box = track.box;
    out.push_back({{box.x1 * x_scale, box.y1 * y_scale, box.x2 * x_scale, box.y2 * y_scale},
                   track.score,
                   track.label});
  }
  return out;
}

Tensor frame(PixelFormat format) {
  Tensor image = *Tensor::create_image(width, height, format, DType::u8, Memory::mem);
  const TensorMap map = *image.map(Access::write);
  std::memset(map.writable(), 0x55, image.layout().size_bytes());
  return image;
}

void overlay_boxes(benchmark::State& state, PixelFormat format) {
  Tensor image = frame(format);
  Overlay overlay = *Overlay::create();
  const auto shown = detections(1, 1);
  for (auto _ : state)
    benchmark::DoNotOptimize(overlay.draw(image, shown).has_value());
}

void overlay_tracks(benchmark::State& state, PixelFormat format) {
  Tensor image = frame(format);
  Overlay overlay = *Overlay::create({.trail_length = 30});
  std::vector<Track> shown = tracks();
  for (int step = 0; step < 30; ++step) {
    for (Track& track : shown)
      track.box = {track.box.x1 + 2, track.box.y1 + 1, track.box.x2 + 2, track.box.y2 + 1};
    (void)overlay.draw(image, shown);
  }
  for (auto _ : state)
    benchmark::DoNotOptimize(overlay.draw(image, shown).has_value());
}

void compat_outlines(benchmark::State& state, PixelFormat format) {
  Tensor image = frame(format);
  compat::Painter painter;
  const auto shown = detections(1.0F / width, 1.0F / height);
  for (auto _ : state)
    benchmark::DoNotOptimize(
        painter.draw_decoded_masks(image, shown, {}, {.keep = true}).has_value());
}

void compat_masks(benchmark::State& state, PixelFormat format) {
  Tensor image = frame(format);
  compat::Painter painter;
  const auto shown = detections(1.0F / width, 1.0F / height);
  // A disk in each box.
  std::vector<std::uint8_t> disk(std::size_t{mask_side} * mask_side);
  for (std::int32_t i = 0; i < mask_side * mask_side; ++i) {
    const std::int32_t x = i % mask_side - mask_side / 2, y = i / mask_side - mask_side / 2;
    disk[static_cast<std::size_t>(i)] = x * x + y * y < mask_side * mask_side / 4 ? 255 : 0;
  }
  std::vector<compat::Segmentation> masks;
  for (const Detection& each : shown)
    masks.push_back({each.box, mask_side, mask_side, 1, disk.data()});
  for (auto _ : state)
    benchmark::DoNotOptimize(
        painter.draw_decoded_masks(image, shown, masks, {.keep = true}).has_value());
}

void frame_copy(benchmark::State& state, PixelFormat format) {
  const Tensor from = frame(format);
  Tensor to = frame(format);
  for (auto _ : state)
    benchmark::DoNotOptimize(copy(from, to).has_value());
}

#define HALYARD_DRAW_ROWS(run)                     \
  BENCHMARK_CAPTURE(run, rgb, PixelFormat::rgb);   \
  BENCHMARK_CAPTURE(run, rgba, PixelFormat::rgba); \
  BENCHMARK_CAPTURE(run, nv12, PixelFormat::nv12)
HALYARD_DRAW_ROWS(overlay_boxes);
HALYARD_DRAW_ROWS(overlay_tracks);
HALYARD_DRAW_ROWS(compat_outlines);
HALYARD_DRAW_ROWS(compat_masks);
HALYARD_DRAW_ROWS(frame_copy);

}  // namespace
}  // namespace halyard
