// SPDX-License-Identifier: Apache-2.0
// Owner and borrowers in every interleaving: nobody reads memory that has another tenant, and what
// nobody borrows is free in the end.
#include "ipc/pool/loans.h"

#include <gtest/gtest.h>

#include "ipc/topic/interleavings.h"

namespace halyard::ipc {
namespace {

using namespace test;  // NOLINT: its helpers are what tests are written in

constexpr std::uint64_t tenant = 1;  // the first one's generation

// One slot, whose memory holds the generation of its tenant, and the words of two borrowers.
class Slot {
 public:
  explicit Slot(std::uint64_t held_by_one = 0)
      : is_fresh_(forget()), generation(tenant), memory(tenant), one(held_by_one), other(0) {}

  bool is_borrowed(std::uint64_t now) const { return one.load() == now || other.load() == now; }
  bool close() {
    return close_slot(generation, [this](std::uint64_t now) { return is_borrowed(now); });
  }
  void open_for_the_next() {
    memory.store(tenant + 2);
    open_slot(generation);
  }
  // For the owner: gives the slot to the next tenant when it can.
  void reuse() {
    for (int i = 0; i < 2; ++i) {
      if (!close()) continue;
      open_for_the_next();
      return;
    }
  }
  void read_twice() const {
    Interleavings::must(memory.load() == tenant, "a borrower reads its tenant");
    Interleavings::must(memory.load() == tenant, "a tenant stays while it is borrowed");
  }
  // For a borrower.
  void visit(ModelWord& word) {
    if (borrow(word, generation, tenant) != Borrowed::yes) return;
    read_twice();
    give_back(word);
  }

 private:
  static bool forget() {
    Interleavings::clear();
    return true;
  }
  bool is_fresh_;

 public:
  ModelWord generation;
  ModelWord memory;
  ModelWord one;
  ModelWord other;
};

Interleavings::Report run(const std::vector<Interleavings::Thread>& threads,
                          const std::function<void()>& at_end) {
  const auto report = Interleavings::run(threads, at_end);
  std::printf("%zu states, %zu ends\n", report.states, report.ends);
  return report;
}

TEST(Loans, never_show_a_borrower_the_next_tenant) {
  Slot slot;
  const auto report =
      run({[&] { slot.reuse(); }, [&] { slot.visit(slot.one); }, [&] { slot.visit(slot.other); }},
          [&] { Interleavings::must(!slot.is_borrowed(tenant), "all is given back"); });
  EXPECT_EQ(report.failure, "");
  EXPECT_GT(report.states, 500U);
  EXPECT_GT(report.ends, 1U);
}

TEST(Loans, end_with_a_free_slot_when_the_owner_looks_once_more) {
  Slot slot;
  const auto report = run({[&] { slot.reuse(); }, [&] { slot.visit(slot.one); }}, [&] {
    Interleavings::must(slot.generation.load() == tenant + 2 || slot.close(), "nothing is lost");
  });
  EXPECT_EQ(report.failure, "");
}

TEST(Loans, can_be_passed_on_while_the_owner_looks) {
  Slot slot(tenant);
  const ModelWord has_other(0);
  const auto passes_on = [&] {
    while (has_other.load() == 0)
      ModelWord::pause();
    give_back(slot.one);
  };
  const auto receives = [&] {
    const Borrowed got = borrow(slot.other, slot.generation, tenant);
    Interleavings::must(got == Borrowed::yes, "what another process holds can be borrowed");
    const_cast<ModelWord&>(has_other).store(1);
    slot.read_twice();
    give_back(slot.other);
  };
  EXPECT_EQ(run({[&] { slot.reuse(); }, passes_on, receives}, [] {}).failure, "");
}

// A borrower that is killed at any step: its words are forgotten, and the slot is free.
TEST(Loans, of_a_killed_process_end_with_its_words) {
  for (int steps = 0; steps < 5; ++steps) {
    Slot slot;
    const auto killed = [&] {
      int left = steps;
      const auto may_go_on = [&left] { return left-- > 0; };
      if (may_go_on()) slot.one.store(tenant, std::memory_order_seq_cst);
      if (may_go_on()) slot.generation.load();
      if (may_go_on()) slot.memory.load();
      if (may_go_on()) give_back(slot.one);
    };
    const auto report = run({[&] { slot.reuse(); }, killed}, [&] {
      slot.one.store(0);  // whoever finds the process dead
      Interleavings::must(slot.generation.load() == tenant + 2 || slot.close(), "nothing is lost");
    });
    EXPECT_EQ(report.failure, "") << steps;
  }
}

// The search itself: it finds what goes wrong when one of the two looks before it writes.
TEST(Interleavings, show_that_an_owner_must_not_look_before_it_closes) {
  Slot slot;
  const auto careless = [&] {
    if (slot.is_borrowed(tenant)) return;
    slot.generation.store(tenant + 1);
    slot.open_for_the_next();
  };
  const auto report = run({careless, [&] { slot.visit(slot.one); }}, [] {});
  EXPECT_NE(report.failure.find("a borrower reads its tenant"), std::string::npos);
}

TEST(Interleavings, show_that_a_borrower_must_not_look_before_it_writes) {
  Slot slot;
  const auto careless = [&] {
    if (slot.generation.load() != tenant) return;
    slot.one.store(tenant);
    slot.read_twice();
    give_back(slot.one);
  };
  const auto report = run({[&] { slot.reuse(); }, careless}, [] {});
  EXPECT_NE(report.failure, "");
}

TEST(Interleavings, find_threads_that_wait_for_each_other) {
  Interleavings::clear();
  ModelWord mine(0);
  ModelWord yours(0);
  const auto wait_for = [](const ModelWord& first, ModelWord& then) {
    while (first.load() == 0)
      ModelWord::pause();
    then.store(1);
  };
  EXPECT_NE(run({[&] { wait_for(mine, yours); }, [&] { wait_for(yours, mine); }}, [] {})
                .failure.find("wait for ever"),
            std::string::npos);
}

TEST(Interleavings, count_all_orders_of_independent_steps) {
  Interleavings::clear();
  ModelWord sum(0);
  const auto add_twice = [&] {
    sum.fetch_add(1);
    sum.fetch_add(1);
  };
  const auto report =
      run({add_twice, add_twice}, [&] { Interleavings::must(sum.load() == 4, "no step is lost"); });
  EXPECT_EQ(report.failure, "");
  EXPECT_EQ(report.ends, 6U) << "each order gives the threads other results";
}

}  // namespace
}  // namespace halyard::ipc
