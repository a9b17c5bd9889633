// SPDX-License-Identifier: Apache-2.0
// Transports under load: with another thread, with a reader that is too slow, with many messages at
// once, and with one message held by many.
#pragma once

#include <optional>
#include <string>
#include <thread>

#include "sides.h"

namespace halyard::bench {

inline constexpr int thread_counts[] = {1, 2};
/// Operations of a sample, for operations that are too short for the clock.
inline constexpr int batch = 1000;
/// Messages of a burst: the default depth of a Halyard topic.
inline constexpr std::uint64_t burst_depth = 16;
inline constexpr std::size_t load_bytes = 64 * 1024;

/// Sends a number and takes it, in one thread of one process; with n 2, while a thread on the
/// other processor does the same on its own topic.
template <class T>
void threads(Bench& bench, const char* how, int n) {
  const std::size_t warm_up = 20, count = warm_up + bench.scaled(2000);
  Series series(count);
  bench.run([&] {
    T::enter("first");
    std::atomic<int> ready{0};
    std::atomic<bool> stops{false};
    const auto work = [&](int which) {
      bench.pin(which);
      const char* const topic = which == 0 ? "ping" : "pong";
      typename T::Publisher publisher(topic, 8);
      typename T::Subscriber subscriber(topic, 8);
      poll_until([&] { return publisher.connected(1) && subscriber.connected(); });
      std::uint64_t number = 0;
      const auto bounce = [&] {
        for (int k = 0; k < batch; ++k) {
          std::uint64_t taken = 0;
          send_u64(publisher, ++number);
          expect(take_u64(subscriber, taken) && taken == number, "another number came");
        }
      };
      ++ready;
      poll_until([&] { return ready.load() == n; });
      for (std::size_t i = 0; which == 0 && i < count; ++i) {
        if (i == warm_up) begin(series);
        const std::uint64_t start = ticks();
        bounce();
        series.add(ticks() - start);
      }
      while (which != 0 && !stops)
        bounce();
    };
    std::thread other;
    if (n == 2) {
      other = std::thread([&] {
        if constexpr (requires { T::enter_thread(); }) T::enter_thread();
        work(1);
      });
    }
    work(0);
    series.end();
    stops = true;
    if (other.joinable()) other.join();
  });
  bench.report("threads_" + std::to_string(n), how, series, batch);
}

/// The first and last value of a message of load_bytes.
template <class Publisher>
void send_marked(Publisher& to, std::uint64_t number) {
  auto* const memory = static_cast<unsigned char*>(to.loan());
  std::memcpy(memory, &number, sizeof number);
  std::memcpy(memory + load_bytes - sizeof number, &number, sizeof number);
  to.send(memory);
}

/// Its number; empty: no message.
template <class Subscriber>
std::optional<std::uint64_t> take_marked(Subscriber& from) {
  const auto* const message = static_cast<const unsigned char*>(from.take());
  if (message == nullptr) return std::nullopt;
  std::uint64_t first = 0, last = 0;
  std::memcpy(&first, message, sizeof first);
  std::memcpy(&last, message + load_bytes - sizeof last, sizeof last);
  from.release(message);
  expect(first == last, "parts of two messages came");
  return first;
}

/// 0 if the transport does not count.
template <class Subscriber>
std::uint64_t lost_by(Subscriber& from) {
  if constexpr (requires { from.lost(); }) return from.lost();
  return 0;
}

/// A reader that looks 20 times a second for messages that are sent 200 times a second: counts how
/// often it found the newest message, and what it knows of the others.
template <class T>
void slow_reader(Bench& bench, const char* how) {
  constexpr std::uint64_t send_ns = 5'000'000, poll_ns = 50'000'000;
  const std::uint64_t polls = bench.scaled(60);
  struct Found {
    std::atomic<std::uint64_t> sent;
    std::uint64_t newest, taken, lost, last;
    std::atomic<bool> stops;
  };
  const Meeting meeting;
  const Shared<Found> found;
  bench.run(
      [&] {
        const SendingSide<T> side(load_bytes, meeting);
        std::uint64_t due = monotonic_ns();
        while (!found->stops) {
          send_marked(*side.publisher, found->sent + 1);
          ++found->sent;
          sleep_until_ns(due += send_ns);
        }
        meeting.meet();
      },
      [&] {
        const ReceivingSide<T> side(load_bytes, meeting);
        std::uint64_t due = monotonic_ns();
        for (std::uint64_t i = 0; i < polls; ++i) {
          sleep_until_ns(due += poll_ns);
          const std::uint64_t sent = found->sent;
          while (const auto number = take_marked(side.subscriber())) {
            expect(*number > found->last, "a message came twice, or too late");
            found->last = *number;
            ++found->taken;
          }
          found->newest += found->last >= sent ? 1 : 0;
        }
        found->lost = lost_by(side.subscriber());
        found->stops = true;
        meeting.meet();
      });
  bench.report_counts("slow_reader", how,
                      {{"polls", polls},
                       {"newest", found->newest},
                       {"sent", found->last},
                       {"taken", found->taken},
                       {"lost", found->lost}});
}

/// Messages that are sent at once and then taken.
template <class T>
void burst(Bench& bench, const char* how) {
  const std::uint64_t bursts = bench.scaled(200);
  const Meeting meeting;
  const Shared<Line> taken;
  bench.run(
      [&] {
        const SendingSide<T> side(load_bytes, meeting);
        for (std::uint64_t i = 0; i < bursts * burst_depth; ++i) {
          send_marked(*side.publisher, i);
          if (i % burst_depth + 1 < burst_depth) continue;
          meeting.meet();  // all are sent
          meeting.meet();  // all are taken
        }
      },
      [&] {
        const ReceivingSide<T> side(load_bytes, meeting);
        for (std::uint64_t i = 0; i < bursts; ++i) {
          meeting.meet();
          while (take_marked(side.subscriber()))
            ++taken->value;
          meeting.meet();
        }
      });
  bench.report_counts(
      "burst", how,
      {{"depth", burst_depth}, {"sent", bursts * burst_depth}, {"taken", taken->value.load()}});
}

/// Adds a holder to memory that is already held, and removes it.
template <class T>
void retain(Bench& bench, const char* how) {
  const std::size_t warm_up = 20, count = warm_up + bench.scaled(2000);
  Series series(count);
  bench.run([&] {
    T::enter("first");
    typename T::Publisher publisher("ping", 64);
    void* const memory = publisher.loan();
    for (std::size_t i = 0; i < count; ++i) {
      if (i == warm_up) begin(series);
      const std::uint64_t start = ticks();
      for (int k = 0; k < batch; ++k) {
        publisher.retain();
        publisher.let_go();
      }
      series.add(ticks() - start);
    }
    series.end();
    publisher.discard(memory);
  });
  bench.report("retain", how, series, batch);
}

}  // namespace halyard::bench
