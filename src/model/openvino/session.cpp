// SPDX-License-Identifier: Apache-2.0
// Requests of OpenVINO over the callers' memory. One that reports its end does so from a thread of
// OpenVINO.
#include "model/openvino/session.h"

#include <exception>
#include <new>
#include <utility>
#include <vector>

#include "model/openvino/failure.h"
// As in the header.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wextra"
#include <openvino/runtime/exception.hpp>
#pragma GCC diagnostic pop

namespace halyard::model {
namespace {

constexpr char cannot_run[] = "inference failed";

/// Calls `work` and makes an error of its exceptions.
template <class Work>
Status caught(Work&& work) {
  try {
    work();
    return {};
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const ov::Cancelled& why) {
    return failure(Errc::cancelled, "run: was cancelled", why);
  } catch (const std::exception& why) {
    return failure(Errc::device, cannot_run, why);
  }
}

class OpenVinoRequest final : public RuntimeRequest {
 public:
  explicit OpenVinoRequest(ov::CompiledModel compiled)
      : compiled_(std::move(compiled)),
        request_(compiled_.create_infer_request()),
        inputs_(compiled_.inputs().size(), nullptr),
        outputs_(compiled_.outputs().size()) {
    request_.set_callback([this](const std::exception_ptr&) {
      if (done_.call != nullptr) done_.call(done_.self);
    });
  }

  Status bind(std::span<const PortMemory> inputs, std::span<const PortMemory> outputs) override {
    return caught([&] {
      for (std::size_t i = 0; i < inputs.size(); ++i)
        bind_input(i, inputs[i].data);
      for (std::size_t i = 0; i < outputs.size(); ++i)
        bind_output(i, outputs[i].data);
    });
  }

  Status run() override {
    return caught([&] { request_.infer(); });
  }

  Status start(Done done) override {
    done_ = done;
    return caught([&] { request_.start_async(); });
  }

  Status wait() override {
    return caught([&] { request_.wait(); });
  }

  void cancel() noexcept override {
    try {
      request_.cancel();
    } catch (const std::exception&) {  // the run has ended
    }
  }

  Result<PortMemory> output(std::size_t index) override {
    try {
      ov::Tensor memory = request_.get_output_tensor(index);
      return PortMemory{memory.data(), memory.get_byte_size(), -1, 0};
    } catch (const std::exception& why) {
      return failure(Errc::device, cannot_run, why);
    }
  }

 private:
  struct Output {
    ov::Tensor own;  ///< OpenVINO's memory, while the caller's is set
    void* callers = nullptr;
  };

  void bind_input(std::size_t index, void* data) {
    if (inputs_[index] == data) return;
    inputs_[index] = nullptr;
    const auto& port = compiled_.inputs()[index];
    request_.set_input_tensor(index, ov::Tensor(port.get_element_type(), port.get_shape(), data));
    inputs_[index] = data;
  }

  void bind_output(std::size_t index, void* data) {
    Output& output = outputs_[index];
    if (output.callers == data) return;
    if (output.callers == nullptr) output.own = request_.get_output_tensor(index);
    const auto& port = compiled_.outputs()[index];
    request_.set_output_tensor(
        index,
        data == nullptr ? output.own : ov::Tensor(port.get_element_type(), port.get_shape(), data));
    output.callers = data;
    if (data == nullptr) output.own = {};
  }

  ov::CompiledModel compiled_;
  ov::InferRequest request_;
  std::vector<void*> inputs_;  ///< what is set
  std::vector<Output> outputs_;
  Done done_;
};

class OpenVinoSession final : public RuntimeSession {
 public:
  explicit OpenVinoSession(ov::CompiledModel compiled) : compiled_(std::move(compiled)) {}

  Result<std::unique_ptr<RuntimeRequest>> make_request() override {
    try {
      return std::unique_ptr<RuntimeRequest>(std::make_unique<OpenVinoRequest>(compiled_));
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& why) {
      return failure(Errc::device, cannot_run, why);
    }
  }

  bool is_asynchronous() const noexcept override { return true; }

 private:
  ov::CompiledModel compiled_;
};

}  // namespace

std::unique_ptr<RuntimeSession> make_openvino_session(ov::CompiledModel compiled) {
  return std::make_unique<OpenVinoSession>(std::move(compiled));
}

}  // namespace halyard::model
