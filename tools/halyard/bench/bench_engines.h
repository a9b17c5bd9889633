// SPDX-License-Identifier: Apache-2.0
// The engines of a benchmark: all that there are, each measured or with the reason why not.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/bench_run.h"
#include "bench/opencv_comparison.h"
#include "halyard/model.h"

namespace halyard::tool {

/// - measured;
/// - missing: its library cannot be used;
/// - unfit: it reads other kinds of files;
/// - unnamed: it must be named, see EngineInfo::needs_name;
/// - failed: it could not open the model or run it.
enum class BenchState { measured, missing, unfit, unnamed, failed };
std::string_view to_string(BenchState state) noexcept;

struct BenchEngine {
  std::string name;
  BenchState state = BenchState::measured;
  std::string reason;   ///< of any other state
  std::string install;  ///< the command that brings a missing one; empty: none
  bool is_named = false;
  std::string runtime;  ///< with version and device
  double open_ms = 0;   ///< reading and compiling the model
  std::vector<BenchRun> runs;
  std::optional<OpencvComparison> comparison;
  std::string not_compared;  ///< why not, if it was asked for
};

/// The engines of `known` that `names` has, or all. Their state is `measured`, as intended, or what
/// is known before a model is opened. Errors: invalid_argument (no engine has the name).
Result<std::vector<BenchEngine>> choose_engines(std::span<const EngineInfo> known,
                                                std::span<const std::string> names,
                                                const std::string& model);

/// Whether every engine was measured that was named or that is here and reads the model; one at
/// least.
bool is_complete(std::span<const BenchEngine> engines) noexcept;

}  // namespace halyard::tool
