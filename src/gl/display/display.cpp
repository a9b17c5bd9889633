// SPDX-License-Identifier: Apache-2.0
#include "gl/display/display.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/system/fork.h"
#include "base/system/shared_object.h"
#include "base/text/format_error.h"

namespace halyard::gl {
namespace {

constexpr EGLint max_devices = 16;
// DRM numbers render nodes from 128 and primary nodes from 0.
constexpr int first_render_node = 128;
constexpr int max_nodes = 16;

std::string_view text_of(const char* text) noexcept {
  return text == nullptr ? std::string_view{} : text;
}

std::string_view client_extensions() {
  return text_of(eglQueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS));
}

Status lacks(const char* extension) {
  return fail(Errc::unsupported, "display: EGL lacks this kind", "{}", extension);
}

// Initialises the display and reads what it offers.
Display open(GlDisplayKind kind, std::string name, EGLDisplay handle) {
  Display out{kind, std::move(name), handle};
  EGLint major = 0, minor = 0;
  if (handle == EGL_NO_DISPLAY || eglInitialize(handle, &major, &minor) != EGL_TRUE) {
    out.status = fail(Errc::unsupported, "display: cannot be initialised", "{}",
                      egl_error_name(eglGetError()));
    return out;
  }
  out.version = text_of(eglQueryString(handle, EGL_VERSION));
  out.vendor = text_of(eglQueryString(handle, EGL_VENDOR));
  out.extensions = text_of(eglQueryString(handle, EGL_EXTENSIONS));
  for (const char* needed : {"EGL_KHR_surfaceless_context", "EGL_KHR_no_config_context"}) {
    if (out.has(needed)) continue;
    out.status = fail(Errc::unsupported, "display: an extension is missing", "{}", needed);
    break;
  }
  return out;
}

void open_surfaceless(std::vector<Display>& out) {
  constexpr const char* extension = "EGL_MESA_platform_surfaceless";
  if (!has_extension(client_extensions(), extension)) {
    out.push_back({.kind = GlDisplayKind::surfaceless, .status = lacks(extension)});
    return;
  }
  out.push_back(
      open(GlDisplayKind::surfaceless, {},
           eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr)));
}

std::string device_name(EGLDeviceEXT device, EGLint index) {
  const std::string_view extensions = text_of(eglQueryDeviceStringEXT(device, EGL_EXTENSIONS));
  if (has_extension(extensions, "EGL_EXT_device_drm")) {
    const std::string_view node = text_of(eglQueryDeviceStringEXT(device, EGL_DRM_DEVICE_FILE_EXT));
    if (!node.empty()) return std::string(node);
  }
  return fmt::format("device {}", index);
}

void open_devices(std::vector<Display>& out) {
  const std::string_view extensions = client_extensions();
  // The base extension is the other two in one.
  const bool has_base = has_extension(extensions, "EGL_EXT_device_base");
  for (const auto& [needed, is_in_base] :
       {std::pair("EGL_EXT_platform_device", false), std::pair("EGL_EXT_device_enumeration", true),
        std::pair("EGL_EXT_device_query", true)}) {
    if ((is_in_base && has_base) || has_extension(extensions, needed)) continue;
    out.push_back({.kind = GlDisplayKind::device, .status = lacks(needed)});
    return;
  }
  std::array<EGLDeviceEXT, max_devices> devices{};
  EGLint count = 0;
  if (eglQueryDevicesEXT(max_devices, devices.data(), &count) != EGL_TRUE || count == 0) {
    out.push_back({.kind = GlDisplayKind::device,
                   .status = fail(Errc::unsupported, "display: EGL knows no device")});
    return;
  }
  for (EGLint i = 0; i < count; ++i) {
    EGLDeviceEXT const device = devices[static_cast<std::size_t>(i)];
    out.push_back(open(GlDisplayKind::device, device_name(device, i),
                       eglGetPlatformDisplayEXT(EGL_PLATFORM_DEVICE_EXT, device, nullptr)));
  }
}

