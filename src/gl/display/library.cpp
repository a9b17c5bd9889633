// SPDX-License-Identifier: Apache-2.0
#include "gl/display/library.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "base/system/fork.h"
#include "base/system/shared_object.h"
#include "base/text/format_error.h"

namespace halyard::gl {
namespace {

struct Loaded {
  Status status;
  std::uint32_t generation;
};

Status try_both() {
  for (const char* name : {"libEGL.so.1", "libGLESv2.so.2"}) {
    const auto library = SharedObject::open(
        name, "opengl: EGL cannot be loaded: install libegl1 and libgles2 (Debian's names)");
    if (!library) return library.error();
  }
  return {};
}

}  // namespace

Status find_gpu() {
  // Of the drivers of NVIDIA, Tegra, Mali, Vivante, Adreno, PowerVR and of Windows' subsystem.
  constexpr std::array nodes = {
      "/dev/nvidiactl", "/dev/nvhost-gpu", "/dev/nvgpu",    "/dev/nvmap",    "/dev/mali0",
      "/dev/mali",      "/dev/galcore",    "/dev/kgsl-3d0", "/dev/pvrsrvkm", "/dev/dxg"};
  const auto is_there = [](const char* path) { return ::access(path, F_OK) == 0; };
  if (std::ranges::any_of(nodes, is_there)) return {};
  for (int i = 128; i < 144; ++i)
    if (is_there(fmt::format("/dev/dri/renderD{}", i).c_str())) return {};
  return fail(Errc::unsupported, "opengl: /dev has no node of a GPU");
}

Status load_libraries() {
  static std::atomic<const Loaded*> once{nullptr};
  const Loaded& loaded = made_once(once, [] {
    threads_start();  // drivers start threads
    return new const Loaded{try_both(), fork_generation()};
  });
  if (!loaded.status || loaded.generation == fork_generation()) return loaded.status;
  return fail(Errc::unsupported, "opengl: this process was forked after OpenGL was opened");
}

}  // namespace halyard::gl
