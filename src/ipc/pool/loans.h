// SPDX-License-Identifier: Apache-2.0
// The protocol between the process that owns a slot and the processes that borrow it. Each word has
// one writer: the owner writes the slot's generation, a borrower its own word of the slot. So a
// process that is killed at any instruction leaves nothing half done that others write to, what it
// had borrowed is forgotten with its words, and no process can take or keep what is another's.
//
// The owner closes a slot, then looks for borrowers; a borrower writes its word, then looks whether
// the slot is open. In the one order of all these operations (they are sequentially consistent) one
// of the two comes first, so at least one sees the other.
//
// The words are a template parameter: tests run these functions in all interleavings.
#pragma once

#include <atomic>
#include <cstdint>

namespace halyard::ipc {

/// Generations of a slot: odd while it is open (it has a tenant), even while it is free; the next
/// tenant has the next odd one. 63 bits are never used up.
constexpr bool is_open(std::uint64_t generation) noexcept {
  return (generation & 1) != 0;
}
/// Beside an odd generation: the owner looks for borrowers, and then closes the slot, or not.
inline constexpr std::uint64_t closing_bit = std::uint64_t{1} << 63;

enum class Borrowed : std::uint8_t {
  yes,
  gone,  ///< that tenant has left
  busy,  ///< the owner is closing the slot, and does not get on: it was stopped or killed there
};

/// For a borrower: lays hold of the tenant `generation`. `word` is its own for this slot and is 0.
/// As long as it is not 0 the slot keeps its tenant. One thread of the process at a time.
template <class Word>
Borrowed borrow(Word& word, const Word& slot, std::uint64_t generation) {
  constexpr int max_looks = 1000;  // closing takes the owner as long as it takes to look once
  word.store(generation, std::memory_order_seq_cst);
  for (int looks = 0;; ++looks) {
    const std::uint64_t now = slot.load(std::memory_order_seq_cst);
    if (now == generation) return Borrowed::yes;
    const bool may_stay = now == (generation | closing_bit);
    if (may_stay && looks < max_looks) {
      Word::pause();
      continue;
    }
    word.store(0, std::memory_order_release);
    return may_stay ? Borrowed::busy : Borrowed::gone;
  }
}

/// For a borrower: lets go. Its reads of the slot's memory come before.
template <class Word>
void give_back(Word& word) {
  word.store(0, std::memory_order_release);
}

/// For the owner, which has written what the tenant begins with: opens a free slot. Its generation.
template <class Word>
std::uint64_t open_slot(Word& slot) {
  const std::uint64_t generation = slot.load(std::memory_order_relaxed) + 1;
  slot.store(generation, std::memory_order_release);
  return generation;
}

/// For the owner, when it has no use for the tenant itself: closes the slot unless
/// `is_borrowed(generation)`, which loads the words of all borrowers (seq_cst) and compares. True:
/// the slot is free, nobody reads its memory, and nobody will. One thread of the process at a time.
template <class Word, class IsBorrowed>
bool close_slot(Word& slot, const IsBorrowed& is_borrowed) {
  const std::uint64_t generation = slot.load(std::memory_order_relaxed);
  slot.store(generation | closing_bit, std::memory_order_seq_cst);
  const bool stays = is_borrowed(generation);
  slot.store(stays ? generation : generation + 1, std::memory_order_seq_cst);
  return !stays;
}

}  // namespace halyard::ipc
