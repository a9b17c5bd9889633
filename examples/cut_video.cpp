// SPDX-License-Identifier: Apache-2.0
// Writes a second of a source, from a time on, into a video of its own. A folder and a video are
// sought in; a camera or a server that is lost is opened again.
//   cut_video SOURCE SECONDS OUT.mp4
#include <halyard/halyard.h>

#include <cstdio>
#include <cstdlib>
#include <string>

using namespace halyard;

static Status cut(const std::string& from, double seconds, const std::string& to) {
  FrameSourceOptions options;
  options.speed = 1;                       // files at their own rate, as a camera gives them
  options.loops = true;                    // after the last frame comes the first
  options.reconnect = ReconnectOptions{};  // for ever, with waits of up to 10 s
  HALYARD_TRY(auto source, FrameSource::open(from, options));
  if (!source.is_live()) {
    const std::chrono::duration<double> time(seconds);
    HALYARD_RETURN_IF_ERROR(
        source.seek(std::chrono::duration_cast<std::chrono::nanoseconds>(time)));
  }
  const double rate = source.rate() > 0 ? source.rate() : 25;
  std::optional<VideoWriter> writer;
  HALYARD_TRY(auto processor, Processor::create());
  for (int n = 0; n < static_cast<int>(rate); ++n) {
    HALYARD_TRY(const auto frame, source.next());
    if (!frame) break;
    const Size size = frame->image.upright_size();
    if (!writer) {
      HALYARD_TRY(writer, VideoWriter::create(to, size, rate, {.key_interval = 10}));
      std::printf("frame %zu at %.2f s begins the file; %s encodes it\n", frame->index,
                  static_cast<double>(frame->timestamp.count()) / 1e9,
                  std::string(writer->encoder()).c_str());
    }
    HALYARD_TRY(auto image,
                Tensor::create_image(static_cast<std::size_t>(size.width),
                                     static_cast<std::size_t>(size.height), PixelFormat::nv12));
    HALYARD_RETURN_IF_ERROR(processor.convert({.src = frame->image, .dst = image}));
    HALYARD_RETURN_IF_ERROR(writer->write(image));
  }
  return writer ? writer->finish() : Status{};
}

int main(int argc, char** argv) {
  if (argc != 4) return std::printf("cut_video SOURCE SECONDS OUT.mp4\n"), 1;
  if (const Status done = cut(argv[1], std::atof(argv[2]), argv[3]); !done) {
    std::fprintf(stderr, "cut_video: %s\n", done.error().message().c_str());
    return 1;
  }
}
