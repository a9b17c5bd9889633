// SPDX-License-Identifier: Apache-2.0
// Builds interpreters and describes their tensors.
#include "model/tflite/prepared_network.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "halyard/quantization.h"
#include "model/one_line.h"
#include "model/tflite/element_types.h"

namespace halyard::model::tflite {
namespace {

constexpr char cannot_prepare_network[] = "engine cannot prepare the model";

Port described_port(const Calls& api, const TensorObject* tensor) {
  Port port;
  const char* const name = api.name(tensor);
  port.name = name == nullptr ? "" : name;
  port.dtype = dtype_of_type(api.type(tensor));
  port.type_text = fmt::format("TFLite's type {}", api.type(tensor));
  std::vector<std::size_t> shape;
  bool is_fixed = true;
  for (std::int32_t axis = 0; axis < api.rank(tensor); ++axis) {
    const std::int32_t extent = api.extent(tensor, axis);
    is_fixed &= extent >= 0;
    shape.push_back(static_cast<std::size_t>(std::max(extent, 0)));
  }
  port.shape_text = fmt::format("[{}]", fmt::join(shape, ","));
  if (is_fixed) port.shape = std::move(shape);
  const ScaleAndZero quantization = api.quantization(tensor);
  if (quantization.scale != 0)
    port.quantization = Quantization::per_tensor(quantization.scale, quantization.zero_point);
  return port;
}

}  // namespace

PreparedNetwork::PreparedNetwork(std::shared_ptr<const ModelFile> file) noexcept
    : file_(std::move(file)), api_(file_->api) {}

PreparedNetwork::~PreparedNetwork() {
  if (interpreter_ != nullptr) api_.delete_interpreter(interpreter_);
  if (options_ != nullptr) api_.delete_options(options_);
}

void PreparedNetwork::report(void* self, const char* format, std::va_list values) {
  std::array<char, 512> text{};
  std::vsnprintf(text.data(), text.size(), format, values);
  static_cast<PreparedNetwork*>(self)->reported_ = one_line(text.data());
}

Error PreparedNetwork::failed(Errc code, const char* what) {
  return make_error(code, what, reported_.empty() ? "no reason given" : reported_);
}

Result<std::unique_ptr<PreparedNetwork>> PreparedNetwork::create(
    std::shared_ptr<const ModelFile> file, const RuntimeOptions& options, std::size_t batch) {
  std::unique_ptr<PreparedNetwork> network(new PreparedNetwork(std::move(file)));
  HALYARD_RETURN_IF_ERROR(network->prepare(options, batch));
  return network;
}

Status PreparedNetwork::prepare(const RuntimeOptions& options, std::size_t batch) {
  options_ = api_.create_options();
  if (options_ == nullptr) return failed(Errc::device, cannot_prepare_network);
  api_.set_reporter(options_, report, this);
  if (options.threads != 0)
    api_.set_threads(options_, static_cast<std::int32_t>(std::min(options.threads, 1024U)));
  if (api_.enable_cancellation != nullptr && api_.cancel != nullptr)
    static_cast<void>(api_.enable_cancellation(options_, true));
  if (!options.delegate.empty()) {
    HALYARD_TRY(delegate_, ExternalDelegate::create(options.delegate, options.settings));
    api_.add_delegate(options_, delegate_->object());
  }
  interpreter_ = api_.create_interpreter(file_->model, options_);
  if (interpreter_ == nullptr) return failed(Errc::device, cannot_prepare_network);
  if (batch != 1) HALYARD_RETURN_IF_ERROR(resize(batch));
  if (api_.allocate(interpreter_) != status_ok)
    return failed(batch == 1 ? Errc::device : Errc::unsupported, cannot_prepare_network);
  return delegate_ == nullptr ? Status() : find_buffers();
}

Status PreparedNetwork::resize(std::size_t batch) {
  for (std::int32_t i = 0; i < api_.input_count(interpreter_); ++i) {
    const TensorObject* const tensor = api_.input(interpreter_, i);
    std::vector<int> extents;
    for (std::int32_t axis = 0; axis < api_.rank(tensor); ++axis)
      extents.push_back(api_.extent(tensor, axis));
    if (extents.empty() || extents[0] != 1) continue;
    extents[0] = static_cast<int>(batch);
    if (api_.resize_input(interpreter_, i, extents.data(),
                          static_cast<std::int32_t>(extents.size())) != status_ok)
      return failed(Errc::unsupported, "batch: the model cannot take it");
  }
  return {};
}

Status PreparedNetwork::find_buffers() {
  if (api_.input_indices == nullptr || api_.output_indices == nullptr || !delegate_->has_dmabuf())
    return {};
  const auto find = [&](const int* indices, std::size_t count, auto memory_of,
                        std::vector<DmaBufTensor>& found) -> Status {
    for (std::size_t i = 0; i < count; ++i) {
      const PortMemory memory = (this->*memory_of)(i);
      HALYARD_TRY(const auto tensor, delegate_->dmabuf(indices[i], memory.size_bytes));
      if (!tensor) return found.clear(), Status();
      found.push_back(*tensor);
    }
    return {};
  };
  std::vector<DmaBufTensor> inputs;
  std::vector<DmaBufTensor> outputs;
  HALYARD_RETURN_IF_ERROR(
      find(api_.input_indices(interpreter_), input_count(), &PreparedNetwork::input, inputs));
  HALYARD_RETURN_IF_ERROR(
      find(api_.output_indices(interpreter_), output_count(), &PreparedNetwork::output, outputs));
  dma_inputs_ = std::move(inputs);
  dma_outputs_ = std::move(outputs);
  return {};
}

std::size_t PreparedNetwork::input_count() const {
  return static_cast<std::size_t>(api_.input_count(interpreter_));
}
std::size_t PreparedNetwork::output_count() const {
  return static_cast<std::size_t>(api_.output_count(interpreter_));
}

PortMemory PreparedNetwork::input(std::size_t index) const {
  if (!dma_inputs_.empty()) return dma_inputs_[index].memory;
  const TensorObject* const tensor = api_.input(interpreter_, static_cast<std::int32_t>(index));
  return {api_.data(tensor), api_.size_bytes(tensor), -1, 0};
}

PortMemory PreparedNetwork::output(std::size_t index) const {
  if (!dma_outputs_.empty()) return dma_outputs_[index].memory;
  const TensorObject* const tensor = api_.output(interpreter_, static_cast<std::int32_t>(index));
  return {api_.data(tensor), api_.size_bytes(tensor), -1, 0};
}

Ports PreparedNetwork::ports() const {
  Ports ports;
  for (std::int32_t i = 0; i < api_.input_count(interpreter_); ++i)
    ports.inputs.push_back(described_port(api_, api_.input(interpreter_, i)));
  for (std::int32_t i = 0; i < api_.output_count(interpreter_); ++i)
    ports.outputs.push_back(described_port(api_, api_.output(interpreter_, i)));
  return ports;
}

Status PreparedNetwork::invoke() {
  for (const DmaBufTensor& tensor : dma_inputs_)
    HALYARD_RETURN_IF_ERROR(delegate_->sync_for_device(tensor.index));
  reported_.clear();
  const int status = api_.invoke(interpreter_);
  if (status == status_cancelled) return make_error(Errc::cancelled, "run: was cancelled");
  if (status != status_ok) return failed(Errc::device, "inference failed");
  for (const DmaBufTensor& tensor : dma_outputs_)
    HALYARD_RETURN_IF_ERROR(delegate_->sync_for_cpu(tensor.index));
  return {};
}

void PreparedNetwork::cancel() noexcept {
  if (api_.enable_cancellation != nullptr && api_.cancel != nullptr)
    static_cast<void>(api_.cancel(interpreter_));
}

}  // namespace halyard::model::tflite
