// SPDX-License-Identifier: Apache-2.0
// Names of formats, modifiers and colours in DRM, V4L2 and EGL.
#include "halyard/drm.h"

#include "base/format_error.h"

namespace halyard {

std::string modifier_to_string(std::uint64_t modifier) {
  if (modifier == drm_modifier_linear) return "linear";
  return fmt::format("{:#018x}", modifier);
}

std::string_view to_string(Compression compression) noexcept {
  constexpr std::string_view names[] = {"none", "any", "ubwc", "afbc", "pvric", "dcc"};
  const auto index = static_cast<std::size_t>(compression);
  return index < std::size(names) ? names[index] : "unknown";
}

}  // namespace halyard
