// SPDX-License-Identifier: Apache-2.0
// Errors as errno and one message per thread.
#include "capi/error.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <string_view>

#include "halyard/c/base.h"

namespace halyard::capi {
namespace {

// Of fixed size, so that a lack of memory can be reported too. Longer messages are cut.
thread_local std::array<char, 512> last_error{};

int errno_for(Errc code) noexcept {
  switch (code) {
    case Errc::ok:
      return 0;
    case Errc::invalid_argument:
      return EINVAL;
    case Errc::unsupported:
      return ENOTSUP;
    case Errc::no_memory:
      return ENOMEM;
    case Errc::exhausted:
      return ENOSPC;
    case Errc::not_found:
      return ENOENT;
    case Errc::exists:
      return EEXIST;
    case Errc::timeout:
      return ETIMEDOUT;
    case Errc::busy:
      return EBUSY;
    case Errc::malformed:
    case Errc::corrupt:
      return EBADMSG;
    case Errc::version:
      return EPROTO;
    case Errc::permission:
      return EACCES;
    case Errc::cancelled:
      return ECANCELED;
    case Errc::os:
    case Errc::device:
      break;
  }
  return EIO;
}

void remember(std::string_view text) noexcept {
  const std::size_t size = std::min(text.size(), last_error.size() - 1);
  std::copy_n(text.data(), size, last_error.data());
  last_error[size] = '\0';
}

}  // namespace

void report(const Error& error) noexcept {
  try {
    remember(error.message());
  } catch (const std::bad_alloc&) {
    remember(error.what);
  }
  // Set errno last: building the message may change it.
  const bool known = error.code != Errc::os && error.code != Errc::device;
  errno = known || error.os_errno == 0 ? errno_for(error.code) : error.os_errno;
}

void report(Errc code, const char* what) noexcept {
  remember(what);
  errno = errno_for(code);
}

}  // namespace halyard::capi

const char* hal_last_error(void) {
  return halyard::capi::last_error.data();
}
