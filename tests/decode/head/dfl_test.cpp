// SPDX-License-Identifier: Apache-2.0
// Means of distributions on vectors against softmax(): the same bits with every set of
// instructions.
#include <gtest/gtest.h>

#include <bit>
#include <limits>

#include "decode/head/box_coding.h"
#include "decode/head/dfl.h"
#include "decode/tensors.h"

namespace halyard::decode {
namespace {

std::array<float, 4> plain_distances(std::vector<float> logits) {
  const std::size_t bins = logits.size() / 4;
  std::array<float, 4> out{};
  for (std::size_t side = 0; side < 4; ++side) {
    const std::span<float> p(logits.data() + side * bins, bins);
    softmax(p);
    for (std::size_t i = 0; i < bins; ++i)
      out[side] += static_cast<float>(i) * p[i];
  }
  return out;
}

void expect_same(const std::vector<float>& logits) {
  const auto expected = plain_distances(logits);
  std::vector<float> copy = logits;
  const auto found = distances_of_bins(copy);
  for (std::size_t side = 0; side < 4; ++side) {
    if (std::isnan(expected[side])) {
      EXPECT_TRUE(std::isnan(found[side]));
    } else {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(found[side]),
                std::bit_cast<std::uint32_t>(expected[side]))
          << logits.size() / 4 << " bins";
    }
  }
}

TEST(Distributions, equal_softmax_bit_for_bit_for_any_count_of_bins) {
  test::for_each_target([] {
    std::mt19937 random(4);
    for (const float width : {0.01F, 1.0F, 10.0F, 1000.0F}) {
      std::normal_distribution<float> normal(0, width);
      for (std::size_t bins = 1; bins <= 40; ++bins) {
        std::vector<float> logits(4 * bins);
        for (float& v : logits)
          v = normal(random);
        expect_same(logits);
      }
    }
  });
}

TEST(Distributions, of_numbers_that_are_not_finite_equal_softmax_too) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  test::for_each_target([] {
    for (const float odd : {infinity, -infinity, nan, -nan, 3e38F, -3e38F, -0.0F}) {
      for (std::size_t at = 0; at < 16; ++at) {
        std::vector<float> logits(64, 0.5F);
        logits[16 + at] = odd;
        expect_same(logits);
      }
      expect_same(std::vector<float>(64, odd));
    }
  });
}

}  // namespace
}  // namespace halyard::decode
