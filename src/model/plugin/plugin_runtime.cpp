// SPDX-License-Identifier: Apache-2.0
// Calls a plugin's functions and checks what they give.
#include "model/plugin/plugin_runtime.h"

#include <fmt/ranges.h>

#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/text/format_error.h"
#include "model/plugin/plugin_session.h"

namespace halyard::model {
namespace {

/// Lists are cut here: a plugin that never ends one must not hang the program.
constexpr std::size_t max_plugin_entries = 4096;

std::string text_or_empty(const char* text) {
  return text == nullptr ? std::string() : std::string(text);
}

std::optional<Quantization> quantization_of_port(const hal_engine_port& port) {
  if (port.scale_count == 0 || port.scales == nullptr) return std::nullopt;
  Quantization quantization;
  quantization.scale.assign(port.scales, port.scales + port.scale_count);
  if (port.zero_points != nullptr)
    quantization.zero_point.assign(port.zero_points, port.zero_points + port.scale_count);
  else
    quantization.zero_point.assign(port.scale_count, 0);
  if (port.scale_count > 1) quantization.axis = port.axis;
  return quantization;
}

Result<Port> checked_port(const hal_engine_port& from) {
  if (from.name == nullptr || from.rank == 0 || from.rank > HAL_ENGINE_MAX_RANK ||
      from.scale_count > 65536)
    return fail(Errc::device, "plugin: a port has no name, or a rank outside 1..8", "rank {}",
                from.rank);
  Port port;
  port.name = from.name;
  if (from.dtype >= 0 && from.dtype <= static_cast<int>(DType::boolean))
    port.dtype = static_cast<DType>(from.dtype);
  port.type_text = fmt::format("type {}", from.dtype);
  port.shape.emplace(from.shape, from.shape + from.rank);
  port.shape_text = fmt::format("[{}]", fmt::join(*port.shape, ","));
  port.quantization = quantization_of_port(from);
  return port;
}

class PluginNetwork final : public Network {
 public:
  explicit PluginNetwork(std::shared_ptr<PluginModel> model) : model_(std::move(model)) {}

  Metadata metadata() const override {
    Metadata metadata;
    const auto& table = model_->table;
    for (std::size_t i = 0; table.metadata != nullptr && i < max_plugin_entries; ++i) {
      const char* key = nullptr;
      const char* value = nullptr;
      if (table.metadata(model_->model, i, &key, &value) != HAL_ENGINE_OK) break;
      if (key != nullptr) metadata.emplace(key, text_or_empty(value));
    }
    return metadata;
  }

  Status fix_shapes(std::optional<Size>, std::size_t) override { return {}; }

  Result<Ports> ports() const override {
    Ports ports;
    HALYARD_TRY(ports.inputs, listed(model_->table.input));
    HALYARD_TRY(ports.outputs, listed(model_->table.output));
    if (ports.inputs.empty() || ports.outputs.empty())
      return fail(Errc::device, "plugin: a model has no inputs or no outputs");
    model_->input_count = ports.inputs.size();
    model_->output_count = ports.outputs.size();
    return ports;
  }

  Result<std::unique_ptr<RuntimeSession>> compile() override {
    PluginText text;
    if (model_->table.compile != nullptr)
      HALYARD_RETURN_IF_ERROR(told_by_plugin(model_->table.compile(model_->model, text.data()),
                                             text, "engine cannot prepare the model"));
    return make_plugin_session(model_);
  }

 private:
  Result<std::vector<Port>> listed(int (*port_at)(hal_engine_model*, std::size_t,
                                                  hal_engine_port*)) const {
    std::vector<Port> ports;
    for (std::size_t i = 0; i < max_plugin_entries; ++i) {
      hal_engine_port from{};
      from.size = sizeof from;
      if (port_at(model_->model, i, &from) != HAL_ENGINE_OK) break;
      HALYARD_TRY(auto port, checked_port(from));
      ports.push_back(std::move(port));
    }
    return ports;
  }

  std::shared_ptr<PluginModel> model_;
};

class PluginRuntime final : public Runtime {
 public:
  explicit PluginRuntime(const hal_engine_plugin& table) : table_(table) {}

  std::string version() const override { return table_.runtime_version; }

  Result<std::vector<std::string>> devices() const override {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < max_plugin_entries; ++i) {
      const char* name = nullptr;
      if (table_.device(i, &name) != HAL_ENGINE_OK) break;
      names.push_back(text_or_empty(name));
    }
    if (names.empty()) return fail(Errc::device, "plugin: none of its devices is there");
    return names;
  }

  Result<std::unique_ptr<Network>> read(const std::string& path, FileKind,
                                        const RuntimeOptions& options) const override {
    std::vector<hal_engine_setting> settings;
    for (const auto& [key, value] : options.settings)
      settings.push_back({key.c_str(), value.c_str()});
    const hal_engine_options given{sizeof given,     options.device.c_str(), options.threads,
                                   options.requests, options.batch,          settings.data(),
                                   settings.size()};
    hal_engine_model* model = nullptr;
    PluginText text;
    HALYARD_RETURN_IF_ERROR(told_by_plugin(table_.open(path.c_str(), &given, &model, text.data()),
                                           text, "engine does not open the file"));
    if (model == nullptr) return fail(Errc::device, "plugin: gives no model");
    return std::unique_ptr<Network>(
        std::make_unique<PluginNetwork>(std::make_shared<PluginModel>(table_, model)));
  }

 private:
  const hal_engine_plugin& table_;
};

bool is_plugin_name(std::string_view name) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789_";
  return !name.empty() && name.size() <= 32 && name.find_first_not_of(letters) == name.npos;
}

/// What a table lacks, or null.
const char* lacking(const hal_engine_plugin& table) {
  if (table.name == nullptr || !is_plugin_name(table.name)) return "name";
  if (table.runtime_version == nullptr) return "runtime_version";
  if (table.extensions == nullptr) return "extensions";
  if (table.device == nullptr) return "device";
  if (table.open == nullptr || table.close == nullptr) return "open and close";
  if (table.input == nullptr || table.output == nullptr) return "input and output";
  if (table.make_request == nullptr || table.free_request == nullptr)
    return "make_request and free_request";
  if (table.bind == nullptr || table.run == nullptr) return "bind and run";
  if ((table.start == nullptr) != (table.wait == nullptr)) return "start and wait, or neither";
  if (table.output_memory == nullptr) return "output_memory";
  return nullptr;
}

}  // namespace

Result<std::unique_ptr<const Runtime>> make_plugin_runtime(const hal_engine_plugin* table) {
  if (table == nullptr || table->version != HAL_ENGINE_PLUGIN_VERSION ||
      table->size < sizeof(hal_engine_plugin))
    return fail(Errc::version, "plugin: is for another version of the interface", "this is {}",
                HAL_ENGINE_PLUGIN_VERSION);
  if (const char* const missing = lacking(*table))
    return fail(Errc::malformed, "plugin: its table is not complete", "{}", missing);
  return std::unique_ptr<const Runtime>(std::make_unique<PluginRuntime>(*table));
}

}  // namespace halyard::model
