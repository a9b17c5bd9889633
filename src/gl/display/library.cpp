// SPDX-License-Identifier: Apache-2.0
#include "gl/display/library.h"

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
        name, "display: EGL cannot be loaded: install libegl1 and libgles2 (Debian's names)");
    if (!library) return library.error();
  }
  return {};
}

}  // namespace

Status load_libraries() {
  static std::atomic<const Loaded*> once{nullptr};
  const Loaded& loaded = made_once(once, [] {
    threads_start();  // drivers start threads
    return new const Loaded{try_both(), fork_generation()};
  });
  if (!loaded.status || loaded.generation == fork_generation()) return loaded.status;
  return fail(Errc::unsupported, "display: this process was forked after OpenGL was opened");
}

}  // namespace halyard::gl
