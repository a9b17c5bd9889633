// SPDX-License-Identifier: Apache-2.0
// What OC-SORT keeps of one track: its filter, the last boxes seen, the direction between them.
#pragma once

#include <array>
#include <cstdint>

#include "track/area_filter.h"

namespace halyard::track {

/// Centre to centre, of length 1; (0, 0) for no way at all.
struct Direction {
  double x = 0;
  double y = 0;
};
Direction direction_between(const Box& from, const Box& to) noexcept;

/// 1/2 - angle / pi: from 1/2 for the same direction to -1/2 for the opposite one; 0 where one of
/// them is none. The angle is within 1e-7, the same bits on every machine.
double agreement(const Direction& a, const Direction& b) noexcept;

/// One track's past. Frames are counted, seen or not.
class Observed {
 public:
  static constexpr std::uint32_t max_frames = 8;  ///< that can be looked back

  explicit Observed(const Box& box) noexcept;

  /// The next frame, `dt` nominal frames later.
  void predict(double dt) noexcept;
  /// Seen in this frame. After frames without, the filter goes back to the last box seen and along
  /// the straight way from there in equal steps: what it believed meanwhile is forgotten.
  void see(const Box& box, std::uint32_t direction_frames) noexcept;

  /// The box seen `frames` frames ago; else one frame later, and so on; else the last one seen.
  const Box& before(std::uint32_t frames) const noexcept;

  const Box& last() const noexcept { return last_; }
  const Direction& direction() const noexcept { return direction_; }
  Box box() const noexcept { return filter_.box(); }

 private:
  void update_again(const Box& box) noexcept;

  AreaFilter filter_;
  AreaFilter at_last_;   // after the last box seen
  double dt_since_ = 0;  // nominal frames since then
  std::uint32_t missed_ = 0;
  std::uint64_t frame_ = 0;
  Box last_;
  Direction direction_;
  struct Seen {
    Box box;
    std::uint64_t frame = ~std::uint64_t{0};
  };
  std::array<Seen, max_frames> past_;  // by frame modulo its size
};

}  // namespace halyard::track
