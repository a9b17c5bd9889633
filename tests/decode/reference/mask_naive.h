// SPDX-License-Identifier: Apache-2.0
// Masks written once more, pixel by pixel in double precision from the definitions (edges on the
// prototypes' grid in single), to test the library against. Shares no code with it.
#pragma once

#include <vector>

#include "halyard/mask.h"

namespace halyard::naive {

/// Real values of a frame: prototype(k, y, x) at [(k * height + y) * width + x].
struct Protos {
  int width = 0, height = 0, channels = 0;
  std::vector<double> values;
  double logit(const double* coefficients, int x, int y) const;
};

/// What a frame's pixels are compared with: above 0 means on.
struct Plane {
  int width = 0, height = 0;
  std::vector<double> values;
  double& at(int x, int y) { return values[static_cast<std::size_t>(y * width + x)]; }
  double at(int x, int y) const { return values[static_cast<std::size_t>(y * width + x)]; }
};

struct Frame {
  Protos protos;
  Size input;
  RegionF content;
  Size size;
};

/// `from` seen through the rectangle `shown` of an `over`-sized image.
Plane resampled(const Plane& from, Size over, RegionF shown, Size size);

/// `twice`: to frame.size by way of the network's input, on above `minimum`, as 0 and 1.
Plane mask(const Frame& frame, MaskRule rule, const double* coefficients, Box box, bool twice,
           double minimum = 0);

}  // namespace halyard::naive
