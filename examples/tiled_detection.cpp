// SPDX-License-Identifier: Apache-2.0
// Finds small objects in a large image: runs the network on each tile, then merges the results.
// Usage: tiled_detection MODEL IMAGE
#include <halyard/halyard.h>

#include <cstdio>

using namespace halyard;

static Result<std::vector<Detection>> see_in_tiles(Engine& engine, const Decoder& decoder,
                                                   Processor& processor, const Tensor& frame) {
  const Size half{engine.input_size().width / 2, engine.input_size().height / 2};
  HALYARD_TRY(const auto tiles, plan_tiles(frame.upright_size(), {.size = half, .overlap = 0.2}));
  HALYARD_TRY(const auto input, Tensor::create(engine.inputs()[0]));
  HALYARD_TRY(auto seen, TileAccumulator::create(frame.upright_size(), tiles.size()));
  for (const Tile& tile : tiles) {
    HALYARD_TRY(const auto placed,
                processor.convert(
                    {.src = frame, .dst = input, .crop = tile.region, .fit = Fit::letterbox}));
    HALYARD_TRY(const auto outputs, engine.run(input));
    HALYARD_TRY(const auto found, decoder.decode(outputs));
    // Refused if the tile was added before or belongs to another frame.
    (void)seen.push(TilePlacement::of(tile.index, tile.count, placed), found);
  }
  return seen.finalize();
}

static Status see(const char* model, const char* image) {
  HALYARD_TRY(auto frame, load_image(image));
  HALYARD_TRY(auto engine, Engine::open(model));
  HALYARD_TRY(auto decoder, decoder_for(engine));
  HALYARD_TRY(auto processor, Processor::create());
  HALYARD_TRY(auto found, see_in_tiles(engine, decoder, processor, frame));
  for (const Detection& seen : found)
    std::printf("%d %.2f [%.0f %.0f %.0f %.0f]\n", int(seen.label), double(seen.score),
                double(seen.box.x1), double(seen.box.y1), double(seen.box.x2), double(seen.box.y2));
  std::printf("%zu objects\n", found.size());
  return {};
}

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: tiled_detection MODEL IMAGE\n"), 2;
  if (auto done = see(argv[1], argv[2]); !done) {
    std::fprintf(stderr, "%s\n", done.error().message().c_str());
    return 1;
  }
  return 0;
}
