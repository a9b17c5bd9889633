// SPDX-License-Identifier: Apache-2.0
// Records a timeline of the library and this program; open the file at ui.perfetto.dev.
// Usage: trace IMAGE OUT.json
#include <halyard/halyard.h>

#include <cstdio>

using namespace halyard;

static Status shrink(const char* path, Processor& processor, int times) {
  HALYARD_TRY(auto image, load_image(path));
  for (int side = 64; side <= 64 << times; side *= 2) {
    // A span of our own; the library's spans are inside it.
    trace::Span span("example.shrink");
    span.arg("side_px", side);
    HALYARD_TRY(auto square,
                Tensor::create_image(static_cast<std::size_t>(side), static_cast<std::size_t>(side),
                                     PixelFormat::rgb));
    HALYARD_RETURN_IF_ERROR(processor.convert({.src = image, .dst = square}));
    trace::counter("pixels", double(side) * side);
  }
  return {};
}

static Status record(const char* image, const char* out) {
  HALYARD_TRY(auto processor, Processor::create());
  HALYARD_RETURN_IF_ERROR(trace::start(out));
  trace::set_thread_name("main");
  const Status done = shrink(image, processor, 3);
  HALYARD_RETURN_IF_ERROR(trace::stop());
  return done;
}

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: trace IMAGE OUT.json\n"), 2;
  if (auto done = record(argv[1], argv[2]); !done) {
    std::fprintf(stderr, "%s\n", done.error().message().c_str());
    return 1;
  }
  std::printf("open %s at ui.perfetto.dev\n", argv[2]);
  return 0;
}
