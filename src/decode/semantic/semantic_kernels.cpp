// SPDX-License-Identifier: Apache-2.0
// Best classes, pruning and interpolation of finite float scores, compiled for each target.
// make_finite() clamps the inputs. Softmax adds exponentials of values in [-80, 0], each at most 1,
// so sums are at most the number of classes. Interpolation is a weighted mean with weights in [0,
// 1].
#include "decode/semantic/semantic_kernels.h"

// Use the portable vector target instead of the scalar one, which cannot shuffle.
#define HWY_BROKEN_EMU128 0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "decode/semantic/semantic_kernels.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h first: it includes this file once per target
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "decode/head/exponential-inl.h"
#include "decode/mask/bilinear-inl.h"

HWY_BEFORE_NAMESPACE();
namespace halyard::decode {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

void make_finite(float* planes, std::size_t stride, std::size_t classes, std::size_t pixels) {
  const Floats d;
  const auto highest = hn::Set(d, std::numeric_limits<float>::max());
  const auto lowest = hn::Neg(highest);
  for (std::size_t k = 0; k < classes; ++k) {
    float* plane = planes + k * stride;
    for (std::size_t i = 0; i < pixels; i += hn::Lanes(d)) {
      const auto value = hn::LoadU(d, plane + i);
      const auto number = hn::IfThenElse(hn::Eq(value, value), value, lowest);
      hn::StoreU(hn::Max(hn::Min(number, highest), lowest), d, plane + i);
    }
  }
}

void best_classes(const float* planes, std::size_t stride, std::size_t classes, std::size_t pixels,
                  float* best, std::uint16_t* label) {
  const Floats d;
  const hn::RebindToSigned<Floats> di;
  const hn::Rebind<std::uint16_t, Floats> d16;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; i < pixels; i += 2 * lanes) {
    const float* from = planes + i;
    auto best0 = hn::LoadU(d, from);
    auto best1 = hn::LoadU(d, from + lanes);
    auto label0 = hn::Zero(di);
    auto label1 = hn::Zero(di);
    for (std::size_t k = 1; k < classes; ++k) {
      from += stride;
      const auto class_id = hn::Set(di, static_cast<std::int32_t>(k));
      const auto value0 = hn::LoadU(d, from);
      const auto value1 = hn::LoadU(d, from + lanes);
      label0 = hn::IfThenElse(hn::RebindMask(di, hn::Gt(value0, best0)), class_id, label0);
      label1 = hn::IfThenElse(hn::RebindMask(di, hn::Gt(value1, best1)), class_id, label1);
      best0 = hn::Max(best0, value0);
      best1 = hn::Max(best1, value1);
    }
    hn::StoreU(best0, d, best + i);
    hn::StoreU(best1, d, best + i + lanes);
    hn::StoreU(hn::DemoteTo(d16, label0), d16, label + i);
    hn::StoreU(hn::DemoteTo(d16, label1), d16, label + i + lanes);
  }
}

void sum_of_exponentials(const float* planes, std::size_t stride, std::size_t classes,
                         const float* best, float scale, std::size_t pixels, float* out) {
  const Floats d;
  const auto factor = hn::Set(d, scale);
  const auto minimum = hn::Set(d, -80.0F);
  for (std::size_t i = 0; i < pixels; i += hn::Lanes(d)) {
    const auto top = hn::LoadU(d, best + i);
    auto sum = hn::Zero(d);
    for (std::size_t k = 0; k < classes; ++k) {
      const auto below = hn::Mul(hn::Sub(hn::LoadU(d, planes + k * stride + i), top), factor);
      sum = hn::Add(sum, exponential(d, hn::Max(below, minimum)));
    }
    hn::StoreU(sum, d, out + i);
  }
}

void prune_classes(const float* upper, const float* lower, std::size_t stride, std::size_t classes,
                   float* scratch, std::uint16_t* masks) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; i < block_cells; i += lanes) {
    auto sure = hn::Set(d, -std::numeric_limits<float>::max());
    const float* top = upper + i;
    const float* bottom = lower + i;
    for (std::size_t k = 0; k < classes; ++k, top += stride, bottom += stride) {
      const auto a = hn::LoadU(d, top), b = hn::LoadU(d, top + 1);
      const auto c = hn::LoadU(d, bottom), e = hn::LoadU(d, bottom + 1);
      sure = hn::Max(sure, hn::Min(hn::Min(a, b), hn::Min(c, e)));
      hn::StoreU(hn::Max(hn::Max(a, b), hn::Max(c, e)), d, scratch + k * block_cells);
    }
    for (std::size_t k = 0; k < classes; ++k) {
      const auto can = hn::Ge(hn::LoadU(d, scratch + k * block_cells), sure);
      std::array<std::uint8_t, 8> bits{};
      hn::StoreMaskBits(d, can, bits.data());
      std::uint16_t found;
      std::memcpy(&found, bits.data(), sizeof found);
      masks[k] = static_cast<std::uint16_t>((i == 0 ? 0 : masks[k]) | found << i);
    }
  }
}

