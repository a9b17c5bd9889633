// SPDX-License-Identifier: Apache-2.0
// The table of engines. Their order is part of the interface: see EngineOptions::engine.
#include "model/runtimes.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/text/format_error.h"
#include "base/text/log_format.h"
#include "model/library/openvino_loader.h"
#include "model/litert/litert_runtime.h"
#include "model/onnxruntime/ort_runtime.h"
#include "model/plugin/plugin_files.h"
#include "model/tflite/tflite_runtime.h"

namespace halyard::model {
namespace {

bool reads(const KnownRuntime& runtime, std::string_view extension) {
  const auto& known = runtime.extensions;
  return known.empty() || std::find(known.begin(), known.end(), extension) != known.end();
}

Result<KnownRuntime> named(std::vector<KnownRuntime> known, const std::string& name) {
  for (KnownRuntime& runtime : known)
    if (runtime.name == name) return std::move(runtime);
  std::vector<std::string> names;
  for (const KnownRuntime& runtime : known)
    names.push_back(runtime.name);
  return fail(Errc::invalid_argument, "engine: there is none of this name", "'{}'; there are {}",
              name, fmt::join(names, ", "));
}

Status check_fit(const KnownRuntime& runtime, const std::string& path, std::string_view extension,
                 const EngineOptions& options) {
  if (!options.delegate.empty() && !runtime.takes_delegate)
    return fail(Errc::unsupported, "delegate: this engine takes none", "{}", runtime.name);
  if (!reads(runtime, extension))
    return fail(Errc::unsupported, "engine: does not read this kind of file", "{}: {} reads {}",
                path, runtime.name, fmt::join(runtime.extensions, ", "));
  return {};
}

}  // namespace

std::vector<KnownRuntime> known_runtimes() {
  std::vector<KnownRuntime> known;
  known.push_back({.name = "openvino",
                   .extensions = {".onnx", ".tflite", ".xml"},
                   .install = "pip install openvino==2026.4.1",
                   .load = load_openvino});
  known.push_back({.name = "onnxruntime",
                   .extensions = {".onnx"},
                   .install = "pip install onnxruntime",
                   .load = load_onnxruntime});
  known.push_back(
      {.name = "tflite", .extensions = {".tflite"}, .takes_delegate = true, .load = load_tflite});
  known.push_back({.name = "litert",
                   .extensions = {".tflite"},
                   .install = "pip install ai-edge-litert==2.1.4",
                   .is_only_named = true,
                   .load = load_litert});
  for (KnownRuntime& plugin : plugin_runtimes()) {
    const bool is_taken = std::any_of(known.begin(), known.end(), [&](const KnownRuntime& one) {
      return one.name == plugin.name;
    });
    if (is_taken) {
      HALYARD_LOG(LogLevel::warn, "model", "a second engine {} is left out", plugin.name);
    } else {
      known.push_back(std::move(plugin));
    }
  }
  return known;
}

Result<std::vector<KnownRuntime>> runtimes_for(const std::string& path, std::string_view extension,
                                               const EngineOptions& options) {
  auto known = known_runtimes();
  std::vector<KnownRuntime> fitting;
  if (!options.engine.empty()) {
    HALYARD_TRY(auto one, named(std::move(known), options.engine));
    HALYARD_RETURN_IF_ERROR(check_fit(one, path, extension, options));
    fitting.push_back(std::move(one));
    return fitting;
  }
  for (KnownRuntime& runtime : known)
    if (!runtime.is_only_named && check_fit(runtime, path, extension, options))
      fitting.push_back(std::move(runtime));
  if (!fitting.empty()) return fitting;
  if (!options.delegate.empty())
    return fail(Errc::unsupported, "delegate: no engine that takes one reads this file", "{}",
                path);
  return fail(Errc::unsupported, "model file must be .onnx, .tflite or .xml", "{}", path);
}

}  // namespace halyard::model
