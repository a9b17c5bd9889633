// SPDX-License-Identifier: Apache-2.0
// Tables for permutations: where in its window each output finds its taps.
#include <algorithm>

#include "image/cpu/across_span.h"

namespace halyard::image {
namespace {

constexpr std::size_t lanes = PermuteTable::lanes;

class Maker {
 public:
  /// `unit`: samples of one 16-bit lane of the source.
  Maker(const TapSpans& from, std::int32_t taps, std::int32_t samples, std::int32_t unit)
      : from_(from),
        pairs_((taps + 1) / 2),
        window_(PermuteTable::window * unit),
        samples_(samples),
        unit_(unit) {}

  PermuteTable make() {
    // What begins in a row of bytes must end in it; rows of samples have spare ones.
    if (unit_ == 2 && samples_ < window_) return {};
    t_.pairs = static_cast<std::size_t>(pairs_);
    if (t_.pairs == 1 && !lies_between()) return {};
    t_.group = t_.pairs == 1 && fits(lanes) ? lanes : lanes / 2;
    if (!fits(t_.group)) return {};
    const std::size_t groups = (outputs() + t_.group - 1) / t_.group;
    t_.base.resize(groups);
    t_.index.resize(groups * lanes);
    for (std::size_t g = 0; g < groups; ++g) {
      t_.base[g] = base(g * t_.group, std::min((g + 1) * t_.group, outputs()));
      t_.pairs == 1 ? set_outputs(g) : set_taps(g);
    }
    return std::move(t_);
  }

 private:
  std::size_t outputs() const { return from_.size(); }

  std::int32_t base(std::size_t begin, std::size_t end) const {
    std::int32_t low = from_[begin].first;
    for (std::size_t x = begin; x < end; ++x)
      low = std::min(low, from_[x].first);
    return unit_ == 2 ? std::min(low, samples_ - window_) : low;
  }

  bool fits(std::size_t group) const {
    for (std::size_t begin = 0; begin < outputs(); begin += group) {
      const std::size_t end = std::min(begin + group, outputs());
      const std::int32_t limit = base(begin, end) + window_ - 2 * pairs_;
      for (std::size_t x = begin; x < end; ++x) {
        if (from_[x].first > limit) return false;
      }
    }
    return true;
  }

  // Kernels with negative weights have two taps on sources of two samples.
  bool lies_between() const {
    constexpr int one = 1 << AcrossTable::weight_bits;
    for (std::size_t x = 0; x < outputs(); ++x) {
      const int second = from_[x].weight(1);
      if (second < 0 || second >= one) return false;
    }
    return true;
  }

  // Lanes behind the last output repeat it.
  std::size_t output_of(std::size_t g, std::size_t lane) const {
    return std::min(g * t_.group + std::min(lane, t_.group - 1), outputs() - 1);
  }

  void set_outputs(std::size_t g) {
    t_.second_index.resize(t_.index.size());
    t_.weights.resize(t_.index.size());
    if (unit_ == 2) {
      t_.shift.resize(t_.index.size());
      t_.second_shift.resize(t_.index.size());
    }
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const std::size_t x = output_of(g, lane);
      const std::size_t at = g * lanes + lane;
      const std::int16_t second = from_[x].weight(1);
      const std::int32_t first = from_[x].first - t_.base[g];
      const std::int32_t other = first + (second != 0 ? 1 : 0);
      t_.has_second |= second != 0;
      t_.weights[at] = static_cast<std::int16_t>(2 * second);
      t_.index[at] = static_cast<std::uint16_t>(first / unit_);
      t_.second_index[at] = static_cast<std::uint16_t>(other / unit_);
      if (unit_ == 1) continue;
      t_.shift[at] = static_cast<std::uint16_t>(first % 2 * 8);
      t_.second_shift[at] = static_cast<std::uint16_t>(other % 2 * 8);
    }
  }

  void set_taps(std::size_t g) {
    const std::size_t groups = t_.base.size();
    t_.weights.resize(groups * lanes * t_.pairs);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const std::size_t x = output_of(g, lane / 2);
      t_.index[g * lanes + lane] = static_cast<std::uint16_t>(from_[x].first - t_.base[g] +
                                                              static_cast<std::int32_t>(lane % 2));
      for (std::size_t p = 0; p < t_.pairs; ++p)
        t_.weights[(p * groups + g) * lanes + lane] = from_[x].weight(2 * p + lane % 2);
    }
  }

  const TapSpans& from_;
  std::int32_t pairs_;
  std::int32_t window_;  // in samples
  std::int32_t samples_;
  std::int32_t unit_;
  PermuteTable t_;
};

}  // namespace

PermuteTable make_permute(const TapSpans& outputs, std::int32_t taps, std::int32_t samples,
                          bool bytes) {
  return Maker(outputs, taps, samples, bytes ? 2 : 1).make();
}

}  // namespace halyard::image
