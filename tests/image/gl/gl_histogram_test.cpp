// SPDX-License-Identifier: Apache-2.0
// Differences of OpenGL to the reference, counted and printed, for a part of all pairs of formats
// and element types. For every pair, which takes minutes of compiling shaders:
//   HALYARD_ALLOW_SOFTWARE_GL=1 halyard_test_image --gtest_also_run_disabled_tests
//     --gtest_filter='GlHistogram.DISABLED*'
#ifdef HALYARD_HAVE_GL
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <iostream>
#include <map>
#include <utility>

#include "image/gl/gl_fixture.h"
#include "support/result.h"

namespace halyard::test {
namespace {

using F = PixelFormat;

/// Samples of one destination by their difference in 8-bit codes. Where codes are stored, to the
/// nearest code of the formula's number, of which a number half-way between two codes has two; else
/// to the number itself: up to a half, up to 1, above.
struct Histogram {
  std::array<std::size_t, 3> samples{};  ///< 0, 1, more
  std::size_t open = 0;                  ///< depend on rounding in the reference; not counted above
  double worst = 0;                      ///< to the formula's number, not rounded

  void add(const Histogram& other) {
    for (std::size_t i = 0; i < samples.size(); ++i)
      samples[i] += other.samples[i];
    open += other.open;
    worst = std::max(worst, other.worst);
  }
};

double codes_off(double got, double value) {
  constexpr double tie = 0.5 + 1e-9;
  return std::min(std::abs(got - std::ceil(value - tie)), std::abs(got - std::floor(value + tie)));
}

Histogram compare_samples(const Convert& request) {
  Histogram out;
  const reference::Image want = reference::reference_convert(request);
  const Tensor dst = request.dst.as_image().value();
  const TensorMap map = dst.map(Access::read).value();
  const bool codes = reference::stores_codes(request) && !is_float(dst.dtype());
  for (std::size_t c = 0; c < want.channels; ++c) {
    const reference::ExpectedChannel& channel = want.channel[c];
    for (int y = 0; y < channel.rows; ++y) {
      for (int x = 0; x < channel.columns; ++x) {
        const reference::Expected& e = channel.at(x, y);
        if (e.open) {
          ++out.open;
          continue;
        }
        const double got = reference::stored_number(map, dst, request, c, x, y);
        const double off = std::abs(got - e.value) / e.per_code;
        const double counted = codes ? codes_off(got, e.value) : off;
        const std::size_t place = counted <= 0.5 ? 0 : counted <= 1 + 1e-6 ? 1 : 2;
        ++out.samples[std::isnan(off) ? 2 : place];
        out.worst = std::max(out.worst, std::isnan(off) ? HUGE_VAL : off);
      }
    }
  }
  return out;
}

constexpr DType stored_types[] = {DType::u8,  DType::i8,   DType::u16,
                                  DType::f16, DType::bf16, DType::f32};
constexpr std::size_t stored_kinds = 5;

class GlHistogram : public GlBackend {
 protected:
  Convert request_of(F from, DType from_dtype, F to, DType to_dtype, std::size_t kind) {
    const Size target = kind == 0 ? Size{38, 26} : kind == 1 ? Size{19, 24} : Size{25, 31};
    Convert c{.src = random_image(random_, 38, 26, from, from_dtype),
              .dst = random_image(random_, target.width, target.height, to, to_dtype)};
    if (kind == 1) c.fit = Fit::letterbox;
    c.antialias = kind == 1;
    if (kind == 2) c.rotation = Rotation::cw90;
    if (kind == 3) c.affine = Affine{{0.7, 0.2, 3, -0.2, 0.7, 9}};
    if (kind == 4) c.filter = Filter::lanczos3;
    return c;
  }
  /// Of every pair the kinds that `is_run` takes, given the pair's number.
  template <class Choice>
  void count_all(const Choice& is_run) {
    std::size_t pair = 0;
    for (const FormatInfo& from : all_formats()) {
      for (const DType from_dtype : {DType::u8, DType::u16}) {
        for (const FormatInfo& to : all_formats()) {
          for (const DType dtype : stored_types) {
            if (conversion_declined(from.format, from_dtype, to.format, dtype) != nullptr) continue;
            ++pair;
            for (std::size_t kind = 0; kind < stored_kinds; ++kind)
              if (is_run(pair, kind))
                count(request_of(from.format, from_dtype, to.format, dtype, kind));
          }
        }
      }
    }
    print();
  }

 private:
  void count(const Convert& request) {
    const auto done = processor().convert(request);
    if (!done && done.error().code == Errc::unsupported) return;
    ASSERT_OK(done);
    ++requests_;
    const Histogram seen = compare_samples(request);
    EXPECT_EQ(seen.samples[2], 0U) << describe(request);
    by_target_[{request.dst.dtype(), *request.dst.format()}].add(seen);
  }
  static std::string row(std::string_view dtype, std::string_view format, const Histogram& h) {
    return fmt::format("| {} | {} | {} | {} | {} | {} | {:.4f} |\n", dtype, format, h.samples[0],
                       h.samples[1], h.samples[2], h.open, h.worst);
  }
  void print() const {
    std::string out = fmt::format(
        "{} requests\n| dtype | format | 0 | 1 | >1 | open | worst |\n"
        "|---|---|---|---|---|---|---|\n",
        requests_);
    std::map<DType, Histogram> sums;
    for (const auto& [target, histogram] : by_target_) {
      out += row(to_string(target.first), to_string(target.second), histogram);
      sums[target.first].add(histogram);
    }
    for (const auto& [dtype, histogram] : sums)
      out += row(to_string(dtype), "all", histogram);
    std::cout << out;
    EXPECT_FALSE(sums.empty());
  }

  std::map<std::pair<DType, F>, Histogram> by_target_;
  int requests_ = 0;
};

TEST_F(GlHistogram, no_sample_differs_by_more_than_one_code) {
  constexpr std::size_t part = 16 * static_cast<std::size_t>(slowness);
  count_all([](std::size_t pair, std::size_t kind) {
    return pair % part == 0 && pair / part % stored_kinds == kind;
  });
}

TEST_F(GlHistogram, DISABLED_no_sample_of_any_pair_differs_by_more_than_one_code) {
  count_all([](std::size_t pair, std::size_t kind) { return pair % stored_kinds == kind; });
}

}  // namespace
}  // namespace halyard::test
#endif
