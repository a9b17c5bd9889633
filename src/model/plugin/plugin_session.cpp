// SPDX-License-Identifier: Apache-2.0
// Runs a plugin's requests.
#include "model/plugin/plugin_session.h"

#include <algorithm>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "base/system/ranked_mutex.h"
#include "base/text/format_error.h"
#include "model/one_line.h"

namespace halyard::model {
namespace {

constexpr char cannot_run_plugin[] = "inference failed";

std::vector<hal_engine_memory> for_plugin(std::span<const PortMemory> memory) {
  std::vector<hal_engine_memory> out;
  for (const PortMemory& one : memory)
    out.push_back({one.data, one.size_bytes, one.fd, one.offset_bytes});
  return out;
}

class PluginRequest final : public RuntimeRequest {
 public:
  PluginRequest(std::shared_ptr<PluginModel> model, hal_engine_request* request) noexcept
      : model_(std::move(model)), table_(model_->table), request_(request) {}
  PluginRequest(const PluginRequest&) = delete;
  PluginRequest& operator=(const PluginRequest&) = delete;
  ~PluginRequest() override { table_.free_request(request_); }

  Status bind(std::span<const PortMemory> inputs, std::span<const PortMemory> outputs) override {
    const auto in = for_plugin(inputs);
    const auto out = for_plugin(outputs);
    PluginText text;
    return told_by_plugin(table_.bind(request_, in.data(), out.data(), text.data()), text,
                          cannot_run_plugin);
  }

  Status run() override {
    PluginText text;
    return told_by_plugin(table_.run(request_, text.data()), text, cannot_run_plugin);
  }

  Status start(Done done) override {
    done_ = done;
    const auto call = [](void* self) {
      const Done& end = static_cast<PluginRequest*>(self)->done_;
      end.call(end.self);
    };
    PluginText text;
    return told_by_plugin(table_.start(request_, call, this, text.data()), text, cannot_run_plugin);
  }

  Status wait() override {
    PluginText text;
    return told_by_plugin(table_.wait(request_, text.data()), text, cannot_run_plugin);
  }

  void cancel() noexcept override {
    if (table_.cancel != nullptr) table_.cancel(request_);
  }

  Result<PortMemory> output(std::size_t index) override {
    hal_engine_memory memory{nullptr, 0, -1, 0};
    if (table_.output_memory(request_, index, &memory) != HAL_ENGINE_OK ||
        (memory.data == nullptr && memory.fd < 0))
      return fail(Errc::device, "plugin: does not give an output's memory", "output {}", index);
    return PortMemory{memory.data, memory.size, memory.fd, memory.offset};
  }

 private:
  std::shared_ptr<PluginModel> model_;
  const hal_engine_plugin& table_;
  hal_engine_request* request_;
  Done done_;
};

class PluginSession final : public RuntimeSession {
 public:
  explicit PluginSession(std::shared_ptr<PluginModel> model) : model_(std::move(model)) {}

  Result<std::unique_ptr<RuntimeRequest>> make_request() override {
    hal_engine_request* request = nullptr;
    PluginText text;
    // The interface promises one thread at a time for a model.
    const std::lock_guard lock(mutex_);
    HALYARD_RETURN_IF_ERROR(
        told_by_plugin(model_->table.make_request(model_->model, &request, text.data()), text,
                       "engine gives no request"));
    if (request == nullptr) return fail(Errc::device, "plugin: gives no request");
    return std::unique_ptr<RuntimeRequest>(std::make_unique<PluginRequest>(model_, request));
  }

  bool is_asynchronous() const noexcept override { return model_->table.start != nullptr; }
  bool takes_descriptors() const noexcept override {
    return (model_->table.flags & HAL_ENGINE_TAKES_DESCRIPTORS) != 0;
  }

 private:
  std::shared_ptr<PluginModel> model_;
  RankedMutex<LockRank::engine_calls> mutex_;
};

Errc code_of_result(int result) noexcept {
  switch (result) {
    case HAL_ENGINE_MALFORMED:
      return Errc::malformed;
    case HAL_ENGINE_UNSUPPORTED:
      return Errc::unsupported;
    case HAL_ENGINE_CANCELLED:
      return Errc::cancelled;
    case HAL_ENGINE_EXHAUSTED:
      return Errc::exhausted;
    default:
      return Errc::device;
  }
}

}  // namespace

std::string PluginText::line() const {
  const auto end = std::find(bytes_.begin(), bytes_.end(), '\0');
  return one_line(std::string_view(bytes_.data(), std::size_t(end - bytes_.begin())));
}

Status told_by_plugin(int result, const PluginText& text, const char* what) {
  if (result == HAL_ENGINE_OK) return {};
  if (result == HAL_ENGINE_CANCELLED) return make_error(Errc::cancelled, "run: was cancelled");
  return make_error(code_of_result(result), what, text.line());
}

std::unique_ptr<RuntimeSession> make_plugin_session(std::shared_ptr<PluginModel> model) {
  return std::make_unique<PluginSession>(std::move(model));
}

}  // namespace halyard::model
