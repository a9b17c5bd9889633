// SPDX-License-Identifier: Apache-2.0
#include "gl/display/gpu_nodes.h"

#include <glob.h>

#include <array>

#include "base/text/format_error.h"

namespace halyard::gl {
namespace {

// DRM; then the nodes of drivers beside DRM: NVIDIA, Mali, Adreno, Vivante, PowerVR, WSL.
constexpr std::array<const char*, 7> patterns = {
    "/dev/dri/renderD*", "/dev/nvidia[0-9]*", "/dev/mali[0-9]*", "/dev/kgsl-*",
    "/dev/galcore",      "/dev/pvr*",         "/dev/dxg"};

bool has_match(const char* pattern) {
  ::glob_t found{};
  const bool is_found = ::glob(pattern, GLOB_NOSORT, nullptr, &found) == 0;
  ::globfree(&found);
  return is_found;
}

}  // namespace

Status find_gpu_node() {
  for (const char* const pattern : patterns)
    if (has_match(pattern)) return {};
  return fail(Errc::unsupported, "opengl: this machine has no node of a GPU in /dev");
}

}  // namespace halyard::gl
