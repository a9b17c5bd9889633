// SPDX-License-Identifier: Apache-2.0
// Plan: a request, checked and completed. Backends read it and take no decisions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "halyard/image.h"
#include "image/channels.h"
#include "image/color_step.h"
#include "image/value_map.h"

namespace halyard::image {

/// What a plan holds of a tensor: all but its bytes and strides.
struct ImageSpec {
  PixelFormat format{};
  DType dtype = DType::u8;
  Size size;                ///< as stored
  Orientation orientation;  ///< of the tensor
  Colorimetry colorimetry;  ///< of the tensor; axes may be unknown
  std::optional<Quantization> quantization;
  const ChannelMap* channels = nullptr;  ///< null: Bayer, which has no colour channels
  friend bool operator==(const ImageSpec&, const ImageSpec&) = default;
};

/// What a backend computes, in this order:
/// 1. Each channel of the source is filtered on its own plane from `crop` to `content`; it is
/// flipped, then rotated, before the fit. Chroma covers the same rectangle: image coordinate x is
/// chroma coordinate x / 2^shift. Samples that the crop does not touch are not read (edge samples
/// repeat). Bayer mosaics become R G B first. 16-bit samples v count as v * 255 / (2^source_bits -
/// 1). With `affine`, the centre of each destination pixel is mapped back and filtered there;
/// centres outside the crop are pad.
/// 2. `alpha`, then `color`, once, then the clamp to [0, 255].
/// 3. `values` defines what is stored. Subsampled destinations store the mean chroma of each block,
/// including its pad pixels.
/// 4. The rest of the destination is filled with `pad`, which passes through `values` too.
/// Invariants: crop and content are not empty and lie inside; conversion_declined() is null.
struct Plan {
  ImageSpec src;
  ImageSpec dst;
  Placement placement;
  RegionF crop;             ///< in source pixels as they are stored
  Region content;           ///< in destination pixels; with `affine` the place
  Orientation orientation;  ///< orientation, flip and rotation in one; none with `affine`
  double rotated_width;     ///< of the crop after the rotation
  double rotated_height;    ///< exactly the content's height if not resampled
  bool resampled = false;
  Filter filter = Filter::bilinear;
  bool antialias = false;
  bool replicates_chroma = false;  ///< 1:1 and not Chroma::bilinear: chroma is taken by `nearest`
  int source_bits = 8;             ///< significant bits of a sample
  AlphaStep alpha = AlphaStep::keep;
  ColorStep color;
  bool exact = false;  ///< ColorimetryMode::exact
  Pixel pad{};         ///< in destination channels, codes not rounded
  ValueMap values;
  bool bgr = false;              ///< red and blue are swapped when stored
  std::optional<Affine> affine;  ///< source as stored -> destination

  bool swaps_axes() const noexcept { return halyard::swaps_axes(orientation.rotation); }
  bool pads() const noexcept {
    return affine || content != Region{0, 0, dst.size.width, dst.size.height};
  }
  /// Whether the source's columns (rows) run against those of the content after the rotation.
  bool mirrors_columns() const noexcept {
    const bool turns =
        orientation.rotation == Rotation::cw180 || orientation.rotation == Rotation::cw270;
    return (orientation.flip == Flip::horizontal) != turns;
  }
  bool mirrors_rows() const noexcept {
    const bool turns =
        orientation.rotation == Rotation::cw90 || orientation.rotation == Rotation::cw180;
    return (orientation.flip == Flip::vertical) != turns;
  }
};

/// Checks the request and completes all that it leaves open. Ignores request.src and request.dst,
/// touches no pixel, and does not check whether the tensors share bytes. Errors: those of
/// Processor::plan().
Result<Plan> make_plan(const Convert& request, const Tensor& src, const Tensor& dst,
                       ColorimetryMode mode);
inline Result<Plan> make_plan(const Convert& request,
                              ColorimetryMode mode = ColorimetryMode::fast) {
  return make_plan(request, request.src, request.dst, mode);
}

/// Returns what a plan holds of the tensor. Errors: invalid_argument (not an image; its colorimetry
/// or orientation has a value outside of its enumeration).
Result<ImageSpec> spec_of(const Tensor& image, const char* what);
/// The same for a destination, which may be a plain tensor. The axis of a quantization counts the
/// image's axes. Errors: also those of Tensor::as_image().
Result<ImageSpec> spec_of_destination(const Tensor& dst);

}  // namespace halyard::image
