// SPDX-License-Identifier: Apache-2.0
// Its kernels read up to a vector past the end of an input, so inputs are copied into memory that
// is longer. Outputs are written where the caller wants them, if that is aligned.
#include "model/litert/litert_request.h"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/copy_count.h"
#include "base/text/format_error.h"
#include "halyard/buffer.h"

namespace halyard::model::litert {
namespace {

constexpr char cannot_run_litert[] = "inference failed";
constexpr std::size_t spare_bytes = 128;

/// Memory of the library's buffer object.
class Place {
 public:
  explicit Place(const LiteRt& api) noexcept : api_(&api) {}
  Place(Place&& other) noexcept
      : api_(other.api_),
        own_(std::move(other.own_)),
        map_(std::move(other.map_)),
        buffer_(std::exchange(other.buffer_, nullptr)),
        data_(other.data_) {}
  Place& operator=(Place&&) = delete;
  ~Place() { drop(); }

  TensorBuffer* buffer() const noexcept { return buffer_; }
  std::byte* own() const noexcept { return map_.writable_bytes().data(); }
  std::byte* data() const noexcept { return data_; }

  Status allocate_own(const ModelPort& port) {
    if (own_) return {};
    HALYARD_TRY(own_, allocate(port.size_bytes + spare_bytes, Memory::mem));
    HALYARD_TRY(map_, own_->map(Access::write));
    return {};
  }
  Status use(const ModelPort& port, std::byte* data) {
    if (data_ == data && buffer_ != nullptr) return {};
    drop();
    const int status = api_->wrap_memory(&port.type, data, port.size_bytes, nullptr, &buffer_);
    if (status != litert_ok) return litert_error(status, cannot_run_litert);
    data_ = data;
    return {};
  }

 private:
  void drop() noexcept {
    if (buffer_ != nullptr) api_->destroy_buffer(buffer_);
    buffer_ = nullptr;
  }
  const LiteRt* api_;
  std::shared_ptr<Buffer> own_;
  Map map_;
  TensorBuffer* buffer_ = nullptr;
  std::byte* data_ = nullptr;
};

bool is_aligned(const void* data) {
  return reinterpret_cast<std::uintptr_t>(data) % buffer_alignment_bytes == 0;
}

void copy_counted(void* to, const void* from, std::size_t size) {
  std::memcpy(to, from, size);
  count_copy(size);
}

class LiteRtRequest final : public RuntimeRequest {
 public:
  explicit LiteRtRequest(std::shared_ptr<const LiteFile> file)
      : file_(std::move(file)), api_(file_->api) {
    for (std::size_t i = 0; i < file_->inputs.size(); ++i)
      inputs_.emplace_back(api_);
    for (std::size_t i = 0; i < file_->outputs.size(); ++i)
      outputs_.emplace_back(api_);
  }
  LiteRtRequest(const LiteRtRequest&) = delete;
  LiteRtRequest& operator=(const LiteRtRequest&) = delete;
  ~LiteRtRequest() override {
    inputs_.clear();
    outputs_.clear();
    if (compiled_ != nullptr) api_.destroy_compiled(compiled_);
  }

  Status compile() {
    CompileOptions* options = nullptr;
    int status = api_.create_options(&options);
    if (status == litert_ok) status = api_.set_accelerators(options, on_cpu);
    if (status == litert_ok)
      status = api_.compile(api_.environment, file_->model, options, &compiled_);
    if (options != nullptr) api_.destroy_options(options);
    if (status == litert_ok)
      status = api_.set_cancellation(compiled_, this, [](void* self) {
        return static_cast<LiteRtRequest*>(self)->is_cancelled_.load();
      });
    if (status != litert_ok) return litert_error(status, "engine cannot prepare the model");
    return {};
  }

  Status bind(std::span<const PortMemory> inputs, std::span<const PortMemory> outputs) override {
    is_cancelled_ = false;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const ModelPort& port = file_->inputs[i];
      HALYARD_RETURN_IF_ERROR(inputs_[i].allocate_own(port));
      HALYARD_RETURN_IF_ERROR(inputs_[i].use(port, inputs_[i].own()));
      copy_counted(inputs_[i].own(), inputs[i].data, port.size_bytes);
    }
    given_.assign(outputs.begin(), outputs.end());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const ModelPort& port = file_->outputs[i];
      auto* data = static_cast<std::byte*>(outputs[i].data);
      if (data == nullptr || !is_aligned(data)) {
        HALYARD_RETURN_IF_ERROR(outputs_[i].allocate_own(port));
        data = outputs_[i].own();
      }
      HALYARD_RETURN_IF_ERROR(outputs_[i].use(port, data));
    }
    return {};
  }

  Status run() override {
    std::vector<TensorBuffer*> in;
    std::vector<TensorBuffer*> out;
    for (const Place& place : inputs_)
      in.push_back(place.buffer());
    for (const Place& place : outputs_)
      out.push_back(place.buffer());
    const int status = api_.run(compiled_, 0, in.size(), in.data(), out.size(), out.data());
    if (status != litert_ok && is_cancelled_)
      return make_error(Errc::cancelled, "run: was cancelled");
    if (status != litert_ok) return litert_error(status, cannot_run_litert);
    for (std::size_t i = 0; i < given_.size(); ++i)
      if (given_[i].data != nullptr && given_[i].data != outputs_[i].data())
        copy_counted(given_[i].data, outputs_[i].data(), file_->outputs[i].size_bytes);
    return {};
  }

  Status start(Done) override { return make_error(Errc::unsupported, cannot_run_litert); }
  Status wait() override { return {}; }
  void cancel() noexcept override { is_cancelled_ = true; }
  Result<PortMemory> output(std::size_t index) override {
    return PortMemory{outputs_[index].data(), file_->outputs[index].size_bytes, -1, 0};
  }

 private:
  std::shared_ptr<const LiteFile> file_;
  const LiteRt& api_;
  CompiledModel* compiled_ = nullptr;
  std::vector<Place> inputs_;
  std::vector<Place> outputs_;
  std::vector<PortMemory> given_;
  std::atomic<bool> is_cancelled_{false};
};

}  // namespace

Error litert_error(int status, const char* what) {
  return make_error(Errc::device, what, fmt::format("LiteRT's status {}", status));
}

Result<std::unique_ptr<RuntimeRequest>> make_litert_request(std::shared_ptr<const LiteFile> file) {
  auto request = std::make_unique<LiteRtRequest>(std::move(file));
  HALYARD_RETURN_IF_ERROR(request->compile());
  return std::unique_ptr<RuntimeRequest>(std::move(request));
}

}  // namespace halyard::model::litert
