// SPDX-License-Identifier: Apache-2.0
// SharedObject: a shared object that is loaded at run time, when its first function is needed.
#pragma once

#include <string>

#include "halyard/result.h"

namespace halyard {

/// A handle of an object that stays loaded until the process ends: libraries with threads or
/// thread-local data do not survive unloading. Thread-safe.
class SharedObject {
 public:
  /// `name`: an absolute path, or a file name that the loader looks up; nothing is taken from the
  /// current folder. `what`: a literal, the error's, that says what to install or to set. Errors:
  /// unsupported, with the loader's reason.
  static Result<SharedObject> open(const std::string& name, const char* what);

  /// The function `name`, or null where the object has none.
  template <class Function>
  Function* function(const char* name) const noexcept {
    return reinterpret_cast<Function*>(address(name));
  }

 private:
  explicit SharedObject(void* handle) noexcept : handle_(handle) {}
  void* address(const char* name) const noexcept;
  void* handle_;
};

}  // namespace halyard
