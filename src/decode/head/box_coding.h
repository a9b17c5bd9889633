// SPDX-License-Identifier: Apache-2.0
// Box formulas, one function each, from the numbers of one box to its corners. No tensors here.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "halyard/description.h"
#include "halyard/detection.h"
#include "halyard/geometry.h"

namespace halyard::decode {

/// 1 / (1 + e^-x), with an error of about one rounding; same bits on every machine. NaN for NaN.
float sigmoid(float x) noexcept;
/// The x for which sigmoid(x) is exactly p; -infinity at 0, +infinity at 1.
double logit(double p) noexcept;
/// In place. The sum is 1 except for rounding. The maximum is subtracted first.
void softmax(std::span<float> values) noexcept;

/// A cell of a grid, and its size in input pixels.
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
/// As box_of_distances(), with the four distances given as distributions. Overwrites `logits`.
Box box_of_bins(std::span<float> logits, const Cell& cell) noexcept;
/// From logits tx, ty, tw, th: centre (2 s(tx) - 0.5 + column) strides, size (2 s(tw))^2 anchors,
/// where s is sigmoid(). YOLOv5. `anchor` is in input pixels.
Box box_of_anchor(std::span<const float, 4> logits, const Cell& cell, Anchor anchor) noexcept;
/// A prior whose centre is moved by 0.1 t times its size and whose size is scaled by e^(0.2 t). Liu
/// et al., "SSD: single shot multibox detector", 2016.
Box box_of_prior(std::span<const float, 4> offsets, std::span<const float, 4> prior, float scale_x,
                 float scale_y) noexcept;

/// From distances along the axes of a box that is rotated about the cell's centre. The offset of
/// the box's centre is rotated by the same angle. As dist2rbox of Ultralytics.
RotatedBox rotated_of_distances(std::span<const float, 4> ltrb, float angle,
                                const Cell& cell) noexcept;
/// (sigmoid(x) - 1/4) pi, in (-pi / 4, 3 pi / 4): the angle of Ultralytics from its logit.
float angle_of_logit(float x) noexcept;

/// Finite, and neither width nor height negative.
bool is_legal(const Box& box) noexcept;
/// Finite with finite bounds, and neither width nor height negative.
bool is_legal(const RotatedBox& box) noexcept;

}  // namespace halyard::decode
