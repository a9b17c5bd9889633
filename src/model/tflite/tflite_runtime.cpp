// SPDX-License-Identifier: Apache-2.0
// Each request has an interpreter of its own. Inputs are copied into it, except into the DMA-BUFs
// of a delegate; outputs are read in its memory.
#include "model/tflite/tflite_runtime.h"

#include <atomic>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/copy_count.h"
#include "base/system/fork.h"
#include "base/system/ranked_mutex.h"
#include "base/text/format_error.h"
#include "model/tflite/element_types.h"
#include "model/tflite/prepared_network.h"
#include "model/tflite/tflite_api.h"

namespace halyard::model {
namespace {

using tflite::PreparedNetwork;

constexpr char not_a_model[] = "file is not a model that the engine reads";

void copy_bytes(void* to, const void* from, std::size_t size) {
  std::memcpy(to, from, size);
  count_copy(size);
}

class TfliteRequest final : public RuntimeRequest {
 public:
  explicit TfliteRequest(std::unique_ptr<PreparedNetwork> network) : network_(std::move(network)) {}

  Status bind(std::span<const PortMemory> inputs, std::span<const PortMemory> outputs) override {
    for (std::size_t i = 0; i < inputs.size() && !network_->has_own_buffers(); ++i) {
      const PortMemory own = network_->input(i);
      if (own.size_bytes != inputs[i].size_bytes)
        return fail(Errc::device, "inference failed", "input {} has {} bytes, not {}", i,
                    own.size_bytes, inputs[i].size_bytes);
      copy_bytes(own.data, inputs[i].data, own.size_bytes);
    }
    outputs_.assign(outputs.begin(), outputs.end());
    return {};
  }

  Status run() override {
    HALYARD_RETURN_IF_ERROR(network_->invoke());
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      if (outputs_[i].data != nullptr) HALYARD_RETURN_IF_ERROR(give(i));
    return {};
  }

  Status start(Done) override { return make_error(Errc::unsupported, "inference failed"); }
  Status wait() override { return {}; }
  void cancel() noexcept override { network_->cancel(); }
  Result<PortMemory> output(std::size_t index) override { return network_->output(index); }

 private:
  /// Copies an output into the caller's memory.
  Status give(std::size_t index) {
    const PortMemory own = network_->output(index);
    if (own.data == nullptr)
      return fail(Errc::unsupported, "outputs: the delegate's buffers cannot be replaced",
                  "output {}", index);
    copy_bytes(outputs_[index].data, own.data,
               std::min(own.size_bytes, outputs_[index].size_bytes));
    return {};
  }

  std::unique_ptr<PreparedNetwork> network_;
  std::vector<PortMemory> outputs_;
};

class TfliteSession final : public RuntimeSession {
 public:
  TfliteSession(std::shared_ptr<const tflite::ModelFile> file, RuntimeOptions options,
                std::size_t batch, std::unique_ptr<PreparedNetwork> first)
      : file_(std::move(file)),
        options_(std::move(options)),
        batch_(batch),
        has_own_buffers_(first->has_own_buffers()) {
    for (std::size_t i = 0; has_own_buffers_ && i < first->input_count(); ++i)
      own_inputs_.push_back(first->input(i));
    first_ = std::move(first);
  }

  Result<std::unique_ptr<RuntimeRequest>> make_request() override {
    std::unique_ptr<PreparedNetwork> network;
    {
      const std::lock_guard lock(mutex_);
      network = std::move(first_);
    }
    if (network == nullptr && has_own_buffers_)
      return fail(Errc::exhausted, "engine: the delegate has buffers for one run at a time",
                  "its results are still alive, or a run is in flight");
    if (network == nullptr) {
      HALYARD_TRY(network, PreparedNetwork::create(file_, options_, batch_));
    }
    return std::unique_ptr<RuntimeRequest>(std::make_unique<TfliteRequest>(std::move(network)));
  }

  bool is_asynchronous() const noexcept override { return false; }

  std::optional<PortMemory> input_memory(std::size_t index) const override {
    if (!has_own_buffers_) return std::nullopt;
    return own_inputs_[index];
  }

 private:
  std::shared_ptr<const tflite::ModelFile> file_;
  RuntimeOptions options_;
  std::size_t batch_;
  bool has_own_buffers_;
  std::vector<PortMemory> own_inputs_;
  RankedMutex<LockRank::leaf> mutex_;
  std::unique_ptr<PreparedNetwork> first_;  ///< for the first request
};

class TfliteNetwork final : public Network {
 public:
  TfliteNetwork(std::shared_ptr<const tflite::ModelFile> file, RuntimeOptions options)
      : file_(std::move(file)), options_(std::move(options)) {}

  Metadata metadata() const override { return {}; }

  Status fix_shapes(std::optional<Size>, std::size_t batch) override {
    batch_ = batch;
    HALYARD_TRY(first_, PreparedNetwork::create(file_, options_, batch));
    return {};
  }
  Result<Ports> ports() const override { return first_->ports(); }
  Result<std::unique_ptr<RuntimeSession>> compile() override {
    return std::unique_ptr<RuntimeSession>(
        std::make_unique<TfliteSession>(file_, options_, batch_, std::move(first_)));
  }

 private:
  std::shared_ptr<const tflite::ModelFile> file_;
  RuntimeOptions options_;
  std::size_t batch_ = 1;
  std::unique_ptr<PreparedNetwork> first_;
};

/// The library reports damaged files on standard error, if it is not told where to.
void drop_report(void*, const char*, std::va_list) {}

class TfliteRuntime final : public Runtime {
 public:
  explicit TfliteRuntime(const tflite::Calls& api) : api_(api) {}

  std::string version() const override { return api_.version(); }
  Result<std::vector<std::string>> devices() const override {
    return std::vector<std::string>{"CPU"};
  }

  Result<std::unique_ptr<Network>> read(const std::string& path, FileKind,
                                        const RuntimeOptions& options) const override {
    if (options.device != "CPU" && options.delegate.empty())
      return fail(Errc::device, "device: tflite has the CPU, and others by a delegate", "'{}'",
                  options.device);
    if (!tflite::has_identifier(path)) return make_error(Errc::malformed, not_a_model);
    tflite::Model* const model =
        api_.create_model_reporting != nullptr
            ? api_.create_model_reporting(path.c_str(), drop_report, nullptr)
            : api_.create_model(path.c_str());
    if (model == nullptr) return make_error(Errc::malformed, not_a_model);
    return std::unique_ptr<Network>(std::make_unique<TfliteNetwork>(
        std::make_shared<const tflite::ModelFile>(api_, model), options));
  }

 private:
  const tflite::Calls& api_;
};

}  // namespace

Result<const Runtime*> load_tflite() {
  HALYARD_TRY(const auto* const api, tflite::load_tflite_library());
  static std::atomic<TfliteRuntime*> once{nullptr};
  return &made_once(once, [&] { return new TfliteRuntime(*api); });
}

}  // namespace halyard::model
