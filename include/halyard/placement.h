// SPDX-License-Identifier: Apache-2.0
// Placement: the map between the pixels of a converted image and its source, in both directions.
#pragma once

#include <vector>

#include "halyard/detection.h"
#include "halyard/export.h"
#include "halyard/geometry.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// The map between source and destination pixels of one convert (crop -> flip -> rotate -> fit ->
/// place, or a free affine map). The source is the upright image, whatever its stored orientation
/// is: draw boxes that to_source() returns on the upright image. Exact to the rounding of float for
/// every flip and rotation. A small value; reentrant.
class Placement {
 public:
  /// Identity on an image of size 0 x 0.
  Placement() = default;
  /// Builds the map. `crop` lies in `source`; `content` is the rectangle of the destination that
  /// the rotated crop fills. All extents must be above 0.
  Placement(Size source, const RegionF& crop, Orientation orientation, Size destination,
            const Region& content) noexcept;
  /// A free map from source to destination. `content` is where source pixels may land.
  Placement(Size source, const RegionF& crop, const Affine& to_destination, Size destination,
            const Region& content) noexcept;

  /// The placement of convert() with Fit::letterbox for a whole image of `source` size: for
  /// programs that letterbox images by other means. An extent that is not above 0 gives the
  /// identity.
  static Placement letterbox(Size source, Size destination,
                             LetterboxRule rule = LetterboxRule::hal) noexcept;

  /// Extent of the upright source.
  Size source() const noexcept { return source_; }
  Size destination() const noexcept { return destination_; }
  /// The part of the source that is shown, in source pixels. With Fit::cover smaller than
  /// requested.
  RegionF crop() const noexcept { return crop_; }
  /// The destination rectangle that shows the image; everything else is pad.
  Region content() const noexcept { return content_; }
  /// The request's flip and rotation.
  Orientation orientation() const noexcept { return orientation_; }
  /// True for a free affine map: orientation() has no meaning then.
  bool is_affine() const noexcept { return is_affine_; }
  const Affine& forward() const noexcept { return forward_; }  ///< source -> destination
  const Affine& backward() const noexcept { return inverse_; }

  /// Continuous pixel coordinates, not clipped.
  Point to_source(Point destination) const noexcept;
  Point to_destination(Point source) const noexcept;
  /// Maps the corners and returns the box around them; to_source clips it to the source image.
  Box to_source(const Box& destination) const noexcept;
  Box to_destination(const Box& source) const noexcept;
  /// Maps every box by to_source; scores, labels and order stay.
  std::vector<Detection> to_source(std::vector<Detection> detections) const;
  /// Maps every point and clips it to the source image; scores stay. Points that are not finite
  /// stay so.
  std::vector<Keypoint> to_source(std::vector<Keypoint> keypoints) const;

  /// Replaces the scale of the map; pixels are not changed. Each pixel of the rotated crop then
  /// covers `scale` destination pixels, counted from the corner of content(). Trainers whose
  /// letterbox rounds the size map boxes back by the ratio before the rounding: this function
  /// reproduces them. letterbox() and convert() call it for the rules of Ultralytics.
  void set_nominal_scale(double scale) noexcept;
  /// Sets the scale of `rule` for a letterbox into `place`: the ratio of the sizes before rounding.
  /// Does nothing for LetterboxRule::hal, which maps back by whole pixels.
  void set_nominal_scale(LetterboxRule rule, Size place) noexcept;

 private:
  Affine inverse_;
  Affine forward_;
  Size source_, destination_;
  RegionF crop_;
  Region content_;
  Orientation orientation_;
  bool is_affine_ = false;
};

}  // namespace halyard
HALYARD_EXPORTS_END
