// SPDX-License-Identifier: Apache-2.0
// fail(): builds an Error with a formatted detail. All errors are made with it or fail_os().
#pragma once

#include <fmt/format.h>

#include <utility>

#include "halyard/result.h"

namespace halyard {

/// `what` is a literal naming the argument and the rule.
[[gnu::cold]] inline Error fail(Errc code, const char* what) {
  return make_error(code, what);
}

template <class... Args>
[[gnu::cold]] Error fail(Errc code, const char* what, fmt::format_string<Args...> detail,
                         Args&&... args) {
  return make_error(code, what, fmt::format(detail, std::forward<Args>(args)...));
}

/// A failed system call. The code follows from the errno (ENOENT: not_found, EACCES: permission,
/// ...).
[[gnu::cold]] Error fail_os(const char* what, int os_errno, std::string detail = {});

/// The error code for an errno.
Errc errc_from_errno(int os_errno) noexcept;

}  // namespace halyard
