// SPDX-License-Identifier: Apache-2.0
// Reads models with ONNX Runtime, on one of its execution providers.
#include "model/onnxruntime/ort_runtime.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <utility>

#include "base/system/fork.h"
#include "base/text/format_error.h"
#include "model/onnxruntime/ort_api.h"
#include "model/onnxruntime/ort_ports.h"
#include "model/onnxruntime/ort_session.h"

namespace halyard::model {
namespace {

using ort::error_of;

constexpr char ort_cannot_prepare[] = "engine cannot prepare the model";
constexpr std::string_view suffix = "ExecutionProvider";

/// Names of providers without "ExecutionProvider": CPU, CUDA, Tensorrt.
Result<std::vector<std::string>> provider_names(const ort::Api& api) {
  char** names = nullptr;
  int count = 0;
  if (auto* bad = api.providers(&names, &count))
    return error_of(api, bad, Errc::device, "onnxruntime lists no providers");
  std::vector<std::string> providers;
  for (int i = 0; i < count; ++i) {
    std::string name = names[i];
    if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
    providers.push_back(std::move(name));
  }
  if (auto* bad = api.release_providers(names, count)) api.release_status(bad);
  return providers;
}

bool is_same_word(std::string_view one, std::string_view other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(), [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  });
}

struct Settings {
  explicit Settings(const std::map<std::string, std::string>& from) {
    for (const auto& [key, value] : from) {
      keys.push_back(key.c_str());
      values.push_back(value.c_str());
    }
  }
  std::vector<const char*> keys;
  std::vector<const char*> values;
};

ort::Status* add_cuda(const ort::Api& api, ort::SessionOptions* session, const Settings& settings) {
  ort::Owned<ort::CudaOptions> cuda(api.release_cuda_options);
  if (auto* bad = api.create_cuda_options(cuda.out())) return bad;
  if (auto* bad = api.update_cuda_options(cuda.get(), settings.keys.data(), settings.values.data(),
                                          settings.keys.size()))
    return bad;
  return api.add_cuda(session, cuda.get());
}

/// The CPU takes the settings as entries of the session, other providers as their own options.
Status add_device(const ort::Api& api, ort::SessionOptions* session,
                  const RuntimeOptions& options) {
  HALYARD_TRY(const auto providers, provider_names(api));
  const auto found = std::find_if(providers.begin(), providers.end(), [&](const auto& name) {
    return is_same_word(name, options.device);
  });
  if (found == providers.end())
    return fail(Errc::device, "device: this ONNX Runtime has none of this name", "'{}'; it has {}",
                options.device, fmt::join(providers, ", "));
  const Settings settings(options.settings);
  ort::Status* bad = nullptr;
  if (*found == "CPU") {
    for (std::size_t i = 0; bad == nullptr && i < settings.keys.size(); ++i)
      bad = api.add_config(session, settings.keys[i], settings.values[i]);
  } else if (*found == "CUDA") {
    bad = add_cuda(api, session, settings);
  } else {
    bad = api.add_provider(session, found->c_str(), settings.keys.data(), settings.values.data(),
                           settings.keys.size());
  }
  if (bad == nullptr) return {};
  return error_of(api, bad, Errc::device, "device: its provider cannot be used");
}

/// An open batch becomes `batch`; open height and width of NCHW become `image`.
void fix_input(ort::Shape& shape, std::optional<Size> image, std::size_t batch) {
  auto& extents = shape.extents;
  if (!extents.empty() && extents[0] < 0) extents[0] = static_cast<std::int64_t>(batch);
  if (image && extents.size() == 4 && extents[2] < 0 && extents[3] < 0) {
    extents[2] = image->height;
    extents[3] = image->width;
  }
}

class OrtNetwork final : public Network {
 public:
  explicit OrtNetwork(std::shared_ptr<ort::Prepared> prepared)
      : prepared_(std::move(prepared)),
        metadata_(ort::texts_of(*prepared_->library, *prepared_->session.get())) {}

  Metadata metadata() const override { return metadata_; }

  Status fix_shapes(std::optional<Size> image, std::size_t batch) override {
    const auto is_open = [](const ort::Shape& shape) { return !shape.is_fixed(); };
    auto& inputs = prepared_->inputs;
    auto& outputs = prepared_->outputs;
    for (ort::Shape& shape : inputs)
      fix_input(shape, image, batch);
    // Inputs that stay open are refused by the caller.
    if (std::any_of(inputs.begin(), inputs.end(), is_open)) return {};
    if (std::none_of(outputs.begin(), outputs.end(), is_open)) return {};
    return ort::find_output_shapes(*prepared_);
  }

  Result<Ports> ports() const override {
    Ports ports;
    for (const ort::Shape& shape : prepared_->inputs)
      ports.inputs.push_back(port_of(shape));
    for (const ort::Shape& shape : prepared_->outputs)
      ports.outputs.push_back(port_of(shape));
    return ports;
  }

  Result<std::unique_ptr<RuntimeSession>> compile() override {
    return ort::make_session(prepared_);
  }

 private:
  std::shared_ptr<ort::Prepared> prepared_;
  Metadata metadata_;
};

class OrtRuntime final : public Runtime {
 public:
  explicit OrtRuntime(const ort::Library& library) : library_(library) {}

  std::string version() const override { return library_.version; }
  Result<std::vector<std::string>> devices() const override { return provider_names(library_.api); }

  Result<std::unique_ptr<Network>> read(const std::string& path, FileKind,
                                        const RuntimeOptions& options) const override {
    const ort::Api& api = library_.api;
    ort::Owned<ort::SessionOptions> session(api.release_session_options);
    if (auto* bad = api.create_session_options(session.out()))
      return error_of(api, bad, Errc::device, ort_cannot_prepare);
    if (options.threads != 0) {
      const int threads = static_cast<int>(std::min(options.threads, 1024U));
      if (auto* bad = api.set_intra_op_threads(session.get(), threads))
        return error_of(api, bad, Errc::device, ort_cannot_prepare);
    }
    HALYARD_RETURN_IF_ERROR(add_device(api, session.get(), options));
    auto prepared = std::make_shared<ort::Prepared>(library_);
    if (auto* bad =
            api.create_session(library_.env, path.c_str(), session.get(), prepared->session.out()))
      return error_of(api, bad, Errc::malformed, "file is not a model that the engine reads");
    HALYARD_TRY(prepared->inputs, shapes_of(library_, *prepared->session.get(), true));
    HALYARD_TRY(prepared->outputs, shapes_of(library_, *prepared->session.get(), false));
    return std::unique_ptr<Network>(std::make_unique<OrtNetwork>(std::move(prepared)));
  }

 private:
  const ort::Library& library_;
};

}  // namespace

Result<const Runtime*> load_onnxruntime() {
  HALYARD_TRY(const auto* const library, ort::load_library());
  static std::atomic<OrtRuntime*> once{nullptr};
  return &made_once(once, [&] { return new OrtRuntime(*library); });
}

}  // namespace halyard::model
