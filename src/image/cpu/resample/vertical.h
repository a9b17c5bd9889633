// SPDX-License-Identifier: Apache-2.0
// Table of the vertical pass: the source rows of each output row, and their fixed-point weights.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "halyard/moved.h"
#include "image/cpu/kernels/resample/vertical.h"
#include "image/cpu/resample/taps.h"

namespace halyard::image {

/// Describes what is blended. Weights of 8-bit samples may be finer, because their sums have room.
/// Weights of more than `few` rows of samples have fine parts.
struct Blended {
  bool bytes = false;
  std::int32_t few = 16;
  bool parts = false;  ///< the kernel takes `parts`
};

class VerticalTable {
 public:
  /// Made of source rows first .. first + count - 1. Consecutive outputs with the same rows and
  /// weights share an id, which is not negative.
  struct Row {
    std::int32_t first = 0;
    std::int32_t count = 1;
    std::int64_t id = 0;
    std::int32_t at = 0;  ///< index of its weights
    std::int16_t second = 0;
    std::int8_t bits = 0;
    bool fine = false;
    bool parts = false;
  };

  VerticalTable() = default;
  VerticalTable(const AxisRequest& axis, Blended what);
  VerticalTable(const AxisTaps& taps, Blended what);
  Row row(std::int32_t output) const noexcept {
    const auto y = static_cast<std::size_t>(output);
    return first_ ? between(first_[y], second_[y]) : rows_[y];
  }
  VerticalWeights weights(const Row& row) const noexcept;
  std::int32_t max_rows() const noexcept { return max_rows_; }  ///< of any output
  bool blends_all() const noexcept { return blends_all_; }      ///< no output is one row

 private:
  void make_from(const AxisTaps& taps, Blended what);
  void make_between(const AxisRequest& axis);
  void append_parts(std::span<const float> weights);
  static Row between(std::int32_t first, std::int32_t second) noexcept {
    Row row;
    row.first = first;
    row.count = second != 0 ? 2 : 1;
    row.id = std::int64_t{first} << 15 | second;
    row.second = static_cast<std::int16_t>(second);
    return row;
  }
  void set_row(const AxisTaps& taps, std::size_t output, Blended what, Row& row);
  bool same(const Row& before, const Row& row) const noexcept;
  std::unique_ptr<std::int32_t[]> first_;  ///< outputs between two rows; null: see rows_
  Moved<const std::int32_t*> second_;      ///< second rows' weights, in 2^-15; behind first_
  std::vector<Row> rows_;
  std::vector<std::int16_t> pairs_;
  std::vector<std::int16_t> fine_;
  std::vector<std::uint16_t> parts_;
  Moved<bool> parts_are_made_;  ///< parts_ has one entry for each tap of each output
  Moved<std::int32_t> max_rows_ = 1;
  Moved<bool> blends_all_ = true;
};

}  // namespace halyard::image
