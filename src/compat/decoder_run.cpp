// SPDX-License-Identifier: Apache-2.0
// One call of a decoder: matches the tensors, decodes, converts boxes to their units, replaces
// boxes by tracks, and adds masks.
#include <algorithm>

#include "base/text/format_error.h"
#include "compat/decoder_state.h"
#include "compat/segmentation.h"
#include "halyard/dequantize.h"
#include "halyard/scene.h"
#include "halyard/tile_merge.h"

namespace halyard::compat {
namespace {

bool needs_widening(const Tensor& tensor) noexcept {
  const DType dtype = tensor.dtype();
  return dtype == DType::f64 || dtype == DType::i32 || dtype == DType::u32;
}

}  // namespace

void DecodeWork::release() {
  decoded.masks.prototypes = Tensor();
  tensors.clear();
}

Result<std::span<const Tensor>> Decoder::Impl::ordered(std::span<const Tensor> outputs,
                                                       DecodeWork& work) const {
  HALYARD_TRY(const auto matched, model.outputs.match(outputs, work.tensors));
  if (std::none_of(matched.begin(), matched.end(), needs_widening)) return matched;
  if (matched.data() != work.tensors.data()) work.tensors.assign(matched.begin(), matched.end());
  for (std::size_t i = 0; i < work.tensors.size(); ++i) {
    Tensor& tensor = work.tensors[i];
    if (model.segmentation == i || !needs_widening(tensor)) continue;
    auto quantization = model.outputs.outputs()[i].quantization;
    if (!quantization && options.convention == Convention::reference)
      quantization = Quantization::per_tensor(1);
    HALYARD_TRY(tensor, dequantized(tensor, quantization));
  }
  return std::span<const Tensor>(work.tensors);
}

Result<std::size_t> Decoder::Impl::element(std::span<const Tensor> ordered,
                                           std::size_t asked) const {
  HALYARD_TRY(const std::size_t extent, model.outputs.batch_extent(ordered));
  const std::size_t described = model.outputs.described_batch();
  if (options.convention == Convention::reference && extent > 1 && extent != described)
    return fail(Errc::invalid_argument, "outputs: the batch differs from the description's",
                "{}, described as {}", extent, described);
  if (options.convention == Convention::native && extent > 1 && asked == only_element)
    return fail(Errc::invalid_argument, "batch: must be given for tensors of several elements",
                "{} elements", extent);
  return asked == only_element ? 0 : asked;
}

namespace {

// Converts pixels of the input to fractions of it.
void divide(Decoded& decoded, Size input) {
  to_fractions(input, decoded.detections);
  const FrameSize size = input;
  for (Keypoint& each : decoded.keypoints)
    each.at = {each.at.x / size.width, each.at.y / size.height};
  if (input.width != input.height) decoded.rotated.clear();
  for (RotatedBox& each : decoded.rotated)
    each = {each.cx / size.width, each.cy / size.width, each.width / size.width,
            each.height / size.width, each.angle};
}

}  // namespace

Status Decoder::Impl::detect(std::span<const Tensor> ordered, DecodeWork& work,
                             std::size_t max_boxes, std::size_t batch) const {
  Decoded& decoded = work.decoded;
  if (!decoder) {
    decoded = Decoded();
    return {};
  }
  HALYARD_RETURN_IF_ERROR(decoder->decode_into(ordered, decoded, batch));
  std::size_t count = std::min({decoded.detections.size(), options.max_det, max_boxes});
  // The decoder's scores are at most 1, so a threshold above 1 must remove all boxes.
  if (options.score_threshold > 1) {
    const auto below = std::ranges::find_if(decoded.detections, [&](const Detection& box) {
      return box.score < options.score_threshold;
    });
    count = std::min(count, static_cast<std::size_t>(below - decoded.detections.begin()));
  }
  decoded.keep_first(count);
  if (options.convention == Convention::native) return {};
  if (model.prototypes) decoded.masks.input = {1, 1};  // boxes are fractions
  if (model.is_scaled) divide(decoded, *model.input);
  return {};
}

namespace {

// From this size on, a separate thread for the copy is faster.
constexpr std::size_t large_copy_bytes = 1 << 20;

// Prototypes of one image, without a batch axis.
Result<Tensor> image_of(const Tensor& prototypes, std::size_t batch) {
  if (prototypes.rank() == 4) return prototypes.batch(batch);
  return prototypes;
}

Result<Tensor> copy_of(const Tensor& prototypes, std::size_t batch, Recycler& recycler) {
  HALYARD_TRY(const Tensor from, image_of(prototypes, batch));
  HALYARD_TRY(const Layout layout, Layout::contiguous(from.dtype(), from.shape()));
  HALYARD_TRY(auto buffer, recycler.allocate(layout.size_bytes()));
  HALYARD_TRY(Tensor out, Tensor::wrap(std::move(buffer), layout));
  HALYARD_RETURN_IF_ERROR(copy(from, out));
  return out;
}

}  // namespace

Status Decoder::Impl::detect(std::span<const Tensor> ordered, DecodeWork& work,
                             std::size_t max_boxes, std::size_t batch,
                             std::optional<ProtoData>& protos) const {
  if (!model.prototypes) return detect(ordered, work, max_boxes, batch);
  // Memory bandwidth limits both, because both read the network's outputs.
  const Tensor& prototypes = ordered[*model.prototypes];
  Status detected;
  Result<Tensor> copied = Tensor();
  const std::int32_t least = prototypes.size_bytes() >= large_copy_bytes ? 1 : 2;
  work.beside.for_strips(2, least, [&](std::int32_t begin, std::int32_t end, std::size_t) {
    if (begin == 0) detected = detect(ordered, work, max_boxes, batch);
    if (end == 2) copied = copy_of(prototypes, batch, recycler);
  });
  HALYARD_RETURN_IF_ERROR(detected);
  HALYARD_TRY(Tensor bytes, std::move(copied));
  MaskPrototypes masks = work.decoded.masks;
  HALYARD_TRY(const Tensor image, image_of(masks.prototypes, masks.batch));
  if (image.quantization()) HALYARD_RETURN_IF_ERROR(bytes.set_quantization(image.quantization()));
  masks.prototypes = std::move(bytes);
  masks.batch = 0;
  protos = ProtoAccess::make(std::move(masks));
  return {};
}

Status Decoder::Impl::track(const Follower& tracker, std::uint64_t timestamp, DecodeWork& work,
                            std::vector<TrackInfo>& infos, std::vector<std::uint64_t>* ids,
                            std::size_t& live, std::size_t max_boxes) const {
  Decoded& decoded = work.decoded;
  HALYARD_TRY(live, tracker.advance(decoded.detections, timestamp, work.tracks));
  work.tracks.resize(std::min(work.tracks.size(), max_boxes));
  live = std::min(live, work.tracks.size());
  follow(std::span(work.tracks).first(live), decoded);
  decoded.detections.clear();
  infos.clear();
  if (ids != nullptr) ids->clear();
  for (const Track& track : work.tracks) {
    decoded.detections.push_back({track.box, track.score, track.label, -1});
    infos.push_back(info_of(track, tracker.seed()));
    if (ids != nullptr) ids->push_back(track.id);
  }
  return {};
}

Status Decoder::Impl::class_scores(std::span<const Tensor> ordered, std::size_t batch,
                                   SegmentationList& out) const {
  if (!model.segmentation) return {};
  const std::size_t i = *model.segmentation;
  return score_bytes(ordered[i], model.outputs.outputs()[i], batch, out);
}

namespace {

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

}  // namespace

Status Decoder::Impl::decode(const Request& asked, Found& out) const {
  clear(out);
  const DecodeLease work(pool);
  HALYARD_TRY(const auto tensors, ordered(asked.outputs, *work));
  HALYARD_TRY(const std::size_t batch, element(tensors, asked.batch));
  const Decoded& decoded = work->decoded;
  if (asked.protos != nullptr) {
    HALYARD_RETURN_IF_ERROR(detect(tensors, *work, asked.max_boxes, batch, *asked.protos));
  } else {
    const std::size_t most = asked.tracked ? SIZE_MAX : asked.max_boxes;
    HALYARD_RETURN_IF_ERROR(detect(tensors, *work, most, batch));
  }
  std::size_t live = decoded.detections.size();
  if (asked.tracked)
    HALYARD_RETURN_IF_ERROR(track(asked.tracked->tracker, asked.tracked->timestamp, *work,
                                  out.tracks, nullptr, live, asked.max_boxes));
  if (asked.has_masks) {
    if (model.prototypes)
      HALYARD_RETURN_IF_ERROR(
          add_masks(*work, std::span(decoded.detections).first(live), out.segmentations));
    HALYARD_RETURN_IF_ERROR(class_scores(tensors, batch, out.segmentations));
  }
  out.boxes = decoded.detections;
  out.rotated = decoded.rotated;
  out.is_rotated = model.has_angles;
  out.keypoints = decoded.keypoints;
  out.keypoints_each = decoded.keypoints_each;
  out.classes = decoded.classes;
  return {};
}

}  // namespace halyard::compat