// The node and its gbm_device stay open until the process ends, as the display does.
Display open_node(const std::string& path, int fd, const SharedObject& gbm) {
  using Create = void*(int);
  auto* const create = gbm.function<Create>("gbm_create_device");
  void* const device = create == nullptr ? nullptr : create(fd);
  if (device == nullptr) {
    ::close(fd);
    return {.kind = GlDisplayKind::gbm,
            .name = path,
            .status = fail(Errc::unsupported, "display: libgbm does not take the node")};
  }
  return open(GlDisplayKind::gbm, path,
              eglGetPlatformDisplayEXT(EGL_PLATFORM_GBM_KHR, device, nullptr));
}

void open_nodes(std::vector<Display>& out) {
  const auto add = [&](Status status, std::string name = {}) {
    out.push_back({.kind = GlDisplayKind::gbm, .name = std::move(name), .status = status});
  };
  if (!has_extension(client_extensions(), "EGL_KHR_platform_gbm") &&
      !has_extension(client_extensions(), "EGL_MESA_platform_gbm")) {
    return add(lacks("EGL_KHR_platform_gbm"));
  }
  const auto gbm =
      SharedObject::open("libgbm.so.1", "display: libgbm cannot be loaded: install libgbm1");
  if (!gbm) return add(gbm.error());
  bool is_found = false;
  for (const auto& [pattern, first] :
       {std::pair("/dev/dri/renderD{}", first_render_node), std::pair("/dev/dri/card{}", 0)}) {
    for (int i = first; i < first + max_nodes; ++i) {
      const std::string path = fmt::format(fmt::runtime(pattern), i);
      const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
      if (fd < 0 && errno == ENOENT) continue;
      is_found = true;
      if (fd < 0) {
        add(fail_os("display: the node cannot be opened", errno), path);
      } else {
        out.push_back(open_node(path, fd, *gbm));
      }
    }
  }
  if (!is_found) add(fail(Errc::unsupported, "display: there is no node in /dev/dri"));
}

}  // namespace

bool has_extension(std::string_view list, std::string_view extension) noexcept {
  for (std::size_t at = 0; (at = list.find(extension, at)) != std::string_view::npos;
       at += extension.size()) {
    const std::size_t end = at + extension.size();
    if ((at == 0 || list[at - 1] == ' ') && (end == list.size() || list[end] == ' ')) return true;
  }
  return false;
}

bool Display::has(std::string_view extension) const noexcept {
  return has_extension(extensions, extension);
}

std::vector<Display> open_displays() {
  const LoadingTurn turn;  // EGL loads drivers
  std::vector<Display> out;
  open_surfaceless(out);
  open_devices(out);
  open_nodes(out);
  out.push_back(open(GlDisplayKind::standard, {}, eglGetDisplay(EGL_DEFAULT_DISPLAY)));
  return out;
}

std::string_view egl_error_name(EGLint code) noexcept {
  constexpr std::array<std::string_view, 15> names = {
      "EGL_SUCCESS",       "EGL_NOT_INITIALIZED",     "EGL_BAD_ACCESS",
      "EGL_BAD_ALLOC",     "EGL_BAD_ATTRIBUTE",       "EGL_BAD_CONFIG",
      "EGL_BAD_CONTEXT",   "EGL_BAD_CURRENT_SURFACE", "EGL_BAD_DISPLAY",
      "EGL_BAD_MATCH",     "EGL_BAD_NATIVE_PIXMAP",   "EGL_BAD_NATIVE_WINDOW",
      "EGL_BAD_PARAMETER", "EGL_BAD_SURFACE",         "EGL_CONTEXT_LOST"};
  const auto index = static_cast<std::size_t>(code - EGL_SUCCESS);
  return index < names.size() ? names[index] : "an unknown error";
}

}  // namespace halyard::gl
