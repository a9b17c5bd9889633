// SPDX-License-Identifier: Apache-2.0
// The names of enumerators.
#include "halyard/enumerators.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "halyard/geometry.h"
#include "halyard/result.h"

namespace halyard {
namespace {

enum class Gapped : std::uint8_t { none = 0, two = 2, alias = 2, last = 63, beyond = 64 };
enum Plain : int { PLAIN_LOW = -1, PLAIN_ONE = 1 };
struct Outer {
  enum class Inner : std::uint16_t { value9 = 9 };
};

template <class E>
std::string listed() {
  std::string text;
  for (const auto& [name, value] : enumerators<E>)
    text += std::string(name) + "=" + std::to_string(static_cast<int>(value)) + " ";
  return text;
}

TEST(Enumerators, are_listed_in_the_order_of_their_values) {
  EXPECT_EQ(listed<Fit>(), "stretch=0 letterbox=1 cover=2 top_left=3 ");
  EXPECT_EQ(listed<Flip>(), "none=0 vertical=1 horizontal=2 ");
}

TEST(Enumerators, of_any_scope_are_listed_without_it) {
  EXPECT_EQ(listed<Outer::Inner>(), "value9=9 ");
  EXPECT_EQ(listed<Plain>(), "PLAIN_ONE=1 ");
}

TEST(Enumerators, leave_out_gaps_aliases_and_values_above_63) {
  EXPECT_EQ(listed<Gapped>(), "none=0 two=2 last=63 ");
}

TEST(Enumerators, have_the_names_that_errors_print) {
  for (const auto& [name, code] : enumerators<Errc>)
    EXPECT_EQ(name, to_string(code));
  EXPECT_EQ(enumerators<Errc>.size(), 16U);
}

TEST(Enumerators, have_names_that_end_with_a_zero_byte_for_c) {
  for (const auto& [name, code] : enumerators<Errc>)
    EXPECT_EQ(name, std::string(name.data()));
}

TEST(Enumerators, are_found_by_name_and_by_value) {
  EXPECT_EQ(enumerator_name(Fit::cover), "cover");
  EXPECT_EQ(enumerator_name(static_cast<Fit>(4)), "");
  EXPECT_EQ(enumerator_from<Fit>("top_left"), Fit::top_left);
  EXPECT_EQ(enumerator_from<Fit>("Cover"), std::nullopt);
  EXPECT_EQ(enumerator_from<Fit>(""), std::nullopt);
}

TEST(Enumerators, are_known_when_the_program_is_compiled) {
  static_assert(enumerators<Rotation>.size() == 4);
  static_assert(enumerator_from<Rotation>("cw180") == Rotation::cw180);
}

}  // namespace
}  // namespace halyard
