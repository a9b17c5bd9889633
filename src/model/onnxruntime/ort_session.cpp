// SPDX-License-Identifier: Apache-2.0
// Requests of ONNX Runtime: values over the callers' memory, or over memory of their own.
#include "model/onnxruntime/ort_session.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "base/text/format_error.h"
#include "halyard/buffer.h"
#include "halyard/tensor.h"

namespace halyard::model::ort {
namespace {

constexpr char ort_cannot_run[] = "inference failed";

/// Memory of an output, aligned for vectors.
Result<std::shared_ptr<Buffer>> memory_of(const Shape& shape) {
  const auto dtype = dtype_of_element(shape.type);
  const std::size_t rank = shape.extents.size();
  if (!dtype || !shape.is_fixed() || rank > max_rank)
    return fail(Errc::unsupported, "engine: a tensor has no fixed shape of rank 0..8", "'{}'",
                shape.name);
  std::array<std::size_t, max_rank> extents{1};
  std::copy(shape.extents.begin(), shape.extents.end(), extents.begin());
  const std::span dims(extents.data(), std::max(rank, std::size_t{1}));
  HALYARD_TRY(const Layout layout, Layout::contiguous(*dtype, dims));
  return allocate(layout.size_bytes(), Memory::mem);
}

class OrtRequest final : public RuntimeRequest {
 public:
  explicit OrtRequest(std::shared_ptr<const Prepared> prepared)
      : prepared_(std::move(prepared)),
        api_(prepared_->library->api),
        binding_(api_.release_binding),
        options_(api_.release_run_options),
        inputs_(prepared_->inputs.size()),
        outputs_(prepared_->outputs.size()) {}

  halyard::Status create() {
    if (auto* bad = api_.create_binding(prepared_->session.get(), binding_.out()))
      return error_of(api_, bad, Errc::device, ort_cannot_run);
    if (auto* bad = api_.create_run_options(options_.out()))
      return error_of(api_, bad, Errc::device, ort_cannot_run);
    return {};
  }

  halyard::Status bind(std::span<const PortMemory> inputs,
                       std::span<const PortMemory> outputs) override {
    is_cancelled_ = false;
    if (auto* bad = api_.unset_terminate(options_.get()))
      return error_of(api_, bad, Errc::device, ort_cannot_run);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      HALYARD_RETURN_IF_ERROR(
          bind_one(prepared_->inputs[i], inputs[i], inputs_[i], api_.bind_input));
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      PortMemory memory = outputs[i];
      if (memory.data == nullptr) {
        HALYARD_TRY(memory, own_memory(i));
      }
      HALYARD_RETURN_IF_ERROR(
          bind_one(prepared_->outputs[i], memory, outputs_[i].bound, api_.bind_output));
    }
    return {};
  }

  halyard::Status run() override {
    auto* const bad = api_.run_bound(prepared_->session.get(), options_.get(), binding_.get());
    if (bad == nullptr) return {};
    Error error = error_of(api_, bad, Errc::device, ort_cannot_run);
    if (!is_cancelled_) return error;
    return make_error(Errc::cancelled, "run: was cancelled");
  }

  halyard::Status start(Done) override { return make_error(Errc::unsupported, ort_cannot_run); }
  halyard::Status wait() override { return {}; }

  void cancel() noexcept override {
    is_cancelled_ = true;
    auto* const bad = api_.set_terminate(options_.get());
    if (bad != nullptr) api_.release_status(bad);
  }

  Result<PortMemory> output(std::size_t index) override {
    const Bound& bound = outputs_[index].bound;
    return PortMemory{bound.data, bound.size_bytes, -1, 0};
  }

 private:
  struct Bound {
    void* data = nullptr;
    std::size_t size_bytes = 0;
  };
  struct Output {
    Bound bound;
    std::shared_ptr<Buffer> own;
    Map map;  ///< of `own`
  };

  Result<PortMemory> own_memory(std::size_t index) {
    Output& output = outputs_[index];
    if (!output.own) {
      HALYARD_TRY(output.own, memory_of(prepared_->outputs[index]));
      HALYARD_TRY(output.map, output.own->map(Access::write));
    }
    const auto bytes = output.map.writable_bytes();
    return PortMemory{bytes.data(), bytes.size(), -1, 0};
  }

