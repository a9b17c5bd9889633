// SPDX-License-Identifier: Apache-2.0
// The data that OC-SORT keeps of one track: its filter, the last boxes seen, the direction between
// them.
#pragma once

#include <array>
#include <cstdint>

#include "track/area_filter.h"

namespace halyard::track {

/// Unit vector from centre to centre; (0, 0) if the centres are equal.
struct Direction {
  double x = 0;
  double y = 0;
};
Direction direction_between(const Box& from, const Box& to) noexcept;

/// 1/2 - angle / pi: from 1/2 for the same direction to -1/2 for the opposite one; 0 if one of them
/// is (0, 0). The angle's error is below 1e-7; the bits are the same on every machine.
double agreement(const Direction& a, const Direction& b) noexcept;

/// The past of one track. All frames are counted, whether the track is seen or not.
class Observed {
 public:
  static constexpr std::uint32_t max_frames = 8;  ///< max frames to look back

  explicit Observed(const Box& box) noexcept;

  /// Predicts the next frame, `dt` nominal frames later.
  void predict(double dt) noexcept;
  /// Corrects with the box seen in this frame. After frames without a box the filter is reset to
  /// the last box seen and moved in equal steps along the straight line to this one; its
  /// predictions in between are discarded.
  void see(const Box& box, std::uint32_t direction_frames) noexcept;

  /// The box seen `frames` frames ago; if there is none, that of the next later frame that has one;
  /// else the last one seen.
  const Box& before(std::uint32_t frames) const noexcept;

  const Box& last() const noexcept { return last_; }
  const Direction& direction() const noexcept { return direction_; }
  Box box() const noexcept { return filter_.box(); }

 private:
  void update_again(const Box& box) noexcept;

  AreaFilter filter_;
  AreaFilter at_last_;   // state after the last box seen
  double dt_since_ = 0;  // nominal frames since then
  std::uint32_t missed_ = 0;
  std::uint64_t frame_ = 0;
  Box last_;
  Direction direction_;
  struct Seen {
    Box box;
    std::uint64_t frame = ~std::uint64_t{0};
  };
  std::array<Seen, max_frames> past_;  // index: frame modulo max_frames
};

}  // namespace halyard::track
