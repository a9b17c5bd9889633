// SPDX-License-Identifier: Apache-2.0
// Draws the masks of a segmentation network on an image, from prototypes straight to its pixels.
// Usage: draw_masks MODEL IMAGE OUT.png
#include <halyard/halyard.h>

#include <cstdio>

using namespace halyard;

static Result<std::size_t> draw_masks(Engine& engine, const Decoder& decoder, Processor& processor,
                                      Tensor& image) {
  HALYARD_TRY(const auto input, Tensor::create(engine.inputs()[0]));
  HALYARD_TRY(const auto placed,
              processor.convert({.src = image, .dst = input, .fit = Fit::letterbox}));
  HALYARD_TRY(const auto outputs, engine.run(input));
  Decoded found;
  HALYARD_RETURN_IF_ERROR(decoder.decode_into(outputs, found));
  MaskPainter painter;  // for many frames, keep all three: then nothing is allocated
  HALYARD_RETURN_IF_ERROR(painter.draw(image, found.masks, found.detections,
                                       {.opacity = 0.5F, .content = RegionF(placed.content())}));
  return found.masks.size();
}

static Status see(const char* model, const char* file, const char* out) {
  HALYARD_TRY(auto stored, load_image(file));
  HALYARD_TRY(auto engine, Engine::open(model));
  HALYARD_TRY(auto decoder, decoder_for(engine));
  HALYARD_TRY(auto processor, Processor::create());
  HALYARD_TRY(auto image, Tensor::create_image(stored.upright_size(), PixelFormat::rgb));
  HALYARD_RETURN_IF_ERROR(processor.convert({.src = stored, .dst = image}));
  HALYARD_TRY(const auto count, draw_masks(engine, decoder, processor, image));
  HALYARD_RETURN_IF_ERROR(save_png(image, out));
  std::printf("%zu masks\n", count);
  return {};
}

int main(int argc, char** argv) {
  if (argc != 4) return std::fprintf(stderr, "usage: draw_masks MODEL IMAGE OUT.png\n"), 2;
  if (auto done = see(argv[1], argv[2], argv[3]); !done) {
    std::fprintf(stderr, "%s\n", done.error().message().c_str());
    return 1;
  }
  return 0;
}
