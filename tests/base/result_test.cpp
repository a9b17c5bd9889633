// SPDX-License-Identifier: Apache-2.0
// Result, Error and the checked arithmetic behind sizes.
#include "halyard/result.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

#include "base/checked.h"
#include "base/text/format_error.h"
#include "support/result.h"

namespace halyard {
namespace {

Result<int> half_of(int value) {
  if (value % 2 != 0) return fail(Errc::invalid_argument, "value: must be even", "{}", value);
  return value / 2;
}

Result<int> quarter_of(int value) {
  HALYARD_TRY(const int half, half_of(value));
  HALYARD_TRY(const int quarter, half_of(half));
  return quarter;
}

Status check_even(int value) {
  HALYARD_RETURN_IF_ERROR(half_of(value));
  return {};
}

TEST(Result, carries_a_value_or_an_error) {
  ASSERT_VALUE(const auto good, half_of(4));
  EXPECT_EQ(good, 2);
  const auto bad = half_of(3);
  EXPECT_FAILS(bad, Errc::invalid_argument);
  EXPECT_EQ(bad.error().message(), "value: must be even: 3");
  EXPECT_EQ(bad.value_or(7), 7);
}

TEST(Result, try_passes_the_error_on) {
  EXPECT_EQ(*quarter_of(8), 2);
  EXPECT_EQ(quarter_of(6).error().message(), "value: must be even: 3");
  EXPECT_TRUE(check_even(2));
  EXPECT_FALSE(check_even(5));
}

// clang-format off
Result<int> sum_of_halves(int a, int b) {
  HALYARD_TRY(const int x, half_of(a)); HALYARD_TRY(const int y, half_of(b)); return x + y;
}
// clang-format on

TEST(Result, two_tries_stand_on_a_line) {
  EXPECT_EQ(*sum_of_halves(4, 6), 5);
  EXPECT_EQ(sum_of_halves(4, 5).error().message(), "value: must be even: 5");
}

TEST(ResultDeathTest, the_value_of_a_failed_one_says_its_error) {
  const auto bad = half_of(3);
  EXPECT_DEATH(static_cast<void>(*bad), "failed Result is read: value: must be even: 3");
  EXPECT_DEATH(static_cast<void>(bad.value()), "value: must be even: 3");
  EXPECT_DEATH(static_cast<void>(*half_of(5)), "value: must be even: 5");
  const Result<std::string> text(make_error(Errc::not_found, "file: is not there"));
  EXPECT_DEATH(static_cast<void>(text->size()), "file: is not there");
  const auto good = half_of(4);
  EXPECT_DEATH(static_cast<void>(good.error()), "Result that holds a value");
}

TEST(Result, holds_move_only_values) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(5));
  const std::unique_ptr<int> taken = *std::move(result);
  EXPECT_EQ(*taken, 5);
}

// Counts those that live.
struct Counted {
  static inline int living = 0;
  explicit Counted(int number) : number(number) { ++living; }
  Counted(const Counted& other) : number(other.number) { ++living; }
  Counted(Counted&& other) noexcept : number(std::exchange(other.number, 0)) { ++living; }
  Counted& operator=(const Counted&) = default;
  ~Counted() { --living; }
  int number;
};

TEST(Result, copies_and_moves_what_it_holds) {
  const Result<Counted> five(Counted(5));
  const Result<Counted> failed(make_error(Errc::busy, "value: is held"));
  EXPECT_EQ(Counted::living, 1);
  for (const Result<Counted>& first : {five, failed}) {
    for (const Result<Counted>& second : {five, failed}) {
      Result<Counted> result = first;
      result = second;
      ASSERT_EQ(result.has_value(), second.has_value());
      if (result)
        EXPECT_EQ(result->number, 5);
      else
        EXPECT_EQ(result.error().code, Errc::busy);
      result = Result<Counted>(first);
      EXPECT_EQ(result.has_value(), first.has_value());
      Result<Counted>& itself = result;
      result = itself;
      result = std::move(itself);
      EXPECT_EQ(result.has_value(), first.has_value());
      EXPECT_EQ(result ? result->number : 5, 5);
      const Result<Counted> last = std::move(result);
      EXPECT_EQ(last ? last->number : 5, 5);
      EXPECT_EQ(result ? result->number : 0, 0);
    }
  }
  EXPECT_EQ(Counted::living, 1);
  EXPECT_EQ(five.value_or(Counted(3)).number, 5);
  EXPECT_EQ(failed.value_or(Counted(3)).number, 3);
}

TEST(Result, is_copied_only_where_its_value_is) {
  static_assert(std::is_copy_constructible_v<Result<std::string>>);
  static_assert(!std::is_copy_constructible_v<Result<std::unique_ptr<int>>>);
  static_assert(!std::is_copy_assignable_v<Result<std::unique_ptr<int>>>);
  static_assert(std::is_nothrow_move_constructible_v<Result<std::unique_ptr<int>>>);
  static_assert(std::is_nothrow_move_assignable_v<Result<std::unique_ptr<int>>>);
}

TEST(Error, message_adds_the_text_of_errno) {
  const Error error = fail_os("file: cannot be opened", ENOENT, "a.jpg");
  EXPECT_EQ(error.code, Errc::not_found);
  EXPECT_EQ(error.message(), "file: cannot be opened: a.jpg (No such file or directory)");
}

TEST(Error, classes_follow_errno) {
  EXPECT_EQ(errc_from_errno(EACCES), Errc::permission);
  EXPECT_EQ(errc_from_errno(ENOMEM), Errc::no_memory);
  EXPECT_EQ(errc_from_errno(EEXIST), Errc::exists);
  EXPECT_EQ(errc_from_errno(EIO), Errc::os);
}

TEST(Error, every_code_has_a_name_of_its_own) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(Errc::cancelled); ++i)
    names.insert(to_string(static_cast<Errc>(i)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(Errc::cancelled) + 1);
  EXPECT_FALSE(names.contains("unknown"));
  EXPECT_EQ(to_string(static_cast<Errc>(200)), "unknown");
}

TEST(Checked, notices_overflow) {
  constexpr std::size_t maximum = std::numeric_limits<std::size_t>::max();
  EXPECT_EQ(checked_mul(3, 5), 15U);
  EXPECT_FALSE(checked_mul(maximum / 2, 3));
  EXPECT_EQ(checked_add(maximum - 1, 1), maximum);
  EXPECT_FALSE(checked_add(maximum, 1));
  EXPECT_EQ(checked_round_up(65, 64), 128U);
  EXPECT_EQ(checked_round_up(64, 64), 64U);
  EXPECT_FALSE(checked_round_up(maximum - 3, 64));
}

}  // namespace
}  // namespace halyard
