// SPDX-License-Identifier: Apache-2.0
// Google Benchmark's main, with --targets=NAME, the highest instruction set that kernels may use,
// and --processor-time, for image/ rows of one thread on a busy machine.
#include <benchmark/benchmark.h>
#include <hwy/targets.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>

#include "image/turns.h"

namespace {

// The targets above a target, by their names in the results.
constexpr std::int64_t avx512 = HWY_AVX3 | HWY_AVX3_DL;
constexpr std::pair<const char*, std::int64_t> disabled[] = {
    {"all", 0},
    {"avx2", avx512},
    {"sse4", avx512 | HWY_AVX2},
};

// Removes the argument with this prefix; null: there is none.
const char* take(int& count, char** arguments, const char* prefix) {
  for (int i = 1; i < count; ++i) {
    if (std::strncmp(arguments[i], prefix, std::strlen(prefix)) != 0) continue;
    const char* const rest = arguments[i] + std::strlen(prefix);
    for (int k = i; k < count; ++k)
      arguments[k] = arguments[k + 1];
    --count;
    return rest;
  }
  return nullptr;
}

bool limit_targets(const char* name) {
  for (const auto& [target, mask] : disabled) {
    if (std::strcmp(name, target) != 0) continue;
    // Highway 1.0.3 chooses by the processor's features, not by what DisableTargets() leaves.
    hwy::SetSupportedTargetsForTest(hwy::SupportedTargets() & ~mask);
    hwy::GetChosenTarget().DeInit();  // the next call chooses again
    return true;
  }
  std::fprintf(stderr, "--targets: all, avx2 or sse4, not %s\n", name);
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  const char* const targets = take(argc, argv, "--targets=");
  if (targets != nullptr && !limit_targets(targets)) return 2;
  if (take(argc, argv, "--processor-time") != nullptr) halyard::bench::count_processor_time();
  std::int64_t best = hwy::SupportedTargets();
  best &= -best;  // the lowest bit is the best target
  benchmark::AddCustomContext("targets", hwy::TargetName(best));
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
