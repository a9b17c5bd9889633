// SPDX-License-Identifier: Apache-2.0
// OpenGL ES: which displays of this machine serve it, and what the chosen one offers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "halyard/export.h"
#include "halyard/result.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// How an EGL display is reached. None of them needs a screen. The first three values are those of
/// EdgeFirst HAL.
enum class GlDisplayKind : std::uint8_t {
  gbm = 0,          ///< a DRM node, through libgbm
  device = 1,       ///< an EGL device, EGL_EXT_platform_device
  standard = 2,     ///< EGL_DEFAULT_DISPLAY; the variable EGL_PLATFORM decides what it is
  surfaceless = 3,  ///< EGL_MESA_platform_surfaceless
};
std::string_view to_string(GlDisplayKind kind) noexcept;

/// One display that was tried.
struct GlDisplay {
  GlDisplayKind kind = GlDisplayKind::surfaceless;
  std::string name;      ///< of the device or the node; empty if there is only one of this kind
  std::string renderer;  ///< GL_RENDERER; empty if it has no context
  Status status;         ///< the reason why the library does not use it
};

/// Tries all displays of this machine in the order in which the library prefers them: surfaceless,
/// devices, GBM nodes, the standard display. The first call opens them, which may take seconds;
/// they stay open until the process ends. A renderer that runs on the CPU is refused unless
/// HALYARD_ALLOW_SOFTWARE_GL is set. Thread-safe. Errors: unsupported (libEGL or libGLESv2 cannot
/// be loaded; the library was built without OpenGL; the process was forked after OpenGL was
/// opened), exhausted (no thread can be started).
Result<std::vector<GlDisplay>> probe_gl_displays();

/// The context that the library uses, in words.
struct GlReport {
  struct Property {
    std::string name;
    std::string value;
  };
  GlDisplayKind kind = GlDisplayKind::surfaceless;
  std::string display = {};               ///< as GlDisplay::name
  std::string vendor = {};                ///< GL_VENDOR
  std::string renderer = {};              ///< GL_RENDERER
  std::string version = {};               ///< GL_VERSION
  std::string egl_version = {};           ///< EGL_VERSION
  bool is_software = false;               ///< the renderer runs on the CPU
  std::vector<Property> properties = {};  ///< limits and extensions that conversions depend on
};

/// Describes the context that conversions run in. Opens it if no processor has. Thread-safe.
/// Errors: those of probe_gl_displays(), and unsupported (no display serves OpenGL ES 3; the detail
/// has the reason of each).
Result<GlReport> describe_gl();

}  // namespace halyard
HALYARD_EXPORTS_END
