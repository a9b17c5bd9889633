// SPDX-License-Identifier: Apache-2.0
// The controls of the fake libg2d, which tests reach by the function `fake_g2d` of the library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace halyard::test {

/// What the device does wrong on demand. Counts go down with each call; 0: it works.
struct FakeG2dFaults {
  int refused_opens = 0;
  int failed_blits = 0;  ///< the calls after `good_blits` ones
  int good_blits = 0;
  int failed_clears = 0;
  int failed_finishes = 0;
  int failed_cache_ops = 0;
  bool lacks_full_range = false;
  bool refuses_descriptors = false;
};

struct FakeG2dCounts {
  int opened = 0;  ///< devices
  int closed = 0;
  int buffers_opened = 0;
  int buffers_closed = 0;
  int blits = 0;
  int clears = 0;
  int finishes = 0;
};

class FakeG2d {
 public:
  /// Memory that the device reaches under the physical address that is returned. The descriptor's
  /// device and inode identify it.
  virtual std::uint64_t add_memory(std::uint64_t device, std::uint64_t inode, std::byte* bytes,
                                   std::size_t size) = 0;
  virtual void remove_memory(std::uint64_t physical) = 0;
  /// The physical address of known memory, else 0.
  virtual std::uint64_t address_of(std::uint64_t device, std::uint64_t inode) = 0;
  /// The address of the memory that is added next.
  virtual void place_next_memory(std::uint64_t physical) = 0;

  virtual FakeG2dFaults& faults() = 0;
  virtual FakeG2dCounts counts() = 0;
  /// The calls since the last take that change pixels or caches: "clean flush clear blit finish".
  virtual std::string take_calls() = 0;
  /// Which rules the caller has broken since the last take, one per line.
  virtual std::string take_violations() = 0;

 protected:
  ~FakeG2d() = default;
};

}  // namespace halyard::test
