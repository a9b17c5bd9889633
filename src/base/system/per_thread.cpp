// SPDX-License-Identifier: Apache-2.0
// Keys of POSIX threads, which report a lack of memory.
#include "base/system/per_thread.h"

#include <cerrno>
#include <limits>

namespace halyard {
namespace {

constexpr pthread_key_t no_key = std::numeric_limits<pthread_key_t>::max();

}  // namespace

ThreadKey::ThreadKey(void (*destroy)(void*)) noexcept : key_(no_key) {
  if (::pthread_key_create(&key_, destroy) != 0) key_ = no_key;
}

ThreadKey::~ThreadKey() {
  if (key_ != no_key) ::pthread_key_delete(key_);
}

bool ThreadKey::hold(const void* value) const noexcept {
  return ::pthread_setspecific(key_, value) != ENOMEM;
}

}  // namespace halyard
