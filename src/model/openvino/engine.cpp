// SPDX-License-Identifier: Apache-2.0
// The OpenVINO runtime behind Engine, in a separate shared object. Only this file includes
// OpenVINO's headers, and its exceptions do not leave it. It uses only inline code of the library
// (model/runtime.h).
#include "model/runtime.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/system/fork.h"
#include "halyard/version.h"
#include "model/one_line.h"
// OpenVINO's headers cause warnings that this build enables.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wextra"
#include <openvino/frontend/manager.hpp>
#include <openvino/frontend/tensorflow_lite/quantization_info.hpp>
#include <openvino/openvino.hpp>
#pragma GCC diagnostic pop

namespace halyard::model {
namespace {

Error failure(Errc code, const char* what, const std::exception& why) {
  Error error;
  error.code = code;
  error.what = what;
  error.detail = std::make_shared<const std::string>(one_line(why.what()));
  return error;
}

/// Loading plugins takes time, and the core must outlive everything that OpenVINO made from it.
ov::Core& core() {
  static std::atomic<ov::Core*> instance{nullptr};
  return made_once(instance, [] { return new ov::Core; });
}

std::optional<DType> to_dtype(const ov::element::Type& type) {
  switch (ov::element::Type_t(type)) {
    case ov::element::Type_t::u8:
      return DType::u8;
    case ov::element::Type_t::i8:
      return DType::i8;
    case ov::element::Type_t::u16:
      return DType::u16;
    case ov::element::Type_t::i16:
      return DType::i16;
    case ov::element::Type_t::u32:
      return DType::u32;
    case ov::element::Type_t::i32:
      return DType::i32;
    case ov::element::Type_t::u64:
      return DType::u64;
    case ov::element::Type_t::i64:
      return DType::i64;
    case ov::element::Type_t::f16:
      return DType::f16;
    case ov::element::Type_t::bf16:
      return DType::bf16;
    case ov::element::Type_t::f32:
      return DType::f32;
    case ov::element::Type_t::f64:
      return DType::f64;
    case ov::element::Type_t::boolean:
      return DType::boolean;
    default:
      return std::nullopt;
  }
}

/// The quantization that the TFLite frontend stores on a port. Only inline members of its class are
/// used, so the frontend need not be linked.
std::optional<Quantization> to_quantization(const ov::Any& value) {
  using Info = ov::frontend::tensorflow_lite::QuantizationInfo;
  std::shared_ptr<ov::RuntimeAttribute> attribute;
  try {
    attribute = value.as<std::shared_ptr<ov::RuntimeAttribute>>();
  } catch (const ov::Exception&) {
    return std::nullopt;  // another type, or a null pointer, which as() refuses
  }
  if (!attribute || std::string_view(attribute->get_type_info().name) != "QuantizationInfo")
    return std::nullopt;
  const auto& found = static_cast<const Info&>(*attribute);
  Quantization out;
  out.scale = found.get_scale();
  const std::size_t zeros = std::min(found.get_zero_point().size(), out.scale.size());
  for (std::size_t i = 0; i < zeros; ++i)
    out.zero_point.push_back(static_cast<std::int32_t>(found.get_zero_point()[i]));
  if (out.scale.size() > 1 && found.get_axis() >= 0)
    out.axis = static_cast<std::size_t>(found.get_axis());
  return out;
}

std::optional<Quantization> quantization_of(const ov::RTMap& info) {
  for (const auto& entry : info)
    if (auto found = to_quantization(entry.second)) return found;
  return std::nullopt;
}

std::string name_of(const ov::Output<const ov::Node>& port) {
  return port.get_names().empty() ? port.get_node()->get_friendly_name() : port.get_any_name();
}

Port to_port(const ov::Output<const ov::Node>& from) {
  Port port;
  port.name = name_of(from);
  port.dtype = to_dtype(from.get_element_type());
  port.type_text = from.get_element_type().get_type_name();
  port.shape_text = from.get_partial_shape().to_string();
  if (from.get_partial_shape().is_static()) port.shape = from.get_shape();
  port.quantization = quantization_of(from.get_rt_info());
  return port;
}

/// Idle requests. Every lease keeps the pool alive, so results may outlive the engine.
struct RequestPool {
  explicit RequestPool(ov::CompiledModel compiled_model) : compiled(std::move(compiled_model)) {}
  ov::CompiledModel compiled;
  std::mutex mutex;
  std::vector<ov::InferRequest> idle;
  std::size_t made = 0;  ///< idle has capacity for all of them, so a return cannot fail

