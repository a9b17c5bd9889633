// SPDX-License-Identifier: Apache-2.0
// Documents made of pieces, for the tests of descriptions.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "halyard/description.h"
#include "support/result.h"

namespace halyard::test {

/// A document of version 2 with these records of outputs, and more keys of the root before them.
inline Result<ModelDescription> read_outputs(const std::string& outputs,
                                             const std::string& root = "") {
  return ModelDescription::from_json(R"({"schema_version": 2, )" + root + R"("outputs": [)" +
                                     outputs + "]}");
}

template <class T>
void expect_refusal(const Result<T>& result, Errc code, const std::string& words) {
  EXPECT_FAILS(result, code, words) << words;
}

/// With words: "path: value, rule".
template <class T>
void expect_wrong(const Result<T>& result, const std::string& words) {
  expect_refusal(result, Errc::invalid_argument, words);
}

}  // namespace halyard::test
