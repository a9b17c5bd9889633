// SPDX-License-Identifier: Apache-2.0
// Random requests; one that fails is reduced to the smallest that still fails.
#include <gtest/gtest.h>

#include "image/differential.h"
#include "image/requests.h"
#include "support/properties.h"

#if defined(HALYARD_RAPIDCHECK)
#include <rapidcheck.h>

#include <cmath>
#include <numbers>

namespace halyard::test {
namespace {

// Fewer where each is slow.
constexpr int scaled(int cases) {
  return std::max(cases / slowness, 20);
}

std::vector<int> any_values() {
  std::vector<int> values;
  for (const int levels : factor_levels())
    values.push_back(*rc::gen::inRange(0, levels));
  const std::vector<bool> free(values.size(), false);
  RC_PRE(make_legal(values, free));
  return values;
}

TEST(Properties, any_legal_request_is_right) {
  Judge judge({.threads = 2});
  check_property(scaled(3000), [&] {
    const std::vector<int> values = any_values();
    Random random(static_cast<unsigned>(*rc::gen::inRange(0, 1 << 20)));
    const std::string mistake = judge.mistake_of(build_request(values, random));
    if (!mistake.empty()) RC_FAIL(mistake);
  });
  EXPECT_EQ(judge.unserved(), 0);
  RecordProperty("requests", judge.served());
}

/// A rotation by any angle, scales from 1/3 to 3, and some shear, about the centres.
Affine any_map(Size from, Size to) {
  const double angle = *rc::gen::inRange(0, 360) * std::numbers::pi / 180;
  const double horizontal = std::pow(3.0, *rc::gen::inRange(-100, 101) / 100.0);
  const double vertical = std::pow(3.0, *rc::gen::inRange(-100, 101) / 100.0);
  const double shear = *rc::gen::element(0.0, 0.0, 0.3, -0.7);
  const double mirror = *rc::gen::element(1.0, -1.0);
  Affine map;
  map.m[0] = std::cos(angle) * horizontal * mirror;
  map.m[1] = -std::sin(angle) * vertical + shear * map.m[0];
  map.m[3] = std::sin(angle) * horizontal * mirror;
  map.m[4] = std::cos(angle) * vertical + shear * map.m[3];
  const double aside = *rc::gen::inRange(-30, 31) / 7.0;
  map.m[2] = to.width / 2.0 + aside - map.m[0] * from.width / 2 - map.m[1] * from.height / 2;
  map.m[5] = to.height / 2.0 - aside - map.m[3] * from.width / 2 - map.m[4] * from.height / 2;
  return map;
}

TEST(Properties, any_free_map_is_right) {
  Judge judge({.threads = 2});
  check_property(scaled(1500), [&] {
    const std::vector<int> values = any_values();
    Random random(static_cast<unsigned>(*rc::gen::inRange(0, 1 << 20)));
    Convert c = build_request(values, random);
    c.flip = Flip::none;
    c.rotation = Rotation::none;
    c.fit = Fit::stretch;
    c.affine = any_map(oriented(c.src.size(), c.orientation.value_or(c.src.orientation())),
                       c.dst.as_image().value().size());
    const std::string mistake = judge.mistake_of(c);
    if (!mistake.empty()) RC_FAIL(mistake);
  });
  EXPECT_EQ(judge.unserved(), 0);
  RecordProperty("requests", judge.served());
}

}  // namespace
}  // namespace halyard::test

#else

TEST(Properties, any_legal_request_is_right) {
  GTEST_SKIP() << "built without RapidCheck (librapidcheck-dev)";
}

#endif
