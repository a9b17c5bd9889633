// SPDX-License-Identifier: Apache-2.0
// Wait sets in C.
#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "capi/error.h"
#include "capi/ipc/topics.h"
#include "halyard/wait_set.h"

struct hal_waitset {
  static constexpr std::uint32_t kind = halyard::capi::kind_of("wset");
  halyard::capi::Tag tag{kind};
  /// Shared with the topics' handles, which may be freed first. They outlive `set`, which keeps
  /// their addresses.
  std::map<std::uint64_t, std::shared_ptr<halyard::TopicEndpoint>> topics = {};
  halyard::WaitSet set;
  std::vector<std::uint64_t> pending = {};  ///< found, but not yet returned to the caller
};

namespace halyard::capi {
namespace {

Result<int> add_topic(hal_waitset* set, const hal_topic* topic, std::uint64_t token) {
  HALYARD_RETURN_IF_ERROR(checked(set, "set"));
  HALYARD_TRY(TopicEndpoint* const endpoint, endpoint_of(topic));
  const auto [place, is_new] = set->topics.try_emplace(token, topic->endpoint);
  const Status added = set->set.add(*endpoint, token);
  if (!added && is_new) set->topics.erase(place);
  return done(added);
}

Result<int> remove(hal_waitset* set, std::uint64_t token) {
  HALYARD_RETURN_IF_ERROR(checked(set, "set"));
  if (!set->set.remove(token))
    return make_error(Errc::not_found, "token: is not in the set", std::to_string(token));
  set->topics.erase(token);
  std::erase(set->pending, token);
  return 0;
}

Result<int> wait(hal_waitset* set, std::uint64_t* tokens, std::size_t capacity,
                 std::int64_t timeout_ns) {
  HALYARD_RETURN_IF_ERROR(checked(set, "set"));
  HALYARD_RETURN_IF_ERROR(pointer_to(tokens, "tokens"));
  if (capacity == 0) return null_argument("capacity: must be above 0");
  if (set->pending.empty()) {
    HALYARD_TRY(set->pending, set->set.wait(std::chrono::nanoseconds(timeout_ns)));
  }
  const std::size_t count = std::min(capacity, set->pending.size());
  std::copy_n(set->pending.begin(), count, tokens);
  set->pending.erase(set->pending.begin(),
                     set->pending.begin() + static_cast<std::ptrdiff_t>(count));
  return static_cast<int>(count);
}

}  // namespace
}  // namespace halyard::capi

using namespace halyard;
using capi::checked;
using capi::guarded;

hal_waitset* hal_waitset_create(void) {
  return guarded<hal_waitset*>(nullptr, []() -> Result<hal_waitset*> {
    HALYARD_TRY(WaitSet set, WaitSet::create());
    return new hal_waitset{.set = std::move(set)};
  });
}

void hal_waitset_free(hal_waitset* set) {
  if (capi::is_valid(set)) delete set;
}

int hal_waitset_add_topic(hal_waitset* set, const hal_topic* topic, uint64_t token) {
  return guarded<int>(-1, [&] { return capi::add_topic(set, topic, token); });
}

int hal_waitset_add_timer(hal_waitset* set, int64_t interval_ns, uint64_t token) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_RETURN_IF_ERROR(checked(set, "set"));
    return capi::done(set->set.add_timer(std::chrono::nanoseconds(interval_ns), token));
  });
}

int hal_waitset_add_fd(hal_waitset* set, int fd, uint64_t token) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_RETURN_IF_ERROR(checked(set, "set"));
    return capi::done(set->set.add_fd(fd, token));
  });
}

int hal_waitset_remove(hal_waitset* set, uint64_t token) {
  return guarded<int>(-1, [&] { return capi::remove(set, token); });
}

int hal_waitset_wait(hal_waitset* set, uint64_t* tokens, size_t capacity, int64_t timeout_ns) {
  return guarded<int>(-1, [&] { return capi::wait(set, tokens, capacity, timeout_ns); });
}
