// SPDX-License-Identifier: Apache-2.0
// Runs small programs of several threads in every interleaving of their atomic operations, which
// are sequentially consistent here. A thread is a function that is called again for each of its
// steps: it is given the results of the steps that it has done, does one more, and is left by an
// exception. So all that it does must follow from what it has read. States that were seen are not
// looked at again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace halyard::test {

/// What the threads of a program share and what they have done so far.
class Interleavings {
 public:
  using Thread = std::function<void()>;
  struct Report {
    std::size_t states = 0;  ///< different ones
    std::size_t ends = 0;    ///< different states in which every thread has ended
    std::string failure;     ///< of the first broken promise, with the steps that lead there
  };

  /// Explores all. `at_end` is called in each state in which every thread has ended; it may load
  /// and say must().
  static Report run(const std::vector<Thread>& threads, const std::function<void()>& at_end);

  /// A word of shared memory; made before run() is called, by the thread that calls it.
  static std::size_t add_word(std::uint64_t value);
  /// One step: `change` may alter the word, and its result is the step's.
  static std::uint64_t step(std::size_t word, const char* what,
                            const std::function<std::uint64_t(std::uint64_t&)>& change);
  /// The thread goes on when the word of its last step has another value.
  static void pause();
  /// A promise of the program.
  static void must(bool holds, const char* promise);
  /// Forgets all words.
  static void clear();
};

/// An atomic number of the program: std::atomic's operations, each a step.
class ModelWord {
 public:
  explicit ModelWord(std::uint64_t value = 0) : word_(Interleavings::add_word(value)) {}
  ModelWord(const ModelWord&) = delete;
  ModelWord& operator=(const ModelWord&) = delete;

  template <class... Order>
  std::uint64_t load(Order...) const {
    return Interleavings::step(word_, "load", [](std::uint64_t& value) { return value; });
  }
  template <class... Order>
  void store(std::uint64_t wanted, Order...) {
    Interleavings::step(word_, "store", [wanted](std::uint64_t& value) { return value = wanted; });
  }
  template <class... Order>
  std::uint64_t fetch_add(std::uint64_t more, Order...) {
    return Interleavings::step(
        word_, "add", [more](std::uint64_t& value) { return std::exchange(value, value + more); });
  }
  static void pause() { Interleavings::pause(); }
  template <class Order>
  static void fence(Order) {}

 private:
  std::size_t word_;
};

}  // namespace halyard::test
