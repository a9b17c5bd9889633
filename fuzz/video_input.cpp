// SPDX-License-Identifier: Apache-2.0
// Videos and streams of images, from a file: refused with a message, or frames inside their
// memory. It stops after a few frames, because decoders are not the target here. The file is in
// memory; files that a playlist names do not exist.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "fuzz/source.h"
#include "halyard/capture.h"
#include "tensor/memory/touch.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace halyard;
  using fuzz::expect;
  const int file = ::memfd_create("video", MFD_CLOEXEC);
  expect(file >= 0 && ::write(file, data, size) == static_cast<ssize_t>(size));
  FrameSourceOptions options;
  options.load.limits = {.max_width = 1024, .max_height = 1024, .max_pixels = 1 << 18};
  auto source = FrameSource::open("/proc/self/fd/" + std::to_string(file), options);
  if (!source) expect(!source.error().message().empty());
  for (int i = 0; source && i < 4; ++i) {
    const auto frame = source->next();
    if (!frame) expect(!frame.error().message().empty());
    if (!frame || !*frame) break;
    expect(stays_inside((*frame)->image));
  }
  ::close(file);
  return 0;
}
