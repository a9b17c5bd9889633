// SPDX-License-Identifier: Apache-2.0
// Compares the processor with the reference: one request, every sample of its destination.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>

#include "halyard/image.h"
#include "image/reference/reference.h"
#include "images.h"
#include "support/sanitized.h"

namespace halyard::test {

/// How far a stored number may be from the formula's, in 8-bit codes, where arithmetic is needed:
/// - codes (u8, i8): 0.75, which is the nearest code, or its neighbour where the value is about
/// half-way. The documented limit is 1, but a kernel that truncates instead of rounding must not
/// pass;
/// - quantized integers and u16: one rounding to the nearest step, and `numbers` codes;
/// - floats: `numbers` codes, 1e-3 of the full scale of 255 codes, and half a unit in the last
/// place of the type. Numbers that are only copied must be exact.
struct Tolerance {
  double codes = 0.75;
  double numbers = 0.255;
};

inline double last_place(DType dtype, double value) {
  switch (dtype) {
    case DType::f16:
      return std::abs(value) * 0x1p-11 + 0x1p-25;
    case DType::bf16:
      return std::abs(value) * 0x1p-8;
    default:
      return 0;
  }
}

/// The greatest allowed difference, in the destination's own unit.
inline double allowed(const reference::Expected& e, DType dtype, bool codes, const Tolerance& t) {
  const double full = e.per_code * 255;
  if (is_float(dtype)) {
    const double arithmetic = e.exact ? 2e-6 * (std::abs(e.value) + full) : e.per_code * t.numbers;
    const double sum = arithmetic + e.per_code * e.slack;
    return sum + last_place(dtype, std::abs(e.value) + sum);
  }
  constexpr double nearest = 0.5 + 1e-6;
  if (codes) return (e.exact ? nearest : t.codes + 1e-6) + e.slack;
  const double arithmetic = e.exact ? 1e-5 * (std::abs(e.value) + full) : e.per_code * t.numbers;
  return nearest + arithmetic + e.per_code * e.slack;
}

/// Runs requests on one processor and compares their results.
class Judge {
 public:
  explicit Judge(ProcessorOptions options = {}) : processor_(Processor::create(options).value()) {}

  Processor& processor() { return processor_; }
  int served() const { return served_; }
  int unserved() const { return unserved_; }
  /// Whether so many failed that more failures would not help.
  bool gives_up() const { return mistakes_ >= 8; }
  Tolerance tolerance;

  /// Adds a failure with the whole request if a sample, the placement or a byte beside the image is
  /// wrong. Returns false if it failed, or the request was refused.
  bool compare(const Convert& request) {
    const int served = served_;
    const std::string mistake = mistake_of(request);
    if (mistake.empty()) return served_ != served;
    ADD_FAILURE() << mistake;
    ++mistakes_;
    return false;
  }

  /// The same as text; empty if all is right or the request is not served.
  std::string mistake_of(const Convert& request) {
    const std::vector<std::byte> before = bytes_of(request.dst);
    const auto placement = processor_.convert(request);
    if (!placement) {
      ++unserved_;
      if (placement.error().code == Errc::unsupported) return {};
      return describe(request) + "\n  " + placement.error().message();
    }
    ++served_;
    std::string mistake = first_mistake(request, reference::reference_convert(request), *placement);
    if (mistake.empty() && !padding_untouched(request.dst.as_image().value(), before))
      mistake = "wrote beside the image";
    return mistake.empty() ? mistake : describe(request) + "\n  " + mistake;
  }

 private:
  static bool near(double a, double b) { return std::abs(a - b) < 1e-9; }

  std::string first_mistake(const Convert& request, const reference::Image& want,
                            const Placement& placement) const {
    std::ostringstream out;
    const RegionF& crop = placement.crop();
    const Region content = placement.content();
    if (content != want.content && !request.affine) {
      out << "content is " << content.x << ',' << content.y << ' ' << content.width << 'x'
          << content.height << ", must be " << want.content.x << ',' << want.content.y << ' '
          << want.content.width << 'x' << want.content.height;
    } else if (!near(crop.x, want.crop.x) || !near(crop.y, want.crop.y) ||
               !near(crop.width, want.crop.width) || !near(crop.height, want.crop.height)) {
      out << "crop is " << crop.x << ',' << crop.y << ' ' << crop.width << 'x' << crop.height
          << ", must be " << want.crop.x << ',' << want.crop.y << ' ' << want.crop.width << 'x'
          << want.crop.height;
    } else {
      judge_samples(request, want, out);
    }
    return out.str();
  }

  void judge_samples(const Convert& request, const reference::Image& want,
                     std::ostream& out) const {
    const Tensor dst = request.dst.as_image().value();
    const TensorMap map = dst.map(Access::read).value();
    const bool codes = reference::stores_codes(request);
    int wrong = 0;
    double worst = 0;
    for (std::size_t c = 0; c < want.channels; ++c) {
      const reference::ExpectedChannel& channel = want.channel[c];
      for (int y = 0; y < channel.rows; ++y) {
        for (int x = 0; x < channel.columns; ++x) {
          const reference::Expected& e = channel.at(x, y);
          const double got = reference::stored_number(map, dst, request, c, x, y);
          const double off = std::abs(got - e.value);
          const bool vertical = e.exact && codes && got < e.value && off > 0.5 - 1e-9;
          if (e.open || (off <= allowed(e, dst.dtype(), codes, tolerance) && !vertical)) continue;
          if (wrong++ == 0) {
            out << "channel " << c << " sample " << x << ',' << y << " is " << got << ", must be "
                << e.value << (e.exact ? " exactly" : "");
          }
          worst = std::max(worst, std::isnan(off) ? HUGE_VAL : off);
        }
      }
    }
    if (wrong != 0) out << "; " << wrong << " samples wrong, the worst by " << worst;
  }

  Processor processor_;
  int served_ = 0;
  int unserved_ = 0;
  int mistakes_ = 0;
};

}  // namespace halyard::test
