// SPDX-License-Identifier: Apache-2.0
// The times of single operations, written once for all transports (sides.h); with loads.h, all
// scenarios.
#pragma once

#include <string>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "loads.h"

namespace halyard::bench {

/// Payload sizes of the scenarios, by their names.
struct Size {
  const char* name;
  std::size_t bytes;
  int hz = 0;  ///< Frames a second of a camera of this size.
};
inline constexpr Size frame_sizes[] = {
    {"vga", 640 * 480 * 3, 200}, {"1080p", 1920 * 1080 * 3, 60}, {"4k", 3840 * 2160 * 3, 30}};
inline constexpr Size alloc_sizes[] = {
    {"64", 64},           {"1k", 1024},           {"16k", 16 * 1024},
    {"256k", 256 * 1024}, {"vga", 640 * 480 * 3}, {"1080p", 1920 * 1080 * 3}};
inline constexpr int fanouts[] = {1, 2, 4, 8, 16};
inline constexpr std::uint64_t wake_interval_ns = 1'000'000;

/// Half a round trip of a number, both sides polling.
template <class T>
void round_trip(Bench& bench, const char* how) {
  const std::size_t warm_up = 5000, count = warm_up + bench.scaled(100'000);
  Series series(count);
  const Meeting meeting;
  bench.run(
      [&] {
        const Duplex<T> side("first", "ping", "pong", meeting);
        for (std::size_t i = 0; i < count; ++i) {
          if (i == warm_up) begin(series);
          const std::uint64_t start = ticks();
          send_u64(*side.publisher, i);
          const std::uint64_t answer = poll_u64(*side.subscriber);
          series.add(ticks() - start);
          expect(answer == i, "another number came back");
        }
        series.end();
        meeting.meet();
      },
      [&] {
        const Duplex<T> side("second", "pong", "ping", meeting);
        for (std::size_t i = 0; i < count; ++i)
          send_u64(*side.publisher, poll_u64(*side.subscriber));
        meeting.meet();
      });
  bench.report("rtt_u64", how, series, 2);
}

#if defined(__SSE2__)
inline constexpr bool can_stream = true;
/// Writes as a device does: to memory, not into the caches. The bytes before the first and after
/// the last multiple of 64 are written by the processor.
inline void stream(void* memory, int value, std::size_t bytes) {
  auto* to = static_cast<unsigned char*>(memory);
  const std::size_t head = -reinterpret_cast<std::uintptr_t>(to) % 64;
  std::memset(to, value, head);
  to += head;
  bytes -= head;
  const __m128i values = _mm_set1_epi8(static_cast<char>(value));
  for (; bytes >= 64; bytes -= 64, to += 64)
    for (std::size_t k = 0; k < 64; k += sizeof values)
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + k), values);
  std::memset(to, value, bytes);
  _mm_sfence();
}
#else
inline constexpr bool can_stream = false;
inline void stream(void*, int, std::size_t) {}
#endif

enum class Written { by_cpu, past_caches };

