// SPDX-License-Identifier: Apache-2.0
// The machine's own time for each scenario: cache lines, system calls that wake, one memcpy.
// Nothing here is safe from a sender that overtakes its receivers; the scenarios prevent it.
#include <linux/futex.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <climits>

#include "scenarios.h"

namespace {

using namespace halyard::bench;

/// A sequence number with a small message in its cache line; larger ones alternate in two buffers.
struct Channel {
  alignas(64) std::atomic<std::uint64_t> sequence;
  unsigned char small[8];
  alignas(64) std::atomic<std::uint32_t> rung;  // count of rings, as the futex word
  int bell[2];                                  // write end, read end
};

constexpr std::size_t buffers = 2, max_bytes = 3840 * 2160 * 3;

/// Made before the processes.
struct World {
  Shared<Channel> channels{2};  // "ping", "pong"
  Shared<unsigned char> memory{buffers * max_bytes};
};
World* world = nullptr;

Channel& channel(const char* topic) {
  return world->channels[std::strcmp(topic, "ping") == 0 ? 0 : 1];
}

unsigned char* slot(Channel& of, std::size_t bytes, std::uint64_t sequence) {
  if (bytes <= sizeof of.small) return of.small;
  return world->memory.get() + sequence % buffers * max_bytes;
}

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  return syscall(SYS_futex, &word, operation, value, nullptr, nullptr, 0);
}

// Ways to wake: `ring` by the sender, `wait` by the receiver, who returns on every ring.
struct NoBell {
  static constexpr const char* name = "line";
  static void open(Channel&) {}
  static void ring(Channel&) {}
};

struct FutexBell {
  static constexpr const char* name = "futex";
  static void open(Channel&) {}
  static void ring(Channel& on) {
    on.rung.fetch_add(1);
    futex(on.rung, FUTEX_WAKE, INT_MAX);
  }
  static void wait(Channel& on, std::uint32_t& seen) {
    while (on.rung.load() == seen)
      futex(on.rung, FUTEX_WAIT, seen);
    ++seen;
  }
};

void poll_in(int fd) {
  pollfd one{fd, POLLIN, 0};
  while (poll(&one, 1, -1) != 1) {
  }
}

struct EventFdBell {
  static constexpr const char* name = "eventfd";
  static void open(Channel& on) {
    on.bell[0] = on.bell[1] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  }
  static void ring(Channel& on) {
    const std::uint64_t one = 1;
    expect(write(on.bell[0], &one, sizeof one) == sizeof one, "write to an eventfd failed");
  }
  static void wait(Channel& on, std::uint32_t&) {
    std::uint64_t rings = 0;
    poll_in(on.bell[1]);
    expect(read(on.bell[1], &rings, sizeof rings) == sizeof rings, "read of an eventfd failed");
  }
};

template <int Type>
struct SocketBell {
  static constexpr const char* name = Type == SOCK_DGRAM ? "datagram" : "seqpacket";
  static void open(Channel& on) {
    expect(socketpair(AF_UNIX, Type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, on.bell) == 0,
           "socketpair failed");
  }
  static void ring(Channel& on) {
    const std::uint64_t one = 1;
    expect(send(on.bell[0], &one, sizeof one, MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof one,
           "send failed");
  }
  static void wait(Channel& on, std::uint32_t&) {
    std::uint64_t ring = 0;
    poll_in(on.bell[1]);
    expect(recv(on.bell[1], &ring, sizeof ring, 0) == sizeof ring, "recv failed");
  }
};

/// `Copies`: the message is made in the sender's own memory and copied once.
template <class Bell, bool Copies = false>
struct Floor {
  static void enter(const char*) {}

  class Publisher {
   public:
    Publisher(const char* topic, std::size_t bytes)
        : channel_(channel(topic)), bytes_(bytes), own_(Copies ? bytes : 0) {}
    bool connected(int) const { return true; }
    void* loan() { return Copies ? own_.data() : slot(channel_, bytes_, sent_); }
    void send(void*) {
      if (Copies) std::memcpy(slot(channel_, bytes_, sent_), own_.data(), bytes_);
      channel_.sequence.store(++sent_, std::memory_order_release);
      Bell::ring(channel_);
    }

   private:
    Channel& channel_;
    std::size_t bytes_;
    std::vector<unsigned char> own_;
    std::uint64_t sent_ = 0;
  };

  class Subscriber {
   public:
    Subscriber(const char* topic, std::size_t bytes) : channel_(channel(topic)), bytes_(bytes) {}
    bool connected() const { return true; }
    const void* take() {
      if (channel_.sequence.load(std::memory_order_acquire) == taken_) return nullptr;
      return slot(channel_, bytes_, taken_++);
    }
    void release(const void*) {}
    Channel& channel_of_waiter() const { return channel_; }

   private:
    Channel& channel_;
    std::size_t bytes_;
    std::uint64_t taken_ = 0;
  };

