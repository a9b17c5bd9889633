// SPDX-License-Identifier: Apache-2.0
// A video of numbered images, made by the writer under test.
#pragma once

#include "capture/media.h"
#include "halyard/capture.h"
#include "support/result.h"

namespace halyard::test {

inline void make_video(const std::string& path, int frames, double rate = 25,
                       PixelFormat format = PixelFormat::i420, std::size_t width = 128,
                       std::size_t height = 96) {
  auto writer =
      *VideoWriter::create(path, {static_cast<int>(width), static_cast<int>(height)}, rate);
  for (int n = 0; n < frames; ++n)
    ASSERT_TRUE(writer.write(numbered_image(n, width, height, format)));
  ASSERT_OK(writer.finish());
}

}  // namespace halyard::test
