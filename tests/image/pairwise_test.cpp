// SPDX-License-Identifier: Apache-2.0
// Every pair of values of any two fields of a request, and every width of the main pairs of
// formats.
#include <gtest/gtest.h>

#include "image/cpu/covering.h"
#include "image/differential.h"
#include "image/requests.h"

namespace halyard::test {
namespace {

using F = PixelFormat;

Judge make_judge(ColorimetryMode mode) {
  Judge judge({.threads = 2, .colorimetry_mode = mode});
  // The nearest code, except where the filters' fixed point is about half-way.
  if (mode == ColorimetryMode::exact) judge.tolerance.codes = 0.56;
  return judge;
}

TEST(Pairwise, every_two_words_of_a_request_go_together) {
  Covering covering(factor_levels(), &make_legal, 1);
  const CoveringArray array = covering.make();
  RecordProperty("cases", static_cast<int>(array.cases.size()));
  RecordProperty("pairs", array.pairs);
  RecordProperty("impossible", array.impossible);
  Judge fast = make_judge(ColorimetryMode::fast);
  Judge exact = make_judge(ColorimetryMode::exact);
  Random random(21);
  // Under sanitizers a part of the cases runs; the release build runs all.
  for (std::size_t i = 0; i < array.cases.size(); i += slowness) {
    const Case& values = array.cases[i];
    const Convert c = build_request(values, random);
    (values[f_mode] == 0 ? fast : exact).compare(c);
    if (fast.gives_up() || exact.gives_up()) break;
  }
  EXPECT_EQ(fast.unserved() + exact.unserved(), 0);
  RecordProperty("requests", fast.served() + exact.served());
}

TEST(Pairwise, the_array_holds_every_pair_that_is_possible) {
  std::vector<int> levels{3, 4, 2, 5};
  // One pair is forbidden.
  const auto repair = [](Case& v, const std::vector<bool>& fixed) {
    if (v[0] != 1 || v[3] != 2) return true;
    if (!fixed[0])
      v[0] = 0;
    else if (!fixed[3])
      v[3] = 0;
    return v[0] != 1 || v[3] != 2;
  };
  const CoveringArray array = Covering(levels, repair, 5).make();
  EXPECT_EQ(array.impossible, 1);
  int found = 0;
  for (std::size_t a = 0; a < 4; ++a) {
    for (std::size_t b = a + 1; b < 4; ++b) {
      for (int i = 0; i < levels[a]; ++i) {
        for (int j = 0; j < levels[b]; ++j) {
          const auto has = [&](const Case& v) { return v[a] == i && v[b] == j; };
          found += std::any_of(array.cases.begin(), array.cases.end(), has) ? 1 : 0;
        }
      }
    }
  }
  EXPECT_EQ(found, 12 + 6 + 15 + 8 + 20 + 10 - 1);
  EXPECT_EQ(array.pairs, found);
}

struct MainPair {
  PixelFormat from, to;
  DType dtype;
};
constexpr MainPair main_pairs[] = {
    {F::nv12, F::rgb, DType::u8},         {F::nv12, F::rgba, DType::u8},
    {F::nv12, F::planar_rgb, DType::f32}, {F::nv12, F::planar_rgb, DType::i8},
    {F::yuyv, F::rgb, DType::u8},         {F::yuyv, F::rgba, DType::i8},
    {F::i420, F::bgr, DType::u8},         {F::rgb, F::rgb, DType::u8},
    {F::rgb, F::planar_rgb, DType::f16},  {F::rgba, F::rgba, DType::u8},
    {F::rgba, F::nv12, DType::u8},        {F::grey, F::grey, DType::u8},
    {F::planar_rgb, F::rgb, DType::u8}};

TEST(Pairwise, main_pairs_are_right_at_every_width) {
  Random random(22);
  Judge judge({.threads = 1});
  for (const MainPair& pair : main_pairs) {
    for (int width = 1; width <= 65 && !judge.gives_up(); width += 1 + (slowness - 1) / 3) {
      const int height = 1 + width % 9;
      Convert c{random_image(random, width, height, pair.from, DType::u8, 4),
                random_image(random, width, height, pair.to, pair.dtype, 8)};
      judge.compare(c);  // of one size
      c.rotation = static_cast<Rotation>(width % 4);
      c.dst = random_image(random, 66 - width, 10 - height, pair.to, pair.dtype, 4);
      c.fit = Fit::letterbox;
      judge.compare(c);
      c.antialias = true;
      c.flip = static_cast<Flip>(width % 3);
      judge.compare(c);
      c.filter = static_cast<Filter>(width % 5);
      c.fit = Fit::cover;
      judge.compare(c);
    }
  }
  EXPECT_EQ(judge.unserved(), 0);
}

}  // namespace
}  // namespace halyard::test
