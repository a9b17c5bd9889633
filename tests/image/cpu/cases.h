// SPDX-License-Identifier: Apache-2.0
// Requests and axes that the tests of several paths of the CPU share.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "each_target.h"
#include "image/cpu/resample/taps.h"
#include "image/images.h"

namespace halyard::test {

/// A u8 source into a destination of its size; rows of both are longer than needed.
inline Convert same_size(Random& random, PixelFormat from, PixelFormat to, int width, int height,
                         DType dtype = DType::u8) {
  return {random_image(random, width, height, from, DType::u8, 6, 2),
          random_image(random, width, height, to, dtype, 5, 3)};
}

/// Shows a part of one size with its crop, anywhere in the destination.
inline void place_crop(Random& random, Convert& request, const Region& crop) {
  request.crop = crop;
  request.place = Region{pick(random, 0, 9), pick(random, 0, 3), crop.width, crop.height};
}

/// The destination has the same bytes on every instruction set.
inline void expect_equal_bits(const Convert& request) {
  auto processor = Processor::create().value();
  std::vector<std::byte> first;
  for_each_target([&] {
    ASSERT_TRUE(processor.convert(request));
    if (first.empty()) first = bytes_of(request.dst);
    EXPECT_EQ(bytes_of(request.dst), first) << describe(request);
  });
}

inline image::AxisRequest axis(double begin, double length, int samples, int outputs,
                               bool antialias = false) {
  return {.begin = begin,
          .length = length,
          .highest = samples,
          .outputs = outputs,
          .antialias = antialias};
}

}  // namespace halyard::test
