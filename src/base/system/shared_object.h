// SPDX-License-Identifier: Apache-2.0
// SharedObject: a shared object that is loaded at run time, when its first function is needed.
#pragma once

#include <string>

#include "halyard/result.h"

namespace halyard {

/// A handle of an object that stays loaded until the process ends: libraries with threads or
/// thread-local data cannot be unloaded safely. Thread-safe.
class SharedObject {
 public:
  /// `name`: an absolute path, or a file name that the loader looks up; the current folder is not
  /// searched. `what`: the error's text, a literal that names what to install or to set. Errors:
  /// unsupported, with the loader's reason.
  static Result<SharedObject> open(const std::string& name, const char* what);

  /// The function `name`, or null if the object has none.
  template <class Function>
  Function* function(const char* name) const noexcept {
    return reinterpret_cast<Function*>(address(name));
  }

 private:
  explicit SharedObject(void* handle) noexcept : handle_(handle) {}
  void* address(const char* name) const noexcept;
  void* handle_;
};

/// Finds functions of an object, and remembers the first that is missing. The object outlives it.
/// One thread at a time.
class FunctionFinder {
 public:
  explicit FunctionFinder(const SharedObject& object) noexcept : object_(object) {}
  /// Null if the object has none.
  template <class Function>
  void find(Function*& function, const char* name) noexcept {
    find_if_there(function, name);
    if (function == nullptr && missing_ == nullptr) missing_ = name;
  }
  /// The same for a function that may be missing.
  template <class Function>
  void find_if_there(Function*& function, const char* name) const noexcept {
    function = object_.function<Function>(name);
  }
  /// The first name that find() has not found; null: none.
  const char* missing() const noexcept { return missing_; }

 private:
  const SharedObject& object_;
  const char* missing_ = nullptr;
};

}  // namespace halyard
