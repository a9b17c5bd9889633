// SPDX-License-Identifier: Apache-2.0
// The handler uses only atomics and async-signal-safe calls. The raised signal is blocked while the
// handler runs, and ends the process when it returns. Without SA_RESTART, a blocking read of a pipe
// returns with EINTR.
#include "interrupt.h"

#include <atomic>
#include <csignal>

#include "halyard/output_file.h"

namespace halyard::tool {
namespace {

std::atomic<bool> is_guarded{false};
std::atomic<int> requested{0};  // the signal's number
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

void end_by(int number) noexcept {
  struct sigaction fatal {};
  fatal.sa_handler = SIG_DFL;
  ::sigaction(number, &fatal, nullptr);
  ::raise(number);
}

void on_signal(int number) {
  const bool asks = number == SIGINT || number == SIGTERM;
  int none = 0;
  if (asks && is_guarded.load() && requested.compare_exchange_strong(none, number)) return;
  remove_part_files();
  end_by(number);
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  ::sigfillset(&action.sa_mask);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGXCPU, SIGUSR1, SIGUSR2}) {
    struct sigaction old {};
    if (::sigaction(number, nullptr, &old) == 0 && old.sa_handler == SIG_IGN) continue;
    ::sigaction(number, &action, nullptr);
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

void end_by_requested_signal() noexcept {
  if (const int number = requested.load(); number != 0 && number != SIGINT) end_by(number);
}

InterruptGuard::InterruptGuard() {
  requested.store(0);
  is_guarded.store(true);
}

InterruptGuard::~InterruptGuard() {
  is_guarded.store(false);
}

bool InterruptGuard::is_requested() noexcept {
  return requested.load(std::memory_order_relaxed) != 0;
}

}  // namespace halyard::tool
