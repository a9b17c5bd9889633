// SPDX-License-Identifier: Apache-2.0
// From a camera's frame to a network's input: one call, a plan for every frame, a batch, tiles
// of a large frame, and a preview from the same pass. Usage: convert_to_network FRAME.jpg
// PREVIEW.png
#include <halyard/halyard.h>

#include <array>
#include <cstdio>

using namespace halyard;

// The quantization of a quantized network's input.
static Result<Tensor> network_input() {
  TensorSpec spec;
  spec.name = "images";
  spec.dtype = DType::i8;
  spec.shape = {1, 3, 640, 640};
  spec.quantization = Quantization::per_tensor(1.0F / 127, -1);
  return Tensor::create(spec);
}

// Colour, scaling, padding, mean and deviation, quantization and the order of planes in one pass.
static Result<Placement> one_call(Processor& processor, const Tensor& frame, const Tensor& input) {
  return processor.convert(
      {.src = frame,
       .dst = input,
       .fit = Fit::letterbox,
       .normalize = Normalize::mean_std({0.485F, 0.456F, 0.406F}, {0.229F, 0.224F, 0.225F})});
}

// A stream of frames of one size: the request is compiled once.
static Status every_frame(Processor& processor, std::span<const Tensor> frames,
                          const Tensor& input) {
  HALYARD_TRY(const auto plan,
              processor.plan({.src = frames[0], .dst = input, .fit = Fit::letterbox}));
  for (const Tensor& frame : frames)
    HALYARD_RETURN_IF_ERROR(processor.run(plan, frame, input));
  return {};
}

// Several cameras into one input; element i of the batch shows frame i.
static Result<std::vector<Placement>> batch(Processor& processor, std::span<const Tensor> frames) {
  HALYARD_TRY(const auto input, Tensor::create(DType::f32, {frames.size(), 3, 320, 320}));
  return processor.convert_batch(frames, input, {.fit = Fit::letterbox});
}

// A large frame as overlapping tiles of the network's size, so that small objects stay large
// enough.
static Result<std::vector<Placement>> tiles(Processor& processor, const Tensor& frame) {
  HALYARD_TRY(const auto parts,
              plan_tiles(frame.upright_size(), {.size = {320, 320}, .overlap = 0.2}));
  HALYARD_TRY(const auto input, Tensor::create(DType::f32, {parts.size(), 3, 320, 320}));
  return processor.convert_tiles(frame, parts, input, {.fit = Fit::letterbox});
}

// The network's input and an image for people, from one pass over the frame.
static Status with_preview(Processor& processor, const Tensor& frame, const Tensor& input,
                           const Tensor& preview) {
  const std::array requests = {Convert{.src = frame, .dst = input, .fit = Fit::letterbox},
                               Convert{.src = frame, .dst = preview, .antialias = true}};
  HALYARD_RETURN_IF_ERROR(processor.convert_all(requests));
  return {};
}

static Status show(const char* file, const char* out) {
  HALYARD_TRY(const auto frame, load_image(file));
  HALYARD_TRY(auto processor, Processor::create());
  HALYARD_TRY(const auto input, network_input());
  HALYARD_TRY(const auto placed, one_call(processor, frame, input));
  const Box box = placed.to_source(Box{160, 160, 480, 480});
  std::printf("the input's middle shows [%.1f %.1f %.1f %.1f]\n", double(box.x1), double(box.y1),
              double(box.x2), double(box.y2));

  const std::array frames = {frame, frame, frame};
  HALYARD_RETURN_IF_ERROR(every_frame(processor, frames, input));
  HALYARD_TRY(const auto cameras, batch(processor, frames));
  HALYARD_TRY(const auto parts, tiles(processor, frame));
  HALYARD_TRY(const auto preview, Tensor::create_image(160, 90, PixelFormat::rgb));
  HALYARD_RETURN_IF_ERROR(with_preview(processor, frame, input, preview));
  HALYARD_TRY(const auto statistics, measure(preview));
  std::printf("%zu cameras, %zu tiles, the preview's mean red is %.0f\n", cameras.size(),
              parts.size(), statistics.channel[0].mean);
  return save_png(preview, out);
}

int main(int argc, char** argv) {
  if (argc != 3)
    return std::fprintf(stderr, "usage: convert_to_network FRAME.jpg PREVIEW.png\n"), 2;
  if (auto done = show(argv[1], argv[2]); !done) {
    std::fprintf(stderr, "%s\n", done.error().message().c_str());
    return 1;
  }
  return 0;
}
