// SPDX-License-Identifier: Apache-2.0
// The messages of one publisher: a ring that only the publisher writes and any number of processes
// read. A publisher never waits: it overwrites the oldest message. A reader notices when the
// message it reads was overwritten, continues with the oldest message of the window, and counts how
// many it has lost.
//
// Message n lies in entry n % capacity; capacity is a power of two. An entry's state is 2n + 1
// while message n is written and 2n + 2 when it is complete (a sequence lock: Boehm, "Can seqlocks
// get along with programming language memory models?", MSPC 2012), so states only grow. A publisher
// that is killed while it writes leaves a message that never becomes complete.
//
// The type of the words is a template parameter: tests run these functions in all interleavings.
// The memory of another process may hold any numbers; a reader takes positions and words from it,
// never an address or an index.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace halyard::ipc {

/// The parts of a ring, for its publisher (Word) and its readers (const Word).
template <class Word>
struct RingMemory {
  Word* head = nullptr;    ///< messages published so far
  Word* states = nullptr;  ///< one per entry, `stride` words apart
  std::size_t stride =
      1;  ///< words from one entry's state to the next; the message's words follow the state
  std::uint64_t capacity = 1;  ///< number of entries, a power of two; the window is at most as long

  Word& state(std::uint64_t position) const { return states[(position & (capacity - 1)) * stride]; }
  Word* words(std::uint64_t position) const { return &state(position) + 1; }
};

constexpr std::uint64_t state_while_written(std::uint64_t position) noexcept {
  return 2 * position + 1;
}
constexpr std::uint64_t state_when_there(std::uint64_t position) noexcept {
  return 2 * position + 2;
}

/// For the publisher: writes message `position`, which is the number published so far. One thread
/// at a time. `write(words)` stores the message's words with relaxed order.
template <class Word, class Write>
void publish_with(const RingMemory<Word>& ring, std::uint64_t position, const Write& write) {
  Word& state = ring.state(position);
  state.store(state_while_written(position), std::memory_order_relaxed);
  Word::fence(std::memory_order_release);
  write(ring.words(position));
  state.store(state_when_there(position), std::memory_order_release);
  ring.head->store(position + 1, std::memory_order_seq_cst);
}
template <class Word>
void publish(const RingMemory<Word>& ring, std::uint64_t position,
             std::span<const std::uint64_t> message) {
  publish_with(ring, position, [&](Word* words) {
    for (std::size_t i = 0; i < message.size(); ++i)
      words[i].store(message[i], std::memory_order_relaxed);
  });
}

/// Copy bytes to words and back. A last word may be used in part.
template <class Word>
void store_bytes(Word* words, std::span<const std::byte> bytes) {
  const std::size_t whole = bytes.size() / 8;
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < whole; ++i) {
    std::memcpy(&word, bytes.data() + i * 8, 8);
    words[i].store(word, std::memory_order_relaxed);
  }
  if (bytes.size() % 8 == 0) return;
  word = 0;
  std::memcpy(&word, bytes.data() + whole * 8, bytes.size() % 8);
  words[whole].store(word, std::memory_order_relaxed);
}
template <class Word>
void load_bytes(const Word* words, std::span<std::byte> bytes) {
  const std::size_t whole = bytes.size() / 8;
  for (std::size_t i = 0; i < whole; ++i) {
    const std::uint64_t word = words[i].load(std::memory_order_relaxed);
    std::memcpy(bytes.data() + i * 8, &word, 8);
  }
  if (bytes.size() % 8 == 0) return;
  const std::uint64_t word = words[whole].load(std::memory_order_relaxed);
  std::memcpy(bytes.data() + whole * 8, &word, bytes.size() % 8);
}

enum class Read : std::uint8_t {
  message,
  nothing_yet,
  overtaken,  ///< the message was overwritten
};

/// For a reader: `copy(words)` loads what it wants of message `position`, with relaxed order. What
/// it has loaded is a message only if this function returns Read::message.
template <class Word, class Copy>
Read read_at(const RingMemory<const Word>& ring, std::uint64_t position, const Copy& copy) {
  const Word& state = ring.state(position);
  const std::uint64_t before = state.load(std::memory_order_acquire);
  if (before < state_when_there(position)) return Read::nothing_yet;
  if (before > state_when_there(position)) return Read::overtaken;
  copy(ring.words(position));
  Word::fence(std::memory_order_acquire);
  const std::uint64_t after = state.load(std::memory_order_relaxed);
  return after == before ? Read::message : Read::overtaken;
}

/// A reader's place in a ring, and the number of messages it has lost.
struct ReadPlace {
  std::uint64_t next = 0;
  std::uint64_t lost = 0;

  /// Moves to the oldest message of a window of `window` messages (1: the newest message), unless
  /// the place is further already. Counts the skipped messages as lost.
  template <class Word>
  void catch_up(const RingMemory<const Word>& ring, std::uint64_t window) {
    const std::uint64_t head = ring.head->load(std::memory_order_acquire);
    const std::uint64_t oldest = head > window ? head - window : 0;
    if (oldest <= next) return;
    lost += oldest - next;
    next = oldest;
  }

  /// Reads the next message. Returns message or nothing_yet, or overtaken if the publisher was
  /// faster in each of `max_tries` tries.
  template <class Word>
  Read read(const RingMemory<const Word>& ring, std::uint64_t window,
            std::span<std::uint64_t> message, int max_tries = 64) {
    const auto copy = [&](const Word* words) {
      for (std::size_t i = 0; i < message.size(); ++i)
        message[i] = words[i].load(std::memory_order_relaxed);
    };
    return read_with(ring, window, copy, max_tries);
  }
  /// Like read(), with a copy() as for read_at().
  template <class Word, class Copy>
  Read read_with(const RingMemory<const Word>& ring, std::uint64_t window, const Copy& copy,
                 int max_tries = 64) {
    for (int tries = 0; tries < max_tries; ++tries) {
      const Read found = read_at(ring, next, copy);
      if (found == Read::message) ++next;
      if (found != Read::overtaken) return found;
      const std::uint64_t before = next;
      catch_up(ring, window);
      // The entry may be overwritten before the head shows it.
      if (next == before) {
        ++next;
        ++lost;
      }
    }
    return Read::overtaken;
  }
};

}  // namespace halyard::ipc
