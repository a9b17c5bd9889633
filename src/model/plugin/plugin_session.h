// SPDX-License-Identifier: Apache-2.0
// A model of a plugin, and its requests.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "halyard/c/engine_plugin.h"
#include "halyard/result.h"
#include "model/runtime.h"

namespace halyard::model {

/// Where a plugin writes its reasons.
class PluginText {
 public:
  char* data() noexcept { return bytes_.data(); }
  /// One line, also if the plugin wrote no end.
  std::string line() const;

 private:
  std::array<char, HAL_ENGINE_TEXT_BYTES> bytes_{};
};

/// The result of a plugin's function. `what`: a literal.
Status told_by_plugin(int result, const PluginText& text, const char* what);

/// Requests keep it.
struct PluginModel {
  PluginModel(const hal_engine_plugin& from, hal_engine_model* opened) noexcept
      : table(from), model(opened) {}
  PluginModel(const PluginModel&) = delete;
  PluginModel& operator=(const PluginModel&) = delete;
  ~PluginModel() { table.close(model); }
  const hal_engine_plugin& table;
  hal_engine_model* model;
  std::size_t input_count = 0;
  std::size_t output_count = 0;
};

std::unique_ptr<RuntimeSession> make_plugin_session(std::shared_ptr<PluginModel> model);

}  // namespace halyard::model
