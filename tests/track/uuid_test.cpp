// SPDX-License-Identifier: Apache-2.0
// UUIDs of tracks.
#include "halyard/uuid.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/result.h"

namespace halyard {
namespace {

TEST(Uuid, is_of_version_4_and_the_same_for_a_seed_and_a_number) {
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const Uuid uuid = uuid_v4({1, 2}, i);
    EXPECT_EQ(uuid.bytes[6] >> 4, 4);
    EXPECT_EQ(uuid.bytes[8] >> 6, 2);
    EXPECT_EQ(uuid, uuid_v4({1, 2}, i));
  }
}

TEST(Uuid, has_the_documented_value) {
  // The first outputs of SplitMix64 from seed 0 are published: E220A8397B1DCDAF 6E789E6AA1B965F4,
  // 06C45D188009454F F88BB8A8724C81EC.
  EXPECT_EQ(to_string(uuid_v4({0, 0}, 0)), "e220a839-7b1d-4daf-ae78-9e6aa1b965f4");
  EXPECT_EQ(to_string(uuid_v4({0, 0}, 1)), "06c45d18-8009-454f-b88b-b8a8724c81ec");
}

TEST(Uuid, differs_for_every_number_and_seed) {
  std::vector<std::string> all;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (std::uint64_t i = 0; i < 1000; ++i) {
      all.push_back(to_string(uuid_v4({seed, 0}, i)));
      all.push_back(to_string(uuid_v4({0, seed + 1}, i)));
    }
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
}

TEST(Uuid, a_random_seed_is_another_each_time) {
  const auto a = UuidSeed::random();
  const auto b = UuidSeed::random();
  ASSERT_TRUE(a && b);
  EXPECT_NE(uuid_v4(*a, 1), uuid_v4(*b, 1));
}

TEST(Uuid, is_read_with_and_without_dashes) {
  const std::string text = "f81d4fae-7dec-41d0-a765-00a0c91e6bf6";
  const auto uuid = parse_uuid(text);
  ASSERT_TRUE(uuid);
  EXPECT_EQ(to_string(*uuid), text);
  EXPECT_EQ(*parse_uuid("F81D4FAE7DEC41D0A76500A0C91E6BF6"), *uuid);
  for (const char* bad : {"", "f81d4fae", "f81d4fae-7dec-41d0-a765-00a0c91e6bfg",
                          "f81d4fae7-dec-41d0-a765-00a0c91e6bf6"})
    EXPECT_EQ(code_of(parse_uuid(bad)), Errc::malformed) << bad;
}

}  // namespace
}  // namespace halyard
