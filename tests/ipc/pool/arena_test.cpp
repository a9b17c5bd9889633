// SPDX-License-Identifier: Apache-2.0
// An arena by itself, lent to others in this process, and to processes that are killed.
#include "ipc/pool/arena.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "ipc/helpers.h"
#include "ipc/pool/loans.h"
#include "support/in_child.h"
#include "support/result.h"
#include "support/threads.h"

namespace halyard::ipc {
namespace {

using test::value_of;

constexpr std::uint64_t mib = std::uint64_t{1} << 20;

std::unique_ptr<Arena> make(std::uint64_t bytes, std::uint32_t slots,
                            std::uint64_t first_bytes = 16 * mib) {
  Arena::Config config;
  config.max_bytes = bytes;
  config.slots = slots;
  config.first_bytes = first_bytes;
  return value_of(Arena::create("test", config));
}

// The words of a process that borrows, and the owner's words as it sees them.
class Borrower {
 public:
  explicit Borrower(Arena& arena)
      : arena_(arena),
        control_(*MappedMemory::create(arena.control().fd.get(),
                                       arena.control().mapped.bytes().size(), false)),
        words_(std::make_unique<SharedWord[]>(arena.config().slots)) {
    EXPECT_TRUE(arena.add_borrower(words_.get(), 1));
  }
  Borrower(const Borrower&) = delete;
  Borrower& operator=(const Borrower&) = delete;
  ~Borrower() { arena_.remove_borrower(words_.get()); }

  Borrowed take(std::uint32_t slot, std::uint64_t generation) {
    const SharedWord& owners = slot_records(control_.bytes())[slot].generation;
    return borrow(words_[slot], owners, generation);
  }
  void give(std::uint32_t slot) { give_back(words_[slot]); }

