// SPDX-License-Identifier: Apache-2.0
#include "serve/live_pipeline.h"

#include <algorithm>
#include <utility>

namespace halyard::tool {
namespace {

double to_us(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

LiveFrame numbers_of(const PipelineFrame& frame, const LiveScene& scene) {
  LiveFrame out;
  out.index = frame.ordinal;
  out.read = frame.read;
  out.size = frame.frame.image.upright_size();
  for (const StageTime& time : frame.times)
    out.stages.push_back({time.stage, to_us(time.start), to_us(time.duration)});
  for (const Detection& found : scene.detections)
    out.labels.push_back(found.label);
  out.tracks = static_cast<std::size_t>(
      std::count_if(scene.tracks.begin(), scene.tracks.end(),
                    [](const Track& track) { return track.detection >= 0; }));
  if (scene.decoded != nullptr && !scene.decoded->classes.empty())
    out.top_class = {scene.decoded->classes[0].label, scene.decoded->classes[0].score};
  return out;
}

LiveCounts counts_of(const PipelineStats& stats) {
  LiveCounts out;
  out.has_ended = true;
  for (const SourceStats& source : stats.sources) {
    out.read += source.read;
    out.dropped += source.dropped;
    out.skipped += source.skipped;
    out.failed += source.failed + source.errors;
    // Its last frames may still be on their way.
    out.has_ended =
        out.has_ended && source.has_ended && source.delivered + source.dropped >= source.read;
    if (!source.last_error.empty()) out.last_error = source.last_error;
  }
  // Without a network, its stages have no frames.
  for (const StageStats& stage : stats.stages)
    if (stage.frames != 0) out.stages.push_back({stage.name, to_us(stage.p50), to_us(stage.p99)});
  out.latency_p50_us = to_us(stats.latency.p50);
  out.latency_p99_us = to_us(stats.latency.p99);
  out.copies = stats.copies.copies;
  out.copied_bytes = stats.copies.bytes;
  return out;
}

LiveScene scene_of(const PipelineFrame& frame, PublishedDetections* published, float score) {
  const Tensor& image = frame.frame.image;
  if (!frame.models.empty()) {
    const ModelResult& result = frame.models[0];
    return {image, result.detections, &result.decoded, &result.placement, result.tracks};
  }
  if (published == nullptr) return {image, {}};
  const auto& found = published->find(frame.frame.timestamp, image.upright_size(), score);
  return {image, found.detections, nullptr, nullptr, found.tracks};
}

}  // namespace

PipelineStage live_stage(LiveStage& stage, LiveFeed& feed,
                         std::shared_ptr<PublishedDetections> published) {
  PipelineStage out;
  out.name = "show";
  out.run = [&stage, &feed, published = std::move(published)](PipelineFrame& frame) -> Status {
    const LiveScene scene = scene_of(frame, published.get(), feed.controls().score);
    return stage.see(scene, numbers_of(frame, scene));
  };
  out.finish = [&feed]() -> Status {
    feed.set_ended();
    return {};
  };
  return out;
}

LiveFeed::Hooks live_hooks(Pipeline& pipeline, const std::optional<DecodeOptions>& decoding) {
  LiveFeed::Hooks out;
  out.counts = [&pipeline] { return counts_of(pipeline.stats()); };
  out.apply = [&pipeline, decoding](const LiveControls& controls) -> Status {
    if (decoding) {
      DecodeOptions options = *decoding;
      options.score_threshold = controls.score;
      options.iou_threshold = controls.iou;
      HALYARD_RETURN_IF_ERROR(pipeline.set_decode_options(0, options));
    }
    pipeline.set_paused(controls.is_paused);
    return {};
  };
  return out;
}

}  // namespace halyard::tool
