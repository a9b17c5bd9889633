// SPDX-License-Identifier: Apache-2.0
// LaneMemory<T>: what a stage keeps for each lane of its pipeline.
#pragma once

#include <array>
#include <memory>

#include "halyard/pipeline.h"

namespace halyard::pipeline {

/// Twice the largest PipelineOptions::in_flight.
inline constexpr std::size_t max_lanes = 128;

/// A lane's object is made at its first frame. One thread at a time uses it: the one that has the
/// lane.
template <class T>
class LaneMemory {
 public:
  T& of(const PipelineFrame& frame) {
    auto& place = places_[frame.lane % max_lanes];
    if (place == nullptr) place = std::make_unique<T>();
    return *place;
  }

 private:
  std::array<std::unique_ptr<T>, max_lanes> places_;
};

}  // namespace halyard::pipeline
