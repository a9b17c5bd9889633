// SPDX-License-Identifier: Apache-2.0
// Filter taps around any position on one axis, made pixel by pixel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "halyard/image.h"

namespace halyard::image {

/// The axis of a channel's plane: samples [lowest, highest) may be read, and `scale` of them make
/// one destination pixel.
struct AffineAxis {
  std::int32_t lowest = 0;
  std::int32_t highest = 0;
  double scale = 1;
};

/// The samples first, first + 1, ... of a filter; their weights sum to 1.
struct AffineWindow {
  std::int32_t first = 0;
  std::int32_t count = 0;
};

/// A filter kernel that is fast to evaluate. Immutable.
class AffineKernel {
 public:
  /// May throw std::bad_alloc.
  AffineKernel(Filter filter, bool antialias);

  /// Whether every output along the axis is the sample under it (nearest), or a blend of the two
  /// samples around it (two).
  bool takes_nearest(const AffineAxis& axis) const noexcept;
  bool takes_two(const AffineAxis& axis) const noexcept;
  /// The most weights that window() writes.
  std::size_t max_taps(const AffineAxis& axis) const noexcept;
  /// Makes the taps of one position, by the definitions of make_taps(). `centre`, in samples, lies
  /// within a sample of the axis.
  AffineWindow window(const AffineAxis& axis, double centre, float* weights) const noexcept;

 private:
  static constexpr int steps = 512;  ///< table entries per sample; linear in between
  static constexpr std::size_t max_fixed_taps = 6;

  void make_phases();

  double widening(const AffineAxis& axis) const noexcept;
  double at(double x) const noexcept;
  AffineWindow repeated(const AffineAxis& axis, double centre, float* weights) const noexcept;
  AffineWindow left_out(const AffineAxis& axis, double centre, float* weights) const noexcept;

  Filter filter_;
  bool antialias_;
  double support_;
  std::vector<float> phases_;  ///< weights of all taps for each position between two samples
  std::vector<double> table_;  ///< with antialias: one side of the kernel, both ends included
};

/// The sample that covers the position. A position that a division misses by less than 1e-9 samples
/// counts as exact.
std::int32_t sample_under(const AffineAxis& axis, double centre) noexcept;

}  // namespace halyard::image
