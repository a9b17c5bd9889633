// SPDX-License-Identifier: Apache-2.0
// The free memory of a pool: a range, divided into extents that are taken or free. Two-level
// segregated fit (Masmano et al., "TLSF", ECRTS 2004): constant time; free neighbours are joined.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/local.h"

namespace halyard::ipc {

/// Bookkeeping only: it never touches the memory, so a process that can write there cannot disturb
/// it. Allocates in its constructor only. For one thread at a time.
class HALYARD_LOCAL Extents {
 public:
  struct Extent {
    std::uint32_t id = 0;      ///< for give(), which makes it free for a later extent
    std::uint64_t offset = 0;  ///< a multiple of the granule
    std::uint64_t size = 0;    ///< the bytes asked for, rounded up to granules
  };

  /// Extents are multiples of `granule`, a power of two. At most `max_taken` are taken at a time.
  Extents(std::uint64_t granule, std::uint32_t max_taken);

  /// Appends free memory to the range. `bytes` is a multiple of the granule.
  void grow(std::uint64_t bytes) noexcept;

  /// Memory for `bytes` (0: one granule). Empty if no free extent is large enough. Constant time,
  /// except that before it fails it looks at all extents of about that size.
  std::optional<Extent> take(std::uint64_t bytes) noexcept;
  /// Gives back an extent. Constant time. The extent joins its free neighbours only when another
  /// size is taken or another extent is given: frames of one size take and give the same extent.
  void give(std::uint32_t id) noexcept;

  std::uint64_t free_bytes() const noexcept { return free_granules_ * granule_; }
  std::uint64_t total_bytes() const noexcept { return total_granules_ * granule_; }
  /// The size of the largest extent that take() can return now.
  std::uint64_t largest_free_bytes() noexcept;
  std::uint32_t taken() const noexcept { return taken_; }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;
  static constexpr unsigned second_bits = 4;
  static constexpr unsigned second_count = 1U << second_bits;
  static constexpr unsigned first_count = 64 - second_bits;

  /// Sizes and offsets are in granules. Unused nodes are linked through `later`.
  struct Node {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::uint32_t before = none;  ///< neighbours in the range
    std::uint32_t after = none;
    std::uint32_t earlier = none;  ///< neighbours in the list of a bin
    std::uint32_t later = none;
    bool is_free = false;
  };
  struct Bin {
    unsigned first;
    unsigned second;
  };
  static Bin bin_of(std::uint64_t size) noexcept;
  std::uint32_t first_of(Bin bin) const noexcept { return heads_[bin.first][bin.second]; }
  std::uint32_t find(std::uint64_t size) const noexcept;
  void link(std::uint32_t node) noexcept;
  void unlink(std::uint32_t node) noexcept;
  std::uint32_t new_node() noexcept;
  void drop_node(std::uint32_t node) noexcept;
  void split(std::uint32_t node, std::uint64_t size) noexcept;
  void join_with_next(std::uint32_t node) noexcept;
  void join_given() noexcept;

  std::uint64_t granule_;
  std::uint64_t free_granules_ = 0;
  std::uint64_t total_granules_ = 0;
  std::uint32_t last_ = none;  ///< the node at the end of the range
  std::uint32_t taken_ = 0;
  std::uint32_t unused_ = none;
  std::uint32_t given_ = none;  ///< the extent given last: in no bin, but its bytes count as free
  std::vector<Node> nodes_;
  std::uint64_t has_first_ = 0;  ///< one bit per first level that has a free extent
  std::array<std::uint32_t, first_count> has_second_{};
  std::array<std::array<std::uint32_t, second_count>, first_count> heads_;
};

}  // namespace halyard::ipc
