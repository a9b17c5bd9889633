// SPDX-License-Identifier: Apache-2.0
// 16-bit source samples: the nearest codes, on every instruction set and through the processor.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "each_target.h"
#include "halyard/image.h"
#include "image/cpu/kernels/read.h"
#include "image/images.h"

namespace halyard::image {
namespace {

using namespace halyard::test;

TEST(ReadKernel, scales_words_so_that_they_round_to_the_nearest_codes) {
  std::vector<std::uint16_t> request(65536);
  std::iota(request.begin(), request.end(), 0);
  for (const int bits : {9, 10, 12, 16}) {
    const int maximum = (1 << bits) - 1;
    for (const int fraction : {6, 7}) {
      for_each_target([&] {
        std::vector<std::int16_t> out(request.size());
        scale_u16(reinterpret_cast<const std::byte*>(request.data()), maximum + 1,
                  static_cast<float>(255.0 * (1 << fraction) / maximum), fraction, out.data());
        for (int word = 0; word <= maximum; ++word) {
          const int code = (out[static_cast<std::size_t>(word)] + (1 << fraction >> 1)) >> fraction;
          ASSERT_EQ(code, (word * 255 + maximum / 2) / maximum)
              << word << " of " << bits << " bits";
        }
      });
    }
  }
}

TEST(WideGrey, becomes_the_nearest_codes_in_both_modes) {
  std::vector<std::uint16_t> request(65536);
  std::iota(request.begin(), request.end(), 0);
  const Tensor src = zero_image(256, 256, PixelFormat::grey, DType::u16);
  std::memcpy(src.map(Access::write)->plane(0).writable, request.data(), 2 * request.size());
  const Tensor dst = zero_image(256, 256, PixelFormat::grey);
  for (const ColorimetryMode mode : {ColorimetryMode::fast, ColorimetryMode::exact}) {
    auto processor = Processor::create({.threads = 1, .colorimetry_mode = mode}).value();
    ASSERT_TRUE(processor.convert({.src = src, .dst = dst}));
    for (int word = 0; word < 65536; ++word)
      ASSERT_EQ(code_at(dst, 0, word % 256, word / 256), (word * 255 + 32767) / 65535) << word;
  }
}

}  // namespace
}  // namespace halyard::image
