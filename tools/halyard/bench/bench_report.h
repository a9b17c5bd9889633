// SPDX-License-Identifier: Apache-2.0
// A benchmark as text and as JSON (docs/json.md, "bench").
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/bench_engines.h"
#include "bench/bench_frames.h"
#include "bench/machine_facts.h"

namespace halyard::tool {

/// What the frames are.
struct BenchInput {
  bool is_synthetic = false;
  std::vector<std::string> paths;
  Size size;  ///< of the first frame, upright
  PixelFormat format = PixelFormat::rgb;
};

struct BenchReport {
  MachineFacts machine;
  std::string model;
  std::optional<BenchInput> input;  ///< unset: no frame was read
  BenchSettings settings;
  std::string device;
  unsigned threads = 0;
  std::vector<BenchEngine> engines;
};

/// Several lines: the machine and the frames; of each engine each stage, with one frame in flight
/// and with several, and the comparison; at the end a line for each engine.
std::string bench_text(const BenchReport& report);

/// A document. Times have 4 decimals at most.
std::string bench_json(const BenchReport& report);

}  // namespace halyard::tool