  ov::InferRequest take() {
    {
      const std::lock_guard lock(mutex);
      if (!idle.empty()) {
        ov::InferRequest request = std::move(idle.back());
        idle.pop_back();
        return request;
      }
      idle.reserve(made + 1);
      ++made;
    }
    return compiled.create_infer_request();
  }
};

/// A request in use. It returns to its pool when the last result in its memory is gone.
struct Lease {
  explicit Lease(std::shared_ptr<RequestPool> from)
      : pool(std::move(from)), request(pool->take()) {}
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease() {
    const std::lock_guard lock(pool->mutex);
    pool->idle.push_back(std::move(request));
  }
  std::shared_ptr<RequestPool> pool;
  ov::InferRequest request;
};

class OpenVinoSession final : public RuntimeSession {
 public:
  explicit OpenVinoSession(ov::CompiledModel compiled)
      : pool_(std::make_shared<RequestPool>(std::move(compiled))) {}

  Result<std::vector<PortMemory>> run(std::span<const std::byte* const> inputs) override {
    try {
      auto lease = std::make_shared<Lease>(pool_);
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        const auto& port = pool_->compiled.inputs()[i];
        // OpenVINO's interface has no const inputs; it does not write to them.
        lease->request.set_input_tensor(i, ov::Tensor(port.get_element_type(), port.get_shape(),
                                                      const_cast<std::byte*>(inputs[i])));
      }
      lease->request.infer();
      return outputs_of(lease);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& why) {
      return failure(Errc::device, "inference failed", why);
    }
  }

 private:
  /// Memory of a request, and the lease that keeps the request from being reused.
  struct Output {
    std::shared_ptr<Lease> lease;
    ov::Tensor memory;
  };

  std::vector<PortMemory> outputs_of(const std::shared_ptr<Lease>& lease) const {
    std::vector<PortMemory> outputs;
    for (std::size_t i = 0; i < pool_->compiled.outputs().size(); ++i) {
      auto output = std::make_shared<Output>(Output{lease, lease->request.get_output_tensor(i)});
      void* const data = output->memory.data();
      const std::size_t size = output->memory.get_byte_size();
      outputs.push_back({data, size, std::move(output)});
    }
    return outputs;
  }

