// SPDX-License-Identifier: Apache-2.0
// dlopen() and the texts of its errors.
#include "base/system/shared_object.h"

#include <dlfcn.h>

#include <string_view>

#include "base/system/fork.h"
#include "base/text/cut_text.h"
#include "base/text/format_error.h"

namespace halyard {
namespace {

constexpr std::size_t max_reason_bytes = 300;

std::string_view last_reason() {
  const char* const text = ::dlerror();
  return text == nullptr ? "no reason given" : cut_text(text, max_reason_bytes);
}

}  // namespace

Result<SharedObject> SharedObject::open(const std::string& name, const char* what) {
  // All symbols are bound at once, so that a library that does not fit fails here and not later.
  const LoadingTurn turn;
  void* const handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return fail(Errc::unsupported, what, "{}", last_reason());
  return SharedObject(handle);
}

void* SharedObject::address(const char* name) const noexcept {
  return ::dlsym(handle_, name);
}

}  // namespace halyard
