// SPDX-License-Identifier: Apache-2.0
// Loads plugins once and keeps them.
#include "capture/plugin/camera_plugins.h"

#include <atomic>
#include <filesystem>
#include <memory>
#include <type_traits>
#include <utility>

#include "base/env.h"
#include "base/runtime/plugin_paths.h"
#include "base/system/shared_object.h"
#include "base/text/format_error.h"
#include "halyard/camera.h"

namespace halyard {
namespace capture {
namespace {

constexpr std::string_view libcamera = "libcamera";

/// A file that is loaded, for the life of the process.
struct LoadedCameraPlugin {
  std::string path;
  const hal_capture_plugin* table = nullptr;
  LoadedCameraPlugin* next = nullptr;
};
std::atomic<LoadedCameraPlugin*> loaded_plugins{nullptr};

Result<const hal_capture_plugin*> load_plugin(const std::string& path) {
  HALYARD_TRY(const SharedObject object,
              SharedObject::open(path, "camera plugin: cannot be loaded"));
  const auto get =
      object.function<std::remove_pointer_t<hal_capture_plugin_get_fn>>("hal_capture_plugin_get");
  if (get == nullptr)
    return fail(Errc::unsupported, "camera plugin: exports no hal_capture_plugin_get", "{}", path);
  return check_plugin_table(get(HAL_CAPTURE_PLUGIN_VERSION), path);
}

/// Two threads may load one file at once; both entries then stay.
Result<const hal_capture_plugin*> loaded_plugin(const std::string& path) {
  for (const LoadedCameraPlugin* one = loaded_plugins.load(std::memory_order_acquire);
       one != nullptr; one = one->next)
    if (one->path == path) return one->table;
  HALYARD_TRY(const hal_capture_plugin* const table, load_plugin(path));
  auto* const entry = new LoadedCameraPlugin{path, table, nullptr};
  entry->next = loaded_plugins.load(std::memory_order_acquire);
  while (!loaded_plugins.compare_exchange_weak(entry->next, entry, std::memory_order_acq_rel)) {
  }
  return table;
}

bool is_plugin_name(std::string_view name) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789_";
  return !name.empty() && name.size() <= 32 &&
         name.find_first_not_of(letters) == std::string_view::npos && name != "camera" &&
         name != "topic";
}

/// What a table lacks, or null.
const char* lacking_in(const hal_capture_plugin& table) {
  if (table.name == nullptr || !is_plugin_name(table.name)) return "name";
  if (table.library_version == nullptr) return "library_version";
  if (table.camera == nullptr) return "camera";
  if (table.open == nullptr || table.close == nullptr) return "open and close";
  if (table.format == nullptr || table.frame_size == nullptr) return "format and frame_size";
  if ((table.control == nullptr) != (table.set_control == nullptr))
    return "control and set_control, or neither";
  if (table.configure == nullptr || table.buffer == nullptr) return "configure and buffer";
  if (table.start == nullptr || table.ready_fd == nullptr) return "start and ready_fd";
  if (table.take == nullptr || table.give_back == nullptr) return "take and give_back";
  return nullptr;
}

}  // namespace

Result<const hal_capture_plugin*> check_plugin_table(const hal_capture_plugin* table,
                                                     const std::string& path) {
  if (table == nullptr || table->version != HAL_CAPTURE_PLUGIN_VERSION ||
      table->size < sizeof(hal_capture_plugin))
    return fail(Errc::version, "camera plugin: is for another version of the interface",
                "{}: this is {}", path, HAL_CAPTURE_PLUGIN_VERSION);
  if (const char* const missing = lacking_in(*table))
    return fail(Errc::malformed, "camera plugin: its table is not complete", "{}: {}", path,
                missing);
  return table;
}

std::vector<KnownCameraPlugin> known_camera_plugins() {
  std::vector<KnownCameraPlugin> found;
  for (const std::string& path :
       plugin_paths(read_environment().camera_plugins, "halyard/cameras")) {
    if (path.front() == '/')
      found.push_back({path, loaded_plugin(path)});
    else
      found.push_back({path, fail(Errc::invalid_argument,
                                  "HALYARD_CAMERA_PLUGINS: paths must be absolute", "'{}'", path)});
  }
  return found;
}

std::optional<PluginAddress> plugin_address(const std::string& path) {
  const std::size_t colon = path.find(':');
  if (colon == std::string::npos || path.compare(colon, 3, "://") == 0) return std::nullopt;
  PluginAddress address{path.substr(0, colon), path.substr(colon + 1)};
  if (!is_plugin_name(address.plugin)) return std::nullopt;
  if (address.plugin == libcamera) return address;
  for (const KnownCameraPlugin& known : known_camera_plugins())
    if (known.table && (*known.table)->name == address.plugin) return address;
  return std::nullopt;
}

Result<const hal_capture_plugin*> find_camera_plugin(const std::string& name) {
  std::optional<Error> refused;
  for (const KnownCameraPlugin& known : known_camera_plugins()) {
    if (known.table && (*known.table)->name == name) return *known.table;
    // The file of libcamera's plugin is named so.
    const bool is_named = known.path.find(name) != std::string::npos;
    if (!known.table && is_named && !refused) refused = known.table.error();
  }
  if (refused) return *refused;
  if (name == libcamera)
    return fail(Errc::unsupported,
                "camera: the plugin of libcamera is not installed; build Halyard after "
                "scripts/install-deps.sh libcamera, or name its file in HALYARD_CAMERA_PLUGINS");
  return fail(Errc::unsupported, "camera: there is no plugin of this name", "{}", name);
}

}  // namespace capture

std::vector<CameraPluginInfo> list_camera_plugins() {
  std::vector<CameraPluginInfo> found;
  bool has_libcamera = false;
  for (const capture::KnownCameraPlugin& known : capture::known_camera_plugins()) {
    CameraPluginInfo info;
    info.path = known.path;
    info.name =
        known.table ? (*known.table)->name : std::filesystem::path(known.path).filename().string();
    if (known.table)
      info.version = (*known.table)->library_version;
    else
      info.usable = known.table.error();
    has_libcamera = has_libcamera || info.name.find(capture::libcamera) != std::string::npos;
    found.push_back(std::move(info));
  }
  if (!has_libcamera) {
    CameraPluginInfo info;
    info.name = capture::libcamera;
    const auto plugin = capture::find_camera_plugin(info.name);
    if (!plugin) info.usable = plugin.error();
    found.push_back(std::move(info));
  }
  return found;
}

}  // namespace halyard
