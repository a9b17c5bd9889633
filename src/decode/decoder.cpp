// SPDX-License-Identifier: Apache-2.0
// Decoder: checks and compiles the description once. Each call then binds the outputs, collects
// candidates and suppresses. This file does no arithmetic of its own. Also the presets of options.
#include "halyard/decode.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/local.h"
#include "base/text/format_error.h"
#include "base/work_pool.h"
#include "decode/compile/compile.h"
#include "decode/head/candidates.h"
#include "decode/head/extras.h"
#include "decode/nms/nms.h"
#include "decode/nms/selector.h"
#include "halyard/tile_merge.h"
#include "halyard/trace.h"

namespace halyard {
namespace {

using decode::HeadProgram;
using decode::Scratch;

Status check_options(const DecodeOptions& options, std::size_t classes) {
  HALYARD_RETURN_IF_ERROR(
      decode::check_unit(options.score_threshold, "score_threshold: must be in [0, 1]"));
  const auto& thresholds = options.class_thresholds;
  if (!thresholds.empty() && thresholds.size() != classes) {
    return fail(Errc::invalid_argument, "class_thresholds: must be empty or one for each class",
                "{} given, the outputs have {} classes", thresholds.size(), classes);
  }
  for (const float threshold : thresholds)
    HALYARD_RETURN_IF_ERROR(
        decode::check_unit(threshold, "class_thresholds: each must be in [0, 1]"));
  return {};
}

// Where the outputs state the number of classes, there must be as many labels. Otherwise a class
// could get the name of another one.
Status check_labels(const ModelDescription& description, std::size_t classes) {
  const std::size_t labels = description.labels.size();
  if (labels == 0 || classes == 0 || labels == classes) return {};
  const auto origin = std::find_if(description.origins.begin(), description.origins.end(),
                                   [](const Origin& each) { return each.field == "labels"; });
  const std::string from =
      origin == description.origins.end() ? std::string() : " (" + origin->source + ")";
  return fail(Errc::invalid_argument, "labels: must be one per class",
              "{} given{}, the outputs have {} classes", labels, from, classes);
}

std::string describe_program(const HeadProgram& program) {
  std::string out = fmt::format("head: {}", program.name);
  if (!program.is_classifier) out += fmt::format(", {} boxes", program.box_count());
  if (program.class_count != 0) out += fmt::format(" of {} classes", program.class_count);
  if (program.levels.size() > 1) out += fmt::format(" in {} levels", program.levels.size());
  out += "\n";
  for (const auto& tensor : program.tensors) {
    out += fmt::format("{} {}: [{}]", tensor.path, to_string(tensor.role),
                       fmt::join(tensor.shape, ", "));
    const auto axis = [&](const char* what, std::optional<std::size_t> at) {
      if (at) out += fmt::format(", axis {} is {}", *at, what);
    };
    axis("the batch", tensor.batch_axis);
    axis("rows", tensor.row_axis);
    axis(tensor.row_axis ? "columns" : "boxes", tensor.column_axis);
    axis("features", tensor.feature_axis);
    out += tensor.quantization ? "; quantization: the tensor's own, else as described\n"
                               : "; quantization: the tensor's own\n";
  }
  return out;
}

}  // namespace

DecodeOptions DecodeOptions::ultralytics() {
  DecodeOptions out;
  out.score_threshold = std::nextafter(0.25F, 1.0F);
  out.iou_threshold = 0.7F;
  out.nms = Nms::class_aware;
  return out;
}

DecodeOptions DecodeOptions::ultralytics_val() {
  DecodeOptions out = ultralytics();
  out.score_threshold = std::nextafter(0.001F, 1.0F);
  out.multi_label = true;
  return out;
}

DecodeOptions DecodeOptions::hal() {
  DecodeOptions out;
  out.score_threshold = 0.5F;
  out.iou_threshold = 0.5F;
  out.nms = Nms::class_agnostic;
  out.pre_nms_top_k = 300;
  return out;
}

void Decoded::keep_first(std::size_t count) {
  const auto keep = [count](auto& values, std::size_t each) {
    if (!values.empty()) values.resize(count * each);
  };
  keep(detections, 1);
  keep(rotated, 1);
  keep(keypoints, keypoints_each);
  keep(masks.coefficients, masks.channels);
  keep(masks.stored, masks.channels);
}

void Decoded::to_fractions(Size input) {
  halyard::to_fractions(input, detections);
  const FrameSize size = input;
  for (Keypoint& each : keypoints)
    each.at = {each.at.x / size.width, each.at.y / size.height};
  if (input.width != input.height) rotated.clear();
  for (RotatedBox& each : rotated)
    each = {each.cx / size.width, each.cy / size.width, each.width / size.width,
            each.height / size.width, each.angle};
}

struct HALYARD_LOCAL Decoder::Impl {
  ModelDescription description;
  DecodeOptions options;
  HeadProgram program;
  SelectionOptions selection;
  float min_score = 0;  // the lowest threshold of all classes
  mutable WorkPool<decode::Scratch> pool;

