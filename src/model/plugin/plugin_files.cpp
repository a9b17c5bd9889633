// SPDX-License-Identifier: Apache-2.0
// Loads plugins once and keeps them.
#include "model/plugin/plugin_files.h"

#include <atomic>
#include <filesystem>
#include <memory>
#include <type_traits>
#include <utility>

#include "base/env.h"
#include "base/runtime/plugin_paths.h"
#include "base/system/shared_object.h"
#include "base/text/format_error.h"
#include "model/plugin/plugin_runtime.h"

namespace halyard::model {
namespace {

namespace fs = std::filesystem;

/// A plugin that is loaded, for the life of the process.
struct LoadedPlugin {
  std::string path;
  const hal_engine_plugin* table = nullptr;
  std::unique_ptr<const Runtime> runtime;
  LoadedPlugin* next = nullptr;
};
std::atomic<LoadedPlugin*> loaded_plugins{nullptr};

Result<std::unique_ptr<LoadedPlugin>> open_plugin(const std::string& path) {
  HALYARD_TRY(const SharedObject object, SharedObject::open(path, "plugin: cannot be loaded"));
  const auto get =
      object.function<std::remove_pointer_t<hal_engine_plugin_get_fn>>("hal_engine_plugin_get");
  if (get == nullptr)
    return fail(Errc::unsupported, "plugin: exports no hal_engine_plugin_get", "{}", path);
  auto plugin = std::make_unique<LoadedPlugin>();
  plugin->path = path;
  plugin->table = get(HAL_ENGINE_PLUGIN_VERSION);
  auto runtime = make_plugin_runtime(plugin->table);
  if (!runtime)
    return make_error(runtime.error().code, runtime.error().what,
                      fmt::format("{}: {}", path, *runtime.error().detail));
  plugin->runtime = *std::move(runtime);
  return plugin;
}

/// Two threads may load one file at once; both entries then stay.
Result<const LoadedPlugin*> known_plugin(const std::string& path) {
  for (const LoadedPlugin* one = loaded_plugins.load(std::memory_order_acquire); one != nullptr;
       one = one->next)
    if (one->path == path) return one;
  HALYARD_TRY(auto fresh, open_plugin(path));
  LoadedPlugin* const entry = fresh.release();
  entry->next = loaded_plugins.load(std::memory_order_acquire);
  while (!loaded_plugins.compare_exchange_weak(entry->next, entry, std::memory_order_acq_rel)) {
  }
  return static_cast<const LoadedPlugin*>(entry);
}

KnownRuntime unusable(const std::string& path, const Error& error) {
  KnownRuntime known;
  known.name = fs::path(path).filename().string();
  known.extensions = {"."};  // no file has this
  known.load = [error]() -> Result<const Runtime*> { return error; };
  return known;
}

KnownRuntime described_plugin(const std::string& path) {
  const auto plugin = known_plugin(path);
  if (!plugin) return unusable(path, plugin.error());
  const hal_engine_plugin& table = *(*plugin)->table;
  KnownRuntime known;
  known.name = table.name;
  for (const char* const* one = table.extensions; *one != nullptr; ++one)
    known.extensions.emplace_back(*one);
  const Runtime* const runtime = (*plugin)->runtime.get();
  known.load = [runtime]() -> Result<const Runtime*> { return runtime; };
  return known;
}

}  // namespace

std::vector<KnownRuntime> plugin_runtimes() {
  std::vector<KnownRuntime> found;
  for (const std::string& path :
       plugin_paths(read_environment().engine_plugins, "halyard/engines")) {
    if (path.front() != '/')
      found.push_back(
          unusable(path, fail(Errc::invalid_argument,
                              "HALYARD_ENGINE_PLUGINS: paths must be absolute", "'{}'", path)));
    else
      found.push_back(described_plugin(path));
  }
  return found;
}

}  // namespace halyard::model
