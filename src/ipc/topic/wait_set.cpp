// SPDX-License-Identifier: Apache-2.0
// One epoll for all descriptors. Topics are asked first, since that needs no system call.
#include "halyard/wait_set.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/system/socket_message.h"
#include "base/text/format_error.h"
#include "halyard/fd.h"

namespace halyard {

struct WaitSet::State {
  struct Entry {
    std::uint64_t token = 0;
    TopicEndpoint* endpoint = nullptr;
    Fd timer;
    int fd = -1;
    bool is_ready = false;
    std::vector<Suspended*> suspended;  ///< waiting coroutines
  };
  Fd epoll;
  std::vector<std::unique_ptr<Entry>> entries;

  Status add(std::unique_ptr<Entry> entry) {
    const auto is_taken = std::any_of(entries.begin(), entries.end(), [&](const auto& other) {
      return other->token == entry->token;
    });
    if (is_taken) return fail(Errc::exists, "token: is in the set already", "{}", entry->token);
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.ptr = entry.get();
    if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, entry->fd, &event) != 0) {
      return errno == EPERM || errno == EBADF
                 ? fail(Errc::invalid_argument, "fd: cannot be waited for", "{}", entry->fd)
                 : fail_os("set: cannot add a descriptor", errno);
    }
    entries.push_back(std::move(entry));
    return {};
  }

  std::vector<Suspended*> resumable;
  bool is_resuming = false;

  /// Resumes coroutines one after the other. Each may add and remove entries, wait, and destroy
  /// others.
  void resume(const std::vector<Suspended*>& ready) {
    resumable.insert(resumable.end(), ready.begin(), ready.end());
    if (std::exchange(is_resuming, true)) return;
    struct End {
      bool& is_resuming;
      ~End() { is_resuming = false; }
    } const end{is_resuming};
    while (!resumable.empty()) {
      Suspended* const first = resumable.front();
      resumable.erase(resumable.begin());
      std::exchange(first->coroutine_, nullptr).resume();
    }
  }
  void forget(Suspended& gone) noexcept {
    for (const auto& entry : entries)
      std::erase(entry->suspended, &gone);
    std::erase(resumable, &gone);
  }

  bool finds_messages() {
    bool found = false;
    for (const auto& entry : entries) {
      entry->is_ready = entry->endpoint != nullptr && entry->endpoint->has_message();
      found |= entry->is_ready;
    }
    return found;
  }
  bool has_topics_alone() const {
    return std::all_of(entries.begin(), entries.end(),
                       [](const auto& entry) { return entry->endpoint != nullptr; });
  }

  // Whether any entry is ready. Waits up to `timeout_ms`.
  Result<bool> poll(int timeout_ms) {
    epoll_event events[64];
    const int count = ::epoll_wait(epoll.get(), events, 64, timeout_ms);
    if (count < 0 && errno != EINTR) return fail_os("set: cannot wait", errno);
    bool found = false;
    for (int i = 0; i < count; ++i) {
      Entry& entry = *static_cast<Entry*>(events[i].data.ptr);
      if (entry.endpoint != nullptr) {
        entry.is_ready = entry.endpoint->has_message();
      } else if (entry.timer) {
        std::uint64_t times = 0;
        entry.is_ready = ::read(entry.fd, &times, sizeof(times)) == sizeof(times);
      } else {
        entry.is_ready = true;
      }
      found |= entry.is_ready;
    }
    return found;
  }
};

Result<WaitSet> WaitSet::create() {
  auto state = std::make_unique<State>();
  state->epoll = Fd(::epoll_create1(EPOLL_CLOEXEC));
  if (!state->epoll) return fail_os("set: a descriptor cannot be created", errno);
  return WaitSet(std::move(state));
}

WaitSet::WaitSet(std::unique_ptr<State> state) : state_(std::move(state)) {}
WaitSet::WaitSet(WaitSet&&) noexcept = default;
WaitSet& WaitSet::operator=(WaitSet&&) noexcept = default;
WaitSet::~WaitSet() = default;

Status WaitSet::add(TopicEndpoint& endpoint, std::uint64_t token) {
  auto entry = std::make_unique<State::Entry>();
  entry->token = token;
  entry->endpoint = &endpoint;
  entry->fd = endpoint.fd();
  return state_->add(std::move(entry));
}

Status WaitSet::add_timer(std::chrono::nanoseconds interval, std::uint64_t token) {
  if (interval.count() <= 0)
    return fail(Errc::invalid_argument, "interval: must be more than 0", "{} ns", interval.count());
  auto entry = std::make_unique<State::Entry>();
  entry->token = token;
  entry->timer = Fd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  entry->fd = entry->timer.get();
  itimerspec when = {};
  when.it_interval.tv_sec = static_cast<time_t>(interval.count() / 1'000'000'000);
  when.it_interval.tv_nsec = static_cast<long>(interval.count() % 1'000'000'000);
  when.it_value = when.it_interval;
  if (!entry->timer || ::timerfd_settime(entry->fd, 0, &when, nullptr) != 0)
    return fail_os("set: a timer cannot be created", errno);
  return state_->add(std::move(entry));
}

Status WaitSet::add_fd(int fd, std::uint64_t token) {
  if (fd < 0) return fail(Errc::invalid_argument, "fd: must not be negative", "{}", fd);
  auto entry = std::make_unique<State::Entry>();
  entry->token = token;
  entry->fd = fd;
  return state_->add(std::move(entry));
}

bool WaitSet::remove(std::uint64_t token) {
  const auto found = std::find_if(state_->entries.begin(), state_->entries.end(),
                                  [&](const auto& entry) { return entry->token == token; });
  if (found == state_->entries.end()) return false;
  ::epoll_ctl(state_->epoll.get(), EPOLL_CTL_DEL, (*found)->fd, nullptr);
  const std::unique_ptr<State::Entry> removed = std::move(*found);
  state_->entries.erase(found);
  state_->resume(removed->suspended);
  return true;
}

bool WaitSet::Suspended::await_suspend(std::coroutine_handle<> coroutine) {
  const auto found =
      std::find_if(state_.entries.begin(), state_.entries.end(),
                   [this](const auto& entry) { return entry->endpoint == &endpoint_; });
  if (found == state_.entries.end()) return false;
  (*found)->suspended.push_back(this);
  coroutine_ = coroutine;
  return true;
}

void WaitSet::Suspended::forget() noexcept {
  state_.forget(*this);
}

Result<std::vector<std::uint64_t>> WaitSet::wait(std::chrono::nanoseconds timeout) {
  const Deadline deadline(timeout);
  bool found = state_->finds_messages();
  if (!found || !state_->has_topics_alone()) {
    do {
      HALYARD_TRY(const bool more, state_->poll(found ? 0 : deadline.left_ms()));
      found |= more;
    } while (!found && !deadline.is_over());
  }
  std::vector<std::uint64_t> tokens;
  std::vector<Suspended*> ready;
  for (const auto& entry : state_->entries) {
    if (!std::exchange(entry->is_ready, false)) continue;
    tokens.push_back(entry->token);
    ready.insert(ready.end(), entry->suspended.begin(), entry->suspended.end());
    entry->suspended.clear();
  }
  state_->resume(ready);
  return tokens;
}

}  // namespace halyard
