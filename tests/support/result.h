// SPDX-License-Identifier: Apache-2.0
// What tests expect of a Result: a value, or an error with its code and a part of its message.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "halyard/result.h"

namespace halyard {

/// How a call ended.
template <class T>
Errc code_of(const Result<T>& result) {
  return result ? Errc::ok : result.error().code;
}

namespace test {

/// Whether a call succeeded; if not, why.
template <class T>
::testing::AssertionResult succeeds(const Result<T>& result) {
  if (result) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << to_string(result.error().code) << ": " << result.error().message();
}

/// Whether a call failed with this code, and whether its message contains `text`.
template <class T>
::testing::AssertionResult fails(const Result<T>& result, Errc code, std::string_view text = {}) {
  if (result) return ::testing::AssertionFailure() << "it succeeds";
  const Error& error = result.error();
  if (error.code != code)
    return ::testing::AssertionFailure() << "its code is " << to_string(error.code) << ", not "
                                         << to_string(code) << ": " << error.message();
  if (error.message().find(text) == std::string::npos)
    return ::testing::AssertionFailure()
           << "its message has no \"" << text << "\": " << error.message();
  return ::testing::AssertionSuccess();
}

/// The same for any code.
template <class T>
::testing::AssertionResult fails(const Result<T>& result, std::string_view text) {
  if (result) return ::testing::AssertionFailure() << "it succeeds";
  return fails(result, result.error().code, text);
}

}  // namespace test
}  // namespace halyard

/// EXPECT_FAILS(result, code), EXPECT_FAILS(result, text) or EXPECT_FAILS(result, code, text).
#define EXPECT_FAILS(...) EXPECT_TRUE(::halyard::test::fails(__VA_ARGS__))
#define ASSERT_FAILS(...) ASSERT_TRUE(::halyard::test::fails(__VA_ARGS__))

#define EXPECT_OK(...) EXPECT_TRUE(::halyard::test::succeeds(__VA_ARGS__))
#define ASSERT_OK(...) ASSERT_TRUE(::halyard::test::succeeds(__VA_ARGS__))

/// Binds the value of a Result, or ends the test with its error, as HALYARD_TRY does in functions:
/// ASSERT_VALUE(const Tensor image, Tensor::create_image(8, 8, PixelFormat::rgb));
#define ASSERT_VALUE(declaration, ...)                    \
  auto HALYARD_CONCAT(result_, __LINE__) = (__VA_ARGS__); \
  ASSERT_OK(HALYARD_CONCAT(result_, __LINE__));           \
  declaration = *std::move(HALYARD_CONCAT(result_, __LINE__))
