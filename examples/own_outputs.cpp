// SPDX-License-Identifier: Apache-2.0
// From outputs of your own engine, recorded as .npy files, to boxes of the photograph that was its
// input. This needs no model file, no engine and no image.
#include <halyard/halyard.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using namespace halyard;

static Status find(Size input, Size photo, std::span<char*> files) {
  std::vector<Tensor> outputs;
  std::vector<TensorSpec> specs;
  for (const char* file : files) {
    HALYARD_TRY(auto output, load_npy(file));
    TensorSpec spec;
    spec.name = file;
    spec.dtype = output.dtype();
    spec.shape.assign(output.shape().begin(), output.shape().end());
    specs.push_back(std::move(spec));
    outputs.push_back(std::move(output));
  }

  // The head is recognised by the shapes; explain() shows how each output is read.
  HALYARD_TRY(auto decoder, Decoder::for_outputs(specs, input));
  std::printf("%s", decoder.explain().c_str());
  HALYARD_TRY(auto found, decoder.decode(outputs));

  // Boxes are pixels of the network's input. The engine's own program letterboxed the photograph.
  const auto placed = Placement::letterbox(photo, input, LetterboxRule::ultralytics);
  for (const Detection& seen : placed.to_source(std::move(found)))
    std::printf("class %d %.2f [%.0f %.0f %.0f %.0f]\n", int(seen.label), double(seen.score),
                double(seen.box.x1), double(seen.box.y1), double(seen.box.x2), double(seen.box.y2));
  return {};
}

int main(int argc, char** argv) {
  if (argc < 6)
    return std::fprintf(stderr, "usage: own_outputs INPUT_W INPUT_H PHOTO_W PHOTO_H OUT.npy...\n"),
           2;
  const Size input{std::atoi(argv[1]), std::atoi(argv[2])};
  const Size photo{std::atoi(argv[3]), std::atoi(argv[4])};
  if (auto done = find(input, photo, std::span(argv, std::size_t(argc)).subspan(5)); !done) {
    std::fprintf(stderr, "%s\n", done.error().message().c_str());
    return 1;
  }
  return 0;
}
