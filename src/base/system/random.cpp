// SPDX-License-Identifier: Apache-2.0
// Random numbers from getrandom(2), which never returns fewer than the requested bytes up to 256.
#include "base/system/random.h"

#include <sys/random.h>

#include <cerrno>

#include "base/text/format_error.h"

namespace halyard {

Status fill_random(std::span<std::byte> bytes) {
  ssize_t got = 0;
  do {
    got = ::getrandom(bytes.data(), bytes.size(), 0);
  } while (got < 0 && errno == EINTR);
  if (got == static_cast<ssize_t>(bytes.size())) return {};
  return fail_os("random number: the system gives none", got < 0 ? errno : EIO);
}

}  // namespace halyard
