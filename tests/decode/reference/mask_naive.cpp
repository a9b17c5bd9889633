// SPDX-License-Identifier: Apache-2.0
#include "decode/reference/mask_naive.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace halyard::naive {
namespace {

Plane plane(int width, int height, double value) {
  return {width, height, std::vector<double>(static_cast<std::size_t>(width * height), value)};
}

constexpr double outside = -std::numeric_limits<double>::infinity();

/// At continuous pixel-centre coordinates, clamped to the first and last centre.
double bilinear(const Plane& p, double x, double y) {
  x = std::clamp(x, 0.0, p.width - 1.0);
  y = std::clamp(y, 0.0, p.height - 1.0);
  const int x0 = static_cast<int>(x), y0 = static_cast<int>(y);
  const int x1 = std::min(x0 + 1, p.width - 1), y1 = std::min(y0 + 1, p.height - 1);
  const double fx = x - x0, fy = y - y0;
  return (p.at(x0, y0) * (1 - fx) + p.at(x1, y0) * fx) * (1 - fy) +
         (p.at(x0, y1) * (1 - fx) + p.at(x1, y1) * fx) * fy;
}

}  // namespace

double Protos::logit(const double* c, int x, int y) const {
  double sum = 0;
  for (int k = 0; k < channels; ++k)
    sum += c[k] * values[static_cast<std::size_t>((k * height + y) * width + x)];
  return sum;
}

Plane resampled(const Plane& from, Size over, RegionF shown, Size size) {
  Plane out = plane(size.width, size.height, 0);
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      const double px = shown.x + (x + 0.5) / size.width * shown.width;
      const double py = shown.y + (y + 0.5) / size.height * shown.height;
      out.at(x, y) =
          bilinear(from, px * from.width / over.width - 0.5, py * from.height / over.height - 0.5);
    }
  }
  return out;
}

namespace {

Plane logits(const Protos& protos, const double* c) {
  Plane out = plane(protos.width, protos.height, 0);
  for (int y = 0; y < out.height; ++y) {
    for (int x = 0; x < out.width; ++x)
      out.at(x, y) = protos.logit(c, x, y);
  }
  return out;
}

template <class Keep>
void crop(Plane& p, double value, Keep keep) {
  for (int y = 0; y < p.height; ++y) {
    for (int x = 0; x < p.width; ++x) {
      if (!keep(x, y)) p.at(x, y) = value;
    }
  }
}

// Edges in single precision, as programs crop by the boxes that they get.
Plane prototype_mask(const Frame& f, const double* c, Box b) {
  Plane out = logits(f.protos, c);
  const auto edge = [](float v, int grid, int input) -> float {
    return v * (static_cast<float>(grid) / static_cast<float>(input));
  };
  const double x1 = std::floor(edge(b.x1, out.width, f.input.width));
  const double x2 = std::ceil(edge(b.x2, out.width, f.input.width));
  const double y1 = std::floor(edge(b.y1, out.height, f.input.height));
  const double y2 = std::ceil(edge(b.y2, out.height, f.input.height));
  const double left = std::clamp(x1, 0.0, out.width - 1.0);
  const double top = std::clamp(y1, 0.0, out.height - 1.0);
  const double right = std::max(left + 1, std::min(x2, double(out.width)));
  const double bottom = std::max(top + 1, std::min(y2, double(out.height)));
  crop(out, outside,
       [&](int x, int y) { return x >= left && x < right && y >= top && y < bottom; });
  return out;
}

Plane logits_mask(const Frame& f, const double* c, Box b) {
  Plane out = resampled(logits(f.protos, c), f.input, f.content, f.size);
  const auto edge = [](double v, double input, double from, double shown, int size) {
    return std::round((std::clamp(v, 0.0, input) - from) / shown * size);
  };
  const auto first = [](double v, int size) { return std::clamp(v, 0.0, size - 1.0); };
  const double w = f.input.width, h = f.input.height;
  const RegionF& r = f.content;
  const double left = first(edge(b.x1, w, r.x, r.width, out.width), out.width);
  const double top = first(edge(b.y1, h, r.y, r.height, out.height), out.height);
  const double right = std::max(left + 1, edge(b.x2, w, r.x, r.width, out.width));
  const double bottom = std::max(top + 1, edge(b.y2, h, r.y, r.height, out.height));
  crop(out, outside,
       [&](int x, int y) { return x >= left && x < right && y >= top && y < bottom; });
  return out;
}

Plane quick_mask(const Frame& f, const double* c, Box b) {
  Plane small = logits(f.protos, c);
  const double sx = small.width / double(f.input.width);
  const double sy = small.height / double(f.input.height);
  crop(small, 0, [&](int x, int y) {
    return x >= b.x1 * sx && x < b.x2 * sx && y >= b.y1 * sy && y < b.y2 * sy;
  });
  return resampled(small, f.input, f.content, f.size);
}

Plane ultralytics_mask(const Frame& f, const double* c, Box b, bool twice, double minimum) {
  const RegionF all(0, 0, f.input.width, f.input.height);
  Plane large = resampled(logits(f.protos, c), f.input, all, f.input);
  crop(large, outside, [&](int x, int y) {
    return x >= double(b.x1) && x < double(b.x2) && y >= double(b.y1) && y < double(b.y2);
  });
  if (!twice) return large;
  Plane cut = plane(static_cast<int>(f.content.width), static_cast<int>(f.content.height), 0);
  for (int y = 0; y < cut.height; ++y) {
    for (int x = 0; x < cut.width; ++x) {
      const bool on =
          large.at(x + static_cast<int>(f.content.x), y + static_cast<int>(f.content.y)) > minimum;
      cut.at(x, y) = on ? 1 : 0;
    }
  }
  Plane out = resampled(cut, {cut.width, cut.height}, RegionF(0, 0, cut.width, cut.height), f.size);
  for (double& v : out.values)
    v = std::floor(v + 1e-9);
  return out;
}

}  // namespace

Plane mask(const Frame& f, MaskRule rule, const double* c, Box b, bool twice, double minimum) {
  const auto [x1, x2] = std::minmax({b.x1, b.x2});
  const auto [y1, y2] = std::minmax({b.y1, b.y2});
  b = {x1, y1, x2, y2};
  switch (rule) {
    case MaskRule::logits:
      return logits_mask(f, c, b);
    case MaskRule::ultralytics:
      return ultralytics_mask(f, c, b, twice, minimum);
    case MaskRule::ultralytics_quick:
      return quick_mask(f, c, b);
    default:
      return prototype_mask(f, c, b);
  }
}

}  // namespace halyard::naive
