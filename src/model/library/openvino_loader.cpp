// SPDX-License-Identifier: Apache-2.0
// Finds the runtime's shared object beside the library, and OpenVINO through the loader or
// HALYARD_OPENVINO_DIR. The current folder is never searched.
#include "model/library/openvino_loader.h"

#include "base/text/format_error.h"

#ifdef HALYARD_HAVE_OPENVINO

#include <sys/stat.h>

#include <atomic>
#include <string_view>

#include "base/env.h"
#include "base/runtime/own_folder.h"
#include "base/system/shared_object.h"
#include "halyard/version.h"

namespace halyard::model {
namespace {

constexpr std::string_view object_name = "libhalyard_openvino.so";
constexpr char not_there[] =
    "OpenVINO cannot be loaded: install it where the loader finds it, or set HALYARD_OPENVINO_DIR "
    "to the folder of its libraries";

bool exists(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

/// Loads OpenVINO's library from the folder in the environment variable, so that the runtime's
/// object finds it loaded.
Status load_named(const std::string& folder) {
  if (folder.front() != '/')
    return fail(Errc::invalid_argument, "HALYARD_OPENVINO_DIR: must be an absolute path", "'{}'",
                folder);
  for (const char* inner : {"", "/libs", "/lib"}) {
    const std::string path = fmt::format("{}{}/{}", folder, inner, HALYARD_OPENVINO_FILE);
    if (!exists(path)) continue;
    const auto library =
        SharedObject::open(path, "HALYARD_OPENVINO_DIR: its library cannot be loaded");
    return library ? Status() : library.error();
  }
  return fail(Errc::unsupported, "HALYARD_OPENVINO_DIR: the folder lacks the OpenVINO library",
              "{} is not in '{}', nor in libs/ or lib/ there", HALYARD_OPENVINO_FILE, folder);
}

Result<const Runtime*> open_object(const std::string& path) {
  if (const auto folder = read_environment().openvino_dir)
    HALYARD_RETURN_IF_ERROR(load_named(*folder));
  HALYARD_TRY(const SharedObject object, SharedObject::open(path, not_there));
  const auto entry =
      object.function<decltype(halyard_openvino_runtime)>("halyard_openvino_runtime");
  const Runtime* const table = entry == nullptr ? nullptr : entry(HALYARD_VERSION_STRING);
  if (table == nullptr)
    return fail(Errc::unsupported,
                "OpenVINO cannot be used: its object is for another Halyard version",
                "{} is not for Halyard {}", path, HALYARD_VERSION_STRING);
  return table;
}

}  // namespace

Result<const Runtime*> load_openvino() {
  // Two threads may load at once: the loader gives both the same object.
  static std::atomic<const Runtime*> known{nullptr};
  if (const Runtime* const table = known.load(std::memory_order_acquire)) return table;
  const std::string folder = own_folder();
  std::string looked_at;
  for (const char* inner : {"/halyard/", "/"}) {
    const std::string path = fmt::format("{}{}{}", folder, inner, object_name);
    if (!folder.empty() && exists(path)) {
      HALYARD_TRY(const Runtime* const table, open_object(path));
      known.store(table, std::memory_order_release);
      return table;
    }
    looked_at += fmt::format("{}{}", looked_at.empty() ? "" : " and ", path);
  }
  return fail(Errc::unsupported, "OpenVINO cannot be used: its object is not beside the library",
              "looked for {}", looked_at);
}

}  // namespace halyard::model

#else

namespace halyard::model {

Result<const Runtime*> load_openvino() {
  return fail(Errc::unsupported, "this build has no OpenVINO",
              "`pip install openvino` into .venv and configure again");
}

}  // namespace halyard::model

#endif