 private:
  Arena& arena_;
  MappedMemory control_;
  std::unique_ptr<SharedWord[]> words_;
};

TEST(Arena, gives_memory_and_takes_it_back) {
  const auto arena = make(mib, 4);
  const auto lease = value_of(arena->allocate(1000));
  EXPECT_EQ(lease.bytes.size(), 1000U);
  EXPECT_TRUE(is_open(lease.generation));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(lease.bytes.data()) % 64, 0U);
  EXPECT_EQ(arena->stats().slots_used, 1U);
  EXPECT_EQ(arena->stats().bytes_used, 1024U);
  arena->retain(lease.slot);
  arena->release(lease.slot);
  EXPECT_EQ(arena->generation(lease.slot), lease.generation);
  arena->release(lease.slot);
  EXPECT_EQ(arena->generation(lease.slot), lease.generation + 1);
  EXPECT_EQ(arena->stats().slots_used, 0U);
  EXPECT_EQ(arena->stats().bytes_used, 0U);
  EXPECT_EQ(arena->stats().peak_bytes_used, 1024U);
}

TEST(Arena, says_what_it_has_run_out_of) {
  const auto arena = make(mib, 2);
  EXPECT_FAILS(arena->allocate(mib + 1), "memory is used up");
  const auto first = *arena->allocate(100);
  const auto second = *arena->allocate(100);
  EXPECT_FAILS(arena->allocate(100), Errc::exhausted, "no slot is free");
  arena->release(first.slot);
  EXPECT_TRUE(arena->allocate(100));
  arena->release(second.slot);
}

TEST(Arena, tells_pieces_from_memory_that_is_used_up) {
  const auto arena = make(mib, 8, mib);
  std::vector<Arena::Lease> leases;
  for (int i = 0; i < 4; ++i)
    leases.push_back(*arena->allocate(mib / 4));
  arena->release(leases[0].slot);
  arena->release(leases[2].slot);
  EXPECT_FAILS(arena->allocate(mib / 2), "fragmented");
  EXPECT_FAILS(arena->allocate(3 * mib / 4), "used up");
  arena->release(leases[1].slot);
  EXPECT_TRUE(arena->allocate(3 * mib / 4)) << "neighbours join";
}

TEST(Arena, grows_in_steps_up_to_its_limit_and_not_further) {
  const auto arena = make(10 * mib, 100, mib);
  EXPECT_EQ(arena->stats().bytes_reserved, 0U);
  std::vector<Arena::Lease> leases;
  while (auto lease = arena->allocate(mib / 2))
    leases.push_back(*std::move(lease));
  EXPECT_EQ(leases.size(), 20U) << "all of the limit can be used";
  for (const Arena::Lease& lease : leases)
    std::memset(lease.bytes.data(), 7, lease.bytes.size());
  EXPECT_EQ(arena->stats().bytes_reserved, 10 * mib);
}

TEST(Arena, refuses_a_configuration_that_cannot_be) {
  using Config = Arena::Config;
  for (const Config& config :
       {Config{.slots = 0}, Config{.slots = (1U << 20U) + 1}, Config{.slot_alignment = 32},
        Config{.slot_alignment = 96}, Config{.max_bytes = 63}, Config{.max_bytes = UINT64_MAX}})
    EXPECT_FAILS(Arena::create("x", config), Errc::invalid_argument);
}

TEST(Arena, keeps_what_is_borrowed_and_counts_it) {
  const auto arena = make(mib, 2);
  Borrower other(*arena);
  const auto lease = *arena->allocate(100);
  EXPECT_EQ(other.take(lease.slot, lease.generation), Borrowed::yes);
  arena->release(lease.slot);
  EXPECT_EQ(arena->stats().slots_used, 1U);
  EXPECT_EQ(arena->stats().slots_borrowed, 1U);
  EXPECT_EQ(arena->generation(lease.slot), lease.generation);
  EXPECT_TRUE(arena->allocate(100));
  EXPECT_FALSE(arena->allocate(100)) << "the other slot is lent";
  other.give(lease.slot);
  EXPECT_EQ(arena->stats().slots_used, 1U);
  EXPECT_TRUE(arena->allocate(100));
  EXPECT_EQ(other.take(lease.slot, lease.generation), Borrowed::gone);
}

TEST(Arena, takes_back_a_tenant_that_others_have_kept) {
  const auto arena = make(mib, 2);
  Borrower other(*arena);
  const auto lease = *arena->allocate(100);
  EXPECT_EQ(other.take(lease.slot, lease.generation), Borrowed::yes);
  arena->release(lease.slot);
  EXPECT_FALSE(arena->try_retain(lease.slot, lease.generation + 2));
  EXPECT_TRUE(arena->try_retain(lease.slot, lease.generation));
  other.give(lease.slot);
  EXPECT_EQ(arena->stats().slots_borrowed, 0U);
  EXPECT_EQ(arena->generation(lease.slot), lease.generation);
  arena->release(lease.slot);
  EXPECT_FALSE(arena->try_retain(lease.slot, lease.generation));
  EXPECT_EQ(arena->stats().slots_used, 0U);
}

TEST(Arena, forgets_what_a_borrower_held_that_is_removed) {
  const auto arena = make(mib, 1);
  const auto lease = *arena->allocate(100);
  {
    Borrower other(*arena);
    EXPECT_EQ(other.take(lease.slot, lease.generation), Borrowed::yes);
    arena->release(lease.slot);
    EXPECT_EQ(arena->stats().slots_used, 1U);
  }
  EXPECT_EQ(arena->stats().slots_used, 0U);
}

TEST(Arena, is_none_of_a_child_s_business) {
  const auto arena = make(mib, 2);
  const auto lease = *arena->allocate(100);
  EXPECT_TRUE(test::is_true_in_child([&] {
    arena->release(lease.slot);
    return arena->allocate(1).error().code == Errc::unsupported &&
           arena->generation(lease.slot) == lease.generation;
  }));
  EXPECT_EQ(arena->stats().slots_used, 1U);
}

bool is_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

// Releasing costs the same for any size: somebody else writes the zeros, a little at a time.
TEST(Arena, leaves_the_scrubbing_to_whoever_is_told) {
  const auto arena = *Arena::create("test", {.max_bytes = 4 * mib, .slots = 8, .scrubs = true});
  int told = 0;
  arena->on_dirty([&] { ++told; });
  const auto take = [&](std::size_t bytes) {
    const Arena::Lease lease = *arena->allocate(bytes);
    EXPECT_TRUE(is_zero(lease.bytes)) << bytes;
    std::fill(lease.bytes.begin(), lease.bytes.end(), std::byte{9});
    return lease;
  };
  const Arena::Lease large = take(mib);
  const Arena::Lease small = take(100);
  arena->release(large.slot);
  EXPECT_EQ(told, 1);
  EXPECT_FALSE(is_zero(large.bytes));
  EXPECT_TRUE(arena->scrub_some());
  EXPECT_FALSE(is_zero(large.bytes));
  // One that comes while another is scrubbed neither stops that nor is forgotten.
  arena->release(small.slot);
  EXPECT_EQ(told, 1) << "whoever was told is at it";
  int steps = 1;
  while (arena->scrub_some())
    ++steps;
  EXPECT_EQ(steps, 11 + 1);
  EXPECT_TRUE(is_zero(large.bytes));
  EXPECT_TRUE(is_zero(small.bytes));
  EXPECT_EQ(arena->stats().slots_used, 0U);
  // Who scrubs has gone to sleep, and is told again.
  arena->release(take(5000).slot);
  EXPECT_EQ(told, 2);
  // Where nobody does it in time, allocating does.
  for (std::size_t i = 0; i < 20; ++i)
    arena->release(take(mib + 64 * i).slot);
}

// Generations have 64 bits: where the lower half begins anew, what is stale stays so.
TEST(Arena, tells_tenants_apart_beyond_32_bits) {
  const auto arena =
      *Arena::create("test", {.max_bytes = mib, .slots = 1, .first_generation = 0xFFFF'FFF0U});
  Borrower borrower(*arena);
  std::vector<std::uint64_t> stale;
  for (int i = 0; i < 40; ++i) {
    const auto lease = value_of(arena->allocate(8));
    for (const std::uint64_t generation : stale) {
      ASSERT_LT(generation, lease.generation);
      EXPECT_FALSE(arena->try_retain(lease.slot, generation));
      EXPECT_FALSE(arena->retain_tenant(lease.slot, generation));
      EXPECT_FALSE(arena->release_tenant(lease.slot, generation));
      EXPECT_EQ(borrower.take(lease.slot, generation), Borrowed::gone);
    }
    EXPECT_EQ(borrower.take(lease.slot, lease.generation), Borrowed::yes);
    borrower.give(lease.slot);
    stale.push_back(lease.generation);
    arena->release(lease.slot);
  }
  EXPECT_GT(stale.back(), UINT64_C(0x1'0000'0000));
}

// Random work on several threads: every tenant's bytes stay its own until it is released.
TEST(Arena, keeps_tenants_of_all_threads_apart) {
  const auto arena = make(8 * mib, 64, mib);
  std::atomic<int> corrupt{0};
  test::on_threads(4, [&](std::size_t seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    std::vector<Arena::Lease> mine;
    for (int step = 0; step < 5000; ++step) {
      if (mine.size() < 12 && random() % 2 == 0) {
        auto lease = arena->allocate(random() % 20'000);
        if (!lease) continue;
        std::memset(lease->bytes.data(), static_cast<int>(seed), lease->bytes.size());
        mine.push_back(*lease);
      } else if (!mine.empty()) {
        std::swap(mine[random() % mine.size()], mine.back());
        const auto& bytes = mine.back().bytes;
        corrupt += std::any_of(bytes.begin(), bytes.end(),
                               [&](std::byte byte) { return byte != std::byte(seed); });
        arena->release(mine.back().slot);
        mine.pop_back();
      }
    }
    for (const Arena::Lease& lease : mine)
      arena->release(lease.slot);
  });
  EXPECT_EQ(corrupt, 0);
  EXPECT_EQ(arena->stats().slots_used, 0U);
  EXPECT_EQ(arena->stats().bytes_used, 0U);
}

// Children borrow and give back at random and are killed at a random moment: what a child holds is
// never given away while it lives, and all is free when its words are forgotten.
TEST(Arena, gets_back_exactly_what_killed_processes_held) {
  const auto arena = make(mib, 16);
  std::mt19937 random(1);
  std::array<Arena::Lease, 16> leases;
  for (int round = 0; round < 200; ++round) {
    for (Arena::Lease& lease : leases) {
      lease = *arena->allocate(1000);
      std::memset(lease.bytes.data(), round, lease.bytes.size());
    }
    const auto own = *create_own_memory("words", 16 * sizeof(SharedWord));
    auto* const words = reinterpret_cast<SharedWord*>(own.mapped.bytes().data());
    ASSERT_TRUE(arena->add_borrower(words, 1));
    const pid_t child = fork();
    if (child == 0) {
      std::mt19937 mine(static_cast<unsigned>(round));
      const SlotRecord* owners = slot_records(arena->control().mapped.bytes());
      for (;;) {
        const Arena::Lease& lease = leases[mine() % leases.size()];
        if (words[lease.slot].load(std::memory_order_relaxed) != 0) {
          if (lease.bytes[0] != std::byte(round)) _exit(1);
          give_back(words[lease.slot]);
        } else {
          borrow(words[lease.slot], owners[lease.slot].generation, lease.generation);
        }
      }
    }
    usleep(static_cast<useconds_t>(random() % 500));
    for (const Arena::Lease& lease : leases)
      arena->release(lease.slot);
    usleep(static_cast<useconds_t>(random() % 500));
    const auto held = arena->stats().slots_borrowed;
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status)) << "it saw another tenant's bytes";
    EXPECT_LE(arena->stats().slots_borrowed, held) << "a tenant that has left does not come back";
    arena->remove_borrower(words);
    EXPECT_EQ(arena->stats().slots_used, 0U);
    EXPECT_EQ(arena->stats().bytes_used, 0U);
  }
}

}  // namespace
}  // namespace halyard::ipc
