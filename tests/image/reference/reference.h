// SPDX-License-Identifier: Apache-2.0
// The reference of the image layer: what a request must give, in double precision, one pixel at a
// time, from the formulas and public headers alone.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "halyard/image.h"
#include "halyard/tensor.h"

namespace halyard::reference {

/// One number that the destination stores.
struct Expected {
  double value = 0;     ///< before rounding; clamped to the range of its dtype
  double per_code = 1;  ///< its change for one 8-bit code
  double slack = 0;     ///< codes by which rounding in its inputs changes it
  bool exact = false;   ///< made without arithmetic, except for the mean of a block
  bool open = false;  ///< depends on rounding: see rests_on_rounding(), and borders of affine maps
};

/// The samples of one channel that the destination stores; subsampled channels have fewer.
struct ExpectedChannel {
  int columns = 0;
  int rows = 0;
  std::vector<Expected> samples;
  const Expected& at(int x, int y) const {
    return samples[static_cast<std::size_t>(y) * static_cast<std::size_t>(columns) +
                   static_cast<std::size_t>(x)];
  }
};

/// A complete destination, in the order of its colour model, whatever the order of its bytes.
struct Image {
  RegionF crop;    ///< the part of the upright source that is shown
  Region content;  ///< where it is shown
  std::size_t channels = 0;
  std::array<ExpectedChannel, 4> channel;
};

/// The request must be legal.
Image reference_convert(const Convert& request);

/// Whether u8 and i8 hold codes: no quantization, or one that means only code / 255.
bool stores_codes(const Convert& request);
/// The number at one sample of the destination's channel. Alpha of i8 that holds codes is unsigned.
double stored_number(const TensorMap& map, const Tensor& image, const Convert& request,
                     std::size_t channel, int x, int y);

// --- the steps, which have their own tests ---

/// Where a channel's samples are: sample i of a row of `plane` is element offset + i * step.
struct Site {
  int plane, offset, step, shift_x, shift_y;
};
Site site_of(PixelFormat format, std::size_t channel);
/// 1, 3 or 4 colours; Bayer has 3.
std::size_t channel_count(PixelFormat format);

/// One channel's samples as 8-bit codes, not rounded.
struct Plane {
  int columns = 0;
  int rows = 0;
  int shift_x = 0;
  int shift_y = 0;
  std::vector<double> codes;
  double at(int x, int y) const {
    return codes[static_cast<std::size_t>(y) * static_cast<std::size_t>(columns) +
                 static_cast<std::size_t>(x)];
  }
};
/// Bayer mosaics become R G B.
std::vector<Plane> read_samples(const Tensor& image, int source_bits);

struct Geometry {
  RegionF crop;   ///< of the source as it is stored
  RegionF shown;  ///< the same of the upright source
  Region content;
  bool swaps = false;     ///< content columns run along source rows
  bool mirror_x = false;  ///< the source's columns run against the content
  bool mirror_y = false;
  bool resampled = false;
};
Geometry resolve_geometry(const Convert& request);
/// The orientation that shows the source upright.
Orientation own_of(const Convert& request);
/// Where a part of the upright source is stored.
RegionF stored_part(const Convert& request, const RegionF& part);

struct Tap {
  int sample;
  double weight;
};
using Taps = std::vector<Tap>;
/// One axis of one channel, in samples.
struct Spot {
  double centre = 0;
  double scale = 1;  ///< samples per output
  int lowest = 0;    ///< first sample that may be read
  int highest = 0;   ///< one past the last
  bool mirrored = false;
};
/// The samples that make one output; weights sum to 1.
Taps taps_at(const Spot& spot, Filter filter, bool antialias);
/// Whether a sample lies on the border of a kernel that jumps there (nearest, box), at positions
/// that binary fractions only approximate: the last bit then decides on which side it is.
bool rests_on_rounding(const Spot& spot, Filter filter, bool antialias);

using Pixel = std::array<double, 4>;
/// Converts between two colour models; YUV by encoding and range, resolved by height.
struct ColourChange {
  ColorModel from, to;
  bool from_alpha, to_alpha;
  Colorimetry source, destination;
  std::size_t source_height, destination_height;
  AlphaStep alpha;

  Pixel apply(const Pixel& in) const;  ///< clamped to [0, 255]
  double slack(const Pixel& in) const;
  bool keeps_codes() const;  ///< no arithmetic at all
};

/// Converts a code to the number that is stored, by dtype, quantization and normalize.
Expected store(double code, std::size_t channel, const Convert& request);

}  // namespace halyard::reference
