// SPDX-License-Identifier: Apache-2.0
// Heads decoded once more, box by box in double precision from the definitions. Shares no code with
// the library.
#pragma once

#include <numbers>

#include "head_values.h"

namespace halyard::test {

struct PlainDetection {
  double x1 = 0, y1 = 0, x2 = 0, y2 = 0;
  double score = 0;
  int label = 0;
  int anchor = 0;
  std::vector<double> rotated = {};  ///< cx, cy, w, h, angle
  std::vector<double> points = {};   ///< x, y, visibility of each
  std::vector<float> masks = {};
};

class PlainHead {
 public:
  PlainHead(const HeadLayout& layout, const HeadValues& values, std::size_t image)
      : layout_(layout), values_(values), image_(image) {}

  /// Every box whatever its score.
  std::vector<PlainDetection> all() const {
    std::vector<PlainDetection> out;
    int first = 0;
    for (std::size_t l = 0; l < layout_.levels.size(); ++l) {
      const std::size_t count = layout_.levels[l].count();
      for (std::size_t b = 0; b < count; ++b) {
        out.push_back(one(l, b));
        out.back().anchor = first + static_cast<int>(b);
      }
      first += static_cast<int>(count);
    }
    return out;
  }
  /// Scores of an image.
  std::vector<float> classes() const { return of(Part::scores, 0, 0); }

 private:
  static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
  std::vector<float> of(Part part, std::size_t level, std::size_t box) const {
    return values_.of(part, level, box, image_);
  }

  PlainDetection one(std::size_t l, std::size_t b) const {
    const Grid& grid = layout_.levels[l];
    const std::size_t cell = b / grid.anchors;
    const double column = static_cast<double>(cell % grid.columns);
    const double row = static_cast<double>(cell / grid.columns);
    PlainDetection out;
    set_score(out, l, b);
    const auto angle = of(Part::angles, l, b);
    if (angle.empty())
      set_box(out, l, b, column, row);
    else
      set_rotated(out, l, b, column, row, static_cast<double>(angle[0]));
    out.masks = of(Part::coefficients, l, b);
    const auto points = of(Part::keypoints, l, b);
    for (std::size_t p = 0; p + 2 < points.size(); p += 3) {
      const double x = static_cast<double>(points[p]), y = static_cast<double>(points[p + 1]),
                   seen = static_cast<double>(points[p + 2]);
      if (is_coded()) {
        out.points.insert(out.points.end(), {(2 * x + column) * grid.stride_x,
                                             (2 * y + row) * grid.stride_y, sigmoid(seen)});
      } else {
        out.points.insert(out.points.end(), {x * width_, y * height_, seen});
      }
    }
    return out;
  }

  void set_score(PlainDetection& out, std::size_t l, std::size_t b) const {
    std::vector<double> scores;
    for (const float v : of(Part::scores, l, b))
      scores.push_back(static_cast<double>(v));
    if (layout_.activation == Activation::sigmoid)
      for (double& s : scores)
        s = sigmoid(s);
    if (layout_.activation == Activation::softmax) {
      double sum = 0;
      for (const double s : scores)
        sum += std::exp(s);
      for (double& s : scores)
        s = std::exp(s) / sum;
    }
    if (layout_.has_background) scores.erase(scores.begin());
    const auto best = std::max_element(scores.begin(), scores.end());
    out.label = static_cast<int>(best - scores.begin());
    out.score = *best;
    const auto objectness = of(Part::objectness, l, b);
    if (!objectness.empty()) {
      const double o = static_cast<double>(objectness[0]);
      out.score *= layout_.activation == Activation::sigmoid ? sigmoid(o) : o;
    }
    const auto label = of(Part::classes, l, b);
    if (!label.empty()) out.label = static_cast<int>(std::lround(label[0]));
  }

