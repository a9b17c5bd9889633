// SPDX-License-Identifier: Apache-2.0
// Boxes of any floats, rotated or not, through suppression and the merging of tiles: refused
// with a message, or survivors in order, each once, from the input.
#include <cmath>
#include <cstdint>
#include <vector>

#include "fuzz/source.h"
#include "halyard/selection.h"
#include "halyard/tile_merge.h"

namespace {

using namespace halyard;
using fuzz::expect;
using fuzz::Source;

Box any_box(Source& from) {
  Box out{from.any_float(), from.any_float(), from.any_float(), from.any_float()};
  if (from.coin()) out.x2 = out.x1 + from.fraction(40) * 40;
  if (from.coin()) out.y2 = out.y1 + from.fraction(40) * 40;
  return out;
}

std::vector<Detection> any_detections(Source& from) {
  std::vector<Detection> out(from.next(64));
  for (Detection& d : out) {
    const float score = from.rarely(8) ? from.any_float() : from.fraction(20);
    d = {any_box(from), score, static_cast<std::int32_t>(from.next(4)) - (from.rarely(16) ? 2 : 0),
         static_cast<std::int32_t>(from.next(64))};
  }
  return out;
}

void check_selection(Source& from, const std::vector<Detection>& candidates) {
  SelectionOptions options;
  if (from.coin()) options.score_threshold = from.fraction(10);
  if (from.rarely(4)) options.class_thresholds.assign(from.next(4), from.fraction(10));
  options.top_k = from.next(3) * 10;
  options.nms = static_cast<Nms>(from.next(3));
  options.suppression = static_cast<Suppression>(from.next(4));
  options.overlap = static_cast<Overlap>(from.next(3));
  options.iou_threshold = from.rarely(16) ? from.any_float() : from.fraction(10);
  options.soft_sigma = from.rarely(16) ? from.any_float() : 0.25F + from.fraction(4);
  options.soft_floor = from.fraction(10);
  options.max_detections = from.next(3) * 5;
  auto selector = Selector::create(options);
  if (!selector) return expect(!selector.error().message().empty());
  std::vector<RotatedBox> rotated;
  const bool is_rotated = from.coin();
  for (std::size_t i = 0; is_rotated && i < candidates.size(); ++i)
    rotated.push_back({from.any_float(), from.any_float(), from.any_float(), from.any_float(),
                       from.any_float() / 32});
  const auto kept =
      is_rotated ? selector->select(candidates, rotated) : selector->select(candidates);
  if (!kept) return expect(!kept.error().message().empty());
  expect(options.max_detections == 0 || kept->size() <= options.max_detections);
  const auto scores = selector->scores();
  expect(scores.size() == kept->size());
  std::vector<bool> seen(candidates.size(), false);
  for (std::size_t i = 0; i < kept->size(); ++i) {
    expect((*kept)[i] < candidates.size() && !seen[(*kept)[i]] && !std::isnan(scores[i]));
    seen[(*kept)[i]] = true;
    expect(i == 0 || scores[i - 1] >= scores[i]);
  }
}

MergeOptions any_merge(Source& from) {
  MergeOptions out;
  out.metric = static_cast<MergeMetric>(from.next(2));
  out.threshold = from.rarely(16) ? from.any_float() : from.fraction(10);
  out.strategy = static_cast<MergeStrategy>(from.next(3));
  out.class_agnostic = from.coin();
  out.max_detections = from.next(3) * 5;
  out.score_threshold = from.fraction(10);
  return out;
}

void check_merge(Source& from, const std::vector<Detection>& detections) {
  const MergeOptions options = any_merge(from);
  const auto merged = merge_detections(detections, options);
  if (!merged) return expect(!merged.error().message().empty());
  expect(merged->size() <= detections.size());
  expect(options.max_detections == 0 || merged->size() <= options.max_detections);
  for (std::size_t i = 0; i < merged->size(); ++i) {
    expect(!std::isnan((*merged)[i].score));
    expect(i == 0 || (*merged)[i - 1].score >= (*merged)[i].score);
  }
}

void check_tiles(Source& from, const std::vector<Detection>& detections) {
  const FrameSize frame{from.any_float() + 32, from.any_float() + 32};
  const std::size_t tiles = from.next(5);
  auto frames = TileAccumulator::create(frame, tiles, any_merge(from), from.next(4));
  if (!frames) return expect(!frames.error().message().empty());
  for (std::size_t i = 0; i < tiles; ++i) {
    TilePlacement tile{i, tiles, frame, {0, 0, frame.width, frame.height}, {}, from.coin()};
    if (from.rarely(4)) tile.index = from.next(8);
    if (from.coin())
      tile = TilePlacement::of_fractions(
          tile.index, tiles, frame,
          {from.any_float(), from.any_float(), from.any_float(), from.any_float()},
          from.coin() ? std::optional(any_box(from)) : std::nullopt);
    const std::size_t first = detections.size() * i / tiles;
    (void)frames->push(tile, std::span(detections).subspan(first, detections.size() / tiles));
  }
  std::vector<Detection> out;
  if (from.coin())
    frames->finalize(out);
  else
    frames->finalize_normalized(out);
  expect(frames->origins().size() == out.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    expect(std::isfinite(out[i].box.x1) && std::isfinite(out[i].box.y2));
    expect(frames->origins()[i].tile < tiles);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Source from({data, size});
  const std::size_t door = from.next(3);
  const std::vector<Detection> detections = any_detections(from);
  if (door == 0) check_selection(from, detections);
  if (door == 1) check_merge(from, detections);
  if (door == 2) check_tiles(from, detections);
  return 0;
}
