// SPDX-License-Identifier: Apache-2.0
// Filter taps about any place on one axis, made pixel by pixel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "halyard/image.h"

namespace halyard::image {

/// The axis of a channel's plane: samples [lowest, highest) may be read, `scale` of them lie in one
/// destination pixel.
struct AffineAxis {
  std::int32_t lowest = 0;
  std::int32_t highest = 0;
  double scale = 1;
};

/// Weights of samples first, first + 1, ..., which sum to 1.
struct AffineWindow {
  std::int32_t first = 0;
  std::int32_t count = 0;
};

/// A kernel that can be asked for quickly. Immutable.
class AffineKernel {
 public:
  /// May throw std::bad_alloc.
  AffineKernel(Filter filter, bool antialias);

  /// Whether all outputs along the axis are the sample under them, or a blend of the two about
  /// them.
  bool takes_nearest(const AffineAxis& axis) const noexcept;
  bool takes_two(const AffineAxis& axis) const noexcept;
  /// Most weights that window() writes.
  std::size_t max_taps(const AffineAxis& axis) const noexcept;
  /// The same definitions as make_taps(). `centre`, in samples, lies within a sample of the axis.
  AffineWindow window(const AffineAxis& axis, double centre, float* weights) const noexcept;

 private:
  static constexpr int steps = 512;  ///< of the tables, per sample; between them lines
  static constexpr std::size_t max_fixed_taps = 6;

  void make_phases();

  double widening(const AffineAxis& axis) const noexcept;
  double at(double x) const noexcept;
  AffineWindow repeated(const AffineAxis& axis, double centre, float* weights) const noexcept;
  AffineWindow left_out(const AffineAxis& axis, double centre, float* weights) const noexcept;

  Filter filter_;
  bool antialias_;
  double support_;
  std::vector<float> phases_;  ///< weights of all taps for each place between two samples
  std::vector<double> table_;  ///< with antialias: one side of the kernel, both ends included
};

/// The sample that covers the place. Places that a division only comes near to count as exact.
std::int32_t sample_under(const AffineAxis& axis, double centre) noexcept;

}  // namespace halyard::image
