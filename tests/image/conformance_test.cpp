// SPDX-License-Identifier: Apache-2.0
// The conformance suite, one line per backend.
#include "conformance/image_backend.h"

#include "image/cpu/cpu_backend.h"

namespace halyard::testing {
namespace {

std::unique_ptr<image::ImageBackend> make_cpu() {
  return std::make_unique<image::CpuBackend>(2);
}

INSTANTIATE_TEST_SUITE_P(cpu, ImageBackendConformance,
                         ::testing::Values(BackendCase{"cpu", &make_cpu}));

}  // namespace
}  // namespace halyard::testing
