// SPDX-License-Identifier: Apache-2.0
// Gives the runtime the memory of tensors, and wraps its memory as tensors.
#include "model/session/session.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

#include "base/text/format_error.h"
#include "halyard/import.h"
#include "halyard/threads.h"
#include "halyard/trace.h"
#include "model/engine.h"

namespace halyard::model {
namespace {

Result<Tensor> imported(const PortMemory& memory, const TensorSpec& spec) {
  HALYARD_TRY(const auto layout, Layout::contiguous(spec.dtype, spec.shape));
  HALYARD_TRY(auto buffer, Importer::shared().import_buffer(memory.fd));
  HALYARD_TRY(Tensor tensor, Tensor::wrap(std::move(buffer), layout, memory.offset_bytes));
  HALYARD_RETURN_IF_ERROR(tensor.set_quantization(spec.quantization));
  tensor.set_name(spec.name);
  return tensor;
}

bool is_same_memory(const Tensor& one, const Tensor& other) {
  return one.buffer() == other.buffer() && one.offset_bytes() == other.offset_bytes();
}

PortMemory descriptor_of(const Tensor& tensor) {
  return {nullptr, tensor.size_bytes(), tensor.buffer()->fd(), tensor.offset_bytes()};
}

/// Makes `own`, memory that the runtime reads, hold the input.
Status fill_own(const Tensor& input, Tensor own) {
  if (is_same_memory(input, own)) return {};
  HALYARD_TRY(const Tensor shaped, input.reshape(own.shape()));
  return copy(shaped, own);
}

Status bind_input(const Pool& pool, std::size_t index, bool takes_descriptors, Flight& flight) {
  const Tensor& input = flight.inputs[index];
  if (const auto& own = pool.own_inputs()[index]) {
    HALYARD_RETURN_IF_ERROR(fill_own(input, *own));
    flight.input_memory.push_back(descriptor_of(*own));
    return {};
  }
  if (takes_descriptors && input.buffer()->fd() >= 0) {
    flight.input_memory.push_back(descriptor_of(input));
    return {};
  }
  HALYARD_TRY(auto map, input.map(Access::read));
  // The runtime only reads inputs, but its interface has no const.
  flight.input_memory.push_back(
      {const_cast<std::byte*>(map.data()), input.size_bytes(), -1, 0});  // NOLINT
  flight.maps.push_back(std::move(map));
  return {};
}

Status bind_tensors(Pool& pool, Flight& flight) {
  const bool takes_descriptors = pool.session().takes_descriptors();
  for (std::size_t i = 0; i < flight.inputs.size(); ++i)
    HALYARD_RETURN_IF_ERROR(bind_input(pool, i, takes_descriptors, flight));
  for (const Tensor& output : flight.outputs) {
    HALYARD_TRY(auto map, output.map(Access::write));
    flight.output_memory.push_back({map.writable(), output.size_bytes(), -1, 0});
    flight.maps.push_back(std::move(map));
  }
  flight.output_memory.resize(pool.outputs().size());
  return flight.request().bind(flight.input_memory, flight.output_memory);
}

/// A tensor over memory of the runtime that keeps the lease.
Result<Tensor> wrapped(const PortMemory& memory, const TensorSpec& spec,
                       const std::shared_ptr<Lease>& lease) {
  HALYARD_TRY(const auto layout, Layout::contiguous(spec.dtype, spec.shape));
  if (memory.size_bytes < layout.size_bytes())
    return fail(Errc::device, "engine: an output is smaller than its shape", "'{}': {} of {} bytes",
                spec.name, memory.size_bytes, layout.size_bytes());
  if (memory.data != nullptr) {
    HALYARD_TRY(auto buffer, wrap_memory(memory.data, layout.size_bytes(), [owner = lease] {}));
    return Tensor::wrap(std::move(buffer), layout);
  }
  HALYARD_TRY(auto buffer, Importer::shared().import_buffer(memory.fd));
  auto held = std::make_shared<std::pair<std::shared_ptr<Lease>, std::shared_ptr<Buffer>>>(
      lease, std::move(buffer));
  Buffer* const bytes = held->second.get();
  return Tensor::wrap(std::shared_ptr<Buffer>(std::move(held), bytes), layout, memory.offset_bytes);
}

}  // namespace

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

Result<std::vector<Tensor>> outputs_of(const std::shared_ptr<Lease>& lease) {
  Flight& flight = *lease->flight;
  if (!flight.outputs.empty()) {
    std::vector<Tensor> given = std::move(flight.outputs);
    flight.release();
    return given;
  }
  flight.release();
  std::vector<Tensor> tensors;
  const std::vector<TensorSpec>& specs = lease->pool->outputs();
  tensors.reserve(specs.size());
  for (std::size_t i = 0; i < specs.size(); ++i) {
    HALYARD_TRY(const PortMemory memory, flight.request().output(i));
    HALYARD_TRY(auto tensor, wrapped(memory, specs[i], lease));
    HALYARD_RETURN_IF_ERROR(tensor.set_quantization(specs[i].quantization));
    tensor.set_name(specs[i].name);
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

Result<Session> Session::create(std::unique_ptr<RuntimeSession> session,
                                std::vector<TensorSpec> inputs, std::vector<TensorSpec> outputs,
                                unsigned requests) {
  std::vector<std::optional<Tensor>> own(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto memory = session->input_memory(i);
    if (!memory) continue;
    HALYARD_TRY(own[i], imported(*memory, inputs[i]));
  }
  auto pool =
      std::make_shared<Pool>(std::move(session), std::move(outputs), requests, std::move(own));
  return Session(std::move(pool), std::move(inputs));
}

Result<std::shared_ptr<Lease>> Session::bound(std::span<const Tensor> inputs,
                                              std::span<const Tensor> outputs) {
  HALYARD_RETURN_IF_ERROR(check_process());
  HALYARD_TRY(auto flight, pool_->take());
  auto lease = std::make_shared<Lease>(pool_, std::move(flight));
  lease->flight->inputs.assign(inputs.begin(), inputs.end());
  lease->flight->outputs.assign(outputs.begin(), outputs.end());
  HALYARD_RETURN_IF_ERROR(bind_tensors(*pool_, *lease->flight));
  return lease;
}

Result<std::vector<Tensor>> Session::run(std::span<const Tensor> inputs,
                                         std::span<const Tensor> outputs) {
  HALYARD_TRY(const auto lease, bound(inputs, outputs));
  {
    trace::Span span("model.infer");
    HALYARD_RETURN_IF_ERROR(lease->flight->run());
  }
  return outputs_of(lease);
}

Result<std::shared_ptr<Lease>> Session::submit(std::span<const Tensor> inputs,
                                               std::span<const Tensor> outputs) {
  HALYARD_TRY(auto lease, bound(inputs, outputs));
  HALYARD_RETURN_IF_ERROR(lease->flight->start());
  return lease;
}

Result<std::vector<Tensor>> Session::make_inputs() const {
  std::vector<Tensor> made;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (const auto& own = pool_->own_inputs()[i]) {
      made.push_back(*own);
    } else {
      HALYARD_TRY(auto tensor, Tensor::create(inputs_[i]));
      made.push_back(std::move(tensor));
    }
    const auto format = item_format_of(inputs_[i]);
    if (format && !inputs_[i].format) HALYARD_RETURN_IF_ERROR(made.back().set_item_format(format));
  }
  return made;
}

}  // namespace halyard::model
