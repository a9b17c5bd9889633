// SPDX-License-Identifier: Apache-2.0
// An image through a network: load, letterbox, infer, decode, draw, save.
// Usage: tiny_pipeline MODEL IMAGE OUT.jpg
#include <halyard/halyard.h>

#include <cstdio>

using namespace halyard;

static Status see(const char* model, const char* image, const char* out) {
  // The frame keeps the layout of the JPEG file, NV12 for most, and its orientation.
  HALYARD_TRY(auto frame, load_image(image));
  HALYARD_TRY(auto engine, Engine::open(model));
  HALYARD_TRY(auto decoder, decoder_for(engine));
  HALYARD_TRY(auto processor, Processor::create());

  // One pass from the frame to the network's memory: rotate upright, resize, pad, colour, type.
  HALYARD_TRY(auto input, Tensor::create(engine.inputs()[0]));
  HALYARD_TRY(auto placed, processor.convert({.src = frame, .dst = input, .fit = Fit::letterbox}));

  // The results are in the engine's memory; nothing was copied.
  HALYARD_TRY(auto outputs, engine.run(input));
  HALYARD_TRY(auto found, decoder.decode(outputs));
  found = placed.to_source(std::move(found));

  const auto labels = engine.labels();
  for (const Detection& seen : found) {
    const auto index = static_cast<std::size_t>(seen.label);
    std::printf("%s %.2f [%.0f %.0f %.0f %.0f]\n",
                index < labels.size() ? labels[index].c_str() : "object", double(seen.score),
                double(seen.box.x1), double(seen.box.y1), double(seen.box.x2), double(seen.box.y2));
  }

  // Draw on an upright RGB copy for people to look at.
  HALYARD_TRY(auto shown, Tensor::create_image(frame.upright_size(), PixelFormat::rgb));
  HALYARD_RETURN_IF_ERROR(processor.convert({.src = frame, .dst = shown}));
  HALYARD_TRY(auto overlay, Overlay::create({.labels = labels}));
  HALYARD_RETURN_IF_ERROR(overlay.draw(shown, found));
  return save_jpeg(shown, out);
}

int main(int argc, char** argv) {
  if (argc != 4) return std::fprintf(stderr, "usage: tiny_pipeline MODEL IMAGE OUT.jpg\n"), 2;
  if (auto done = see(argv[1], argv[2], argv[3]); !done) {
    std::fprintf(stderr, "%s\n", done.error().message().c_str());
    return 1;
  }
  return 0;
}
