// SPDX-License-Identifier: Apache-2.0
// Properties over random cases, shrunk to the smallest that fails. Only where RapidCheck is there.
#pragma once

#if defined(HALYARD_RAPIDCHECK)
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <sstream>

namespace halyard::test {

/// As many cases as named, always the same ones. The property draws with *rc::gen::...
template <class Property>
void check_property(int cases, Property property) {
  rc::detail::TestParams params;
  params.seed = 51;
  params.maxSuccess = cases;
  params.maxDiscardRatio = 2;
  const auto result = rc::detail::checkTestable(property, rc::detail::TestMetadata{}, params);
  if (result.template is<rc::detail::SuccessResult>()) return;
  std::ostringstream message;
  rc::detail::printResultMessage(result, message);
  ADD_FAILURE() << message.str();
}

}  // namespace halyard::test
#endif
