// SPDX-License-Identifier: Apache-2.0
// Box formulas. Sums and products have a fixed order and no fused arithmetic.
#include "decode/head/box_coding.h"

#include <algorithm>
#include <cmath>

#include "base/box_math.h"
#include "base/elementary.h"
#include "decode/head/dfl.h"

namespace halyard::decode {

float sigmoid(float x) noexcept {
  return static_cast<float>(1 / (1 + exp_of(-static_cast<double>(x))));
}

double logit(double p) noexcept {
  return log_of(p) - log_of(1 - p);
}

void softmax(std::span<float> values) noexcept {
  float maximum = values[0];
  for (const float v : values)
    maximum = std::max(maximum, v);
  double sum = 0;
  for (float& v : values) {
    const double e = exp_of(static_cast<double>(v) - maximum);
    sum += e;
    v = static_cast<float>(e);
  }
  for (float& v : values)
    v = static_cast<float>(v / sum);
}

Box box_of_centre(std::span<const float, 4> b, float scale_x, float scale_y) noexcept {
  const float cx = b[0] * scale_x;
  const float cy = b[1] * scale_y;
  const float half_w = b[2] * scale_x * 0.5F;
  const float half_h = b[3] * scale_y * 0.5F;
  return {cx - half_w, cy - half_h, cx + half_w, cy + half_h};
}

Box box_of_corners(std::span<const float, 4> b, float scale_x, float scale_y) noexcept {
  return {b[0] * scale_x, b[1] * scale_y, b[2] * scale_x, b[3] * scale_y};
}

Box box_of_distances(std::span<const float, 4> ltrb, const Cell& cell) noexcept {
  const float x = static_cast<float>(cell.column) + 0.5F;
  const float y = static_cast<float>(cell.row) + 0.5F;
  return {(x - ltrb[0]) * cell.stride_x, (y - ltrb[1]) * cell.stride_y,
          (x + ltrb[2]) * cell.stride_x, (y + ltrb[3]) * cell.stride_y};
}

Box box_of_bins(std::span<float> logits, const Cell& cell) noexcept {
  return box_of_distances(distances_of_bins(logits), cell);
}

Box box_of_anchor(std::span<const float, 4> logits, const Cell& cell, Anchor anchor) noexcept {
  const float x = 2 * sigmoid(logits[0]) - 0.5F + static_cast<float>(cell.column);
  const float y = 2 * sigmoid(logits[1]) - 0.5F + static_cast<float>(cell.row);
  const float w = 2 * sigmoid(logits[2]);
  const float h = 2 * sigmoid(logits[3]);
  const float b[4] = {x * cell.stride_x, y * cell.stride_y, w * w * anchor[0], h * h * anchor[1]};
  return box_of_centre(b, 1, 1);
}

Box box_of_prior(std::span<const float, 4> t, std::span<const float, 4> prior, float scale_x,
                 float scale_y) noexcept {
  const auto grown = [](float offset) {
    return static_cast<float>(exp_of(static_cast<double>(0.2F * offset)));
  };
  const float b[4] = {prior[0] + 0.1F * t[0] * prior[2], prior[1] + 0.1F * t[1] * prior[3],
                      prior[2] * grown(t[2]), prior[3] * grown(t[3])};
  return box_of_centre(b, scale_x, scale_y);
}

RotatedBox rotated_of_distances(std::span<const float, 4> ltrb, float angle,
                                const Cell& cell) noexcept {
  const float along = (ltrb[2] - ltrb[0]) * 0.5F;
  const float across = (ltrb[3] - ltrb[1]) * 0.5F;
  const auto [sin, cos] = sin_cos_of(angle);
  const auto s = static_cast<float>(sin);
  const auto c = static_cast<float>(cos);
  const float x = along * c - across * s + (static_cast<float>(cell.column) + 0.5F);
  const float y = along * s + across * c + (static_cast<float>(cell.row) + 0.5F);
  return {x * cell.stride_x, y * cell.stride_y, (ltrb[0] + ltrb[2]) * cell.stride_x,
          (ltrb[1] + ltrb[3]) * cell.stride_y, angle};
}

float angle_of_logit(float x) noexcept {
  constexpr float pi = 3.14159265358979F;
  return (sigmoid(x) - 0.25F) * pi;
}

bool is_legal(const RotatedBox& box) noexcept {
  return box.width >= 0 && box.height >= 0 && is_legal(bounds(box));  // false if any value is NaN
}

bool is_legal(const Box& box) noexcept {
  return is_finite(box) && box.x1 <= box.x2 && box.y1 <= box.y2;
}

}  // namespace halyard::decode
