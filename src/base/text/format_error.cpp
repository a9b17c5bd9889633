// SPDX-License-Identifier: Apache-2.0
// Errors of system calls: the map from errno to error codes.

#include "base/text/format_error.h"

#include <cerrno>

namespace halyard {

Error fail_os(const char* what, int os_errno, std::string detail) {
  return make_error(errc_from_errno(os_errno), what, std::move(detail), os_errno);
}

Errc errc_from_errno(int os_errno) noexcept {
  switch (os_errno) {
    case ENOENT:
    case ENOTDIR:
    case ENODEV:
    case ENXIO:
      return Errc::not_found;
    case EACCES:
    case EPERM:
    case EROFS:
      return Errc::permission;
    case EEXIST:
      return Errc::exists;
    case ENOMEM:
      return Errc::no_memory;
    case EBUSY:
      return Errc::busy;
    case ETIMEDOUT:
      return Errc::timeout;
    default:
      return Errc::os;
  }
}

}  // namespace halyard
