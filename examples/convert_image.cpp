// SPDX-License-Identifier: Apache-2.0
// Makes an image upright, letterboxes it into a square and saves it; prints the source position of
// one pixel. Usage: convert_image IN.jpg OUT.png SIDE
#include <halyard/halyard.h>

#include <cstdio>
#include <cstdlib>

using namespace halyard;

static Status convert(const char* in, const char* out, std::size_t side) {
  HALYARD_TRY(auto image, load_image(in));
  HALYARD_TRY(auto square, Tensor::create_image(side, side, PixelFormat::rgb));
  HALYARD_TRY(auto processor, Processor::create());

  const Convert request{.src = image, .dst = square, .fit = Fit::letterbox, .antialias = true};
  HALYARD_TRY(auto why, processor.explain(request));
  std::printf("%s\n", why.c_str());
  HALYARD_TRY(auto placed, processor.convert(request));

  const auto half = static_cast<float>(side) / 2;
  const Point from = placed.to_source(Point{half, half});
  const Size upright = image.upright_size();
  std::printf("the centre shows pixel (%.1f, %.1f) of %dx%d %s\n", double(from.x), double(from.y),
              upright.width, upright.height, std::string(to_string(*image.format())).c_str());
  return save_png(square, out);
}

int main(int argc, char** argv) {
  const long side = argc == 4 ? std::atol(argv[3]) : 0;
  if (side < 1 || side > 65535)
    return std::fprintf(stderr, "usage: convert_image IN.jpg OUT.png SIDE\n"), 2;
  if (auto done = convert(argv[1], argv[2], static_cast<std::size_t>(side)); !done) {
    std::fprintf(stderr, "%s\n", done.error().message().c_str());
    return 1;
  }
  return 0;
}
