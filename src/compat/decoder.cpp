// SPDX-License-Identifier: Apache-2.0
// Decoder: halyard::Decoder with the reference's configuration, units and results.
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>

#include "base/text/format_error.h"
#include "compat/beside.h"
#include "compat/decoder_state.h"
#include "compat/segmentation.h"
#include "halyard/trace.h"

namespace halyard::compat {

namespace {

Result<std::string> text_of(const std::string& path) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) return fail_os("path: cannot be read", errno != 0 ? errno : EIO, path);
  std::string text(DocumentLimits::json_bytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) return fail_os("path: cannot be read", EIO, path);
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

}  // namespace

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
  auto description = ModelDescription::from_file(path);
  // If the extension is unknown, the text decides.
  const std::string_view name = path;
  const bool is_known =
      name.ends_with(".json") || name.ends_with(".yaml") || name.ends_with(".yml");
  if (!description && description.error().code == Errc::invalid_argument && !is_known) {
    HALYARD_TRY(const std::string text, text_of(path));
    description = ModelDescription::from_json(text);
    if (!description) description = ModelDescription::from_yaml(text);
  }
  if (!description) return std::move(description).error();
  return from_description(*std::move(description), options);
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
  HALYARD_TRY(impl->lowered, lower(description, options.input_dims, options.convention));
  impl->document = std::move(description);
  HALYARD_RETURN_IF_ERROR(impl->set(options));
  return Decoder(std::move(impl));
}

namespace {

halyard::Nms mode_of(Nms nms) noexcept {
  return static_cast<halyard::Nms>(nms);  // automatic has been resolved
}

Status check_share(float value, const char* what) {
  if (value >= 0 && value <= 1) return {};
  return fail(Errc::invalid_argument, what, "{}", value);
}

Status check_options(const DecoderOptions& options) {
  if (std::isnan(options.score_threshold))
    return make_error(Errc::invalid_argument, "score_threshold: is not a number");
  if (std::isnan(options.iou_threshold))
    return make_error(Errc::invalid_argument, "iou_threshold: is not a number");
  if (options.nms > Nms::automatic) return make_error(Errc::invalid_argument, "nms: no such mode");
  if (options.convention == Convention::reference) return {};
  HALYARD_RETURN_IF_ERROR(
      check_share(options.score_threshold, "score_threshold: must be in [0, 1]"));
  return check_share(options.iou_threshold, "iou_threshold: must be in [0, 1]");
}

}  // namespace

Status Decoder::Impl::renew() {
  if (!lowered.has_boxes) return {};
  DecodeOptions made;
  made.score_threshold = std::clamp(options.score_threshold, 0.0F, 1.0F);
  made.iou_threshold = std::clamp(options.iou_threshold, 0.0F, 1.0F);
  made.nms = mode_of(options.nms);
  made.pre_nms_top_k = options.pre_nms_top_k;
  made.max_detections = options.max_det;
  made.multi_label = options.multi_label;
  HALYARD_TRY(halyard::Decoder fresh, halyard::Decoder::create(lowered.description, made));
  decoder.emplace(std::move(fresh));
  return {};
}

Status Decoder::Impl::set(const DecoderOptions& asked) {
  HALYARD_RETURN_IF_ERROR(check_options(asked));
  const DecoderOptions before = options;
  options = asked;
  if (options.nms == Nms::automatic) {
    const auto described = lowered.description.nms;
    const bool is_native = options.convention == Convention::native;
    const Nms usual = is_native ? Nms::class_aware : Nms::class_agnostic;
    options.nms = described ? static_cast<Nms>(*described) : usual;
  }
  const Status renewed = renew();
  if (!renewed) options = before;
  return renewed;
}

const DecoderOptions& Decoder::options() const noexcept {
  return impl_->options;
}

Status Decoder::set_score_threshold(float threshold) {
  DecoderOptions asked = impl_->options;
  asked.score_threshold = threshold;
  return impl_->set(asked);
}

Status Decoder::set_iou_threshold(float threshold) {
  DecoderOptions asked = impl_->options;
  asked.iou_threshold = threshold;
  return impl_->set(asked);
}

Status Decoder::set_nms(Nms nms) {
  DecoderOptions asked = impl_->options;
  asked.nms = nms;
  return impl_->set(asked);
}

