// SPDX-License-Identifier: Apache-2.0
// The protocol between the process that owns a slot and the processes that borrow it. Each word has
// one writer: the owner writes the slot's generation, a borrower its own word for the slot. So a
// process that is killed at any instruction leaves nothing half done in words that others write,
// what it had borrowed is released with its words, and no process can take or keep what belongs to
// another.
//
// The owner closes a slot and then looks for borrowers; a borrower writes its word and then checks
// that the slot is open. All these operations are sequentially consistent, so in their one order
// either the owner's or the borrower's store comes first, and at least one side sees the other.
//
// The type of the words is a template parameter: tests run these functions in all interleavings.
#pragma once

#include <atomic>
#include <cstdint>

namespace halyard::ipc {

/// Generations of a slot: odd while it is open (it has a tenant), even while it is free. Each
/// tenant has the next odd number. 63 bits are never used up.
constexpr bool is_open(std::uint64_t generation) noexcept {
  return (generation & 1) != 0;
}
/// Set in an odd generation while the owner looks for borrowers; then it closes the slot or not.
inline constexpr std::uint64_t closing_bit = std::uint64_t{1} << 63;

enum class Borrowed : std::uint8_t {
  yes,
  gone,  ///< the tenant has left
  busy,  ///< the owner has not finished closing the slot: it was stopped or killed meanwhile
};

/// For a borrower: borrows the tenant `generation`. `word` is its own for this slot and is 0. The
/// slot keeps its tenant as long as the word is not 0. One thread of the process at a time.
template <class Word>
Borrowed borrow(Word& word, const Word& slot, std::uint64_t generation) {
  constexpr int max_looks = 1000;  // closing takes the owner as long as one check of its borrowers
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

/// For a borrower: releases the slot. Its reads of the slot's memory come before.
template <class Word>
void give_back(Word& word) {
  word.store(0, std::memory_order_release);
}

/// For the owner, after it has written the new tenant's record: opens a free slot. Returns the
/// generation.
template <class Word>
std::uint64_t open_slot(Word& slot) {
  const std::uint64_t generation = slot.load(std::memory_order_relaxed) + 1;
  slot.store(generation, std::memory_order_release);
  return generation;
}

/// For the owner, when it no longer uses the tenant itself: closes the slot unless
/// `is_borrowed(generation)`, which loads the words of all borrowers (seq_cst) and compares.
/// Returns true if the slot is free: then no process reads its memory or will. One thread of the
/// process at a time.
template <class Word, class IsBorrowed>
bool close_slot(Word& slot, const IsBorrowed& is_borrowed) {
  const std::uint64_t generation = slot.load(std::memory_order_relaxed);
  slot.store(generation | closing_bit, std::memory_order_seq_cst);
  const bool stays = is_borrowed(generation);
  slot.store(stays ? generation : generation + 1, std::memory_order_seq_cst);
  return !stays;
}

}  // namespace halyard::ipc
