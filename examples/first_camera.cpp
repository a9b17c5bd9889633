// SPDX-License-Identifier: Apache-2.0
// A first camera program: lists the cameras, opens one, and prepares each frame for a
// network without a copy of its pixels.
//   first_camera [PATH [COUNT]]
#include <halyard/halyard.h>

#include <cstdio>
#include <cstdlib>
#include <string>

using namespace halyard;

static void print_cameras() {
  const auto cameras = list_cameras();
  std::printf("%zu cameras\n", cameras.size());
  for (const CameraInfo& camera : cameras) {
    std::printf("%s: %s\n", camera.path.c_str(),
                camera.usable ? camera.name.c_str() : camera.usable.error().message().c_str());
    for (const CameraFormat& format : camera.formats)
      std::printf("  %s %zu sizes%s\n", fourcc_to_string(format.fourcc).c_str(),
                  format.sizes.size(), format.is_readable() ? "" : ", not read");
  }
}

static Status capture(const std::string& path, int count) {
  HALYARD_TRY(Camera camera, Camera::open(path, {.width = 640, .height = 480}));
  const CameraMode& mode = camera.mode();
  std::printf("%zux%zu %s at %.0f frames a second, %s\n", mode.width, mode.height,
              fourcc_to_string(mode.fourcc).c_str(), mode.rate,
              std::string(to_string(mode.transfer)).c_str());
  HALYARD_TRY(auto processor, Processor::create());
  HALYARD_TRY(auto input, Tensor::create_image(320, 320, PixelFormat::planar_rgb, DType::f32));
  for (int n = 0; n < count; ++n) {
    HALYARD_TRY(const CameraFrame frame, camera.next());
    HALYARD_TRY(const auto placed,
                processor.convert({.src = frame.image, .dst = input, .fit = Fit::letterbox}));
    std::printf("frame %llu, %llu lost, shown in %d columns\n",
                static_cast<unsigned long long>(frame.sequence),
                static_cast<unsigned long long>(frame.lost), placed.content().width);
  }  // here the driver gets the frame's buffer back
  std::printf("%llu copies\n", static_cast<unsigned long long>(camera.stats().copies));
  return {};
}

int main(int argc, char** argv) {
  if (argc < 2) {
    print_cameras();
    return 0;
  }
  const Status done = capture(argv[1], argc > 2 ? std::atoi(argv[2]) : 10);
  if (done) return 0;
  std::fprintf(stderr, "%s\n", done.error().message().c_str());
  return 1;
}
