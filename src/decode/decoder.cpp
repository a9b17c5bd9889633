// SPDX-License-Identifier: Apache-2.0
// Decoder: checks, binds tensors to the head, runs head then selection. No arithmetic of its own.
#include "halyard/decode.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/format_error.h"
#include "decode/heads.h"
#include "decode/nms.h"
#include "halyard/trace.h"

namespace halyard {
namespace {

using decode::Affine;
using decode::Head;
using decode::YoloDetection;

using decode::check_unit;

Status check_description(const ModelDescription& description) {
  const std::string& version = description.decoder_version;
  if (!version.empty() && version != "yolov8" && version != "yolo11") {
    return fail(Errc::unsupported, "decoder_version: this build decodes yolov8 and yolo11",
                "\"{}\"", version);
  }
  if (description.input.width < 0 || description.input.height < 0) {
    return fail(Errc::invalid_argument, "input: width and height must not be negative", "{} x {}",
                description.input.width, description.input.height);
  }
  for (const auto& output : description.outputs) {
    if (!output.quantization) continue;
    if (!output.quantization->is_per_tensor()) {
      return fail(Errc::unsupported, "outputs: the detection head takes one scale per tensor",
                  "{} scales", output.quantization->scale.size());
    }
    if (!(std::isfinite(output.quantization->scale[0]) && output.quantization->scale[0] > 0)) {
      return fail(Errc::invalid_argument, "outputs: quantization.scale must be finite and above 0",
                  "{}", output.quantization->scale[0]);
    }
  }
  return {};
}

std::string text_of(std::span<const std::size_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

// Same extents but for the batch.
bool fits(const Tensor& tensor, const OutputDescription& output, const YoloDetection& head) {
  if (tensor.rank() != output.shape.size()) return false;
  for (std::size_t i = 0; i < output.shape.size(); ++i) {
    if (head.batch_axis != i && tensor.shape()[i] != output.shape[i]) return false;
  }
  return true;
}

// By name where both have one, else the tensor at the same place, else the first that fits.
Result<const Tensor*> bound_tensor(std::span<const Tensor> tensors,
                                   const ModelDescription& description, const YoloDetection& head) {
  if (tensors.size() != description.outputs.size()) {
    return fail(Errc::invalid_argument, "outputs: as many tensors as the model has outputs",
                "{} tensors, {} outputs", tensors.size(), description.outputs.size());
  }
  const OutputDescription& output = description.outputs[head.output];
  const Tensor* found = nullptr;
  if (!output.name.empty()) {
    const auto named = std::find_if(tensors.begin(), tensors.end(),
                                    [&](const Tensor& t) { return t.name() == output.name; });
    if (named != tensors.end()) found = &*named;
  }
  if (found == nullptr && fits(tensors[head.output], output, head)) found = &tensors[head.output];
  if (found == nullptr) {
    const auto other = std::find_if(tensors.begin(), tensors.end(),
                                    [&](const Tensor& t) { return fits(t, output, head); });
    if (other != tensors.end()) found = &*other;
  }
  if (found == nullptr || !fits(*found, output, head)) {
    const Tensor& seen = found == nullptr ? tensors[head.output] : *found;
    return fail(Errc::invalid_argument, "outputs: a tensor's shape differs from the description",
                "outputs[{}]: {}, expected {}", head.output, text_of(seen.shape()),
                text_of(output.shape));
  }
  return found;
}

Result<Affine> affine_of(const Tensor& tensor, const OutputDescription& output) {
  if (!is_integer(tensor.dtype())) return Affine{};
  const auto& quantization = tensor.quantization() ? tensor.quantization() : output.quantization;
  if (!quantization) {
    return fail(Errc::invalid_argument,
                "outputs: an integer tensor needs quantization, its own or the description's",
                "dtype {}", to_string(tensor.dtype()));
  }
  if (!quantization->is_per_tensor()) {
    return fail(Errc::unsupported, "outputs: the detection head takes one scale per tensor",
                "{} scales", quantization->scale.size());
  }
  HALYARD_CHECK(validate(*quantization, tensor.dtype(), tensor.shape()));
  return Affine{quantization->scale_at(0), quantization->zero_point_at(0)};
}

BoxUnits units_of(const OutputDescription& output, DType dtype, Affine affine) noexcept {
  if (output.box_units) return *output.box_units;
  if (!is_integer(dtype)) return BoxUnits::pixels;
  const auto highest = static_cast<float>(decode::stored_range(dtype).highest);
  return decode::dequantize(highest, affine) < 4 ? BoxUnits::fraction : BoxUnits::pixels;
}

Status check_options(const DecodeOptions& options, std::size_t classes) {
  HALYARD_CHECK(check_unit(options.score_threshold, "score_threshold: must be in [0, 1]"));
  const auto& thresholds = options.class_thresholds;
  if (!thresholds.empty() && thresholds.size() != classes) {
    return fail(Errc::invalid_argument, "class_thresholds: must be empty or one for each class",
                "{}, {} classes", thresholds.size(), classes);
  }
  for (const float threshold : thresholds)
    HALYARD_CHECK(check_unit(threshold, "class_thresholds: each must be in [0, 1]"));
  return {};
}

}  // namespace

struct Decoder::Impl {
  ModelDescription description;
  DecodeOptions options;
  Head head;
  SelectionOptions selection;
  float least_score = 0;  // of any class

