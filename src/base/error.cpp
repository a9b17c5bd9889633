// SPDX-License-Identifier: Apache-2.0
// Texts of errors, and the version.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "halyard/enumerators.h"
#include "halyard/result.h"
#include "halyard/version.h"

namespace halyard {
std::string_view to_string(Errc code) noexcept {
  return enumerator_name(code, "unknown");
}

std::string Error::message() const {
  std::string text = what;
  if (detail && !detail->empty()) text += ": " + *detail;
  if (os_errno != 0) text += " (" + std::generic_category().message(os_errno) + ")";
  return text;
}

// The caller's bug, like a failed assertion. This is the only text that the library prints.
void abort_without_value(const Error& error) noexcept {
  std::fprintf(stderr, "halyard: the value of a failed Result is read: %s\n",
               error.message().c_str());
  std::abort();
}

void abort_without_error() noexcept {
  std::fputs("halyard: the error of a Result that holds a value is read\n", stderr);
  std::abort();
}

Error make_error(Errc code, const char* what, std::string detail, int os_errno) {
  Error error{code, os_errno, what, nullptr};
  if (!detail.empty()) error.detail = std::make_shared<const std::string>(std::move(detail));
  return error;
}

const char* version() noexcept {
  return HALYARD_VERSION_STRING;
}

}  // namespace halyard
