// SPDX-License-Identifier: Apache-2.0
// Google Benchmark's main, and --targets=NAME: the most that kernels may use of the processor.
#include <benchmark/benchmark.h>
#include <hwy/targets.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>

namespace {

// What is above a target, by the names of the figures.
constexpr std::int64_t avx512 = HWY_AVX3 | HWY_AVX3_DL;
constexpr std::pair<const char*, std::int64_t> disabled[] = {
    {"all", 0},
    {"avx2", avx512},
    {"sse4", avx512 | HWY_AVX2},
};

// Takes the argument out, if it is there; false: no such target.
bool take_targets(int& count, char** arguments) {
  constexpr const char* prefix = "--targets=";
  for (int i = 1; i < count; ++i) {
    if (std::strncmp(arguments[i], prefix, std::strlen(prefix)) != 0) continue;
    const char* const name = arguments[i] + std::strlen(prefix);
    for (int k = i; k < count; ++k)
      arguments[k] = arguments[k + 1];
    --count;
    for (const auto& [target, mask] : disabled) {
      if (std::strcmp(name, target) != 0) continue;
      hwy::DisableTargets(mask);
      return true;
    }
    std::fprintf(stderr, "--targets: all, avx2 or sse4, not %s\n", name);
    return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (!take_targets(argc, argv)) return 2;
  std::int64_t best = hwy::SupportedTargets();
  best &= -best;  // the lowest bit is the best target
  benchmark::AddCustomContext("targets", hwy::TargetName(best));
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
