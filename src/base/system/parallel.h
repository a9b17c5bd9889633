// SPDX-License-Identifier: Apache-2.0
// Parallel: spreads strips of work over threads. Only parallel.cpp of the library uses oneTBB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace halyard {

/// Runs work on up to `threads` threads (0: all cores). Threads start at the first run that uses
/// more than one.
class Parallel {
 public:
  explicit Parallel(unsigned threads) noexcept;
  Parallel(const Parallel&) = delete;
  Parallel& operator=(const Parallel&) = delete;
  ~Parallel();

  /// Count of slots: `body` is called with 0 .. width() - 1.
  std::size_t width() const noexcept { return width_; }

  /// Calls body(begin, end, slot) for strips that cover [0, count), each of at least `minimum`
  /// items (one strip where there are fewer). No two calls that run at the same time share a slot.
  /// The order of strips is not defined. Allocates nothing once threads run. Makes one strip in a
  /// child process that was forked after threads started, and where the system lets no thread
  /// start.
  template <class Body>
  void for_strips(std::int32_t count, std::int32_t minimum, const Body& body) {
    run(count, minimum,
        {&body, [](const void* object, std::int32_t begin, std::int32_t end, std::size_t slot) {
           (*static_cast<const Body*>(object))(begin, end, slot);
         }});
  }

 private:
  /// A reference to a callable.
  struct Call {
    const void* object;
    void (*function)(const void*, std::int32_t, std::int32_t, std::size_t);
    void operator()(std::int32_t begin, std::int32_t end, std::size_t slot) const {
      function(object, begin, end, slot);
    }
  };
  struct Arena;
  void run(std::int32_t count, std::int32_t minimum, const Call& body);
  bool prepare();  ///< false: no thread can be started
  void run_wide(std::int32_t count, std::int32_t minimum, const Call& body);
  std::size_t width_;
  std::unique_ptr<Arena> arena_;
};

}  // namespace halyard
