// SPDX-License-Identifier: Apache-2.0
// The GPU converts the next frame while the CPU works on the one before. Two inputs are used in
// turn; a fence tells when each is written. Where there is no GPU, the same code runs on the CPU,
// which needs no fences. Usage: overlap_frames FRAME.jpg COUNT
#include <halyard/halyard.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>

using namespace halyard;

/// One of the two inputs, and when it is written.
struct Slot {
  Tensor input;
  Fd written;
};

// Gives the GPU its work, and does not wait for it.
static Status begin(Processor& processor, const Tensor& frame, Slot& slot) {
  HALYARD_TRY(FencedPlacement work, processor.convert_with_fence(
                                        {.src = frame, .dst = slot.input, .fit = Fit::letterbox}));
  slot.written = std::move(work.done);
  return {};
}

// Waits until the pixels are there. An empty fence means that they are.
static Status finish(const Slot& slot) {
  if (!slot.written) return {};
  return wait_sync_file(slot.written.get(), std::chrono::seconds(1));
}

// What a network would do.
static Result<double> mean_green(const Tensor& input) {
  HALYARD_TRY(const ImageStatistics seen, measure(input));
  return seen.channel[1].mean;
}

static Status run(const char* path, int count) {
  HALYARD_TRY(const Tensor photo, load_image(path));
  HALYARD_TRY(Processor processor, Processor::create());
  // In memory that the processor reaches without a copy, as a camera's frame would be.
  HALYARD_TRY(const Tensor frame,
              processor.create_image(photo.width(), photo.height(), PixelFormat::nv12));
  HALYARD_RETURN_IF_ERROR(processor.convert({.src = photo, .dst = frame}));
  std::array<Slot, 2> slots;
  for (Slot& slot : slots) {
    HALYARD_TRY(slot.input, processor.create_image(640, 640, PixelFormat::rgb));
  }
  double green = 0;
  HALYARD_RETURN_IF_ERROR(begin(processor, frame, slots[0]));
  for (int i = 0; i < count; ++i) {
    const Slot& ready = slots[static_cast<std::size_t>(i % 2)];
    HALYARD_RETURN_IF_ERROR(begin(processor, frame, slots[static_cast<std::size_t>((i + 1) % 2)]));
    HALYARD_RETURN_IF_ERROR(finish(ready));
    HALYARD_TRY(green, mean_green(ready.input));
  }
  HALYARD_RETURN_IF_ERROR(finish(slots[static_cast<std::size_t>(count % 2)]));
  std::printf("%d frames, mean green %.1f\n", count, green);
  return {};
}

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: overlap_frames FRAME.jpg COUNT\n"), 2;
  if (auto done = run(argv[1], std::atoi(argv[2])); !done) {
    std::fprintf(stderr, "%s\n", done.error().message().c_str());
    return 1;
  }
  return 0;
}
