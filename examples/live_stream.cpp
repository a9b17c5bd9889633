// SPDX-License-Identifier: Apache-2.0
// Encodes a source for a browser's SourceBuffer, one segment for each image. Here the segments go
// into a file, as a viewer gets them who joins with the second key frame: a player opens it.
//   live_stream SOURCE OUT.mp4
#include <halyard/halyard.h>

#include <cstdio>
#include <fstream>
#include <string>

using namespace halyard;

static Result<std::string> stream(FrameSource& source, Size size) {
  HALYARD_TRY(auto processor, Processor::create());
  HALYARD_TRY(auto writer, VideoStreamWriter::create(size, {.rate = source.rate()}));
  std::string viewer;  // what it gets
  int keys = 0;
  for (;;) {
    HALYARD_TRY(const auto frame, source.next());
    if (!frame) break;
    HALYARD_TRY(auto image,
                Tensor::create_image(static_cast<std::size_t>(size.width),
                                     static_cast<std::size_t>(size.height), PixelFormat::nv12));
    HALYARD_RETURN_IF_ERROR(processor.convert({.src = frame->image, .dst = image}));
    HALYARD_TRY(const VideoSegment segment, writer.write(image, frame->timestamp));
    if (segment.is_key && ++keys == 2) viewer = writer.initialization();
    if (keys >= 2) viewer += segment.bytes;
  }
  std::printf("%s by %s, %d key frames\n", writer.mime_type().c_str(),
              std::string(writer.encoder()).c_str(), keys);
  return viewer;
}

int main(int argc, char** argv) {
  if (argc != 3) return std::printf("live_stream SOURCE OUT.mp4\n"), 1;
  auto source = FrameSource::open(argv[1]);
  const auto viewer = source ? stream(*source, {640, 360}) : source.error();
  if (!viewer) {
    std::fprintf(stderr, "live_stream: %s\n", viewer.error().message().c_str());
    return 1;
  }
  std::ofstream(argv[2], std::ios::binary) << *viewer;
}