Status Decoder::set_pre_nms_top_k(std::size_t count) {
  DecoderOptions asked = impl_->options;
  asked.pre_nms_top_k = count;
  return impl_->set(asked);
}

Status Decoder::set_max_det(std::size_t count) {
  DecoderOptions asked = impl_->options;
  asked.max_det = count;
  return impl_->set(asked);
}

std::optional<bool> Decoder::normalized_boxes() const noexcept {
  return impl_->lowered.normalized;
}

std::optional<Size> Decoder::input_dims() const noexcept {
  return impl_->lowered.input;
}

std::string Decoder::model_type() const {
  return impl_->lowered.model_type;
}

const ModelDescription& Decoder::description() const noexcept {
  return impl_->document;
}

namespace {

// Adds the scores of classes at every pixel; nothing if the head has none.
Status add_class_scores(const Lowered& lowered, std::span<const Tensor> tensors, std::size_t batch,
                        SegmentationList& out) {
  if (!lowered.segmentation) return {};
  return score_bytes(tensors[*lowered.segmentation], lowered.segmentation_output, batch, out);
}

Status add_masks(DecodeWork& work, std::span<const Detection> boxes, SegmentationList& out) {
  if (boxes.empty()) return {};
  MaskOptions options;
  options.rule = MaskRule::probability;
  HALYARD_RETURN_IF_ERROR(materialize(work.decoded.masks, boxes, options, work.masks));
  SegmentationAccess::assign(out, work.masks);
  return {};
}

void clear(Found& out) {
  out.boxes.clear();
  out.rotated.clear();
  out.is_rotated = false;
  out.keypoints.clear();
  out.keypoints_each = 0;
  out.classes.clear();
  out.segmentations.clear();
  out.tracks.clear();
}

// Copies everything decoded except masks.
void take(const Decoded& decoded, const Lowered& lowered, Found& out) {
  out.is_rotated = lowered.has_angles;
  out.boxes = decoded.detections;
  out.rotated = decoded.rotated;
  out.keypoints = decoded.keypoints;
  out.keypoints_each = decoded.keypoints_each;
  out.classes = decoded.classes;
}

// From this size on, a separate thread for the copy is faster.
constexpr std::size_t large_copy_bytes = 1 << 20;

// A copy of one image's prototypes, without a batch axis.
Result<Tensor> copy_of(const Tensor& prototypes, std::size_t batch, Recycler& recycler) {
  Tensor from = prototypes;
  if (from.rank() == 4) {
    HALYARD_TRY(from, prototypes.batch(batch));
  }
  HALYARD_TRY(const Layout layout, Layout::contiguous(from.dtype(), from.shape()));
  HALYARD_TRY(auto buffer, recycler.allocate(layout.size_bytes()));
  HALYARD_TRY(Tensor out, Tensor::wrap(std::move(buffer), layout));
  HALYARD_RETURN_IF_ERROR(copy(from, out));
  return out;
}

// The same prototypes, but with the bytes of `copied`.
Result<MaskPrototypes> with_copy(const MaskPrototypes& masks, Tensor copied) {
  Tensor from = masks.prototypes;
  if (from.rank() == 4) {
    HALYARD_TRY(from, masks.prototypes.batch(masks.batch));
  }
  if (from.quantization()) HALYARD_RETURN_IF_ERROR(copied.set_quantization(from.quantization()));
  MaskPrototypes out = masks;
  out.prototypes = std::move(copied);
  out.batch = 0;
  return out;
}

}  // namespace

Status Decoder::decode(std::span<const Tensor> outputs, Found& out, std::size_t max_boxes,
                       std::size_t asked) const {
  trace::Span span("compat.decode");
  clear(out);
  const Impl& impl = *impl_;
  const DecodeLease work(impl.pool);
  HALYARD_TRY(const auto tensors, impl.ordered(outputs, *work));
  HALYARD_TRY(const std::size_t batch, impl.element(tensors, asked));
  HALYARD_RETURN_IF_ERROR(impl.detect(tensors, *work, max_boxes, batch));
  if (impl.lowered.has_masks)
    HALYARD_RETURN_IF_ERROR(add_masks(*work, work->decoded.detections, out.segmentations));
  HALYARD_RETURN_IF_ERROR(add_class_scores(impl.lowered, tensors, batch, out.segmentations));
  take(work->decoded, impl.lowered, out);
  return {};
}

