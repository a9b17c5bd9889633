// SPDX-License-Identifier: Apache-2.0
// Strips of rows over threads. The only place of the layer that knows oneTBB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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

  /// Calls body(begin, end, slot) for strips that cover [0, rows), each of at least `least_rows`
  /// rows. No two calls that run at once share a slot. The order of strips is open.
  using Body = std::function<void(std::int32_t, std::int32_t, std::size_t)>;
  void for_strips(std::int32_t rows, std::int32_t least_rows, const Body& body);

 private:
  struct Arena;
  std::size_t width_;
  std::unique_ptr<Arena> arena_;
};

}  // namespace halyard::image