/// A frame at a camera's rate, from just before it is sent until its first and last byte are read.
/// The sender has written all of it just before.
template <class T>
void frame(Bench& bench, const char* how, const Size& size, Written written = Written::by_cpu) {
  const std::size_t warm_up = 5,
                    count = warm_up + bench.scaled(static_cast<std::size_t>(size.hz) * 3);
  Series sent(count), series(count);
  const Meeting meeting;
  const Shared<Line> taken;
  bench.run(
      [&] {
        const SendingSide<T> side(size.bytes, meeting);
        auto& publisher = *side.publisher;
        std::uint64_t due = monotonic_ns();
        for (std::size_t i = 0; i < count; ++i) {
          sleep_until_ns(due += 1'000'000'000U / static_cast<unsigned>(size.hz));
          poll_until([&] { return taken->value.load() == i; });
          if (i == warm_up) begin(sent);
          void* const memory = publisher.loan();
          const int value = static_cast<int>(i & 0xff);
          if (written == Written::past_caches) {
            stream(memory, value, size.bytes);
          } else {
            std::memset(memory, value, size.bytes);
          }
          sent.add(ticks());
          publisher.send(memory);
        }
        meeting.meet();
      },
      [&] {
        const ReceivingSide<T> side(size.bytes, meeting);
        auto& subscriber = side.subscriber();
        for (std::size_t i = 0; i < count; ++i) {
          if (i == warm_up) begin(series);
          const void* message = nullptr;
          poll_until([&] { return (message = subscriber.take()) != nullptr; });
          const auto* const bytes = static_cast<const volatile unsigned char*>(message);
          const unsigned first = bytes[0], last = bytes[size.bytes - 1];
          series.add(ticks());
          expect(first == (i & 0xff) && last == first, "another frame came");
          subscriber.release(message);
          taken->value.store(i + 1);
        }
        series.end();
        meeting.meet();
      });
  series.subtract(sent);
  const char* const name = written == Written::past_caches ? "stream_" : "frame_";
  bench.report(std::string(name) + size.name, how, series);
}

/// Frames that the processor writes, then frames written past its caches.
template <class T>
void frames(Bench& bench, const char* how) {
  for (const Size& size : frame_sizes)
    bench.scenario(std::string("frame_") + size.name, how, [&] { frame<T>(bench, how, size); });
  for (const Size& size : frame_sizes)
    if (can_stream)
      bench.scenario(std::string("stream_") + size.name, how,
                     [&] { frame<T>(bench, how, size, Written::past_caches); });
}

/// From just before a number is sent until a sleeping process has it; also, as `wake_send`, the
/// sender's time for it.
template <class T>
void wake(Bench& bench, const char* how) {
  const std::size_t warm_up = 20, count = warm_up + bench.scaled(1500);
  Series sent(count), sending(count), series(count);
  const Meeting meeting;
  const Shared<Line> taken;
  bench.run(
      [&] {
        const SendingSide<T> side(8, meeting);
        for (std::size_t i = 0; i < count; ++i) {
          sleep_until_ns(monotonic_ns() + wake_interval_ns);
          while (taken->value.load() != i)
            sleep_until_ns(monotonic_ns() + wake_interval_ns);
          if (i == warm_up) begin(sent, sending);
          const std::uint64_t start = ticks();
          send_u64(*side.publisher, i);
          sending.add(ticks() - start);
          sent.add(start);
        }
        sending.end();
        meeting.meet();
      },
      [&] {
        const ReceivingSide<T> side(8, meeting);
        typename T::Waiter waiter(side.subscriber());
        for (std::size_t i = 0; i < count; ++i) {
          if (i == warm_up) begin(series);
          const std::uint64_t value = wait_u64(waiter, side.subscriber());
          series.add(ticks());
          expect(value == i, "another number came");
          taken->value.store(i + 1);
        }
        series.end();
        meeting.meet();
      });
  series.subtract(sent);
  bench.report("wake", how, series);
  bench.report("wake_send", how, sending);
}

/// Half a round trip of a number where both sides sleep until the other's number comes.
template <class T>
void wake_round_trip(Bench& bench, const char* how) {
  const std::size_t warm_up = 20, count = warm_up + bench.scaled(1500);
  Series series(count);
  const Meeting meeting;
  bench.run(
      [&] {
        const Duplex<T> side("first", "ping", "pong", meeting);
        typename T::Waiter waiter(*side.subscriber);
        meeting.meet();
        for (std::size_t i = 0; i < count; ++i) {
          sleep_until_ns(monotonic_ns() + wake_interval_ns);
          if (i == warm_up) begin(series);
          const std::uint64_t start = ticks();
          send_u64(*side.publisher, i);
          const std::uint64_t answer = wait_u64(waiter, *side.subscriber);
          series.add(ticks() - start);
          expect(answer == i, "another number came back");
        }
        series.end();
        meeting.meet();
      },
      [&] {
        const Duplex<T> side("second", "pong", "ping", meeting);
        typename T::Waiter waiter(*side.subscriber);
        meeting.meet();
        for (std::size_t i = 0; i < count; ++i)
          send_u64(*side.publisher, wait_u64(waiter, *side.subscriber));
        meeting.meet();
      });
  bench.report("wake_rtt", how, series, 2);
}

/// Memory for a message, taken and given back untouched and unsent, without other users.
template <class T>
void alloc(Bench& bench, const char* how, const Size& size) {
  const std::size_t warm_up = 1000, count = warm_up + bench.scaled(20'000);
  Series allocs(count), releases(count);
  bench.run([&] {
    T::enter("first");
    typename T::Publisher publisher("ping", size.bytes);
    for (std::size_t i = 0; i < count; ++i) {
      if (i == warm_up) begin(allocs, releases);
      const std::uint64_t start = ticks();
      void* const memory = publisher.loan();
      const std::uint64_t middle = ticks();
      publisher.discard(memory);
      releases.add(ticks() - middle);
      allocs.add(middle - start);
    }
    allocs.end();
    releases.end();
  });
  bench.report(std::string("alloc_") + size.name, how, allocs);
  bench.report(std::string("release_") + size.name, how, releases);
}

/// The sender's time to loan and send a number with n subscribers in the other process; also, as
/// `fanout_last`, the time until the last of them has taken and released it.
template <class T>
void fanout(Bench& bench, const char* how, int n) {
  const std::size_t warm_up = 500, count = warm_up + bench.scaled(10'000);
  Series sent(count), sending(count), series(count);
  const Meeting meeting;
  const Shared<Line> taken;
  bench.run(
      [&] {
        const SendingSide<T> side(8, meeting, n);
        for (std::size_t i = 0; i < count; ++i) {
          if (i == warm_up) begin(sent, sending);
          const std::uint64_t start = ticks();
          send_u64(*side.publisher, i);
          sending.add(ticks() - start);
          sent.add(start);
          poll_until([&] { return taken->value.load() == i + 1; });
        }
        sending.end();
        meeting.meet();
      },
      [&] {
        const ReceivingSide<T> side(8, meeting, n);
        for (std::size_t i = 0; i < count; ++i) {
          if (i == warm_up) begin(series);
          for (const auto& each : side.subscribers)
            expect(poll_u64(*each) == i, "another number came");
          series.add(ticks());
          taken->value.store(i + 1);
        }
        series.end();
        meeting.meet();
      });
  series.subtract(sent);
  bench.report("fanout_" + std::to_string(n), how, sending);
  bench.report("fanout_last_" + std::to_string(n), how, series);
}

/// All selected scenarios; `Waking` is the transport for scenarios in which waiting costs the
/// sender time.
template <class T, class Waking = T>
void run_all(Bench& bench, const char* how) {
  bench.scenario("rtt_u64", how, [&] { round_trip<T>(bench, how); });
  frames<T>(bench, how);
  bench.scenario("wake", how, [&] { wake<Waking>(bench, how); });
  bench.scenario("wake_rtt", how, [&] { wake_round_trip<Waking>(bench, how); });
  for (const Size& size : alloc_sizes)
    bench.scenario(std::string("alloc_") + size.name, how, [&] { alloc<T>(bench, how, size); });
  for (const int n : fanouts)
    bench.scenario("fanout_" + std::to_string(n), how, [&] { fanout<T>(bench, how, n); });
  for (const int n : thread_counts)
    bench.scenario("threads_" + std::to_string(n), how, [&] { threads<T>(bench, how, n); });
  bench.scenario("slow_reader", how, [&] { slow_reader<T>(bench, how); });
  bench.scenario("burst", how, [&] { burst<T>(bench, how); });
}

}  // namespace halyard::bench
