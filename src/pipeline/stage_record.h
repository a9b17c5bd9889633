// SPDX-License-Identifier: Apache-2.0
// StageRecord: what is counted of one stage.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "halyard/pipeline.h"
#include "pipeline/time_histogram.h"

namespace halyard::pipeline {

/// Thread-safe.
struct StageRecord {
  explicit StageRecord(const char* stage) : name(stage) {}
  const char* name;
  TimeHistogram times;
  std::atomic<std::uint64_t> errors{0};

  StageStats stats() const {
    return {name,
            times.count(),
            errors.load(std::memory_order_relaxed),
            times.percentile(0.5),
            times.percentile(0.99),
            times.max(),
            times.total()};
  }
};

/// The stages of all networks together.
struct NetworkRecords {
  StageRecord convert{"convert"};
  StageRecord model{"model"};
  StageRecord decode{"decode"};
  std::atomic<std::uint64_t> detections{0};
};

}  // namespace halyard::pipeline
