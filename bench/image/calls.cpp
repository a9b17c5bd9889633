// SPDX-License-Identifier: Apache-2.0
// What a call costs beside its pixels: 8 x 8 pictures.
#include <cstdlib>

#include "work.h"

namespace halyard::bench {
namespace {

constexpr Work tiny{.name = "rgba_8x8",
                    .source = {8, 8},
                    .from = PixelFormat::rgba,
                    .target = {8, 8},
                    .to = PixelFormat::rgba};
constexpr Work tiny_yuv{.name = "nv12_8x8_rgb",
                        .source = {8, 8},
                        .from = PixelFormat::nv12,
                        .target = {8, 8},
                        .to = PixelFormat::rgb};

void call(benchmark::State& state, const Work& work) {
  in_turns(state, ours(work, std::make_shared<const Source>(work), 1));
}

BENCHMARK_CAPTURE(call, rgba, tiny)
    ->Name("image/call_rgba_8x8")
    ->Iterations(21)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(call, nv12_rgb, tiny_yuv)
    ->Name("image/call_nv12_8x8_rgb")
    ->Iterations(21)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace halyard::bench
