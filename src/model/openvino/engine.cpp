// SPDX-License-Identifier: Apache-2.0
// The OpenVINO runtime behind Engine, in a separate shared object. Only this folder includes
// OpenVINO's headers, and its exceptions do not leave it. It uses only inline code of the library
// (model/runtime.h).
#include <algorithm>
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/system/fork.h"
#include "base/system/ranked_mutex.h"
#include "halyard/version.h"
#include "model/openvino/failure.h"
#include "model/openvino/ports.h"
#include "model/openvino/session.h"
#include "model/runtime.h"
// OpenVINO's headers cause warnings that this build enables.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wextra"
#include <openvino/frontend/manager.hpp>
#pragma GCC diagnostic pop

namespace halyard::model {
namespace {

/// Loading plugins takes time, and the core must outlive everything that OpenVINO made from it.
ov::Core& core() {
  static std::atomic<ov::Core*> instance{nullptr};
  return made_once(instance, [] { return new ov::Core; });
}

/// ONNX metadata_props and the entries that IR files keep; only texts are read.
Metadata ov_metadata(const ov::Model& model) {
  Metadata metadata;
  if (!model.has_rt_info("framework")) return metadata;
  for (const auto& [key, value] : model.get_rt_info<ov::AnyMap>("framework")) {
    if (value.is<std::string>()) metadata.emplace(key, value.as<std::string>());
  }
  return metadata;
}

void fix(ov::Model& model, std::optional<Size> image, std::size_t batch) {
  std::map<ov::Output<ov::Node>, ov::PartialShape> fixed;
  for (const auto& input : model.inputs()) {
    ov::PartialShape shape = input.get_partial_shape();
    if (shape.rank().is_dynamic() || shape.is_static()) continue;
    if (shape.size() > 0 && shape[0].is_dynamic()) shape[0] = std::int64_t(batch);
    if (image && shape.size() == 4 && shape[2].is_dynamic() && shape[3].is_dynamic()) {
      shape[2] = image->height;
      shape[3] = image->width;
    }
    fixed[input] = shape;
  }
  if (!fixed.empty()) model.reshape(fixed);
}

/// Always single precision, so that every CPU gives the same boxes. By default OpenVINO uses
/// bfloat16 on some.
ov::AnyMap compile_options(const RuntimeOptions& options) {
  ov::AnyMap map{ov::hint::performance_mode(ov::hint::PerformanceMode::LATENCY),
                 ov::hint::inference_precision(ov::element::f32)};
  const auto set = [&map](const std::pair<std::string, ov::Any>& entry) {
    map[entry.first] = entry.second;
  };
  if (options.threads != 0)
    set(ov::inference_num_threads(static_cast<std::int32_t>(std::min(options.threads, 1024U))));
  if (options.requests > 1) {
    set(ov::hint::performance_mode(ov::hint::PerformanceMode::THROUGHPUT));
    set(ov::hint::num_requests(std::min(options.requests, 1024U)));
  }
  for (const auto& [key, value] : options.settings)
    map[key] = value;
  return map;
}

/// Reads with the one frontend for this file name. ov::Core::read_model would also try all others
/// on a damaged file, and they write to stderr.
std::shared_ptr<ov::Model> read_model(const std::string& path, FileKind kind) {
  const char* framework = kind == FileKind::tflite ? "tflite"
                          : kind == FileKind::ir   ? "ir"
                                                   : "onnx";
  static RankedMutex<LockRank::leaf> mutex;  // the manager loads plugins and is not thread-safe
  static auto* manager = new ov::frontend::FrontEndManager;
  const std::lock_guard lock(mutex);
  const auto frontend = manager->load_by_framework(framework);
  const auto input = frontend->load(path);
  if (!input) throw std::runtime_error("the file cannot be parsed");
  return frontend->convert(input);
}

constexpr char cannot_prepare[] = "engine cannot prepare the model";

class OpenVinoNetwork final : public Network {
 public:
  OpenVinoNetwork(std::shared_ptr<ov::Model> model, const RuntimeOptions& options)
      : model_(std::move(model)), metadata_(ov_metadata(*model_)), options_(options) {}

  Metadata metadata() const override { return metadata_; }

  Status fix_shapes(std::optional<Size> image, std::size_t batch) override {
    try {
      fix(*model_, image, batch);
      return {};
    } catch (const std::exception& why) {
      return failure(Errc::device, cannot_prepare, why);
    }
  }

  Result<Ports> ports() const override {
    try {
      Ports ports;
      const std::shared_ptr<const ov::Model> view = model_;
      for (const auto& port : view->inputs())
        ports.inputs.push_back(to_port(port));
      for (const auto& port : view->outputs())
        ports.outputs.push_back(to_port(port));
      return ports;
    } catch (const std::exception& why) {
      return failure(Errc::device, cannot_prepare, why);
    }
  }

  Result<std::unique_ptr<RuntimeSession>> compile() override {
    try {
      return make_openvino_session(
          core().compile_model(model_, options_.device, compile_options(options_)));
    } catch (const std::exception& why) {
      return failure(Errc::device, cannot_prepare, why);
    }
  }

 private:
  std::shared_ptr<ov::Model> model_;
  Metadata metadata_;
  RuntimeOptions options_;
};

class OpenVinoRuntime final : public Runtime {
 public:
  std::string version() const override {
    const std::string build = ov::get_openvino_version().buildNumber;  // "2026.4.1-12345-..."
    return build.substr(0, build.find('-'));
  }

  Result<std::vector<std::string>> devices() const override {
    try {
      return core().get_available_devices();
    } catch (const std::exception& why) {
      return failure(Errc::device, "openvino does not start", why);
    }
  }

  Result<std::unique_ptr<Network>> read(const std::string& path, FileKind kind,
                                        const RuntimeOptions& options) const override {
    try {
      return std::unique_ptr<Network>(
          std::make_unique<OpenVinoNetwork>(read_model(path, kind), options));
    } catch (const std::exception& why) {
      return failure(Errc::malformed, "file is not a model that the engine reads", why);
    }
  }
};

}  // namespace

__attribute__((visibility("default"))) const Runtime* halyard_openvino_runtime(
    const char* halyard_version) {
  static const OpenVinoRuntime runtime;
  const bool same = std::string_view(halyard_version) == HALYARD_VERSION_STRING;
  return same ? &runtime : nullptr;
}

}  // namespace halyard::model