  std::shared_ptr<RequestPool> pool_;
};

/// ONNX metadata_props and the entries that IR files keep; only texts are read.
Metadata ov_metadata(const ov::Model& model) {
  Metadata metadata;
  if (!model.has_rt_info("framework")) return metadata;
  for (const auto& [key, value] : model.get_rt_info<ov::AnyMap>("framework")) {
    if (value.is<std::string>()) metadata.emplace(key, value.as<std::string>());
  }
  return metadata;
}

void fix(ov::Model& model, std::optional<Size> image) {
  std::map<ov::Output<ov::Node>, ov::PartialShape> fixed;
  for (const auto& input : model.inputs()) {
    ov::PartialShape shape = input.get_partial_shape();
    if (shape.rank().is_dynamic() || shape.is_static()) continue;
    if (shape.size() > 0 && shape[0].is_dynamic()) shape[0] = 1;
    if (image && shape.size() == 4 && shape[2].is_dynamic() && shape[3].is_dynamic()) {
      shape[2] = image->height;
      shape[3] = image->width;
    }
    fixed[input] = shape;
  }
  if (!fixed.empty()) model.reshape(fixed);
}

/// Always single precision, so that every CPU gives the same boxes. By default OpenVINO uses
/// bfloat16 on some.
ov::AnyMap compile_options(unsigned threads) {
  ov::AnyMap map{ov::hint::performance_mode(ov::hint::PerformanceMode::LATENCY),
                 ov::hint::inference_precision(ov::element::f32)};
  if (threads != 0)
    map.insert(ov::inference_num_threads(static_cast<std::int32_t>(std::min(threads, 1024U))));
  return map;
}

/// Reads with the one frontend for this file name. ov::Core::read_model would also try all others
/// on a damaged file, and they write to stderr.
std::shared_ptr<ov::Model> read_model(const std::string& path, FileKind kind) {
  const char* framework = kind == FileKind::tflite ? "tflite"
                          : kind == FileKind::ir   ? "ir"
                                                   : "onnx";
  static std::mutex mutex;  // the manager loads plugins and is not thread-safe
  static auto* manager = new ov::frontend::FrontEndManager;
  const std::lock_guard lock(mutex);
  const auto frontend = manager->load_by_framework(framework);
  const auto input = frontend->load(path);
  if (!input) throw std::runtime_error("the file cannot be parsed");
  return frontend->convert(input);
}

constexpr char cannot_prepare[] = "engine cannot prepare the model";

class OpenVinoNetwork final : public Network {
 public:
  explicit OpenVinoNetwork(std::shared_ptr<ov::Model> model)
      : model_(std::move(model)), metadata_(ov_metadata(*model_)) {}

  Metadata metadata() const override { return metadata_; }

  Status fix_shapes(std::optional<Size> image) override {
    try {
      fix(*model_, image);
      return {};
    } catch (const std::exception& why) {
      return failure(Errc::device, cannot_prepare, why);
    }
  }

  Result<Ports> ports() const override {
    try {
      Ports ports;
      const std::shared_ptr<const ov::Model> view = model_;
      for (const auto& port : view->inputs())
        ports.inputs.push_back(to_port(port));
      for (const auto& port : view->outputs())
        ports.outputs.push_back(to_port(port));
      return ports;
    } catch (const std::exception& why) {
      return failure(Errc::device, cannot_prepare, why);
    }
  }

  Result<std::unique_ptr<RuntimeSession>> compile(const std::string& device,
                                                  unsigned threads) override {
    try {
      auto compiled = core().compile_model(model_, device, compile_options(threads));
      return std::unique_ptr<RuntimeSession>(
          std::make_unique<OpenVinoSession>(std::move(compiled)));
    } catch (const std::exception& why) {
      return failure(Errc::device, cannot_prepare, why);
    }
  }

 private:
  std::shared_ptr<ov::Model> model_;
  Metadata metadata_;
};

std::string version() {
  const std::string build = ov::get_openvino_version().buildNumber;  // "2026.4.1-12345-..."
  return build.substr(0, build.find('-'));
}

Result<std::vector<std::string>> devices() {
  try {
    return core().get_available_devices();
  } catch (const std::exception& why) {
    return failure(Errc::device, "openvino does not start", why);
  }
}

Result<std::unique_ptr<Network>> read(const std::string& path, FileKind kind) {
  try {
    return std::unique_ptr<Network>(std::make_unique<OpenVinoNetwork>(read_model(path, kind)));
  } catch (const std::exception& why) {
    return failure(Errc::malformed, "file is not a model that the engine reads", why);
  }
}

constexpr Runtime table{version, devices, read};

}  // namespace
}  // namespace halyard::model

extern "C" __attribute__((visibility("default"))) const halyard::model::Runtime*
halyard_openvino_runtime(const char* halyard_version) {
  const bool same = std::string_view(halyard_version) == HALYARD_VERSION_STRING;
  return same ? &halyard::model::table : nullptr;
}
