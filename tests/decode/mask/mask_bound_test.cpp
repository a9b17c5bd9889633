// SPDX-License-Identifier: Apache-2.0
// How exact logits are: integers of up to 8 x 16 bits wholly; 16 x 16 bits, scales of channels and
// floats up to the bound that mask.h names.
#include <gtest/gtest.h>

#include <cmath>

#include "mask_frames.h"
#include "support/result.h"

namespace halyard::test {
namespace {

// Of the f32 path: a rounding of each of the two factors and of their product, and of the additions
// that a product goes through.
double bound_of(std::size_t channels, double magnitudes) {
  const double additions = std::ceil(static_cast<double>(channels) / 16) - 1 + 4;
  return (3 + additions) * 0x1p-24 * magnitudes;
}

struct Count {
  std::size_t wrong = 0, undecided = 0, all = 0;
};

// Pixels that are on where the logit is not above 0, or off where it is; `is_exact`: all of them,
// else those beyond the bound.
Count count(const MaskFrame& frame, bool is_exact) {
  Count out;
  MaskSet set;
  EXPECT_OK(materialize(frame.prototypes, frame.detections, {MaskRule::prototype, {}, {}}, set));
  const naive::Protos& protos = frame.naive.protos;
  const std::size_t channels = frame.prototypes.channels;
  const auto pixels = static_cast<std::size_t>(protos.width * protos.height);
  for (std::size_t i = 0; i < set.size(); ++i) {
    const double* row = frame.coefficients.data() + i * channels;
    const MaskView mask = set[i];
    for (int y = mask.region.y; y < mask.region.y + mask.region.height; ++y) {
      for (int x = mask.region.x; x < mask.region.x + mask.region.width; ++x) {
        const double value = protos.logit(row, x, y);
        double magnitudes = 0;
        for (std::size_t k = 0; k < channels; ++k)
          magnitudes += std::abs(
              row[k] * protos.values[k * pixels + static_cast<std::size_t>(y * protos.width + x)]);
        // Of integers the least logit that is not 0 is the product of two scales.
        const double minimum = is_exact ? 1e-9 : bound_of(channels, magnitudes);
        const bool is_on = mask.row(y - mask.region.y)[x - mask.region.x] != 0;
        ++out.all;
        if (!is_exact && std::abs(value) <= minimum) {
          ++out.undecided;
        } else if (is_on != (value > minimum)) {
          ++out.wrong;
        }
      }
    }
  }
  return out;
}

FrameShape shape_of(PrototypeOrder order, int channels, bool per_channel) {
  FrameShape out;
  out.order = order;
  out.channels = channels;
  out.width = 61, out.height = 47;
  out.masks = 40;
  out.per_channel = per_channel;
  return out;
}

template <class P, class C>
void expect_within_bound(bool per_channel) {
  SCOPED_TRACE(std::string(to_string(*dtype_of<P>)) + " x " + std::string(to_string(*dtype_of<C>)));
  for (const PrototypeOrder order : both_orders) {
    for (const int channels : {32, 5, 48}) {
      const Count found =
          count(random_frame<P, C>(31, shape_of(order, channels, per_channel)), false);
      EXPECT_EQ(found.wrong, 0U) << channels << " channels";
      EXPECT_GT(found.all, 1000U);
      EXPECT_LE(found.undecided * 1000, found.all) << "the bound says nothing";
    }
  }
}

TEST(MaskBounds, of_16_x_16_bits_hold) {
  expect_within_bound<std::int16_t, std::int16_t>(false);
  expect_within_bound<std::uint16_t, std::uint16_t>(false);
  expect_within_bound<std::uint16_t, std::int16_t>(false);
}

TEST(MaskBounds, of_scales_of_channels_hold) {
  expect_within_bound<std::int8_t, std::int8_t>(true);
  expect_within_bound<std::uint8_t, std::int16_t>(true);
  expect_within_bound<std::int16_t, std::int16_t>(true);
}

TEST(MaskBounds, of_floats_hold) {
  expect_within_bound<float, float>(false);
  expect_within_bound<std::int16_t, float>(true);
}

// The same stored rows, counted from 0.
MaskFrame with_zero_point_of_zero(MaskFrame frame) {
  const std::size_t channels = frame.prototypes.channels;
  const std::vector<std::int32_t> stored = frame.prototypes.stored;
  EXPECT_EQ(stored.size(), frame.coefficients.size());
  const Quantization quantization = Quantization::per_tensor(frame.prototypes.stored_scale, 0);
  frame.prototypes.clear(channels);
  for (std::size_t i = 0; i < stored.size(); i += channels) {
    std::vector<std::int16_t> row;
    for (std::size_t k = i; k < i + channels; ++k) {
      row.push_back(static_cast<std::int16_t>(stored[k]));
      frame.coefficients[k] = stored[k] * static_cast<double>(quantization.scale_at(0));
    }
    EXPECT_TRUE(frame.prototypes.append({reinterpret_cast<const std::byte*>(row.data()),
                                         sizeof row[0], DType::i16, &quantization}));
  }
  return frame;
}

TEST(MaskBounds, of_8_x_16_bits_are_nothing) {
  for (const PrototypeOrder order : both_orders) {
    for (const int channels : {32, 5}) {
      const FrameShape shape = shape_of(order, channels, false);
      EXPECT_EQ(count(random_frame<std::int16_t, std::int8_t>(7, shape), true).wrong, 0U);
      EXPECT_EQ(count(random_frame<std::uint16_t, std::uint8_t>(8, shape), true).wrong, 0U);
      const auto wide = with_zero_point_of_zero(random_frame<std::int8_t, std::int16_t>(9, shape));
      EXPECT_EQ(count(wide, true).wrong, 0U);
    }
  }
}

}  // namespace
}  // namespace halyard::test
