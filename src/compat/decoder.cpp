// SPDX-License-Identifier: Apache-2.0
// Decoder: halyard::Decoder with the reference's configuration and options.
#include <algorithm>

#include "compat/decoder_state.h"
#include "halyard/trace.h"

namespace halyard::compat {

void Found::clear() noexcept {
  boxes.clear();
  rotated.clear();
  is_rotated = false;
  keypoints.clear();
  keypoints_each = 0;
  classes.clear();
  segmentations.clear();
  tracks.clear();
}

Decoder::Decoder(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;
Decoder::~Decoder() = default;

Result<Decoder> Decoder::from_json(std::string_view text, const DecoderOptions& options) {
  HALYARD_TRY(ModelDescription description, ModelDescription::from_json(text));
  return from_description(std::move(description), options);
}

Result<Decoder> Decoder::from_yaml(std::string_view text, const DecoderOptions& options) {
  HALYARD_TRY(ModelDescription description, ModelDescription::from_yaml(text));
  return from_description(std::move(description), options);
}

Result<Decoder> Decoder::from_file(const std::string& path, const DecoderOptions& options) {
  HALYARD_TRY(ModelDescription description, ModelDescription::from_any_file(path));
  return from_description(std::move(description), options);
}

Result<Decoder> Decoder::from_outputs(std::span<const Output> outputs,
                                      std::optional<DecoderVersion> version,
                                      const DecoderOptions& options) {
  HALYARD_TRY(ModelDescription description, describe(outputs, version));
  return from_description(std::move(description), options);
}

Result<Decoder> Decoder::from_description(ModelDescription description,
                                          const DecoderOptions& options) {
  auto impl = std::make_unique<Impl>();
  HALYARD_TRY(impl->model, complete(description, options.input_dims, options.convention));
  impl->document = std::move(description);
  HALYARD_RETURN_IF_ERROR(impl->set(options));
  return Decoder(std::move(impl));
}

Status Decoder::Impl::set(DecoderOptions asked) {
  const bool is_native = asked.convention == Convention::native;
  if (asked.nms == Nms::automatic) {
    const Nms usual = is_native ? Nms::class_aware : Nms::class_agnostic;
    const auto& described = model.description.nms;
    asked.nms = described ? static_cast<Nms>(*described) : usual;
  }
  if (model.has_boxes) {
    const auto share = [&](float threshold) {
      return is_native ? threshold : std::clamp(threshold, 0.0F, 1.0F);
    };
    DecodeOptions made;
    made.score_threshold = share(asked.score_threshold);
    made.iou_threshold = share(asked.iou_threshold);
    made.nms = static_cast<halyard::Nms>(asked.nms);
    made.pre_nms_top_k = asked.pre_nms_top_k;
    made.max_detections = asked.max_det;
    made.multi_label = asked.multi_label;
    HALYARD_TRY(halyard::Decoder fresh, halyard::Decoder::create(model.description, made));
    decoder.emplace(std::move(fresh));
  }
  options = asked;
  return {};
}

const DecoderOptions& Decoder::options() const noexcept {
  return impl_->options;
}

Status Decoder::set_score_threshold(float threshold) {
  return impl_->set(&DecoderOptions::score_threshold, threshold);
}

Status Decoder::set_iou_threshold(float threshold) {
  return impl_->set(&DecoderOptions::iou_threshold, threshold);
}

Status Decoder::set_nms(Nms nms) {
  return impl_->set(&DecoderOptions::nms, nms);
}

Status Decoder::set_pre_nms_top_k(std::size_t count) {
  return impl_->set(&DecoderOptions::pre_nms_top_k, count);
}

Status Decoder::set_max_det(std::size_t count) {
  return impl_->set(&DecoderOptions::max_det, count);
}

std::optional<bool> Decoder::normalized_boxes() const noexcept {
  return impl_->model.normalized;
}

std::optional<Size> Decoder::input_dims() const noexcept {
  return impl_->model.input;
}

std::string Decoder::model_type() const {
  return impl_->model.model_type;
}

const ModelDescription& Decoder::description() const noexcept {
  return impl_->document;
}

Result<std::size_t> Decoder::batch_size(std::span<const Tensor> outputs) const {
  const DecodeLease work(impl_->pool);
  HALYARD_TRY(const auto tensors, impl_->ordered(outputs, *work));
  return impl_->model.outputs.batch_extent(tensors);
}

std::size_t Decoder::described_batch() const noexcept {
  return impl_->model.outputs.described_batch();
}

Status Decoder::decode(std::span<const Tensor> outputs, Found& out, std::size_t max_boxes,
                       std::size_t batch) const {
  trace::Span span("compat.decode");
  return impl_->decode({outputs, max_boxes, batch}, out);
}

Status Decoder::decode_boxes(std::span<const Tensor> outputs, Found& out,
                             std::size_t max_boxes) const {
  trace::Span span("compat.decode_boxes");
  Impl::Request asked{outputs, max_boxes, only_element};
  asked.has_masks = false;
  return impl_->decode(asked, out);
}

Status Decoder::decode_proto(std::span<const Tensor> outputs, Found& out,
                             std::optional<ProtoData>& protos, std::size_t max_boxes,
                             std::size_t batch) const {
  trace::Span span("compat.decode_proto");
  protos.reset();
  Impl::Request asked{outputs, max_boxes, batch};
  asked.has_masks = false;
  asked.protos = &protos;
  return impl_->decode(asked, out);
}

Status Decoder::decode_tracked(const AnyTracker& tracker, std::uint64_t timestamp,
                               std::span<const Tensor> outputs, Found& out, std::size_t max_boxes,
                               std::size_t batch) const {
  trace::Span span("compat.decode_tracked");
  return impl_->decode({outputs, max_boxes, batch, {{tracker, timestamp}}}, out);
}

}  // namespace halyard::compat
