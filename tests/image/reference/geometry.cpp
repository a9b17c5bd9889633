// SPDX-License-Identifier: Apache-2.0
// Crop, orientation, flip, rotation, fit and place of a request.
#include <algorithm>
#include <cmath>

#include "image/reference/reference.h"

namespace halyard::reference {

Orientation own_of(const Convert& r) {
  return r.orientation ? *r.orientation : r.src.orientation();
}

namespace {

struct Unit {
  double x, y;
};

// Where a point of the image after the step was before the step, in an image of side 1.
Unit before(Flip flip, Unit p) {
  if (flip == Flip::horizontal) return {1 - p.x, p.y};
  if (flip == Flip::vertical) return {p.x, 1 - p.y};
  return p;
}

// A clockwise rotation by 90 degrees moves the left side up: the point at the top right was at the
// top left.
Unit before(Rotation rotation, Unit p) {
  for (int quarter = 0; quarter < static_cast<int>(rotation); ++quarter)
    p = {p.y, 1 - p.x};
  return p;
}

Unit in_source(const Convert& r, Unit p) {
  const Orientation own = own_of(r);
  return before(own.flip, before(own.rotation, before(r.flip, before(r.rotation, p))));
}

// Where a part of the upright image, which has `size`, is stored: rotated back by 90 degrees at a
// time.
RegionF stored(RegionF r, Size size, Orientation own) {
  for (int quarter = 0; quarter < static_cast<int>(own.rotation); ++quarter) {
    r = {r.y, size.width - (r.x + r.width), r.height, r.width};
    size = {size.height, size.width};
  }
  if (own.flip == Flip::horizontal) r.x = size.width - (r.x + r.width);
  if (own.flip == Flip::vertical) r.y = size.height - (r.y + r.height);
  return r;
}

// The opposite direction.
RegionF upright(RegionF r, Size size, Orientation own) {
  if (own.flip == Flip::horizontal) r.x = size.width - (r.x + r.width);
  if (own.flip == Flip::vertical) r.y = size.height - (r.y + r.height);
  for (int quarter = 0; quarter < static_cast<int>(own.rotation); ++quarter) {
    r = {size.height - (r.y + r.height), r.x, r.height, r.width};
    size = {size.height, size.width};
  }
  return r;
}

double half_to_even(double value) {
  const double vertical = std::floor(value);
  const double rest = value - vertical;
  if (rest != 0.5) return std::floor(value + 0.5);
  return std::fmod(vertical, 2) == 0 ? vertical : vertical + 1;
}

// EdgeFirst HAL's letterbox: the long side fills, the short one is rounded.
Region hal_box(double w, double h, Size target) {
  const double source_aspect = w / h;
  const double target_aspect = static_cast<double>(target.width) / target.height;
  Region box{0, 0, target.width, target.height};
  if (source_aspect > target_aspect) {
    box.height = std::max(1, static_cast<int>(std::round(target.width / source_aspect)));
  } else {
    box.width = std::max(1, static_cast<int>(std::round(target.height * source_aspect)));
  }
  box.x = (target.width - box.width) / 2;
  box.y = (target.height - box.height) / 2;
  return box;
}

Region trained_box(double w, double h, Size target, bool enlarges) {
  double ratio = std::min(target.width / w, target.height / h);
  if (!enlarges) ratio = std::min(ratio, 1.0);
  Region box{.width = std::max(1, static_cast<int>(half_to_even(w * ratio))),
             .height = std::max(1, static_cast<int>(half_to_even(h * ratio)))};
  box.x = static_cast<int>(half_to_even((target.width - box.width) / 2.0 - 0.1));
  box.y = static_cast<int>(half_to_even((target.height - box.height) / 2.0 - 0.1));
  return box;
}

Region fitted(const Convert& r, double w, double h, Size target) {
  if (r.fit == Fit::top_left) {
    const Region box = hal_box(w, h, target);
    return {0, 0, box.width, box.height};
  }
  if (r.fit != Fit::letterbox) return {0, 0, target.width, target.height};
  if (r.letterbox == LetterboxRule::hal) return hal_box(w, h, target);
  return trained_box(w, h, target, r.letterbox == LetterboxRule::ultralytics);
}

// The largest part of the crop, around its centre, with the aspect ratio of the target. Multiplies
// first, so that integers stay exact.
RegionF covering(const RegionF& crop, bool swaps, Size target) {
  const double horizontal = swaps ? target.height : target.width;
  const double vertical = swaps ? target.width : target.height;
  RegionF out = crop;
  if (crop.width * vertical > crop.height * horizontal) {
    out.width = crop.height * horizontal / vertical;
    out.x = crop.x + (crop.width - out.width) / 2;
  } else {
    out.height = crop.width * vertical / horizontal;
    out.y = crop.y + (crop.height - out.height) / 2;
  }
  return out;
}

}  // namespace

RegionF stored_part(const Convert& request, const RegionF& part) {
  const Orientation own = own_of(request);
  const Size size = request.src.size();
  const bool is_aside = static_cast<int>(own.rotation) % 2 == 1;
  return stored(part, is_aside ? Size{size.height, size.width} : size, own);
}

Geometry resolve_geometry(const Convert& request) {
  const Size source = request.src.size();
  const Size whole = request.dst.as_image().value().size();
  const Region place = request.place.value_or(Region{0, 0, whole.width, whole.height});
  Geometry g{.crop = RegionF(0, 0, source.width, source.height)};
  if (request.crop) g.crop = stored_part(request, *request.crop);
  g.content = place;
  g.shown = upright(g.crop, source, own_of(request));
  if (request.affine) {
    g.resampled = true;
    return g;
  }
  const Unit corner = in_source(request, {0, 0});
  const Unit right = in_source(request, {1, 0});
  const Unit opposite = in_source(request, {1, 1});
  g.swaps = right.x == corner.x;
  g.mirror_x = opposite.x < corner.x;
  g.mirror_y = opposite.y < corner.y;
  const Size target{place.width, place.height};
  if (request.fit == Fit::cover) g.crop = covering(g.crop, g.swaps, target);
  g.shown = upright(g.crop, source, own_of(request));
  const double w = g.swaps ? g.crop.height : g.crop.width;
  const double h = g.swaps ? g.crop.width : g.crop.height;
  g.content = fitted(request, w, h, target);
  g.resampled = w != g.content.width || h != g.content.height || g.crop.x != std::floor(g.crop.x) ||
                g.crop.y != std::floor(g.crop.y);
  g.content.x += place.x;
  g.content.y += place.y;
  return g;
}

}  // namespace halyard::reference
