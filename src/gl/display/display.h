// SPDX-License-Identifier: Apache-2.0
// Display: an EGL display without a screen. All displays of a machine are opened once per process.
#pragma once

#include <epoxy/egl.h>

#include <string>
#include <string_view>
#include <vector>

#include "halyard/gl.h"

namespace halyard::gl {

/// An initialised display. It is never terminated: other code of the process may use the same one,
/// and some drivers do not survive it.
struct Display {
  GlDisplayKind kind = GlDisplayKind::surfaceless;
  std::string name = {};  ///< of the device or the node
  EGLDisplay handle = EGL_NO_DISPLAY;
  std::string version = {};     ///< EGL_VERSION
  std::string vendor = {};      ///< EGL_VENDOR
  std::string extensions = {};  ///< separated by spaces
  /// Why it cannot be used; the fields above are then incomplete.
  Status status = {};

  bool has(std::string_view extension) const noexcept;
};

/// Whether a list of extensions, separated by spaces, has this one.
bool has_extension(std::string_view list, std::string_view extension) noexcept;

/// Opens all displays in the order of preference: surfaceless, devices, GBM nodes, the standard
/// one. Where EGL lacks a kind, one entry tells so. Call after load_libraries(), once per process,
/// on a thread of the library: EGL keeps state for each thread.
std::vector<Display> open_displays();

/// The text of an EGL error code, as "EGL_BAD_ALLOC".
std::string_view egl_error_name(EGLint code) noexcept;

}  // namespace halyard::gl
