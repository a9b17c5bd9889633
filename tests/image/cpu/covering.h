// SPDX-License-Identifier: Apache-2.0
// Pairwise-complete test cases: every legal pair of values of every two factors is in at least one
// case.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <random>
#include <vector>

namespace halyard::test {

/// Values of all factors of one case; value v of factor f is in [0, levels[f]).
using Case = std::vector<int>;
/// Makes a case legal by changing factors that are not `fixed`; returns false if it cannot.
using Repair = std::function<bool(Case& values, const std::vector<bool>& fixed)>;

struct CoveringArray {
  std::vector<Case> cases;
  int pairs = 0;       ///< pairs that a case covers
  int impossible = 0;  ///< pairs without a legal case
};

/// Greedy: takes a pair that no case covers yet, fills in the other factors at random several
/// times, and keeps the case that covers the most pairs.
class Covering {
 public:
  Covering(std::vector<int> levels, Repair repair, unsigned seed)
      : levels_(std::move(levels)), repair_(std::move(repair)), random_(seed) {
    for (const int count : levels_) {
      first_.push_back(total_);
      total_ += static_cast<std::size_t>(count);
    }
    open_.assign(total_ * total_, false);
  }

  CoveringArray make() {
    CoveringArray out;
    for (std::size_t a = 0; a < levels_.size(); ++a) {
      for (std::size_t b = a + 1; b < levels_.size(); ++b)
        open_all(a, b);
    }
    for (std::size_t a = 0; a < levels_.size(); ++a) {
      for (std::size_t b = a + 1; b < levels_.size(); ++b)
        cover_all(a, b, out);
    }
    return out;
  }

 private:
  std::size_t index(std::size_t a, int i, std::size_t b, int j) const {
    return (first_[a] + static_cast<std::size_t>(i)) * total_ + first_[b] +
           static_cast<std::size_t>(j);
  }

  void open_all(std::size_t a, std::size_t b) {
    for (int i = 0; i < levels_[a]; ++i) {
      for (int j = 0; j < levels_[b]; ++j)
        open_[index(a, i, b, j)] = true;
    }
  }

  int gain(const Case& values) const {
    int count = 0;
    for (std::size_t a = 0; a < levels_.size(); ++a) {
      for (std::size_t b = a + 1; b < levels_.size(); ++b)
        count += open_[index(a, values[a], b, values[b])] ? 1 : 0;
    }
    return count;
  }

  void take(const Case& values, CoveringArray& out) {
    out.pairs += gain(values);
    for (std::size_t a = 0; a < levels_.size(); ++a) {
      for (std::size_t b = a + 1; b < levels_.size(); ++b)
        open_[index(a, values[a], b, values[b])] = false;
    }
    out.cases.push_back(values);
  }

  void cover_all(std::size_t a, std::size_t b, CoveringArray& out) {
    for (int i = 0; i < levels_[a]; ++i) {
      for (int j = 0; j < levels_[b]; ++j) {
        if (open_[index(a, i, b, j)]) cover(a, i, b, j, out);
      }
    }
  }

  void cover(std::size_t a, int i, std::size_t b, int j, CoveringArray& out) {
    std::vector<bool> fixed(levels_.size(), false);
    fixed[a] = fixed[b] = true;
    Case best;
    int maximum = 0;
    constexpr int attempts = 24;
    for (int n = 0; n < attempts; ++n) {
      Case values;
      for (const int count : levels_)
        values.push_back(std::uniform_int_distribution<int>(0, count - 1)(random_));
      values[a] = i;
      values[b] = j;
      if (!repair_(values, fixed)) continue;
      const int covered = gain(values);
      if (covered <= maximum) continue;
      maximum = covered;
      best = values;
    }
    if (maximum == 0) {
      ++out.impossible;
    } else {
      take(best, out);
    }
  }

  std::vector<int> levels_;
  Repair repair_;
  std::mt19937 random_;
  std::vector<std::size_t> first_;
  std::size_t total_ = 0;
  std::vector<bool> open_;
};

}  // namespace halyard::test
