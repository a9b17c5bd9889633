// SPDX-License-Identifier: Apache-2.0
// Generated parts of docs/conversion.md.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "test_paths.h"

namespace halyard::test {

/// Expects `text` between the marks of `name` on the page; else tells how to put it there.
inline void expect_on_page(std::string_view name, const std::string& text) {
  const std::string path = HALYARD_SOURCE_DIR "/docs/conversion.md";
  std::stringstream file;
  file << std::ifstream(path).rdbuf();
  const std::string page = file.str();
  const std::string begin = fmt::format("<!-- {}: begin -->\n", name);
  const std::size_t from = page.find(begin);
  const std::size_t to = page.find(fmt::format("<!-- {}: end -->", name));
  ASSERT_NE(from, std::string::npos) << path;
  ASSERT_NE(to, std::string::npos) << path;
  const std::string wanted = page.substr(0, from + begin.size()) + text + page.substr(to);
  if (page == wanted) return;
  const std::string rewritten = HALYARD_BINARY_DIR "/conversion.md";
  std::ofstream(rewritten) << wanted;
  ADD_FAILURE() << name << " is out of date; to rewrite it: cp " << rewritten << " " << path;
}

}  // namespace halyard::test