Status Decoder::decode_boxes(std::span<const Tensor> outputs, std::vector<Detection>& out,
                             std::size_t max_boxes) const {
  trace::Span span("compat.decode_boxes");
  out.clear();
  const DecodeLease work(impl_->pool);
  HALYARD_TRY(const auto tensors, impl_->ordered(outputs, *work));
  HALYARD_TRY(const std::size_t batch, impl_->element(tensors, only_element));
  HALYARD_RETURN_IF_ERROR(impl_->detect(tensors, *work, max_boxes, batch));
  out = work->decoded.detections;
  return {};
}

Status Decoder::decode_proto(std::span<const Tensor> outputs, std::vector<Detection>& boxes,
                             std::optional<ProtoData>& protos, std::size_t max_boxes,
                             std::size_t asked) const {
  Found found;
  found.boxes.swap(boxes);
  const Status status = decode_proto(outputs, found, protos, max_boxes, asked);
  boxes.swap(found.boxes);
  return status;
}

Status Decoder::decode_proto(std::span<const Tensor> outputs, Found& out,
                             std::optional<ProtoData>& protos, std::size_t max_boxes,
                             std::size_t asked) const {
  trace::Span span("compat.decode_proto");
  clear(out);
  protos.reset();
  const Impl& impl = *impl_;
  const DecodeLease work(impl.pool);
  HALYARD_TRY(const auto tensors, impl.ordered(outputs, *work));
  HALYARD_TRY(const std::size_t batch, impl.element(tensors, asked));
  if (!impl.lowered.prototypes) {
    HALYARD_RETURN_IF_ERROR(impl.detect(tensors, *work, max_boxes, batch));
  } else {
    // Memory bandwidth limits both, because both read the network's outputs.
    const Tensor& prototypes = tensors[*impl.lowered.prototypes];
    Status detected;
    Result<Tensor> copied = Tensor();
    const auto detect = [&] { detected = impl.detect(tensors, *work, max_boxes, batch); };
    const auto copy_bytes = [&] { copied = copy_of(prototypes, batch, impl.recycler); };
    if (prototypes.size_bytes() >= large_copy_bytes) {
      run_beside(Work(detect), Work(copy_bytes));
    } else {
      detect();
      if (detected) copy_bytes();
    }
    HALYARD_RETURN_IF_ERROR(detected);
    HALYARD_TRY(Tensor bytes, std::move(copied));
    HALYARD_TRY(MaskPrototypes masks, with_copy(work->decoded.masks, std::move(bytes)));
    protos = ProtoAccess::make(std::move(masks));
  }
  take(work->decoded, impl.lowered, out);
  return {};
}

template <class AnyOf>
Status Decoder::Impl::decode_tracked(AnyOf& tracker, std::uint64_t timestamp,
                                     std::span<const Tensor> outputs, Found& out,
                                     std::size_t max_boxes, std::size_t asked) const {
  trace::Span span("compat.decode_tracked");
  clear(out);
  const DecodeLease work(pool);
  HALYARD_TRY(const auto tensors, ordered(outputs, *work));
  HALYARD_TRY(const std::size_t batch, element(tensors, asked));
  HALYARD_RETURN_IF_ERROR(detect(tensors, *work, SIZE_MAX, batch));
  std::size_t live = 0;
  HALYARD_RETURN_IF_ERROR(track(tracker, timestamp, *work, out.tracks, nullptr, live, max_boxes));
  const std::span<const Detection> boxes = work->decoded.detections;
  if (lowered.has_masks)
    HALYARD_RETURN_IF_ERROR(add_masks(*work, boxes.first(live), out.segmentations));
  HALYARD_RETURN_IF_ERROR(add_class_scores(lowered, tensors, batch, out.segmentations));
  take(work->decoded, lowered, out);
  return {};
}

Status Decoder::decode_tracked(ByteTrack& tracker, std::uint64_t timestamp,
                               std::span<const Tensor> outputs, Found& out, std::size_t max_boxes,
                               std::size_t batch) const {
  return impl_->decode_tracked(tracker, timestamp, outputs, out, max_boxes, batch);
}

Status Decoder::decode_tracked(const AnyTracker& tracker, std::uint64_t timestamp,
                               std::span<const Tensor> outputs, Found& out, std::size_t max_boxes,
                               std::size_t batch) const {
  return impl_->decode_tracked(tracker, timestamp, outputs, out, max_boxes, batch);
}

}  // namespace halyard::compat
