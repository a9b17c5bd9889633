// SPDX-License-Identifier: Apache-2.0
// The OpenVINO runtime behind Engine. The only file that sees its headers; its exceptions end here.
#ifdef HALYARD_HAVE_OPENVINO

#include <algorithm>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

#include "base/format_error.h"
#include "halyard/trace.h"
#include "model/openvino_text.h"
#include "model/session.h"
// OpenVINO's headers do not stand up to our warnings.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wextra"
#include <openvino/frontend/manager.hpp>
#include <openvino/frontend/tensorflow_lite/quantization_info.hpp>
#include <openvino/openvino.hpp>
#pragma GCC diagnostic pop

namespace halyard::model {
namespace {

/// Loading plugins takes a while, and OpenVINO wants its core alive as long as anything it made.
ov::Core& core() {
  static ov::Core* instance = new ov::Core;
  return *instance;
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

/// The quantization that the TFLite frontend leaves on a port. Only inline members of its class are
/// used, so that the frontend need not be linked.
std::optional<Quantization> to_quantization(const ov::Any& value) {
  using Info = ov::frontend::tensorflow_lite::QuantizationInfo;
  std::shared_ptr<ov::RuntimeAttribute> attribute;
  try {
    attribute = value.as<std::shared_ptr<ov::RuntimeAttribute>>();
  } catch (const ov::Exception&) {
    return std::nullopt;  // something else, or a null pointer, which as() refuses
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

Result<TensorSpec> to_spec(const ov::Output<const ov::Node>& port) {
  TensorSpec spec;
  spec.name = name_of(port);
  const auto dtype = to_dtype(port.get_element_type());
  if (!dtype)
    return fail(Errc::unsupported, "element type of the model is not served", "'{}' is {}",
                spec.name, port.get_element_type().get_type_name());
  if (port.get_partial_shape().is_dynamic())
    return fail(Errc::unsupported, "shape of the model is not fixed", "'{}' is {}", spec.name,
                port.get_partial_shape().to_string());
  if (port.get_shape().size() > max_rank)
    return fail(Errc::unsupported, "rank of the model's tensor is above 8", "'{}' has rank {}",
                spec.name, port.get_shape().size());
  spec.dtype = *dtype;
  spec.shape = port.get_shape();
  if (spec.shape.empty()) spec.shape = {1};
  auto quantization = quantization_of(port.get_rt_info());
  if (quantization && is_integer(*dtype) && validate(*quantization, *dtype, spec.shape))
    spec.quantization = std::move(quantization);
  return spec;
}

/// Requests that are not in use. Kept alive by every lease, so results may outlive the engine.
struct RequestPool {
  explicit RequestPool(ov::CompiledModel compiled_model) : compiled(std::move(compiled_model)) {}
  ov::CompiledModel compiled;
  std::mutex mutex;
  std::vector<ov::InferRequest> idle;

  ov::InferRequest take() {
    {
      const std::lock_guard lock(mutex);
      if (!idle.empty()) {
        ov::InferRequest request = std::move(idle.back());
        idle.pop_back();
        return request;
      }
    }
    return compiled.create_infer_request();
  }
};

/// A request in use; returns to its pool when the last result that lies in its memory is gone.
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

class OpenVinoSession final : public Session {
 public:
  OpenVinoSession(ov::CompiledModel compiled, std::vector<TensorSpec> outputs)
      : pool_(std::make_shared<RequestPool>(std::move(compiled))), outputs_(std::move(outputs)) {}

  Result<std::vector<Tensor>> run(std::span<const Tensor> inputs) override {
    try {
      auto lease = std::make_shared<Lease>(pool_);
      std::vector<TensorMap> maps;  // the runtime reads our memory until infer() returns
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        HALYARD_TRY(auto map, inputs[i].map(Access::read));
        const auto& port = pool_->compiled.inputs()[i];
        // OpenVINO has no const tensors on the way in; it does not write to inputs.
        lease->request.set_input_tensor(i, ov::Tensor(port.get_element_type(), port.get_shape(),
                                                      const_cast<std::byte*>(map.data())));
        maps.push_back(std::move(map));
      }
      {
        trace::Span span("model.infer");
        lease->request.infer();
      }
      return wrap_outputs(lease);
    } catch (const std::exception& e) {
      return fail(Errc::device, "inference failed", "{}", one_line(e.what()));
    }
  }

 private:
  Result<std::vector<Tensor>> wrap_outputs(const std::shared_ptr<Lease>& lease) const {
    std::vector<Tensor> tensors;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const ov::Tensor memory = lease->request.get_output_tensor(i);
      const TensorSpec& spec = outputs_[i];
      HALYARD_TRY(auto layout, Layout::contiguous(spec.dtype, spec.shape));
      HALYARD_TRY(auto buffer,
                  wrap_memory(memory.data(), memory.get_byte_size(), [lease, memory] {}));
      HALYARD_TRY(auto tensor, Tensor::wrap(std::move(buffer), layout));
      HALYARD_CHECK(tensor.set_quantization(spec.quantization));
      tensor.set_name(spec.name);
      tensors.push_back(std::move(tensor));
    }
    return tensors;
  }

  std::shared_ptr<RequestPool> pool_;
  std::vector<TensorSpec> outputs_;
};

/// ONNX metadata_props and what IR files keep; only text is taken.
void add_metadata(const ov::Model& model, Metadata& metadata) {
  if (!model.has_rt_info("framework")) return;
  for (const auto& [key, value] : model.get_rt_info<ov::AnyMap>("framework")) {
    if (value.is<std::string>()) metadata.emplace(key, value.as<std::string>());
  }
}

/// A dynamic batch becomes 1; a dynamic picture of NCHW inputs gets the size the metadata names.
void fix_shapes(ov::Model& model, const Metadata& metadata) {
  std::map<ov::Output<ov::Node>, ov::PartialShape> fixed;
  for (const auto& input : model.inputs()) {
    ov::PartialShape shape = input.get_partial_shape();
    if (shape.rank().is_dynamic() || shape.is_static()) continue;
    if (shape.size() > 0 && shape[0].is_dynamic()) shape[0] = 1;
    const auto size = picture_size(metadata);
    if (size && shape.size() == 4 && shape[2].is_dynamic() && shape[3].is_dynamic()) {
      shape[2] = size->height;
      shape[3] = size->width;
    }
    fixed[input] = shape;
  }
  if (!fixed.empty()) model.reshape(fixed);
}

/// Single precision always: the same boxes on every CPU, where OpenVINO would take bfloat16 on
/// some.
ov::AnyMap compile_options(const Engine::Options& options) {
  ov::AnyMap map{ov::hint::performance_mode(ov::hint::PerformanceMode::LATENCY),
                 ov::hint::inference_precision(ov::element::f32)};
  if (options.threads != 0)
    map.insert(
        ov::inference_num_threads(static_cast<std::int32_t>(std::min(options.threads, 1024U))));
  return map;
}

/// Reads with the one frontend that the name asks for. ov::Core::read_model would let all others
/// try a damaged file too, and they write to stderr.
std::shared_ptr<ov::Model> read(const std::string& path) {
  const auto kind = file_kind(path);
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

std::string runtime_version() {
  const std::string build = ov::get_openvino_version().buildNumber;  // "2026.4.1-12345-..."
  return build.substr(0, build.find('-'));
}

Result<Loaded> load_model(std::shared_ptr<ov::Model> model, const Engine::Options& options,
                          Metadata metadata) {
  add_metadata(*model, metadata);
  fix_shapes(*model, metadata);
  Loaded loaded;
  const std::shared_ptr<const ov::Model> view = model;
  for (const auto& port : view->inputs()) {
    HALYARD_TRY(auto spec, to_spec(port));
    spec.format = picture_format(spec.dtype, spec.shape);
    loaded.inputs.push_back(std::move(spec));
  }
  for (const auto& port : view->outputs()) {
    HALYARD_TRY(auto spec, to_spec(port));
    loaded.outputs.push_back(std::move(spec));
  }
  trace::Span span("model.compile");
  auto compiled = core().compile_model(model, options.device, compile_options(options));
  loaded.session = std::make_unique<OpenVinoSession>(std::move(compiled), loaded.outputs);
  loaded.metadata = std::move(metadata);
  loaded.runtime = fmt::format("openvino {} {}", runtime_version(), options.device);
  return loaded;
}

}  // namespace

Result<Loaded> load(const std::string& path, const Engine::Options& options, Metadata metadata) {
  std::shared_ptr<ov::Model> model;
  try {
    model = read(path);
  } catch (const std::exception& e) {
    return fail(Errc::malformed, "file is no model that the engine reads", "{}: {}", path,
                one_line(e.what()));
  }
  try {
    return load_model(std::move(model), options, std::move(metadata));
  } catch (const std::exception& e) {
    return fail(Errc::device, "engine cannot prepare the model", "{}: device {}: {}", path,
                options.device, one_line(e.what()));
  }
}

std::string describe_runtime() {
  try {
    const auto devices = core().get_available_devices();
    return fmt::format("openvino {}: {}", runtime_version(),
                       fmt::join(devices.begin(), devices.end(), ", "));
  } catch (const std::exception& e) {
    return fmt::format("openvino: does not start: {}", one_line(e.what()));
  }
}

}  // namespace halyard::model

#endif
