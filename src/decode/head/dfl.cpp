// SPDX-License-Identifier: Apache-2.0
// Means of the four distributions of a box, the costliest step per box. Exponentials are computed
// in vectors of doubles, with the operations and the order of softmax() and exp_of(): the same
// bits. The maximum is subtracted first, so every exponential is in [0, 1] and cannot overflow.
#include "decode/head/box_coding.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "decode/head/dfl.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h first: it includes this file once per target
#include <hwy/highway.h>

#include <algorithm>

#include "base/exp_series.h"
#include "decode/head/dfl.h"

HWY_BEFORE_NAMESPACE();
namespace halyard::decode {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// exp_of() for values that are at most 0, or NaN.
template <class D, class V>
HWY_INLINE V exponential_of_doubles(D d, V x) {
  const auto k = hn::Floor(hn::Add(hn::Mul(x, hn::Set(d, log2_of_e)), hn::Set(d, 0.5)));
  const auto r =
      hn::Sub(hn::Sub(x, hn::Mul(k, hn::Set(d, ln2_high))), hn::Mul(k, hn::Set(d, ln2_low)));
  auto sum = hn::Set(d, exp_coefficients.back());
  for (std::size_t n = exp_coefficients.size() - 1; n-- > 0;)
    sum = hn::Add(hn::Mul(sum, r), hn::Set(d, exp_coefficients[n]));
  // 2^k: adding 1.5 x 2^52 + 1023 puts the biased exponent into the lowest bits; the shift moves it
  // into the exponent field.
  const hn::RebindToSigned<D> di;
  const auto biased = hn::Add(k, hn::Set(d, 0x1.8p52 + 1023));
  const auto power = hn::BitCast(d, hn::ShiftLeft<52>(hn::BitCast(di, biased)));
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -700.0)), hn::Mul(sum, power));
}

using Four = std::array<double, 4>;

// Replaces the values of all sides by e^(value - maximum) and adds them up in order. The four sides
// alternate, because each addition of one side waits for the one before.
void exponentials(std::span<float> values, const Four& maximum, Four& sums) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> df;
  constexpr std::size_t max_lanes = hn::MaxLanes(hn::ScalableTag<double>());
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t bins = values.size() / 4;
  alignas(64) std::array<std::array<double, max_lanes>, 4> out;
  alignas(64) std::array<float, max_lanes> rest{};
  for (std::size_t i = 0; i < bins; i += lanes) {
    const std::size_t count = std::min(lanes, bins - i);
    for (std::size_t side = 0; side < 4; ++side) {
      float* at = values.data() + side * bins + i;
      if (count < lanes) std::copy_n(at, count, rest.data());
      const auto value = hn::LoadU(df, count < lanes ? rest.data() : at);
      const auto e =
          exponential_of_doubles(d, hn::Sub(hn::PromoteTo(d, value), hn::Set(d, maximum[side])));
      hn::Store(e, d, out[side].data());
      hn::StoreU(hn::DemoteTo(df, e), df, count < lanes ? rest.data() : at);
      if (count < lanes) std::copy_n(rest.data(), count, at);
    }
    for (std::size_t j = 0; j < count; ++j) {
      for (std::size_t side = 0; side < 4; ++side)
        sums[side] += out[side][j];
    }
  }
}

void divide(std::span<float> values, double by) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> df;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= values.size(); i += lanes) {
    const auto value = hn::PromoteTo(d, hn::LoadU(df, values.data() + i));
    hn::StoreU(hn::DemoteTo(df, hn::Div(value, hn::Set(d, by))), df, values.data() + i);
  }
  for (; i < values.size(); ++i)
    values[i] = static_cast<float>(values[i] / by);
}

void means(std::span<float> logits, std::array<float, 4>& out) {
  const std::size_t bins = logits.size() / 4;
  Four maximum, sums{};
  for (std::size_t side = 0; side < 4; ++side) {
    float first = logits[side * bins];
    for (const float v : logits.subspan(side * bins, bins))
      first = std::max(first, v);
    maximum[side] = first;
  }
  exponentials(logits, maximum, sums);
  for (std::size_t side = 0; side < 4; ++side)
    divide(logits.subspan(side * bins, bins), sums[side]);
  for (std::size_t i = 0; i < bins; ++i) {
    for (std::size_t side = 0; side < 4; ++side)
      out[side] += static_cast<float>(i) * logits[side * bins + i];
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace halyard::decode
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halyard::decode {
HWY_EXPORT(means);

std::array<float, 4> distances_of_bins(std::span<float> logits) noexcept {
  std::array<float, 4> out{};
  HWY_DYNAMIC_DISPATCH(means)(logits, out);
  return out;
}

}  // namespace halyard::decode
#endif
