// SPDX-License-Identifier: Apache-2.0
// Box formulas, one function each: numbers of one box to corners. No tensors here.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "halyard/description.h"
#include "halyard/detection.h"
#include "halyard/geometry.h"

namespace halyard::decode {

/// 1 / (1 + e^-x), the float nearest to it but for a rounding; same bits everywhere. NaN of NaN.
float sigmoid(float x) noexcept;
/// x with sigmoid(x) = p in exact arithmetic; +-infinity at 0 and 1.
double logit(double p) noexcept;
/// In place; sums to 1 but for roundings. The maximum is taken out first.
void softmax(std::span<float> values) noexcept;

/// Cell of a grid, with the extents of one in input pixels.
struct Cell {
  std::size_t column = 0;
  std::size_t row = 0;
  float stride_x = 1;
  float stride_y = 1;
};

/// cx, cy, w, h times the scales.
Box box_of_centre(std::span<const float, 4> b, float scale_x, float scale_y) noexcept;
/// x1, y1, x2, y2 times the scales.
Box box_of_corners(std::span<const float, 4> b, float scale_x, float scale_y) noexcept;
/// Left, top, right, bottom from the centre of the cell, in strides.
Box box_of_distances(std::span<const float, 4> ltrb, const Cell& cell) noexcept;
/// The same as box_of_distances().
Box box_of_bins(std::span<float> logits, const Cell& cell) noexcept;
/// Logits tx, ty, tw, th: centre (2 s(tx) - 0.5 + column) strides, extent (2 s(tw))^2 anchors.
/// YOLOv5. `anchor` in input pixels.
Box box_of_anchor(std::span<const float, 4> logits, const Cell& cell, Anchor anchor) noexcept;
/// Centre and extent of a prior moved by 0.1 t of its extent and grown by e^(0.2 t). Liu et al.,
/// "SSD: single shot multibox detector", 2016.
Box box_of_prior(std::span<const float, 4> offsets, std::span<const float, 4> prior, float scale_x,
                 float scale_y) noexcept;

/// Distances along and across a box that is turned by the angle about the cell's centre: the middle
/// between its sides lies off the centre by what is turned too. Ultralytics' dist2rbox.
RotatedBox rotated_of_distances(std::span<const float, 4> ltrb, float angle,
                                const Cell& cell) noexcept;
/// (sigmoid(x) - 1/4) pi, in (-pi / 4, 3 pi / 4): Ultralytics' angle from its logit.
float angle_of_logit(float x) noexcept;

/// Finite, and neither side negative.
bool is_legal(const Box& box) noexcept;
/// Finite, as are its bounds, and neither extent negative.
bool is_legal(const RotatedBox& box) noexcept;

}  // namespace halyard::decode