  class Waiter {
   public:
    explicit Waiter(Subscriber& of) : channel_(of.channel_of_waiter()) {}
    void wait() { Bell::wait(channel_, seen_); }

   private:
    Channel& channel_;
    std::uint32_t seen_ = 0;
  };
};

/// A list of free slots in shared memory: one exchange to take, one to give back, whatever the
/// size.
struct FreeList {
  static void enter(const char*) {}
  struct State {
    alignas(64) std::atomic<std::uint64_t> head;  // upper bits: count of changes, lower: a slot
    std::uint32_t next[64];
  };
  class Publisher {
   public:
    Publisher(const char*, std::size_t) {
      for (std::uint32_t i = 0; i < 64; ++i)
        state_->next[i] = i + 1;
    }
    void* loan() {
      std::uint64_t head = state_->head.load(std::memory_order_acquire);
      while (!state_->head.compare_exchange_weak(
          head, ((head >> 32) + 1) << 32 | state_->next[head & 63])) {
      }
      return &state_->next[head & 63];
    }
    void discard(void* memory) {
      auto* const next = static_cast<std::uint32_t*>(memory);
      const auto index = static_cast<std::uint64_t>(next - state_->next);
      std::uint64_t head = state_->head.load(std::memory_order_acquire);
      do {
        *next = static_cast<std::uint32_t>(head);
      } while (!state_->head.compare_exchange_weak(head, ((head >> 32) + 1) << 32 | index));
    }

   private:
    Shared<State> state_;
  };
};

/// The least that can count holders: a number that others may change, too.
struct Counter {
  static void enter(const char*) {}
  class Publisher {
   public:
    Publisher(const char*, std::size_t) {}
    void* loan() { return line_.get(); }
    void discard(void*) {}
    void retain() { line_->value.fetch_add(1, std::memory_order_relaxed); }
    void let_go() { line_->value.fetch_sub(1, std::memory_order_acq_rel); }

   private:
    Shared<Line> line_;
  };
};

/// A thread with channels of its own.
void in_new_world(Bench& bench, const std::string& name, const char* how, void (*open)(Channel&),
                  const std::function<void()>& work) {
  bench.scenario(name, how, [&] {
    World made;
    world = &made;
    open(made.channels[0]);
    open(made.channels[1]);
    work();
    for (int i = 0; i < 2; ++i)
      for (const int fd : made.channels[static_cast<std::size_t>(i)].bell)
        if (fd > 0) close(fd);
  });
}

template <class Bell>
void wakes(Bench& bench) {
  using T = Floor<Bell>;
  in_new_world(bench, "wake", Bell::name, Bell::open, [&] { wake<T>(bench, Bell::name); });
  in_new_world(bench, "wake_rtt", Bell::name, Bell::open,
               [&] { wake_round_trip<T>(bench, Bell::name); });
}

}  // namespace

int main(int argc, char** argv) {
  Bench bench("floor", parse(argc, argv, "Times what bounds any transport between two processes."));
  bench.scenario("clock", "", [&] {
    Series series(bench.scaled(100'000));
    bench.run([&] {
      begin(series);
      for (std::size_t i = 0; i < bench.scaled(100'000); ++i) {
        const std::uint64_t start = ticks();
        series.add(ticks() - start);
      }
      series.end();
    });
    bench.report("clock", "", series);
  });
  using Lines = Floor<NoBell>;
  const auto lines = [&](const std::string& name, const std::function<void()>& work) {
    in_new_world(bench, name, "line", NoBell::open, work);
  };
  lines("rtt_u64", [&] { round_trip<Lines>(bench, "line"); });
  for (const Size& size : frame_sizes) {
    const std::string name = std::string("frame_") + size.name;
    lines(name, [&] { frame<Lines>(bench, "line", size); });
    in_new_world(bench, name, "memcpy", NoBell::open,
                 [&] { frame<Floor<NoBell, true>>(bench, "memcpy", size); });
    if (can_stream)
      lines(std::string("stream_") + size.name,
            [&] { frame<Lines>(bench, "line", size, Written::past_caches); });
  }
  wakes<FutexBell>(bench);
  wakes<EventFdBell>(bench);
  wakes<SocketBell<SOCK_SEQPACKET>>(bench);
  wakes<SocketBell<SOCK_DGRAM>>(bench);
  for (const Size& size : alloc_sizes)
    bench.scenario(std::string("alloc_") + size.name, "free list",
                   [&] { alloc<FreeList>(bench, "free list", size); });
  for (const int n : fanouts)
    lines("fanout_" + std::to_string(n), [&] { fanout<Lines>(bench, "line", n); });
  for (const int n : thread_counts)
    lines("threads_" + std::to_string(n), [&] { threads<Lines>(bench, "line", n); });
  bench.scenario("retain", "counter", [&] { retain<Counter>(bench, "counter"); });
  return bench.exit_code();
}
