// SPDX-License-Identifier: Apache-2.0
#include "gl/display/quirks.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace halyard::gl {
namespace {

constexpr std::string_view on_cpu = "runs on the CPU: refused unless HALYARD_ALLOW_SOFTWARE_GL=1";
constexpr std::string_view on_cpu_coarsely =
    "runs on the CPU: refused unless HALYARD_ALLOW_SOFTWARE_GL=1; blends with weights of 8 bits: "
    "more than 2 masks over one another on nv12 are drawn by the CPU";
constexpr std::string_view no_binaries = "compiled programs are not kept: it loads them wrongly";

void runs_on_cpu(Capabilities& c) {
  c.is_software = true;
}
void blends_coarsely_on_cpu(Capabilities& c) {
  c.is_software = true;
  c.coarse_blending = true;
}
void has_no_binaries(Capabilities& c) {
  c.program_binaries = false;
}
void imports_rows_of_64_bytes(Capabilities& c) {
  c.import_pitch_bytes = 64;
}
void imports_rows_of_256_bytes(Capabilities& c) {
  c.import_pitch_bytes = 256;
}
void draws_into_renderbuffers(Capabilities& c) {
  c.renderbuffer_targets = true;
}

constexpr std::array quirks = {
    // https://docs.mesa3d.org/drivers/llvmpipe.html, https://docs.mesa3d.org/envvars.html
    Quirk{"llvmpipe", "", on_cpu_coarsely, blends_coarsely_on_cpu},
    Quirk{"softpipe", "", on_cpu, runs_on_cpu},
    Quirk{"swrast", "", on_cpu, runs_on_cpu},
    Quirk{"software rasterizer", "", on_cpu, runs_on_cpu},
    // https://swiftshader.googlesource.com/SwiftShader
    Quirk{"swiftshader", "", on_cpu, runs_on_cpu},
    // Qualcomm's driver: https://crbug.com/510637,
    // https://github.com/mapbox/mapbox-gl-native/pull/9574 and /pull/11047
    Quirk{"adreno (tm) 2", "v@", no_binaries, has_no_binaries},
    Quirk{"adreno (tm) 3", "v@", no_binaries, has_no_binaries},
    Quirk{"adreno (tm) 4", "v@", no_binaries, has_no_binaries},
    Quirk{"adreno (tm) 5", "v@", no_binaries, has_no_binaries},
    // https://github.com/mapbox/mapbox-gl-native/issues/10704
    Quirk{"vivante gc4000", "", no_binaries, has_no_binaries},
    // https://github.com/godotengine/godot/pull/94835
    Quirk{"powervr rogue ge8", "", no_binaries, has_no_binaries},
    // Panfrost: https://github.com/rockchip-linux/mpp/issues/507
    Quirk{"mali", "mesa", "DMA-BUFs are imported where rows are multiples of 64 bytes",
          imports_rows_of_64_bytes},
    // https://github.com/xbmc/xbmc/pull/27895
    Quirk{"radeonsi", "mesa", "DMA-BUFs are imported where rows are multiples of 256 bytes",
          imports_rows_of_256_bytes},
    // Buffers of i.MX 95's NPU: https://github.com/EdgeFirstAI/hal, its table of platforms
    Quirk{"mali-g310", "", "DMA-BUFs are drawn into as renderbuffers", draws_into_renderbuffers},
};

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

std::span<const Quirk> known_quirks() noexcept {
  return quirks;
}

void apply_quirks(Capabilities& capabilities) {
  const std::string renderer = lower_case(capabilities.renderer);
  const std::string version = lower_case(capabilities.version);
  for (const Quirk& quirk : quirks) {
    if (renderer.find(quirk.renderer) == std::string::npos) continue;
    if (version.find(quirk.version) == std::string::npos) continue;
    quirk.apply(capabilities);
    capabilities.quirks.emplace_back(quirk.effect);
  }
}

}  // namespace halyard::gl
