// SPDX-License-Identifier: Apache-2.0
// Sampler: makes rows of filtered source samples at the size of the content, one row per channel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "image/cpu/cpu_program.h"

namespace halyard::image {

/// One row of samples per channel, in the order of the source's colour model (Bayer: R G B), in
/// signed fixed point and with spare samples. Null for a channel that was not requested. Columns
/// outside [begin, end) have no source.
struct SampleRows {
  std::array<const std::int16_t*, 4> channel{};
  std::int32_t begin = 0;
  std::int32_t end = 0;
};

/// Rows are in the source's own direction. Where the plan swaps axes, row r is content column r,
/// and its column c is content row c (mirrors are already undone). Immutable.
class Sampler {
 public:
  virtual ~Sampler() = default;
  std::int32_t rows() const noexcept { return rows_; }
  std::int32_t columns() const noexcept { return columns_; }
  /// Fractional bits of the samples: 7, or 6 where kernels with negative weights overshoot.
  int fraction() const noexcept { return fraction_; }

  virtual std::size_t workspace_bytes() const noexcept = 0;
  /// Clears the state in the workspace. Call before the first row() of a strip.
  virtual void begin(std::byte* workspace) const = 0;
  /// Makes row `row`; valid until the next call. Fastest when rows are requested in ascending
  /// order.
  virtual SampleRows row(const MappedImages& frame, std::int32_t row,
                         std::byte* workspace) const = 0;

 protected:
  Sampler(std::int32_t rows, std::int32_t columns, int fraction) noexcept
      : rows_(rows), columns_(columns), fraction_(fraction) {}

 private:
  std::int32_t rows_;
  std::int32_t columns_;
  int fraction_;
};

/// Samples the first `channels` channels of the source. May throw std::bad_alloc.
std::unique_ptr<const Sampler> make_separable(const Plan& plan, std::size_t channels);
/// The same for integer-ratio axes, whose weights are small integers: most sizes of cameras and
/// networks. Null for other axes.
std::unique_ptr<const Sampler> make_rational(const Plan& plan, std::size_t channels);
std::unique_ptr<const Sampler> make_affine(const Plan& plan,
                                           std::size_t channels);  ///< plan.affine

}  // namespace halyard::image
