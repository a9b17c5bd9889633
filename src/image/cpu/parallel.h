// SPDX-License-Identifier: Apache-2.0
// Strips of work over threads. The only place of the layer that knows oneTBB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace halyard::image {

/// Runs work on up to `threads` threads (0: all cores). Threads start at the first wide run.
class Parallel {
 public:
  explicit Parallel(unsigned threads) noexcept;
  Parallel(const Parallel&) = delete;
  Parallel& operator=(const Parallel&) = delete;
  ~Parallel();

  /// Slots that `body` may be called with: 0 .. width() - 1.
  std::size_t width() const noexcept { return width_; }

  /// Calls body(begin, end, slot) for strips that cover [0, count), each of at least `minimum`
  /// items (one strip where there are fewer). No two calls that run at once share a slot. The order
  /// of strips is open. Allocates nothing once threads run. In a child that was forked after that
  /// there is one strip, as there is where the system lets no thread start.
  template <class Body>
  void for_strips(std::int32_t count, std::int32_t minimum, const Body& body) {
    run(count, minimum,
        {&body, [](const void* object, std::int32_t begin, std::int32_t end, std::size_t slot) {
           (*static_cast<const Body*>(object))(begin, end, slot);
         }});
  }

 private:
  /// A callable, by reference.
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

}  // namespace halyard::image