  const YoloDetection& yolo() const { return std::get<YoloDetection>(head); }
  Result<decode::Source> source_of(const Tensor& tensor, std::size_t batch) const;
};

// Everything but the address of the elements.
Result<decode::Source> Decoder::Impl::source_of(const Tensor& tensor, std::size_t batch) const {
  const OutputDescription& output = description.outputs[yolo().output];
  if (tensor.is_image() && tensor.plane_count() > 1) {
    return fail(Errc::unsupported, "outputs: a picture of several planes is no network output");
  }
  const std::size_t batches = yolo().batch_axis ? tensor.shape()[*yolo().batch_axis] : 1;
  if (batch >= batches) {
    return fail(Errc::invalid_argument, "batch: must be below the tensor's batch extent",
                "{}, extent {}", batch, batches);
  }
  decode::Source source;
  source.batch = batch;
  source.threshold = least_score;
  HALYARD_TRY(source.affine, affine_of(tensor, output));
  if (units_of(output, tensor.dtype(), source.affine) == BoxUnits::fraction) {
    if (description.input.width <= 0 || description.input.height <= 0) {
      return fail(Errc::invalid_argument,
                  "input: boxes in fractions need the size of the network's input");
    }
    source.scale_x = static_cast<float>(description.input.width);
    source.scale_y = static_cast<float>(description.input.height);
  }
  return source;
}

Decoder::Decoder(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;
Decoder::~Decoder() = default;

Result<Decoder> Decoder::create(ModelDescription description, DecodeOptions options) {
  HALYARD_CHECK(check_description(description));
  HALYARD_TRY(Head head, decode::choose_head(description));
  HALYARD_CHECK(check_options(options, std::get<YoloDetection>(head).class_count()));
  options.nms = decode::resolved_nms(options.nms, description.nms);
  SelectionOptions selection = decode::selection_of(options);
  HALYARD_CHECK(decode::check(selection));
  const float least = decode::least_score(selection);
  const auto index = std::get<YoloDetection>(head).output;
  if (description.outputs[index].box_units == BoxUnits::fraction &&
      (description.input.width == 0 || description.input.height == 0)) {
    return fail(Errc::invalid_argument,
                "input: boxes in fractions need the size of the network's input");
  }
  return Decoder(std::make_unique<Impl>(
      Impl{std::move(description), std::move(options), head, std::move(selection), least}));
}

Result<Decoder> Decoder::for_outputs(std::span<const TensorSpec> outputs, Size input,
                                     DecodeOptions options, std::optional<BoxUnits> box_units) {
  ModelDescription description;
  description.input = input;
  for (const TensorSpec& spec : outputs) {
    OutputDescription output;
    output.name = spec.name;
    output.shape = spec.shape;
    output.quantization = spec.quantization;
    output.box_units = box_units;
    description.outputs.push_back(std::move(output));
  }
  return create(std::move(description), std::move(options));
}

Result<std::vector<Detection>> Decoder::decode(std::span<const Tensor> outputs,
                                               std::size_t batch) const {
  trace::Span span("decode.decode");
  HALYARD_TRY(const Tensor* tensor, bound_tensor(outputs, impl_->description, impl_->yolo()));
  HALYARD_TRY(decode::Source source, impl_->source_of(*tensor, batch));
  HALYARD_TRY(const TensorMap map, tensor->map(Access::read));
  source.layout = &map.layout();
  source.data = map.data();
  HALYARD_TRY(const auto candidates,
              std::visit([&](const auto& head) { return head.collect(source); }, impl_->head));
  thread_local decode::Workspace workspace;  // large; calls may come from several threads
  decode::select(candidates, {}, impl_->selection, workspace);
  std::vector<Detection> found = decode::survivors(candidates, workspace);
  span.arg("head", "yolo_detection");
  span.arg("dtype", to_string(tensor->dtype()));
  span.arg("candidates", candidates.size());
  span.arg("detections", found.size());
  return found;
}

const ModelDescription& Decoder::description() const noexcept {
  return impl_->description;
}

const DecodeOptions& Decoder::options() const noexcept {
  return impl_->options;
}

std::size_t Decoder::class_count() const noexcept {
  return impl_->yolo().class_count();
}

std::string Decoder::explain() const {
  const ModelDescription& description = impl_->description;
  const YoloDetection& yolo = impl_->yolo();
  const OutputDescription& output = description.outputs[yolo.output];
  std::string out = fmt::format("head: {}\n", yolo.describe());
  out += fmt::format("axes: {}\n", output.axes.empty() ? "found by shape" : "named");
  out += fmt::format("input: {} x {}\n", description.input.width, description.input.height);
  out += !output.box_units
             ? std::string("boxes: pixels if float, else by the range of values\n")
             : fmt::format("boxes: {}, as given\n", *output.box_units == BoxUnits::fraction
                                                        ? "fractions of the input"
                                                        : "pixels of the input");
  out += output.quantization
             ? fmt::format("quantization: the tensor's own, else scale {} zero point {}\n",
                           output.quantization->scale_at(0), output.quantization->zero_point_at(0))
             : std::string("quantization: the tensor's own\n");
  out += fmt::format("labels: {} for {} classes\n", description.labels.size(), class_count());
  out += decode::describe(impl_->selection);
  return out;
}

}  // namespace halyard
