// SPDX-License-Identifier: Apache-2.0
// Quirks: what a driver does not tell of itself, by the names that it has.
#pragma once

#include <span>
#include <string_view>

#include "gl/display/capabilities.h"

namespace halyard::gl {

struct Quirk {
  std::string_view renderer;  ///< a part of GL_RENDERER, lower case
  std::string_view version;   ///< a part of GL_VERSION, lower case; empty: any
  std::string_view effect;    ///< what is done, in words
  void (*apply)(Capabilities& capabilities);
};

/// All that are known.
std::span<const Quirk> known_quirks() noexcept;

/// Applies those of the renderer and the version that `capabilities` has, and adds their effects to
/// `quirks`.
void apply_quirks(Capabilities& capabilities);

}  // namespace halyard::gl
