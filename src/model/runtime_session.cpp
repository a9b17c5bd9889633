// SPDX-License-Identifier: Apache-2.0
// Runs models through the runtime's table: checks its values and wraps its memory as tensors.
#ifdef HALYARD_HAVE_OPENVINO

#include <fmt/ranges.h>

#include <atomic>
#include <cstdint>
#include <utility>

#include "base/text/format_error.h"
#include "halyard/threads.h"
#include "halyard/trace.h"
#include "model/engine.h"
#include "model/runtime.h"
#include "model/runtime_loader.h"
#include "model/session.h"

namespace halyard::model {
namespace {

Result<TensorSpec> to_spec(Port port) {
  TensorSpec spec;
  spec.name = std::move(port.name);
  if (!port.dtype)
    return fail(Errc::unsupported, "element type of the model is not supported", "'{}' is {}",
                spec.name, port.type_text);
  if (!port.shape)
    return fail(Errc::unsupported, "shape of the model is not fixed", "'{}' is {}", spec.name,
                port.shape_text);
  if (port.shape->size() > max_rank)
    return fail(Errc::unsupported, "rank of the model's tensor is above 8", "'{}' has rank {}",
                spec.name, port.shape->size());
  spec.dtype = *port.dtype;
  spec.shape = *std::move(port.shape);
  if (spec.shape.empty()) spec.shape = {1};
  auto& quantization = port.quantization;
  if (quantization && is_integer(spec.dtype) && validate(*quantization, spec.dtype, spec.shape))
    spec.quantization = std::move(quantization);
  return spec;
}

/// The runtime's threads belong to the process that first opened a model. A child of fork() has
/// none of them and would wait for them forever.
Status check_process() {
  static std::atomic<std::uint32_t> first{0};
  const std::uint32_t mine = fork_generation();
  std::uint32_t known = 0;
  if (first.compare_exchange_strong(known, mine, std::memory_order_relaxed) || known == mine)
    return {};
  return fail(Errc::unsupported,
              "engine: its threads do not exist after fork(); to run models "
              "in children, open none before fork()");
}

class PortSession final : public Session {
 public:
  PortSession(std::unique_ptr<RuntimeSession> session, std::vector<TensorSpec> outputs)
      : session_(std::move(session)), outputs_(std::move(outputs)) {}

  Result<std::vector<Tensor>> run(std::span<const Tensor> inputs) override {
    HALYARD_RETURN_IF_ERROR(check_process());
    std::vector<TensorMap> maps;  // the runtime reads the inputs until run() returns
    std::vector<const std::byte*> data;
    for (const Tensor& input : inputs) {
      HALYARD_TRY(auto map, input.map(Access::read));
      data.push_back(map.data());
      maps.push_back(std::move(map));
    }
    trace::Span span("model.infer");
    HALYARD_TRY(auto memory, session_->run(data));
    return wrap(std::move(memory));
  }

 private:
  Result<std::vector<Tensor>> wrap(std::vector<PortMemory> memory) const {
    std::vector<Tensor> tensors;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const TensorSpec& spec = outputs_[i];
      HALYARD_TRY(auto layout, Layout::contiguous(spec.dtype, spec.shape));
      HALYARD_TRY(auto buffer, wrap_memory(memory[i].data, memory[i].size_bytes,
                                           [owner = std::move(memory[i].owner)] {}));
      HALYARD_TRY(auto tensor, Tensor::wrap(std::move(buffer), layout));
      HALYARD_RETURN_IF_ERROR(tensor.set_quantization(spec.quantization));
      tensor.set_name(spec.name);
      tensors.push_back(std::move(tensor));
    }
    return tensors;
  }

  std::unique_ptr<RuntimeSession> session_;
  std::vector<TensorSpec> outputs_;
};

/// The runtime's error, with its subject in front of the reason.
Error about(const Error& error, const std::string& subject) {
  return make_error(error.code, error.what,
                    error.detail ? fmt::format("{}: {}", subject, *error.detail) : subject);
}

Result<std::vector<TensorSpec>> to_specs(std::vector<Port> ports) {
  std::vector<TensorSpec> specs;
  for (Port& port : ports) {
    HALYARD_TRY(auto spec, to_spec(std::move(port)));
    specs.push_back(std::move(spec));
  }
  return specs;
}

Status fill_specs(Loaded& loaded, Network& network, const std::string& subject) {
  if (auto fixed = network.fix_shapes(image_size(loaded.metadata)); !fixed)
    return about(fixed.error(), subject);
  auto ports = network.ports();
  if (!ports) return about(ports.error(), subject);
  HALYARD_TRY(loaded.inputs, to_specs(std::move(ports->inputs)));
  HALYARD_TRY(loaded.outputs, to_specs(std::move(ports->outputs)));
  for (TensorSpec& spec : loaded.inputs)
    spec.format = image_format(spec.dtype, spec.shape);
  return {};
}

}  // namespace

Result<Loaded> load(const std::string& path, const EngineOptions& options, Metadata metadata) {
  HALYARD_RETURN_IF_ERROR(check_process());
  HALYARD_TRY(const Runtime* const runtime, load_runtime());
  auto network = runtime->read(path, *file_kind(path));
  if (!network) return about(network.error(), path);
  Loaded loaded;
  loaded.metadata = std::move(metadata);
  loaded.metadata.merge((*network)->metadata());
  const std::string subject = fmt::format("{}: device {}", path, options.device);
  HALYARD_RETURN_IF_ERROR(fill_specs(loaded, **network, subject));
  trace::Span span("model.compile");
  auto session = (*network)->compile(options.device, options.threads);
  if (!session) return about(session.error(), subject);
  loaded.session = std::make_unique<PortSession>(*std::move(session), loaded.outputs);
  loaded.runtime = fmt::format("openvino {} {}", runtime->version(), options.device);
  return loaded;
}

std::string describe_runtime() {
  const auto runtime = load_runtime();
  if (!runtime) return fmt::format("openvino: not loaded: {}", runtime.error().message());
  const auto devices = (*runtime)->devices();
  if (!devices) return fmt::format("openvino: does not start: {}", devices.error().message());
  return fmt::format("openvino {}: {}", (*runtime)->version(), fmt::join(*devices, ", "));
}

}  // namespace halyard::model

#endif
