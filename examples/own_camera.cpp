// SPDX-License-Identifier: Apache-2.0
// Frames in your own memory, as a camera's driver leaves them: NV12 with padded rows, read without
// a copy. Here a simulated camera paints them.
#include <halyard/halyard.h>

#include <cstdint>
#include <cstdio>
#include <vector>

using namespace halyard;

namespace {

constexpr std::size_t width = 640, height = 480, row_bytes = 704;

/// The driver's buffer: rows of luma, then rows with U and V interleaved.
struct CameraBuffer {
  std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(row_bytes * height * 3 / 2, 128);

  void expose(std::uint8_t level) {
    for (std::size_t y = 0; y < height; ++y)
      for (std::size_t x = 0; x < width; ++x)
        bytes[y * row_bytes + x] = x < width / 2 ? level : std::uint8_t{16};
  }
};

Status show(CameraBuffer& camera) {
  // Once: the tensor refers to the driver's bytes, which outlive it; nothing is freed or copied.
  HALYARD_TRY(auto buffer, wrap_memory(std::span(camera.bytes)));
  const std::vector<Tensor::PlaneSource> planes{{buffer, 0, row_bytes},
                                                {buffer, row_bytes * height, row_bytes}};
  HALYARD_TRY(auto frame, Tensor::wrap_image(planes, width, height, PixelFormat::nv12));
  HALYARD_TRY(auto processor, Processor::create());
  HALYARD_TRY(auto input, Tensor::create_image(320, 320, PixelFormat::planar_rgb, DType::f32));
  const Convert request{.src = frame, .dst = input, .fit = Fit::letterbox};

  // For each frame: the same tensor, the same request.
  const auto copies = copy_stats().copies;
  for (const int level : {60, 120, 180}) {
    camera.expose(static_cast<std::uint8_t>(level));
    HALYARD_TRY(auto placed, processor.convert(request));
    HALYARD_TRY(auto map, input.map(Access::read));
    HALYARD_TRY(auto values, map.view<const float, 3>());
    std::printf("level %d: red %.2f on the left, rows %d to %d show the frame\n", level,
                double(values(0, 160, 80)), placed.content().y,
                placed.content().y + placed.content().height - 1);
  }
  std::printf("%llu copies\n", static_cast<unsigned long long>(copy_stats().copies - copies));
  return {};
}

}  // namespace

int main() {
  CameraBuffer camera;
  if (auto done = show(camera); !done) {
    std::fprintf(stderr, "%s\n", done.error().message().c_str());
    return 1;
  }
  return 0;
}
