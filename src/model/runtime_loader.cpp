// SPDX-License-Identifier: Apache-2.0
// Finds the runtime's shared object beside the library, and OpenVINO through the loader or
// HALYARD_OPENVINO_DIR. The current folder is never searched.
#ifdef HALYARD_HAVE_OPENVINO

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string_view>
#include <type_traits>

#include "base/env.h"
#include "base/system/shared_object.h"
#include "base/text/format_error.h"
#include "halyard/version.h"
#include "model/runtime.h"
#include "model/runtime_loader.h"

namespace halyard::model {
namespace {

constexpr std::string_view object_name = "libhalyard_openvino.so";
constexpr char not_there[] =
    "OpenVINO cannot be loaded: install it where the loader finds it, or set HALYARD_OPENVINO_DIR "
    "to the folder of its libraries";

std::string_view part(std::string_view& text, char end) {
  const std::size_t length = text.find(end);
  const std::string_view found = text.substr(0, length);
  text.remove_prefix(length == std::string_view::npos ? text.size() : length + 1);
  return found;
}

/// The file name in a line of /proc/self/maps whose range has `address`; empty for other lines.
std::string_view file_at(std::string_view line, std::uintptr_t address) {
  std::array<std::uintptr_t, 2> range{};
  for (const char end : {'-', ' '}) {
    const std::string_view number = part(line, end);
    auto& bound = range[end == ' ' ? 1 : 0];
    std::from_chars(number.data(), number.data() + number.size(), bound, 16);
  }
  const std::size_t slash = line.find('/');
  if (address < range[0] || address >= range[1] || slash == std::string_view::npos) return {};
  return line.substr(slash);
}

/// Folder of the file that this code was loaded from. The kernel has its absolute path; the loader
/// may have a relative one, or argv[0].
std::string own_folder() {
  const auto close = [](std::FILE* file) { std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> maps(std::fopen("/proc/self/maps", "re"));
  const auto address = reinterpret_cast<std::uintptr_t>(&own_folder);
  std::array<char, 4352> line{};  // a path of PATH_MAX bytes and the fields before it
  while (maps && std::fgets(line.data(), static_cast<int>(line.size()), maps.get()) != nullptr) {
    const std::string_view file = file_at(line.data(), address);
    if (!file.empty()) return std::string(file.substr(0, file.rfind('/')));
  }
  return {};
}

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
  const auto entry = object.function<std::remove_pointer_t<RuntimeEntry>>(runtime_entry);
  const Runtime* const table = entry == nullptr ? nullptr : entry(HALYARD_VERSION_STRING);
  if (table == nullptr)
    return fail(Errc::unsupported,
                "OpenVINO cannot be used: its object is for another Halyard version",
                "{} is not for Halyard {}", path, HALYARD_VERSION_STRING);
  return table;
}

}  // namespace

Result<const Runtime*> load_runtime() {
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

#endif
