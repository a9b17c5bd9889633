// SPDX-License-Identifier: Apache-2.0
// Reads .tflite files by LiteRT. Each request compiles the model, because a compiled one serves one
// thread at a time.
#include "model/litert/litert_runtime.h"

#include <fmt/ranges.h>

#include <atomic>
#include <mutex>
#include <utility>

#include "base/system/fork.h"
#include "base/system/ranked_mutex.h"
#include "base/text/format_error.h"
#include "halyard/quantization.h"
#include "model/litert/litert_api.h"
#include "model/litert/litert_request.h"
#include "model/tflite/element_types.h"

namespace halyard::model {
namespace {

using litert::LiteFile;
using litert::LiteRt;

class LiteRtSession final : public RuntimeSession {
 public:
  LiteRtSession(std::shared_ptr<const LiteFile> file, std::unique_ptr<RuntimeRequest> first)
      : file_(std::move(file)), first_(std::move(first)) {}

  Result<std::unique_ptr<RuntimeRequest>> make_request() override {
    {
      const std::lock_guard lock(mutex_);
      if (first_) return std::move(first_);
    }
    return litert::make_litert_request(file_);
  }
  bool is_asynchronous() const noexcept override { return false; }

 private:
  std::shared_ptr<const LiteFile> file_;
  RankedMutex<LockRank::leaf> mutex_;
  std::unique_ptr<RuntimeRequest> first_;
};

class LiteRtNetwork final : public Network {
 public:
  explicit LiteRtNetwork(std::shared_ptr<LiteFile> file) : file_(std::move(file)) {}

  Metadata metadata() const override { return {}; }
  Status fix_shapes(std::optional<Size>, std::size_t) override { return {}; }

  Result<Ports> ports() const override {
    const LiteRt& api = file_->api;
    litert::Signature* signature = nullptr;
    if (const int status = api.signature(file_->model, 0, &signature); status != litert::litert_ok)
      return litert::litert_error(status, "engine cannot describe the model");
    Ports ports;
    HALYARD_TRY(ports.inputs, listed(signature, api.input_count, api.input, file_->inputs));
    HALYARD_TRY(ports.outputs, listed(signature, api.output_count, api.output, file_->outputs));
    return ports;
  }

  Result<std::unique_ptr<RuntimeSession>> compile() override {
    HALYARD_TRY(auto first, litert::make_litert_request(file_));
    return std::unique_ptr<RuntimeSession>(
        std::make_unique<LiteRtSession>(file_, std::move(first)));
  }

 private:
  Result<std::vector<Port>> listed(litert::Signature* signature,
                                   int (*count_of)(litert::Signature*, std::size_t*),
                                   int (*tensor_at)(litert::Signature*, std::size_t,
                                                    litert::LiteTensor**),
                                   std::vector<litert::ModelPort>& known) const {
    std::size_t count = 0;
    std::vector<Port> ports;
    int status = count_of(signature, &count);
    known.clear();
    for (std::size_t i = 0; i < count && status == litert::litert_ok; ++i) {
      litert::LiteTensor* tensor = nullptr;
      litert::ModelPort port;
      status = tensor_at(signature, i, &tensor);
      if (status == litert::litert_ok) status = file_->api.ranked_type(tensor, &port.type);
      if (status != litert::litert_ok) break;
      ports.push_back(described(tensor, port));
      known.push_back(port);
    }
    if (status == litert::litert_ok) return ports;
    return litert::litert_error(status, "engine cannot describe the model");
  }

  /// Fills port.size_bytes.
  Port described(litert::LiteTensor* tensor, litert::ModelPort& port) const {
    Port out;
    const char* name = nullptr;
    if (file_->api.tensor_name(tensor, &name) == litert::litert_ok && name != nullptr)
      out.name = name;
    out.dtype = tflite::dtype_of_type(port.type.element_type);
    out.type_text = fmt::format("LiteRT's type {}", port.type.element_type);
    const std::size_t rank = std::min<std::size_t>(port.type.rank_and_strides & 127U, 8);
    const std::span extents(port.type.extents, rank);
    out.shape_text = fmt::format("[{}]", fmt::join(extents, ","));
    if (std::all_of(extents.begin(), extents.end(), [](auto extent) { return extent >= 0; })) {
      out.shape.emplace(extents.begin(), extents.end());
      port.size_bytes = out.dtype ? size_of(*out.dtype) : 0;
      for (const std::size_t extent : *out.shape)
        port.size_bytes *= extent;
    }
    int kind = 0;
    litert::PerTensorQuantization found{};
    if (file_->api.quantization_kind(tensor, &kind) == litert::litert_ok &&
        kind == litert::quantized_per_tensor &&
        file_->api.quantization(tensor, &found) == litert::litert_ok)
      out.quantization =
          Quantization::per_tensor(found.scale, static_cast<std::int32_t>(found.zero_point));
    return out;
  }

  std::shared_ptr<LiteFile> file_;
};

class LiteRtRuntime final : public Runtime {
 public:
  explicit LiteRtRuntime(const LiteRt& api) : api_(api) {}

  std::string version() const override { return litert::known_version; }
  Result<std::vector<std::string>> devices() const override {
    return std::vector<std::string>{"CPU"};
  }

  Result<std::unique_ptr<Network>> read(const std::string& path, FileKind,
                                        const RuntimeOptions& options) const override {
    if (options.device != "CPU")
      return fail(Errc::device, "device: litert has the CPU alone", "'{}'", options.device);
    if (options.threads != 0 || !options.settings.empty())
      return fail(Errc::unsupported, "threads and settings: litert takes none");
    constexpr const char* not_a_model = "file is not a model that the engine reads";
    if (!tflite::has_identifier(path)) return make_error(Errc::malformed, not_a_model);
    litert::LiteModel* model = nullptr;
    if (const int status = api_.create_model(path.c_str(), &model); status != litert::litert_ok) {
      Error error = litert::litert_error(status, not_a_model);
      error.code = Errc::malformed;
      return error;
    }
    return std::unique_ptr<Network>(
        std::make_unique<LiteRtNetwork>(std::make_shared<LiteFile>(api_, model)));
  }

 private:
  const LiteRt& api_;
};

}  // namespace

Result<const Runtime*> load_litert() {
  HALYARD_TRY(const auto* const api, litert::load_litert_library());
  static std::atomic<LiteRtRuntime*> once{nullptr};
  return &made_once(once, [&] { return new LiteRtRuntime(*api); });
}

}  // namespace halyard::model
