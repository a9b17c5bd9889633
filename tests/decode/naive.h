// SPDX-License-Identifier: Apache-2.0
// The detection head written once more, in double precision and without any cleverness, to test
// the library against; and a reader of .npy files. Shares no code with the library.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "halyard/detection.h"

namespace halyard::naive {

struct Found {
  double x1, y1, x2, y2, score;
  int label;
  int anchor;
};

struct Options {
  double score = 0.25;
  double iou = 0.45;
  bool class_aware = true;
  std::size_t maximum = 300;
};

inline double iou(const Found& a, const Found& b) {
  const double w = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
  const double h = std::min(a.y2, b.y2) - std::max(a.y1, b.y1);
  if (w <= 0 || h <= 0) return 0;
  const double areas = (a.x2 - a.x1) * (a.y2 - a.y1) + (b.x2 - b.x1) * (b.y2 - b.y1);
  return w * h / (areas - w * h);
}

/// `value(feature, anchor)` gives real values. `closest` becomes the least distance of any IoU that
/// decided something from the threshold.
template <class Value>
std::vector<Found> decode(Value value, int features, int anchors, double width, double height,
                          const Options& options, double* closest = nullptr) {
  std::vector<Found> all;
  for (int a = 0; a < anchors; ++a) {
    int best = -1;
    for (int c = 0; c < features - 4; ++c) {
      const double score = value(4 + c, a);
      if (score >= options.score && (best < 0 || score > value(4 + best, a))) best = c;
    }
    if (best < 0) continue;
    const double cx = value(0, a) * width, cy = value(1, a) * height;
    const double w = value(2, a) * width, h = value(3, a) * height;
    all.push_back({cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2, value(4 + best, a), best, a});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Found& a, const Found& b) { return a.score > b.score; });
  std::vector<Found> kept;
  for (const Found& f : all) {
    bool suppressed = false;
    for (const Found& k : kept) {
      if (options.class_aware && k.label != f.label) continue;
      const double overlap = iou(k, f);
      if (closest != nullptr) *closest = std::min(*closest, std::abs(overlap - options.iou));
      suppressed = suppressed || overlap > options.iou;
    }
    if (!suppressed && kept.size() < options.maximum) kept.push_back(f);
  }
  return kept;
}

/// A C-ordered little-endian array of one of the dtypes of the recorded outputs.
struct Npy {
  std::string descr;  ///< "|i1", "<f4"
  std::vector<std::size_t> shape;
  std::vector<char> bytes;

  static Npy load(const std::string& path) {
    Npy out;
    std::ifstream in(path, std::ios::binary);
    char head[10] = {};
    in.read(head, 10);
    if (!in || std::memcmp(head, "\x93NUMPY\x01", 7) != 0) return out;
    std::string text(static_cast<unsigned char>(head[8]) | static_cast<unsigned char>(head[9]) << 8,
                     ' ');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    const auto at = text.find("'descr': '") + 10;
    out.descr = text.substr(at, text.find('\'', at) - at);
    const char* p = text.c_str() + text.find('(') + 1;
    while (*p != ')') {
      char* end = nullptr;
      out.shape.push_back(std::strtoul(p, &end, 10));
      p = end;
      while (*p == ',' || *p == ' ')
        ++p;
    }
    const auto begin = in.tellg();
    out.bytes.resize(static_cast<std::size_t>(in.seekg(0, std::ios::end).tellg() - begin));
    in.seekg(begin).read(out.bytes.data(), static_cast<std::streamsize>(out.bytes.size()));
    return out;
  }
};

}  // namespace halyard::naive
