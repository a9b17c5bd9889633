// SPDX-License-Identifier: Apache-2.0
// An environment variable that a test sets, among others of its process.
#pragma once

#include <stdlib.h>

#include <optional>
#include <string>

namespace halyard::test {

/// An environment variable until the end of the block; then it has its old value.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* const old = ::getenv(name)) old_ = old;
    ::setenv(name, value.c_str(), 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() {
    if (old_) {
      ::setenv(name_, old_->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

}  // namespace halyard::test