void contest(const Contest& c, const std::uint16_t* classes, std::size_t count, float* scratch,
             std::int32_t* label, std::size_t label_stride) {
  const Floats d;
  const hn::RebindToSigned<Floats> di;
  const auto width = static_cast<std::size_t>(c.columns.length());
  const std::size_t line = width + 2 * AxisSamples::padding;
  float* upper = scratch;
  float* lower = scratch + line;
  for (std::size_t n = 0; n < count; ++n) {
    const std::size_t plane = classes[n] * c.stride;
    const auto class_id = hn::Set(di, static_cast<std::int32_t>(classes[n]));
    resample_row(c.upper + plane, c.left, *c.x, c.columns, upper);
    resample_row(c.lower + plane, c.left, *c.x, c.columns, lower);
    float* best = scratch + 2 * line;
    std::int32_t* to = label;
    for (std::int32_t y = c.rows.begin; y < c.rows.end; ++y, best += line, to += label_stride) {
      const auto low = hn::Set(d, c.y->low_weight[static_cast<std::size_t>(y)]);
      const auto high = hn::Set(d, c.y->high_weight[static_cast<std::size_t>(y)]);
      for (std::size_t i = 0; i < width; i += hn::Lanes(d)) {
        const auto value =
            hn::Add(hn::Mul(low, hn::LoadU(d, upper + i)), hn::Mul(high, hn::LoadU(d, lower + i)));
        if (n == 0) {
          hn::StoreU(value, d, best + i);
          hn::StoreU(class_id, di, to + i);
          continue;
        }
        const auto before = hn::LoadU(d, best + i);
        const auto wins = hn::RebindMask(di, hn::Gt(value, before));
        hn::StoreU(hn::Max(before, value), d, best + i);
        hn::StoreU(hn::IfThenElse(wins, class_id, hn::LoadU(di, to + i)), di, to + i);
      }
    }
  }
}

void blend_plane(const Contest& c, float* scratch, float* out, std::size_t stride) {
  const Floats d;
  const auto width = static_cast<std::size_t>(c.columns.length());
  float* lower = scratch + width + 2 * AxisSamples::padding;
  resample_row(c.upper, c.left, *c.x, c.columns, scratch);
  resample_row(c.lower, c.left, *c.x, c.columns, lower);
  for (std::int32_t y = c.rows.begin; y < c.rows.end; ++y, out += stride) {
    const auto low = hn::Set(d, c.y->low_weight[static_cast<std::size_t>(y)]);
    const auto high = hn::Set(d, c.y->high_weight[static_cast<std::size_t>(y)]);
    for (std::size_t i = 0; i < width; i += hn::Lanes(d)) {
      hn::StoreU(
          hn::Add(hn::Mul(low, hn::LoadU(d, scratch + i)), hn::Mul(high, hn::LoadU(d, lower + i))),
          d, out + i);
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace halyard::decode
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halyard::decode {
namespace {
HWY_EXPORT(make_finite);
HWY_EXPORT(best_classes);
HWY_EXPORT(sum_of_exponentials);
HWY_EXPORT(prune_classes);
HWY_EXPORT(contest);
HWY_EXPORT(blend_plane);
}  // namespace

void make_finite(float* planes, std::size_t stride, std::size_t classes, std::size_t pixels) {
  HWY_DYNAMIC_DISPATCH(make_finite)(planes, stride, classes, pixels);
}
void best_classes(const float* planes, std::size_t stride, std::size_t classes, std::size_t pixels,
                  float* best, std::uint16_t* label) {
  HWY_DYNAMIC_DISPATCH(best_classes)(planes, stride, classes, pixels, best, label);
}
void sum_of_exponentials(const float* planes, std::size_t stride, std::size_t classes,
                         const float* best, float scale, std::size_t pixels, float* out) {
  HWY_DYNAMIC_DISPATCH(sum_of_exponentials)(planes, stride, classes, best, scale, pixels, out);
}
void prune_classes(const float* upper, const float* lower, std::size_t stride, std::size_t classes,
                   float* scratch, std::uint16_t* masks) {
  HWY_DYNAMIC_DISPATCH(prune_classes)(upper, lower, stride, classes, scratch, masks);
}
void contest(const Contest& where, const std::uint16_t* classes, std::size_t count, float* scratch,
             std::int32_t* label, std::size_t label_stride) {
  HWY_DYNAMIC_DISPATCH(contest)(where, classes, count, scratch, label, label_stride);
}
void blend_plane(const Contest& where, float* scratch, float* out, std::size_t stride) {
  HWY_DYNAMIC_DISPATCH(blend_plane)(where, scratch, out, stride);
}

}  // namespace halyard::decode
#endif
