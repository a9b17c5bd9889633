// SPDX-License-Identifier: Apache-2.0
// Runs a test of this program in a process of its own, which has loaded and opened nothing yet.
#pragma once

#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>

#include <map>
#include <string>
#include <vector>

extern char** environ;

namespace halyard::test {

/// How TEST(`suite`, DISABLED_`role`) ends there: the status of waitpid(). `variables` are set for
/// it.
inline int status_of_own_process(const std::string& suite, const std::string& role,
                                 std::map<std::string, std::string> variables = {}) {
  std::vector<std::string> arguments = {"/proc/self/exe",
                                        "--gtest_filter=" + suite + ".DISABLED_" + role,
                                        "--gtest_also_run_disabled_tests", "--gtest_brief=1"};
  for (char** e = environ; *e != nullptr; ++e) {
    const std::string entry = *e;
    variables.emplace(entry.substr(0, entry.find('=')), entry.substr(entry.find('=') + 1));
  }
  std::vector<std::string> settings;
  for (const auto& [name, value] : variables)
    settings.push_back(name + "=" + value);
  const auto pointers = [](std::vector<std::string>& texts) {
    std::vector<char*> out;
    for (std::string& text : texts)
      out.push_back(text.data());
    out.push_back(nullptr);
    return out;
  };
  pid_t child = -1;
  const int failed = ::posix_spawn(&child, arguments[0].c_str(), nullptr, nullptr,
                                   pointers(arguments).data(), pointers(settings).data());
  EXPECT_EQ(failed, 0);
  int status = -1;
  if (failed == 0) {
    EXPECT_EQ(::waitpid(child, &status, 0), child);
  }
  return status;
}

}  // namespace halyard::test

/// The test DISABLED_`role` of `suite` passes in a process of its own; further arguments are the
/// variables that are set for it.
#define EXPECT_PASSES_APART(...) EXPECT_EQ(::halyard::test::status_of_own_process(__VA_ARGS__), 0)