  bool is_coded() const {
    return layout_.coding == Coded::bins || layout_.coding == Coded::distances;
  }
  // Four numbers, with the means of distributions where there are.
  std::array<double, 4> numbers(std::size_t l, std::size_t b) const {
    auto stored = of(Part::boxes, l, b);
    const auto sizes = of(Part::sizes, l, b);
    stored.insert(stored.end(), sizes.begin(), sizes.end());
    std::array<double, 4> out{};
    const std::size_t bins = stored.size() / 4;
    for (std::size_t side = 0; side < 4; ++side) {
      if (bins == 1) {
        out[side] = static_cast<double>(stored[side]);
        continue;
      }
      double sum = 0, weighed = 0;
      for (std::size_t i = 0; i < bins; ++i) {
        const double e = std::exp(static_cast<double>(stored[side * bins + i]));
        sum += e;
        weighed += e * static_cast<double>(i);
      }
      out[side] = weighed / sum;
    }
    return out;
  }

  void set_box(PlainDetection& out, std::size_t l, std::size_t b, double column, double row) const {
    const Grid& g = layout_.levels[l];
    const auto n = numbers(l, b);
    double cx = n[0] * width_, cy = n[1] * height_, w = n[2] * width_, h = n[3] * height_;
    if (layout_.coding == Coded::corners) {
      out.x1 = cx, out.y1 = cy, out.x2 = w, out.y2 = h;
      return;
    }
    if (is_coded()) {
      out.x1 = (column + 0.5 - n[0]) * g.stride_x, out.y1 = (row + 0.5 - n[1]) * g.stride_y;
      out.x2 = (column + 0.5 + n[2]) * g.stride_x, out.y2 = (row + 0.5 + n[3]) * g.stride_y;
      return;
    }
    if (layout_.coding == Coded::anchor) {
      const Anchor& a = g.extents[b % g.anchors];
      cx = (2 * sigmoid(n[0]) - 0.5 + column) * g.stride_x;
      cy = (2 * sigmoid(n[1]) - 0.5 + row) * g.stride_y;
      w = std::pow(2 * sigmoid(n[2]), 2) * static_cast<double>(a[0]) * width_;
      h = std::pow(2 * sigmoid(n[3]), 2) * static_cast<double>(a[1]) * height_;
    }
    if (layout_.coding == Coded::prior) {
      std::array<double, 4> p{};
      const auto stored = of(Part::priors, l, b);
      std::copy(stored.begin(), stored.end(), p.begin());
      cx = (p[0] + 0.1 * n[0] * p[2]) * width_, cy = (p[1] + 0.1 * n[1] * p[3]) * height_;
      w = p[2] * std::exp(0.2 * n[2]) * width_, h = p[3] * std::exp(0.2 * n[3]) * height_;
    }
    out.x1 = cx - w / 2, out.y1 = cy - h / 2, out.x2 = cx + w / 2, out.y2 = cy + h / 2;
  }

  void set_rotated(PlainDetection& out, std::size_t l, std::size_t b, double column, double row,
                   double angle) const {
    const auto n = numbers(l, b);
    const Grid& g = layout_.levels[l];
    double cx = n[0] * width_, cy = n[1] * height_, w = n[2] * width_, h = n[3] * height_;
    if (is_coded()) {
      angle = (sigmoid(angle) - 0.25) * std::numbers::pi;
      const double x = (n[2] - n[0]) / 2, y = (n[3] - n[1]) / 2;
      cx = (column + 0.5 + x * std::cos(angle) - y * std::sin(angle)) * g.stride_x;
      cy = (row + 0.5 + x * std::sin(angle) + y * std::cos(angle)) * g.stride_y;
      w = (n[0] + n[2]) * g.stride_x, h = (n[1] + n[3]) * g.stride_y;
    }
    out.rotated = {cx, cy, w, h, angle};
    const double c = std::abs(std::cos(angle)), s = std::abs(std::sin(angle));
    const double half_w = (w * c + h * s) / 2, half_h = (w * s + h * c) / 2;
    out.x1 = cx - half_w, out.y1 = cy - half_h, out.x2 = cx + half_w, out.y2 = cy + half_h;
  }

  const HeadLayout& layout_;
  const HeadValues& values_;
  std::size_t image_;
  double width_ = layout_input.width;
  double height_ = layout_input.height;
};

}  // namespace halyard::test
