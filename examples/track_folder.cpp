// SPDX-License-Identifier: Apache-2.0
// Runs a folder of images, or a video, through a network and a tracker; prints where each object
// is. Usage: track_folder MODEL FOLDER
#include <halyard/halyard.h>

#include <cstdio>

using namespace halyard;

static Status track(const char* model, const char* folder) {
  HALYARD_TRY(auto source, FrameSource::open(folder));
  HALYARD_TRY(auto engine, Engine::open(model));
  HALYARD_TRY(auto decoder, decoder_for(engine, {.score_threshold = 0.4F}));
  HALYARD_TRY(auto processor, Processor::create());
  HALYARD_TRY(auto tracker, ByteTrack::create({.high_score = 0.5F}));
  HALYARD_TRY(auto input, Tensor::create(engine.inputs()[0]));

  while (true) {
    HALYARD_TRY(auto frame, source.next());
    if (!frame) return {};
    HALYARD_TRY(auto placed,
                processor.convert({.src = frame->image, .dst = input, .fit = Fit::letterbox}));
    HALYARD_TRY(auto outputs, engine.run(input));
    HALYARD_TRY(auto found, decoder.decode(outputs));
    found = placed.to_source(std::move(found));
    HALYARD_TRY(auto tracks, tracker.update(found, frame->timestamp));

    std::printf("%s:", frame->source.c_str());
    for (const Track& object : tracks)
      if (object.detection >= 0)
        std::printf(" #%llu(%.0f,%.0f)", static_cast<unsigned long long>(object.id),
                    double(object.box.x1), double(object.box.y1));
    std::printf("\n");
  }
}

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: track_folder MODEL FOLDER\n"), 2;
  if (auto done = track(argv[1], argv[2]); !done) {
    std::fprintf(stderr, "%s\n", done.error().message().c_str());
    return 1;
  }
  return 0;
}