  Status detect(Scratch& work, std::size_t batch, Decoded& out) const;

  Impl(ModelDescription d, DecodeOptions o, HeadProgram p)
      : description(std::move(d)),
        options(std::move(o)),
        program(std::move(p)),
        selection(decode::selection_options(options)),
        min_score(decode::min_score(selection)) {}
};

Status Decoder::Impl::detect(Scratch& work, std::size_t batch, Decoded& out) const {
  decode::collect(program, {min_score, options.multi_label}, work);
  decode::select(work.candidates, work.rotated, selection, work.selection);
  decode::take_survivors(work, out);
  return decode::read_extras(program, description.input, batch, work, out);
}

Decoder::Decoder(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;
Decoder::~Decoder() = default;

Result<Decoder> Decoder::create(ModelDescription description, DecodeOptions options) {
  HALYARD_RETURN_IF_ERROR(validate(description));
  HALYARD_TRY(HeadProgram program, decode::compile_program(description));
  HALYARD_RETURN_IF_ERROR(check_labels(description, program.class_count));
  HALYARD_RETURN_IF_ERROR(check_options(options, program.class_count));
  options.nms = program.is_final
                    ? Nms::none
                    : decode::resolved_nms(options.nms, description.nms, options.multi_label);
  HALYARD_RETURN_IF_ERROR(decode::check(decode::selection_options(options)));
  if (program.box_units == BoxUnits::fraction &&
      (description.input.width == 0 || description.input.height == 0)) {
    return fail(Errc::invalid_argument,
                "input: boxes in fractions need the size of the network's input");
  }
  return Decoder(
      std::make_unique<Impl>(std::move(description), std::move(options), std::move(program)));
}

Result<Decoder> Decoder::for_outputs(std::span<const TensorSpec> outputs, Size input,
                                     DecodeOptions options, std::optional<BoxUnits> box_units) {
  ModelDescription description;
  description.input = input;
  for (const TensorSpec& spec : outputs) {
    OutputDescription& output = description.outputs.emplace_back();
    output.name = spec.name;
    output.shape = spec.shape;
    output.quantization = spec.quantization;
    output.box_units = box_units;
  }
  return create(std::move(description), std::move(options));
}

Status Decoder::decode_into(std::span<const Tensor> outputs, Decoded& out,
                            std::size_t batch) const {
  trace::Span span("decode.decode");
  const Impl& impl = *impl_;
  const WorkPool<decode::Scratch>::Lease lease(impl.pool);
  Scratch& work = *lease;
  decode::clear(out);
  HALYARD_RETURN_IF_ERROR(
      decode::bind(impl.program, impl.description, outputs, batch, work.binding));
  span.arg("head", std::string_view(impl.program.name));
  if (impl.program.is_classifier) {
    decode::classify(impl.program, impl.options.top_classes, work, out.classes);
    return {};
  }
  HALYARD_RETURN_IF_ERROR(impl.detect(work, batch, out));
  span.arg("candidates", work.candidates.size());
  span.arg("detections", out.detections.size());
  return {};
}

Result<std::vector<Detection>> Decoder::decode(std::span<const Tensor> outputs,
                                               std::size_t batch) const {
  Decoded out;
  HALYARD_RETURN_IF_ERROR(decode_into(outputs, out, batch));
  return std::move(out.detections);
}

const ModelDescription& Decoder::description() const noexcept {
  return impl_->description;
}

const DecodeOptions& Decoder::options() const noexcept {
  return impl_->options;
}

std::size_t Decoder::class_count() const noexcept {
  return impl_->program.class_count;
}

std::string Decoder::explain() const {
  const ModelDescription& description = impl_->description;
  const HeadProgram& program = impl_->program;
  std::string out = describe_program(program);
  out += fmt::format("input: {} x {}\n", description.input.width, description.input.height);
  out += !program.box_units ? std::string("boxes: pixels if float, else by the range of values\n")
                            : fmt::format("boxes: {}\n", *program.box_units == BoxUnits::fraction
                                                             ? "fractions of the input"
                                                             : "pixels of the input");
  out += fmt::format("labels: {} for {} classes\n", description.labels.size(), class_count());
  for (const Origin& origin : description.origins)
    out += fmt::format("{}: from {}\n", origin.field, origin.source);
  for (const std::string& warning : description.warnings)
    out += fmt::format("warning: {}\n", warning);
  out += decode::describe(impl_->selection);
  return out;
}

}  // namespace halyard
