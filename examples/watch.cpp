// SPDX-License-Identifier: Apache-2.0
// Watches cameras, videos or folders with one network: who is seen where, and how fast.
#include <cstdio>

#include "halyard/halyard.h"

using namespace halyard;

static Status watch(const char* model, std::span<char*> sources) {
  PipelineOptions options;
  for (const char* source : sources) {
    HALYARD_TRY(auto opened, PipelineSource::open(source));
    options.sources.push_back(std::move(opened));
  }
  HALYARD_TRY(auto network, PipelineModel::open(model));
  const auto labels = network.labels;
  options.models.push_back(std::move(network));
  options.tracker = ByteTrackOptions{};
  options.has_results = true;

  HALYARD_TRY(auto pipeline, Pipeline::create(std::move(options)));
  HALYARD_RETURN_IF_ERROR(pipeline.start());
  while (true) {
    HALYARD_TRY(auto result, pipeline.next());
    if (!result) break;  // all sources have ended
    PipelineFrame& frame = **result;
    if (frame.error) std::fprintf(stderr, "%s\n", frame.error->message().c_str());
    for (const Track& track : frame.models[0].tracks)
      if (track.detection >= 0)
        std::printf("%s #%llu at [%.0f %.0f %.0f %.0f]\n",
                    labels.at(static_cast<std::size_t>(track.label)).c_str(),
                    static_cast<unsigned long long>(track.id), double(track.box.x1),
                    double(track.box.y1), double(track.box.x2), double(track.box.y2));
  }

  const PipelineStats stats = pipeline.stats();
  for (const StageStats& stage : stats.stages)
    std::printf("%-8s p50 %6.2f ms\n", stage.name.c_str(), double(stage.p50.count()) / 1e6);
  std::printf("%llu frames, %llu detections, latency p99 %.1f ms\n",
              static_cast<unsigned long long>(stats.latency.frames),
              static_cast<unsigned long long>(stats.detections),
              double(stats.latency.p99.count()) / 1e6);
  return pipeline.wait();
}

int main(int argc, char** argv) {
  if (argc < 3) return std::fprintf(stderr, "usage: watch MODEL SOURCE...\n"), 2;
  const std::span arguments(argv, static_cast<std::size_t>(argc));
  if (auto done = watch(argv[1], arguments.subspan(2)); !done) {
    std::fprintf(stderr, "%s\n", done.error().message().c_str());
    return 1;
  }
  return 0;
}
