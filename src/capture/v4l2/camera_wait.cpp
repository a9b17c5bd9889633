// SPDX-License-Identifier: Apache-2.0
// An epoll set over a camera, an eventfd and a timerfd.
#include "capture/v4l2/camera_wait.h"

#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>

#include "base/text/format_error.h"

namespace halyard::capture {
namespace {

// Empties an eventfd or a timerfd; false: there was nothing.
bool drain(const Fd& fd) noexcept {
  std::uint64_t count = 0;
  return ::read(fd.get(), &count, sizeof(count)) == static_cast<ssize_t>(sizeof(count));
}

}  // namespace

Status CameraWait::create() {
  epoll_ = Fd(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_) return fail_os("camera: no descriptor to wait with", errno);
  cancel_ = Fd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!cancel_) return fail_os("camera: no descriptor to wait with", errno);
  timer_ = Fd(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
  if (!timer_) return fail_os("camera: no descriptor to wait with", errno);
  HALYARD_RETURN_IF_ERROR(add(cancel_.get(), EPOLLIN));
  return add(timer_.get(), EPOLLIN);
}

Status CameraWait::add(int fd, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
    return fail_os("camera: cannot be waited for", errno);
  return {};
}

Status CameraWait::watch(int camera, std::uint32_t events) {
  camera_ = camera;
  return add(camera, events);
}

void CameraWait::unwatch() noexcept {
  if (camera_ >= 0) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, camera_, nullptr);
  camera_ = -1;
}

void CameraWait::set_timer(std::chrono::milliseconds after) noexcept {
  itimerspec when{};
  when.it_value.tv_sec = after.count() / 1000;
  when.it_value.tv_nsec = after.count() % 1000 * 1'000'000;
  ::timerfd_settime(timer_.get(), 0, &when, nullptr);
}

void CameraWait::wake() noexcept {
  itimerspec past{};
  past.it_value.tv_nsec = 1;
  ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &past, nullptr);
}

void CameraWait::cancel() noexcept {
  const int kept = errno;  // a signal handler must not change it
  constexpr std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t done = ::write(cancel_.get(), &one, sizeof(one));
  errno = kept;
}

bool CameraWait::take_cancel() noexcept {
  return drain(cancel_);
}

Result<bool> CameraWait::wait(std::chrono::milliseconds timeout) {
  std::array<epoll_event, 3> events{};
  const auto limit = static_cast<int>(std::min<std::int64_t>(timeout.count(), INT_MAX));
  const int count =
      ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), limit);
  if (count < 0 && errno != EINTR) return fail_os("camera: cannot be waited for", errno);
  bool has_failed = false;
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if (event.data.fd == timer_.get()) drain(timer_);
    if (event.data.fd == camera_ && (event.events & (EPOLLERR | EPOLLHUP)) != 0) has_failed = true;
  }
  return has_failed;
}

}  // namespace halyard::capture