  halyard::Status bind_one(const Shape& shape, const PortMemory& memory, Bound& bound,
                           ort::Status* (*bind)(Binding*, const char*, const Value*)) {
    if (bound.data == memory.data && bound.size_bytes == memory.size_bytes) return {};
    bound = {};
    Owned<Value> value(api_.release_value);
    if (auto* bad =
            api_.create_tensor(prepared_->library->memory, memory.data, memory.size_bytes,
                               shape.extents.data(), shape.extents.size(), shape.type, value.out()))
      return error_of(api_, bad, Errc::device, ort_cannot_run);
    // The binding keeps the value's content, not the value.
    if (auto* bad = bind(binding_.get(), shape.name.c_str(), value.get()))
      return error_of(api_, bad, Errc::device, ort_cannot_run);
    bound = {memory.data, memory.size_bytes};
    return {};
  }

  std::shared_ptr<const Prepared> prepared_;
  const Api& api_;
  Owned<Binding> binding_;
  Owned<RunOptions> options_;
  std::vector<Bound> inputs_;
  std::vector<Output> outputs_;
  std::atomic<bool> is_cancelled_{false};
};

class OrtSession final : public RuntimeSession {
 public:
  explicit OrtSession(std::shared_ptr<const Prepared> prepared) : prepared_(std::move(prepared)) {}

  Result<std::unique_ptr<RuntimeRequest>> make_request() override {
    auto request = std::make_unique<OrtRequest>(prepared_);
    HALYARD_RETURN_IF_ERROR(request->create());
    return std::unique_ptr<RuntimeRequest>(std::move(request));
  }

  bool is_asynchronous() const noexcept override { return false; }

 private:
  std::shared_ptr<const Prepared> prepared_;
};

/// Values of zeros for all inputs.
class Zeros {
 public:
  explicit Zeros(const Prepared& prepared) : prepared_(prepared) {}
  Zeros(const Zeros&) = delete;
  Zeros& operator=(const Zeros&) = delete;
  ~Zeros() {
    for (Value* value : values_)
      prepared_.library->api.release_value(value);
  }
  const std::vector<Value*>& values() const noexcept { return values_; }

  halyard::Status create() {
    const Api& api = prepared_.library->api;
    for (const Shape& shape : prepared_.inputs) {
      HALYARD_TRY(auto buffer, memory_of(shape));
      HALYARD_TRY(auto map, buffer->map(Access::write));
      Value* value = nullptr;
      if (auto* bad = api.create_tensor(prepared_.library->memory, map.writable_bytes().data(),
                                        buffer->size_bytes(), shape.extents.data(),
                                        shape.extents.size(), shape.type, &value))
        return error_of(api, bad, Errc::device, ort_cannot_run);
      values_.push_back(value);
      maps_.push_back(std::move(map));
    }
    return {};
  }

 private:
  const Prepared& prepared_;
  std::vector<Value*> values_;
  std::vector<Map> maps_;
};

std::vector<const char*> names_of(const std::vector<Shape>& shapes) {
  std::vector<const char*> names;
  for (const Shape& shape : shapes)
    names.push_back(shape.name.c_str());
  return names;
}

}  // namespace

halyard::Status find_output_shapes(Prepared& prepared) {
  const Api& api = prepared.library->api;
  Zeros zeros(prepared);
  HALYARD_RETURN_IF_ERROR(zeros.create());
  const auto in = names_of(prepared.inputs);
  const auto out = names_of(prepared.outputs);
  std::vector<Value*> results(out.size(), nullptr);
  if (auto* bad = api.run(prepared.session.get(), nullptr, in.data(), zeros.values().data(),
                          in.size(), out.data(), out.size(), results.data()))
    return error_of(api, bad, Errc::device, ort_cannot_run);
  halyard::Status status;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (status && prepared.outputs[i].is_tensor) {
      auto extents = extents_of(*prepared.library, *results[i]);
      if (extents) prepared.outputs[i].extents = *std::move(extents);
      if (!extents) status = extents.error();
    }
    api.release_value(results[i]);
  }
  return status;
}

std::unique_ptr<RuntimeSession> make_session(std::shared_ptr<const Prepared> prepared) {
  return std::make_unique<OrtSession>(std::move(prepared));
}

}  // namespace halyard::model::ort
