// SPDX-License-Identifier: Apache-2.0
// One call of a decoder: matches the tensors, decodes, converts boxes to their units, replaces
// boxes by tracks, and adds masks.
#include <algorithm>

#include "base/text/format_error.h"
#include "compat/decoder_state.h"
#include "halyard/dequantize.h"
#include "halyard/scene.h"

namespace halyard::compat {
void DecodeWork::release() {
  decoded.masks.prototypes = Tensor();
  tensors.clear();
}

Result<std::span<const Tensor>> Decoder::Impl::ordered(std::span<const Tensor> outputs,
                                                       DecodeWork& work) const {
  const auto needs_widening = [](const Tensor& tensor) {
    const DType dtype = tensor.dtype();
    return dtype == DType::f64 || dtype == DType::i32 || dtype == DType::u32;
  };
  HALYARD_TRY(const auto matched, model.outputs.match(outputs, work.tensors));
  if (std::ranges::none_of(matched, needs_widening)) return matched;
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
  if (model.is_scaled) decoded.to_fractions(*model.input);
  return {};
}

namespace {

// From this size on, a separate thread for the copy is faster.
constexpr std::size_t large_copy_bytes = 1 << 20;

// Prototypes of one image, without a batch axis.
Result<Tensor> one_image(const Tensor& prototypes, std::size_t batch) {
  if (prototypes.rank() == 4) return prototypes.batch(batch);
  return prototypes;
}

}  // namespace

Status Decoder::Impl::detect(std::span<const Tensor> ordered, DecodeWork& work,
                             std::size_t max_boxes, std::size_t batch,
                             std::optional<ProtoData>& protos) const {
  if (!model.prototypes) return detect(ordered, work, max_boxes, batch);
  // Memory bandwidth limits both, because both read the network's outputs.
  HALYARD_TRY(const Tensor prototypes, one_image(ordered[*model.prototypes], batch));
  Status detected;
  Result<Tensor> copied = Tensor();
  const std::int32_t min_tasks = prototypes.size_bytes() >= large_copy_bytes ? 1 : 2;
  work.beside.for_strips(2, min_tasks, [&](std::int32_t begin, std::int32_t end, std::size_t) {
    if (begin == 0) detected = detect(ordered, work, max_boxes, batch);
    if (end == 2) copied = recycler.copy(prototypes);
  });
  HALYARD_RETURN_IF_ERROR(detected);
  HALYARD_TRY(Tensor bytes, std::move(copied));
  MaskPrototypes masks = work.decoded.masks;
  HALYARD_TRY(const Tensor image, one_image(masks.prototypes, masks.batch));
  if (image.quantization()) HALYARD_RETURN_IF_ERROR(bytes.set_quantization(image.quantization()));
  masks.prototypes = std::move(bytes);
  masks.batch = 0;
  protos = ProtoData(std::move(masks));
  return {};
}

Status Decoder::Impl::track(const AnyTracker& tracker, std::uint64_t timestamp, DecodeWork& work,
                            std::vector<TrackInfo>& infos, std::size_t& live,
                            std::size_t max_boxes) const {
  Decoded& decoded = work.decoded;
  HALYARD_TRY(live, tracker.advance(decoded.detections, timestamp, work.tracks));
  work.tracks.resize(std::min(work.tracks.size(), max_boxes));
  live = std::min(live, work.tracks.size());
  follow(std::span(work.tracks).first(live), decoded);
  decoded.detections.clear();
  infos.clear();
  work.ids.clear();
  for (const Track& track : work.tracks) {
    decoded.detections.push_back({track.box, track.score, track.label, -1});
    infos.push_back(info_of(track, tracker.seed()));
    work.ids.push_back(track.id);
  }
  return {};
}

Result<Decoder::Impl::RunResult> Decoder::Impl::run(const Request& asked, DecodeWork& work,
                                                    std::vector<TrackInfo>& tracks) const {
  RunResult out;
  HALYARD_TRY(out.tensors, ordered(asked.outputs, work));
  HALYARD_TRY(out.batch, element(out.tensors, asked.batch));
  const std::size_t max_boxes = asked.tracked ? SIZE_MAX : asked.max_boxes;
  if (asked.protos != nullptr) {
    HALYARD_RETURN_IF_ERROR(detect(out.tensors, work, max_boxes, out.batch, *asked.protos));
  } else {
    HALYARD_RETURN_IF_ERROR(detect(out.tensors, work, max_boxes, out.batch));
  }
  out.live = work.decoded.detections.size();
  if (asked.tracked)
    HALYARD_RETURN_IF_ERROR(track(asked.tracked->tracker, asked.tracked->timestamp, work, tracks,
                                  out.live, asked.max_boxes));
  return out;
}

Status Decoder::Impl::decode(const Request& asked, Found& out) const {
  out.clear();
  const DecodeLease work(pool);
  HALYARD_TRY(const RunResult ran, run(asked, *work, out.tracks));
  const Decoded& decoded = work->decoded;
  if (asked.has_masks) {
    if (model.prototypes && ran.live > 0) {
      const auto boxes = std::span(decoded.detections).first(ran.live);
      HALYARD_RETURN_IF_ERROR(
          materialize(decoded.masks, boxes, {.rule = MaskRule::probability}, work->masks));
      out.segmentations.assign(work->masks);
    }
    HALYARD_RETURN_IF_ERROR(class_scores(ran.tensors, ran.batch, out.segmentations));
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
