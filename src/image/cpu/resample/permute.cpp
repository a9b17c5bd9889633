// SPDX-License-Identifier: Apache-2.0
// Makes tables for permutations: where each output finds its taps in its window.
#include <algorithm>
#include <utility>

#include "image/cpu/resample/fixed_taps.h"
#include "image/cpu/resample/permute.h"

namespace halyard::image {
namespace {

constexpr std::size_t lanes = PermuteTable::lanes;
constexpr std::size_t half_lanes = lanes / 2;

class Maker {
 public:
  /// `unit`: samples in one 16-bit lane of the source: 1, or 2 for bytes.
  Maker(const FixedTaps& from, std::int32_t samples, std::int32_t unit)
      : from_(from),
        outputs_(static_cast<std::size_t>(from.outputs)),
        pairs_((from.taps + 1) / 2),
        window_(PermuteTable::window * unit),
        samples_(samples),
        unit_(unit) {}

  PermuteTable make() {
    // A window that begins in a row of bytes must end in it; rows of samples have spare samples.
    if (unit_ == 2 && samples_ < window_) return {};
    t_.pairs = static_cast<std::size_t>(pairs_);
    if (t_.pairs == 1 && !lies_between()) return {};
    if (!(t_.pairs == 1 && fits(lanes)) && !fits(half_lanes)) return {};
    t_.pairs == 1 ? set_outputs() : set_taps();
    return std::move(t_);
  }

 private:
  /// Finds the windows of groups of `group` outputs; false where their samples lie too far apart.
  bool fits(std::size_t group) {
    const std::int32_t reach = window_ - 2 * pairs_;
    t_.base.resize((outputs_ + group - 1) / group);
    for (std::size_t g = 0; g < t_.base.size(); ++g) {
      const auto [low, high] = bounds(g * group, std::min((g + 1) * group, outputs_));
      t_.base[g] = unit_ == 2 ? std::min(low, samples_ - window_) : low;
      if (high > t_.base[g] + reach) return false;
    }
    t_.group = group;
    return true;
  }

  std::pair<std::int32_t, std::int32_t> bounds(std::size_t begin, std::size_t end) const {
    const std::int32_t* first = from_.first.get();
    if (from_.is_between) return std::minmax({first[begin], first[end - 1]});
    const auto [low, high] = std::minmax_element(first + begin, first + end);
    return {*low, *high};
  }

  // Kernels with negative weights also have two taps, on sources of two samples.
  bool lies_between() const {
    constexpr std::int16_t one = 1 << HorizontalTable::weight_bits;
    if (from_.is_between) return true;
    const std::int16_t* second = from_.tap(1);
    return std::all_of(second, second + outputs_,
                       [](std::int16_t weight) { return weight >= 0 && weight < one; });
  }

  void set_outputs() {
    t_.has_second = from_.taps > 1;
    t_.index.resize(t_.base.size() * t_.group + half_lanes);
    for (std::size_t g = 0; g < t_.base.size(); ++g) {
      const std::int32_t* first = from_.first.get() + g * t_.group;
      const std::size_t count = std::min(t_.group, outputs_ - g * t_.group);
      std::transform(first, first + count, t_.index.data() + g * t_.group,
                     [base = t_.base[g]](std::int32_t sample) {
                       return static_cast<std::uint16_t>(sample - base);
                     });
    }
    if (!t_.has_second) return;
    t_.weights.resize(t_.index.size());
    const std::int16_t* second = from_.tap(1);
    std::transform(second, second + outputs_, t_.weights.begin(),
                   [](std::int16_t weight) { return static_cast<std::int16_t>(2 * weight); });
  }

  void set_taps() {
    const std::size_t entries = t_.base.size() * lanes;
    t_.index.resize(entries);
    t_.weights.resize(entries * t_.pairs);
    for (std::size_t x = 0; x < outputs_; ++x) {
      const std::int32_t first = from_.first[x] - t_.base[x / half_lanes];
      t_.index[2 * x] = static_cast<std::uint16_t>(first);
      t_.index[2 * x + 1] = static_cast<std::uint16_t>(first + 1);
    }
    for (std::size_t p = 0; p < t_.pairs; ++p) {
      std::int16_t* to = t_.weights.data() + p * entries;
      const std::int16_t* even = from_.tap(2 * p);
      const std::int16_t* odd = from_.tap(2 * p + 1);
      for (std::size_t x = 0; x < outputs_; ++x) {
        to[2 * x] = even[x];
        to[2 * x + 1] = odd[x];
      }
    }
  }

  const FixedTaps& from_;
  std::size_t outputs_;
  std::int32_t pairs_;
  std::int32_t window_;  // in samples
  std::int32_t samples_;
  std::int32_t unit_;
  PermuteTable t_;
};

}  // namespace

PermuteTable make_permute(const FixedTaps& outputs, std::int32_t samples, bool bytes) {
  return Maker(outputs, samples, bytes ? 2 : 1).make();
}

}  // namespace halyard::image
