// SPDX-License-Identifier: Apache-2.0
// Plan: a request, checked and completed. Backends read it and decide nothing.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "halyard/image.h"
#include "image/channels.h"
#include "image/color_step.h"
#include "image/value_map.h"

namespace halyard::image {

/// What a plan knows of a tensor: all but its bytes and strides.
struct ImageSpec {
  PixelFormat format{};
  DType dtype = DType::u8;
  Size size;                ///< as stored
  Orientation orientation;  ///< as the tensor says it
  Colorimetry colorimetry;  ///< as the tensor says it, axes may be unknown
  std::optional<Quantization> quantization;
  const ChannelMap* channels = nullptr;  ///< null: Bayer, which has no channels of its own
  friend bool operator==(const ImageSpec&, const ImageSpec&) = default;
};

/// What a backend computes, in this order:
/// 1. each channel of the source is filtered on its own plane from `crop` to `content`, flipped,
///    then rotated before the fit. Chroma lies over the same rectangle: image coordinate x is
///    chroma coordinate x / 2^shift. Samples that the crop does not touch are not read (edge
///    samples repeat). Bayer mosaics become R G B first. 16-bit samples v count v * 255 /
///    (2^source_bits - 1). With `affine`, each destination pixel's centre is mapped back and
///    filtered there; centres outside the crop are pad;
/// 2. `alpha`, then `color`, once, then the clamp to [0, 255];
/// 3. `values` gives what is stored. Subsampled destinations store the mean chroma of each block,
///    pad pixels among them;
/// 4. the rest of the destination holds `pad`, passed through `values` too.
/// Invariants: crop and content not empty and inside; conversion_declined() is null.
struct Plan {
  ImageSpec src;
  ImageSpec dst;
  Placement placement;
  RegionF crop;             ///< in source pixels as they are stored
  Region content;           ///< in destination pixels; with `affine` the place
  Orientation orientation;  ///< orientation, flip and rotation as one; none with `affine`
  double rotated_width;     ///< of the crop after the turn
  double rotated_height;    ///< content's size, exactly, when not resampled
  bool resampled = false;
  Filter filter = Filter::bilinear;
  bool antialias = false;
  bool replicates_chroma = false;  ///< 1:1 without Chroma::bilinear: chroma is taken by `nearest`
  int source_bits = 8;             ///< significant bits of a sample
  AlphaStep alpha = AlphaStep::keep;
  ColorStep color;
  bool exact = false;  ///< ColorimetryMode::exact
  Pixel pad{};         ///< in destination channels, codes not rounded
  ValueMap values;
  bool bgr = false;              ///< red and blue change places when stored
  std::optional<Affine> affine;  ///< source, as it is stored -> destination

  bool swaps_axes() const noexcept { return halyard::swaps_axes(orientation.rotation); }
  bool pads() const noexcept {
    return affine || content != Region{0, 0, dst.size.width, dst.size.height};
  }
  /// Whether the source's columns (rows) run against those of the content after the turn.
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

/// Checks the request and resolves all that it leaves open; the tensors of `request` are not looked
/// at. Touches no pixel and does not look whether the tensors share bytes. Errors: those of
/// Processor::plan().
Result<Plan> make_plan(const Convert& request, const Tensor& src, const Tensor& dst,
                       ColorimetryMode mode);
inline Result<Plan> make_plan(const Convert& request,
                              ColorimetryMode mode = ColorimetryMode::fast) {
  return make_plan(request, request.src, request.dst, mode);
}

/// What the plan of such a tensor says of it. Errors: invalid_argument (not an image; foreign
/// enumerators in its colorimetry).
Result<ImageSpec> spec_of(const Tensor& image, const char* what);
/// The same of a destination, which may be a plain tensor. A quantization's axis counts the
/// image's axes. Errors: also those of Tensor::as_image().
Result<ImageSpec> spec_of_destination(const Tensor& dst);

}  // namespace halyard::image
